/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * signals.h - SIGINT, SIGTERM and SIGHUP, by which people and Slurm end a front
 * end or an agent.
 *
 * They are caught in the event loop, so that the process can clean up.  A front
 * end then dies of the signal, so that a loop of the shell around it ends, too.
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
/* Print err, then die of the signal. */
void signals_die(int number, const struct es_error *err);

#endif
