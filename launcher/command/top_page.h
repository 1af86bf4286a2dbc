/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top_page.h - what `evenstep top` shows of one front end, line by line: for a
 * screen, which scrolls it, and for --once.
 */
#ifndef LAUNCHER_COMMAND_TOP_PAGE_H
#define LAUNCHER_COMMAND_TOP_PAGE_H

#include "launcher/command/top_parts.h"

struct top_page { /* all zero is an empty one */
    char (*line)[TOP_LINE];
    size_t n, cap;
    size_t head; /* the first so many stand above the nodes; the last of these
                    tells what the columns are */
};

/* Append how far all of it is, folded to so many columns; nothing of a TOP_STEP.
 * Without memory lines are left out. */
void top_page_progress(struct top_page *page,
                       const struct top_step *step,
                       size_t columns);
/* Append the nodes' parts, sorted so, ... */
void top_page_parts(struct top_page *page,
                    struct top_step *step,
                    enum top_order order,
                    size_t columns);
/* ... and what is metered; nothing where nothing is.  Of more than `racks` racks
 * only so many stand above the nodes, the slowest, and the others below. */
void top_page_meters(struct top_page *page,
                     struct top_step *step,
                     enum top_order order,
                     size_t columns,
                     size_t racks);
void top_page_clear(struct top_page *page);

#endif
