/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bring_list.h - what a run brings to all nodes before its first frame: the files
 * of --bcast and the program of --exec, with --libs what the programs among them
 * need.
 */
#ifndef LAUNCHER_RUN_BRING_LIST_H
#define LAUNCHER_RUN_BRING_LIST_H

#include "launcher/base/step_env.h"
#include "launcher/run/run_options.h"
#include "launcher/session/libs.h"

struct bring_file {
    const char *option; /* that has named it */
    char source[DESTINATION_MAX], destination[DESTINATION_MAX];
    char *path;       /* the source, for struct tree_wish */
    struct libs libs; /* that it needs; n may be 0 */
};

struct bring_list { /* all zero: nothing */
    size_t n;
    struct bring_file *file;
    char cache[DESTINATION_MAX];
    char libs[LIBS_LIST_MAX]; /* folders of libraries, "a:b" */
};

/* Are they files that can be read, with a place to go to, and so the cache?  0, or
 * -1 with ES_USAGE or ES_WORK.  To be cleared in any case. */
int bring_list_open(struct bring_list *l,
                    const struct run_options *o,
                    const struct config_bcast *config,
                    struct es_error *err);
void bring_list_clear(struct bring_list *l);

#endif
