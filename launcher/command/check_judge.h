/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_judge.h - which nodes are not well, of what all of them have answered?
 * Pure.
 *
 * A configuration, and whether the plugin is loaded, is compared with that of most
 * nodes: the others are named.
 */
#ifndef LAUNCHER_COMMAND_CHECK_JUDGE_H
#define LAUNCHER_COMMAND_CHECK_JUDGE_H

#include "launcher/command/check_node.h"

#define CHECK_CLOCK_S                                                          \
    5.0 /* that a clock may be away; to answer takes time, too */
#define CHECK_LINE 1024u

struct check_answer {
    char name[64];
    char state[160]; /* of sinfo's, that explains it: "down*: Not responding" */
    char absent[300]; /* why its task ended or was not started, as Slurm says */
    char back[240]; /* why it cannot be called; "": it can, or was not tried */
    int is_asked;   /* a task was to run there */
    int has_answered; /* and this is what it said: */
    struct check_node node;
    double offset;         /* seconds its clock is ahead */
    char line[CHECK_LINE]; /* all its faults; "": it is well */
};

/* Fill in the lines; version: of the evenstep that asks; patience_s: how long they
 * had.  How many are not well. */
size_t check_judge(struct check_answer a[],
                   size_t n,
                   const char *version,
                   int patience_s);
/* "down*", "down*: Not responding" if such a state explains why nothing starts
 * there, else "". */
void check_state(char text[160], const char *state, const char *reason);
/* Can a task be started there at once, by its state? */
int check_is_free(const char *state);
/* Is the plugin on none of those that answered from a step? */
int check_has_no_plugin(const struct check_answer a[], size_t n);

#endif
