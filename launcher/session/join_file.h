/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * join_file.h - where a run is that nodes may join, and the key to ask it: a
 * file of the user's alone in the state directory, join/RUN, as long as the run
 * takes nodes in.
 *
 * RUN is JOB.STEP of its agents, or local-PID outside Slurm.
 */
#ifndef LAUNCHER_SESSION_JOIN_FILE_H
#define LAUNCHER_SESSION_JOIN_FILE_H

#include "pmix_bcast/error.h"
#include "pmix_bcast/handshake.h"
#include "pmix_bcast/wireup.h"

#define JOIN_NAME_MAX 32 /* bytes of a run's name, with its NUL */

struct join_file {
    char run[JOIN_NAME_MAX];
    char address[ADDRESS_MAX]; /* of the front end's door, numeric */
    uint16_t port;
    struct secret secret; /* of that door alone */
    int local;            /* its agents are those of --local */
};

void join_file_name(char run[JOIN_NAME_MAX], uint32_t job, uint32_t step);
/* Write it, for nobody else.  0, or -1 with ES_ENV. */
int join_file_put(const struct join_file *f, struct es_error *err);
void join_file_remove(const char *run);
/*
 * Read that of a run: its name, the number of its job if that has one such run
 * alone, or the path of a file ("/" is in it).  0, or -1 with ES_ENV: it is not
 * there, not the user's, others may read it, or it is no such file.
 */
int join_file_find(struct join_file *f, const char *run, struct es_error *err);

#endif
