/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * signals.h - SIGINT, SIGTERM and SIGHUP, by which people and Slurm end a front
 * end or an agent.
 *
 * They are told of in the event loop, so that the process can clean up.  What
 * keeps the loop, or is in a thread, sees that one has come and ends early.  A
 * front end then dies of the signal, so that a loop of the shell around it ends,
 * too.
 */
#ifndef LAUNCHER_BASE_SIGNALS_H
#define LAUNCHER_BASE_SIGNALS_H

#include "pmix_bcast/error.h"

#include <signal.h>
#include <stdatomic.h>

struct event;
struct event_base;

#define SIGNALS 3 /* SIGINT, SIGTERM, SIGHUP */

struct signals { /* of a process there is one */
    struct event *event;
    struct sigaction before[SIGNALS];
    void (*fn)(void *arg, int number);
    void *arg;
};

/* What is ignored stays so: SIGHUP below nohup(1), SIGINT of what a shell without
 * job control has put into the background.  0, or -1 if memory ran out. */
int signals_catch(struct signals *s,
                  struct event_base *base,
                  void (*fn)(void *arg, int number),
                  void *arg);
/* All zero, or after signals_catch(), also if that failed. */
void signals_release(struct signals *s);
/* From now on a second one, if it comes a second after the first or later, ends the
 * process at once. */
void signals_end_at_second(void);
/* Not 0 from the moment on at which one has come, even if the loop is to be told of
 * it yet; and 0 again, as it does not end the process. */
const atomic_int *signals_come(void);
void signals_forget(void);
/* Print err, then die of the signal. */
void signals_die(int number, const struct es_error *err);

#endif
