/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step_bringing.h - brings to all nodes of a step what all are to have alike, by
 * broadcasts, one after the other: the connection table, the files of the user,
 * what was measured.  Once the tasks say where they really listen, the table again
 * (listening_table.h).
 */
#ifndef LAUNCHER_COMMAND_STEP_BRINGING_H
#define LAUNCHER_COMMAND_STEP_BRINGING_H

#include "launcher/command/attend_options.h"
#include "launcher/command/step_files.h"
#include "launcher/session/front.h"
#include "launcher/session/listening_table.h"
#include "launcher/session/metrics_cast.h"

struct event;

/* One of them is on every node; or not (failed), and front->err says why. */
typedef void (*step_bringing_fn)(void *arg, int failed);

struct step_bringing {
    const struct front *front;
    const struct config *config;
    const struct attend_options *o; /* its inputs */
    const struct step_files *files; /* the step's name, and its tasks */
    struct bcast_wish wish;
    struct broadcast *broadcast; /* that runs, or was the last; or NULL */
    step_bringing_fn ended;
    void *arg;
    int table_fd; /* of the connection table; -1: there is none yet */
    char table_path[64], table_destination[STEP_PATH_MAX];
    struct broadcast table;
    struct listening_table listening; /* the second table */
    struct broadcast inputs;
    int are_copied;     /* the inputs, to every node */
    struct event *over; /* they are, or not */
    struct metrics_cast metrics;
};

/* Nothing is begun; what is pointed to must outlive b, and be filled in by then. */
void step_bringing_init(struct step_bringing *b,
                        const struct front *front,
                        const struct config *config,
                        const struct attend_options *o,
                        const struct step_files *files);
/*
 * Each returns 0, and ended() follows; or -1 with front->err.  The session is
 * ready, and one after the other is begun.
 *
 *   table     fd is the table's, and b's from now on; the directories of the
 *             step are on their way, and files->tasks is known
 *   inputs    ended() may come within the call
 */
int step_bringing_table(struct step_bringing *b,
                        int fd,
                        step_bringing_fn ended,
                        void *arg);
int step_bringing_inputs(struct step_bringing *b,
                         step_bringing_fn ended,
                         void *arg);
int step_bringing_metrics(struct step_bringing *b,
                          const struct qualification *q,
                          step_bringing_fn ended,
                          void *arg);
/* Is a file of the user still missing on the nodes? */
int step_bringing_lacks_input(const struct step_bringing *b);

/* A node's message: 1 if it was for us; runs: the tasks have been started. */
int step_bringing_message(struct step_bringing *b,
                          int runs,
                          size_t node,
                          uint16_t type,
                          const uint8_t *body,
                          size_t len);
void step_bringing_lost(struct step_bringing *b, size_t node, const char *why);
/* One that was lost is back. */
void step_bringing_returned(struct step_bringing *b);
/* Forget it, before the session is closed. */
void step_bringing_stop(struct step_bringing *b);

#endif
