/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session_state.h - what the files of the session share; for them alone.
 *
 *   session_open.c   its life, and what is said to its nodes
 *   session_start.c  from the start of the agents to the last READY
 *   session_rescue.c a second step, where Slurm ends that of agents at work
 *   session_end.c    the agents stay for another command, or leave
 */
#ifndef LAUNCHER_SESSION_SESSION_STATE_H
#define LAUNCHER_SESSION_SESSION_STATE_H

#include "launcher/session/arrival.h"
#include "launcher/session/launch.h"
#include "launcher/session/lingering.h"
#include "launcher/session/members.h"
#include "launcher/session/recall.h"
#include "launcher/session/session.h"

#include <event2/event.h>

struct session {
    struct event_base *base;
    const struct session_events *on;
    void *arg;
    struct secret secret; /* another one for each start */
    struct listener *listener;
    struct port_range ports;
    enum wireup_way wireup;
    int is_local;
    size_t wanted; /* nodes that there must be; 0: not known */
    struct {       /* those that it does without, as their agents do not come */
        int may;
        char *list;  /* Slurm's, of all of them; NULL: none */
        size_t told; /* of it, bytes: who was said to be */
        size_t n;
        int is_due;    /* some since the last start */
        char why[400]; /* the first of those */
    } without;
    int early; /* it is ready when the first agent is */
    struct launch *launch;
    struct arrival *arrival;
    struct members *members; /* NULL: no agent is READY */
    uint32_t number; /* of the last order that the agents have had before */
    size_t n, here;  /* at the start; of them READY or lost again */
    size_t seats;    /* of nodes that may join */
    char *sat;       /* one a seat: its agent has been READY */
    uint32_t job, step;
    struct event *deadline;
    struct event *early_timer; /* until it begins with those that are here */
    int start_ms;              /* from srun to the last READY */
    int told_queued;           /* that Slurm does not start them yet */
    int again;                 /* the deadline is that of another start */
    char *nodes; /* Slurm's list of those that must come; NULL: not known */
    struct absence *absence;  /* who has not, as it is asked; or NULL */
    struct event *late_timer; /* since an agent came, and not all have */
    struct absence *late;     /* likewise asked, to say who is waited for */
    int told_late;
    char aborted[400]; /* why srun has ended all, or "" */
    char absent[64];   /* how many came, until that is told */
    struct {           /* session_rescue.h */
        enum {
            RESCUE_NOT,
            RESCUE_ASKED,  /* all are lost: srun's words say what is next */
            RESCUE_STARTED /* another step, of which no agent has come yet */
        } stage;
        struct event *timer;
        double *lost;       /* one a node: when, by the clock; 0: it is not, or
                               is not to be started again */
        int is_refused;     /* agents are to end */
        int times;          /* so many steps were started */
        char *list, *seats; /* of the newest */
        struct launch_join join;
    } rescue;
    struct awake *awake;
    int ready, failed, closing;
    char *
        given_up; /* one a node: it was told that it is lost; NULL: not early */
    int recalled; /* the agents were there */
    uint32_t linger_s; /* the agents are to stay; 0: they are not */
    char linger_name[STEP_NAME_MAX], linger_path[STEP_PATH_MAX];
    struct recall *recall;      /* of those that have stayed, or NULL */
    struct lingering lingering; /* where they will */
    size_t agreed;              /* of them; n + 1: one does not stay */
};

static inline int session_set_deadline(struct session *s, int ms)
{
    struct timeval tv = {ms / 1000, ms % 1000 * 1000};

    return evtimer_add(s->deadline, &tv);
}

/* For those of --local that are there, so much more each. */
static inline int session_with_each(const struct session *s,
                                    int ms,
                                    int each_ms)
{
    return s->is_local ? ms + (int)launch_running(s->launch) * each_ms : ms;
}

#endif
