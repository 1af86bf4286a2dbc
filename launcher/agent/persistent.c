/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The socket and the pipe of stdout are two ways, but the program waits at both
 * ends of a slice: what is in the pipe when it is handed out is not the
 * slice's, and what is there when it is reported still is.
 */
#include "launcher/agent/persistent.h"
#include "launcher/base/env_list.h"
#include "launcher/exec/last_words.h"

#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REASON_MAX 112 /* bytes of a reason */

struct persistent {
    const struct persistent_events *on;
    void *arg;
    struct execution *execution;
    struct feeder *feeder;
    int is_new;     /* it has neither had a slice, nor asked */
    int owes;       /* a slice was given and is not done */
    int begun;      /* and the program has it */
    int reporting;  /* it has reported the slice; `unread` is still to come */
    int closed;     /* it has left the feeder */
    int stopped;    /* by us: why */
    int culprit;    /* it has broken the rules */
    size_t outside; /* bytes in the pipe that are no slice's */
    size_t unread;  /* bytes in the pipe that are the reported slice's */
    const char *why;
};

/* --- the feeder's events -------------------------------------------------- */

static void stop_because(struct persistent *p, const char *why, int culprit)
{
    if (p->stopped)
        return;
    p->stopped = 1;
    p->culprit = culprit;
    p->why = why;
    if (culprit)
        execution_stop(p->execution);
    else
        execution_leave(p->execution);
}

static void on_feeder_idle(void *arg, const struct msg_idle *idle)
{
    struct persistent *p = arg;

    if (p->is_new)
        p->on->idle(p->arg, idle);
    p->is_new = 0;
}

static void on_begun(void *arg)
{
    struct persistent *p = arg;

    p->begun = 1;
    p->outside = execution_unread(p->execution);
}

static void on_printed(void *arg)
{
    struct persistent *p = arg;

    p->unread = execution_unread(p->execution);
    p->reporting = p->unread > 0;
    if (!p->reporting)
        feeder_taken(p->feeder);
}

static void on_feeder_done(void *arg, const struct feeder_result *result)
{
    struct persistent *p = arg;

    p->owes = p->begun = p->reporting = 0;
    p->on->done(p->arg, result);
}

/* One that has ended is reaped soon; one that has not may not stay. */
static void on_left(void *arg, const char *why, int culprit)
{
    struct persistent *p = arg;

    p->closed = 1;
    if (culprit || p->owes)
        stop_because(p, why, culprit);
}

static void on_feeder_listens(void *arg, int fd, const struct slice_message *m)
{
    const struct persistent *p = arg;

    p->on->listens(p->arg, fd, m);
}

static const struct feeder_events feeder_events = {
    .listens = on_feeder_listens,
    .idle = on_feeder_idle,
    .begun = on_begun,
    .printed = on_printed,
    .done = on_feeder_done,
    .left = on_left,
};

/* --- the execution's events ----------------------------------------------- */

static void on_program_output(void *arg, const void *buf, size_t len)
{
    struct persistent *p = arg;
    size_t skip = p->outside;

    if (!p->begun)
        return;
    if (skip > len)
        skip = len;
    p->outside -= skip;
    if (len > skip)
        p->on->output(p->arg, (const char *)buf + skip, len - skip);
    if (!p->reporting)
        return;
    p->unread -= len < p->unread ? len : p->unread;
    if (p->unread == 0)
        feeder_taken(p->feeder);
}

static void on_program_err(void *arg, const void *buf, size_t len)
{
    struct persistent *p = arg;

    p->on->err(p->arg, buf, len);
}

/* Did it fail by itself, so that its own words and status say it all? */
static int failed_by_itself(const struct persistent *p,
                            const struct execution_end *end)
{
    return end->status != 0 && !p->culprit
           && !(p->stopped && end->signal == SIGTERM);
}

static void on_program_end(void *arg, const struct execution_end *end)
{
    struct persistent *p = arg;
    struct execution_end told = *end;
    char words[EXECUTION_ERR_MAX + REASON_MAX + LAST_WORDS_EDGE];
    const char *why = p->why ? p->why : "it ended before its slice was done";

    if ((p->owes || p->stopped) && !failed_by_itself(p, end))
        last_words_add(&told, words, sizeof words, why);
    p->on->end(p->arg, &told);
}

/* --- public --------------------------------------------------------------- */

/* EVENSTEP_SOCKET is another one, whatever it was before. */
static int is_no_socket(const char *entry)
{
    return strncmp(entry, "EVENSTEP_SOCKET=", 16) != 0;
}

int persistent_start(struct persistent **p,
                     struct event_base *base,
                     const struct execution_spec *spec,
                     const char *step,
                     const struct persistent_events *on,
                     void *arg,
                     struct es_error *err)
{
    struct persistent *new = calloc(1, sizeof *new);
    struct execution_spec with = *spec;
    char variable[160], **env = NULL;
    int rc = -1;

    if (!new)
        return es_no_memory(err);
    new->on = on;
    new->arg = arg;
    new->is_new = 1;
    if (feeder_open(&new->feeder, base, step, 1, 0, &feeder_events, new, err)
        < 0)
        goto done;
    snprintf(variable, sizeof variable, "EVENSTEP_SOCKET=%s",
             feeder_path(new->feeder));
    with.envp = env = env_list_make(spec->envp, is_no_socket, variable);
    if (!env)
        es_no_memory(err);
    else
        rc = execution_start(&new->execution, base, &with, on_program_output,
                             on_program_end, new, err);
done:
    free(env);
    if (rc < 0) {
        persistent_destroy(new);
        return -1;
    }
    execution_hear_err(new->execution, on_program_err);
    *p = new;
    return 0;
}

void persistent_give(struct persistent *p,
                     const struct msg_run *slice,
                     int file)
{
    p->owes = 1;
    p->is_new = 0;
    feeder_give(p->feeder, slice, file);
    if (p->closed)
        stop_because(p, "it had closed when there was another slice for it", 0);
}

void persistent_finish(struct persistent *p)
{
    feeder_end(p->feeder, 0);
}

void persistent_hold(struct persistent *p, int on)
{
    execution_hold(p->execution, on);
}

void persistent_stop(struct persistent *p)
{
    execution_stop(p->execution);
}

pid_t persistent_group(const struct persistent *p)
{
    return execution_group(p->execution);
}

void persistent_destroy(struct persistent *p)
{
    if (!p)
        return;
    execution_destroy(p->execution);
    feeder_close(p->feeder);
    free(p);
}
