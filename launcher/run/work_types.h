/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * work_types.h - the types of work of a run: that of its command line, and those
 * of --works, each with a command, a profile and a policy of its own.
 *
 * A frame of a queue is of the type that its line names: B:E LABEL @render.
 */
#ifndef LAUNCHER_RUN_WORK_TYPES_H
#define LAUNCHER_RUN_WORK_TYPES_H

#include "launcher/config/policy_option.h"
#include "launcher/config/works_file.h"

#define WORK_TYPES_MAX (1 + WORKS_MAX)

struct work_type {
    const char *name; /* "": of the command line */
    char **command;
    struct config_profile profile;
    int profile_auto; /* fit it; profile is what it falls back to */
    struct policy_option policy;
};

struct work_types {
    size_t n;    /* at least 1: the first is of the command line */
    int has_own; /* there is a command for it */
    struct work_type type[WORK_TYPES_MAX];
    struct works file;
};

/* Those of the file, behind the first, which is there; what one does not say is
 * as that one has it.  Fails with ES_USAGE.  To be cleared in any case. */
int work_types_read(struct work_types *t,
                    const char *path,
                    const struct config *c,
                    struct es_error *err);
void work_types_clear(struct work_types *t); /* {0} is allowed */
/* The place of a name, n if there is none. */
size_t work_types_find(const struct work_types *t, const char *name);
/* "give one of: @render @scan", as it would mend a name. */
void work_types_names(const struct work_types *t, char *text, size_t size);

#endif
