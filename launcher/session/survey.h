/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * survey.h - runs one command on each of some nodes, by srun and without agents,
 * and takes the lines that it prints; and what sinfo says of nodes.
 */
#ifndef LAUNCHER_SESSION_SURVEY_H
#define LAUNCHER_SESSION_SURVEY_H

#include "launcher/session/companion.h"
#include "pmix_bcast/error.h"

#define SURVEY_LINE 8192 /* bytes of a line; what is longer is cut */

struct event_base;
struct survey;

struct survey_setup {
    struct event_base *base;
    const struct companion_place *place;
    const char *const *words; /* the command's, until NULL */
    /* A line of a task, without srun's label. */
    void (*line)(void *arg, const char *line);
    /* A node, or Slurm's list of nodes, whose task has ended or was not started. */
    void (*absent)(void *arg, const char *node, const char *why);
    /* srun has ended; why: its last words if it failed, else NULL. */
    void (*over)(void *arg, const char *why);
    void *arg;
};

/* The callbacks come from the loop.  The setup is copied, its words used during the
 * call only.  NULL: err says why. */
struct survey *survey_start(const struct survey_setup *setup,
                            struct es_error *err);
/* Ends what runs; NULL is allowed; from over(), too. */
void survey_destroy(struct survey *s);

/* These ask Slurm in a loop of their own, so they may be called from a callback;
 * free() what they return.  NULL: err says why. */

/* What `sinfo -h -N -o "%N|%T|%E"` prints, of a list of nodes (NULL: of all), a line
 * a node and partition. */
char *survey_states(const char *list, struct es_error *err);
/* The names of all partitions, a line each; err may be NULL. */
char *survey_partitions(struct es_error *err);
/* Slurm's list of these names, which have commas between. */
char *survey_list(const char *names, struct es_error *err);
/* The names in such a list, a line each. */
char *survey_names(const char *list, struct es_error *err);

#endif
