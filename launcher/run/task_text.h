/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * task_text.h - which task a unit is: its values, and what is run for it.
 */
#ifndef LAUNCHER_RUN_TASK_TEXT_H
#define LAUNCHER_RUN_TASK_TEXT_H

#include "launcher/base/lines.h"
#include "launcher/exec/task_words.h"
#include "launcher/run/run_options.h"

struct task_text {             /* all zero: none yet */
    struct task_record record; /* of the unit at hand */
    char *line;                /* that it is in; room bytes */
    size_t room;
};

/* Read a unit's record of the list of tasks.  0, or -1 with err. */
int task_text_read(struct task_text *t,
                   const struct lines *list,
                   uint64_t unit,
                   struct es_error *err);
/* XXH3-64 of the values of each of the units [begin, end); sum has room.  Likewise. */
int task_text_sums(const struct lines *list,
                   uint64_t begin,
                   uint64_t end,
                   uint64_t sum[],
                   struct es_error *err);
/* What is run for it as one would type it, in one line, cut to size - 1 bytes. */
void task_text_say(const struct task_text *t,
                   const struct run_options *o,
                   const struct task_place *place,
                   char *text,
                   size_t size);
/* What --tag begins its lines with: the values, a blank between them, and a tab.  To
 * be freed; NULL: no memory. */
char *task_text_tag(const struct task_text *t);
void task_text_clear(struct task_text *t);

#endif
