/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * works_file.h - the file of `evenstep run --works`: the types of work that a
 * queue mixes.
 *
 *   work "render" {
 *     command = {"./render", "{begin}", "{end}"}   words, or a line for sh
 *     profile = "gpu"
 *     policy = "canon:step=2"
 *   }
 */
#ifndef LAUNCHER_CONFIG_WORKS_FILE_H
#define LAUNCHER_CONFIG_WORKS_FILE_H

#include "launcher/config/config.h"
#include "launcher/wire/protocol.h"
#include "pmix_bcast/error.h"

struct works {
    size_t n;
    struct works_entry {
        char name[WORK_NAME_MAX];
        char **command;                                     /* NULL-ended */
        char profile[WORK_TEXT_MAX], policy[WORK_TEXT_MAX]; /* "": none */
    } work[WORKS_MAX];
};

/* A text; name is for messages.  0, or -1 with ES_USAGE and *w all zero; else it
 * is to be cleared. */
int works_parse(struct works *w,
                const char *name,
                const char *text,
                struct es_error *err);
int works_read(struct works *w, const char *path, struct es_error *err);
void works_clear(struct works *w); /* {0} is allowed */

#endif
