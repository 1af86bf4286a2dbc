/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * answer.h - asks a short command, and waits for all that it prints: before
 * anything else is at work in the event loop.
 */
#ifndef LAUNCHER_EXEC_ANSWER_H
#define LAUNCHER_EXEC_ANSWER_H

#include "pmix_bcast/error.h"

#include <stddef.h>

struct event_base;
struct execution;

struct answer {
    char *text; /* its stdout, ended with a NUL; owned, see answer_clear() */
    size_t len;
    char error[400]; /* where it failed: why, mostly its own last line */
    /* While it runs: */
    struct event_base *base;
    struct execution *execution;
    size_t cap;
    int status, limit_ms, too_long;
};

/*
 * Run argv, with this environment, to its end.  0: it has exited 0.  -1 with
 * a->error: it failed, said more than 256 MiB, or took longer than limit_ms; or
 * the loop was broken ("interrupted").
 */
int answer_ask(struct answer *a,
               struct event_base *base,
               char *const argv[],
               char *const envp[],
               int limit_ms);
/* NULL is allowed, as is one that is all zero. */
void answer_clear(struct answer *a);

#endif
