/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * front.h - the frame of a command that is a front end: its event loop, the
 * signals that end it, the session with its agents, and its one end.
 *
 *   front_begin, front_catch   the loop, and signals
 *   front_open                 the agents are started
 *   front_run                  until front_finish(), well or not
 *   front_close                the agents leave
 *   front_end                  nothing is left; dies of the signal, if one came
 *
 * A front of zeros is one that has not begun: front_close() and front_end()
 * may be called for it, too, and after any failure.
 */
#ifndef LAUNCHER_SESSION_FRONT_H
#define LAUNCHER_SESSION_FRONT_H

#include "launcher/base/signals.h"
#include "launcher/config/config.h"
#include "launcher/session/session.h"

struct front {
    struct event_base *base;
    struct session *session; /* NULL before front_open() */
    struct es_error *err;    /* of the command, filled when it fails */
    int over;                /* front_finish() has been called */
    /* Used by front.c only: */
    int failed;
    int number;       /* of the signal that ended it, or 0 */
    const char *left; /* after a signal */
    int (*on_term)(void *arg);
    void *term_arg;
    struct signals signals;
    struct session_events events;    /* the session's */
    const struct session_events *on; /* the command's */
    void *arg;
};

/* Make the loop.  0, or -1 and err filled; err must outlive the front. */
int front_begin(struct front *f, struct es_error *err);
/* From now on a signal ends the command as a failure; left says in words what
 * is left behind then.  If that takes more than a second, another ends it at once.  0, or -1 and f->err filled. */
int front_catch(struct front *f, const char *left);
/* The first SIGTERM is on()'s: 1 if it ends the command in order, so that only
 * a second one ends it as a failure; 0 if it shall end it as before. */
void front_on_term(struct front *f, int (*on)(void *arg), void *arg);
/* Is there no other that srun has started with this one, as a task of the same
 * step, to do the same on all nodes?  To be asked before anything of the user's is
 * touched.  0, or -1 and err filled (ES_USAGE). */
int front_is_alone(int is_local, struct es_error *err);
/* Are there nodes: of a job, or this machine as such?  To be asked before a file
 * of the user's is emptied.  0, or -1 and err filled (ES_ENV). */
int front_has_nodes(int is_local, struct es_error *err);
/*
 * Start the agents.  setup says what the command line says (local, place);
 * where the agent's program is, its ports and how it is wired up are set here,
 * from the configuration.  ES_ENV without an allocation.  on and arg must
 * outlive the session.  None of them is called any more once it is over;
 * on->failed may be NULL: the command ends with that error then.
 */
int front_open(struct front *f,
               const struct config *config,
               struct session_setup *setup,
               const struct session_events *on,
               void *arg);
/* Run the loop until it is over.  0, or -1 if it failed. */
int front_run(struct front *f);
/* It is over: well, or, if failed is not 0, with f->err.  Only the first call
 * counts; allowed before front_begin(). */
void front_finish(struct front *f, int failed);
/* Close the session: runs the loop until all agents have left. */
void front_close(struct front *f);
/* The rest.  What has events of f->base is closed before. */
void front_end(struct front *f);

#endif
