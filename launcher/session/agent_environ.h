/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * agent_environ.h - the environment that an agent is started in: ours without
 * what would bend the companion step, and what every agent must know.
 */
#ifndef LAUNCHER_SESSION_AGENT_ENVIRON_H
#define LAUNCHER_SESSION_AGENT_ENVIRON_H

#include "pmix_bcast/handshake.h"
#include "pmix_bcast/listener.h"
#include "pmix_bcast/wireup.h"
#include "pmix_bcast/wireup_way.h"

struct agent_environ {
    const struct secret *secret;
    const char *address; /* of the front end, numeric */
    uint16_t port;
    struct port_range ports; /* for the agent to listen at */
    int by_tcp;              /* how the agents find each other */
    int guard, energy;       /* as of session_setup */
    const char *interfaces;  /* likewise */
};

/* NULL-ended, *n entries; ended with agent_environ_free().  NULL: no memory. */
char **agent_environ_make(const struct agent_environ *e, size_t *n);
/* One more entry; 0, or -1 if memory ran out (*env is then as it was). */
int agent_environ_put(char ***env,
                      size_t *n,
                      const char *name,
                      const char *value);
/* NULL is allowed. */
void agent_environ_free(char **env);
/* The secret in the environment of a process of ours that was started in such a
 * one: 0, or -1 if there is none. */
int agent_environ_secret(struct secret *secret, pid_t pid);

#endif
