/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lingering.h - where the agents are that wait for the next command of their
 * job: a file in a step directory of the front end's host.  Their secret is in
 * no file: it stays in the environment of the process that keeps them there, as
 * only the user and root can read, and ends with it.
 *
 * Its name says for whom they are: of which job, started how, in which
 * environment and folder.  Whoever takes it away has the agents; he puts it
 * there again when he is through.
 */
#ifndef LAUNCHER_SESSION_LINGERING_H
#define LAUNCHER_SESSION_LINGERING_H

#include "launcher/base/step_dir.h"
#include "launcher/session/session_setup.h"
#include "pmix_bcast/handshake.h"
#include "pmix_bcast/wireup.h"

#include <sys/types.h>

struct lingering {
    struct secret secret;
    int64_t until_s; /* CLOCK_BOOTTIME: then the agents have gone */
    uint32_t number; /* of the last order that they have had */
    pid_t keeper;    /* has the secret: srun's, or the first agent of --local */
    uint32_t n;
    struct endpoint *agent; /* by rank: where each waits; owned */
};

/* The name of its step directory. */
void lingering_name(char name[STEP_NAME_MAX],
                    const struct session_setup *setup);
/* Make the directory, and tell where the file will be.  0, or -1. */
int lingering_prepare(const char *name, char path[STEP_PATH_MAX]);
/* Take it away, and the secret from the keeper: 0, or -1 if there is none that
 * holds. */
int lingering_take(const char *name, struct lingering *l);
/* Put it there, for so long, but for the key.  0, or -1 if there is one, or it
 * cannot be. */
int lingering_put(const char *name, struct lingering *l, uint32_t seconds);
void lingering_clear(struct lingering *l);

#endif
