/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * signals.h - the signals by which people and Slurm end a front end or an
 * agent: caught in the event loop, so that it cleans up; a front end passes
 * them on at its end, so that a shell's loop ends too.
 */
#ifndef LAUNCHER_BASE_SIGNALS_H
#define LAUNCHER_BASE_SIGNALS_H

#include "pmix_bcast/error.h"

struct event;
struct event_base;

#define SIGNALS 3 /* SIGINT, SIGTERM, SIGHUP */

struct signals {
    struct event *event[SIGNALS];
    void (*fn)(void *arg, int number);
    void *arg;
};

/* 0, or -1 if memory ran out. */
int signals_catch(struct signals *s,
                  struct event_base *base,
                  void (*fn)(void *arg, int number),
                  void *arg);
void signals_release(struct signals *s);
/* Say err, and end as one who was killed by the signal. */
void signals_die(int number, const struct es_error *err);

#endif
