/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/step_tasks.h"
#include "launcher/agent/task_ports.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

struct step_tasks {
    struct feeder *feeder;
    struct task_ports *ports;
    step_tasks_send_fn send;
    void *arg;
    struct event *on_patience; /* pending while the first slice is waited for */
    struct timeval patience;
    int busy; /* a slice is out, or its DONE waits for all to ask */
    int done; /* that DONE */
    struct feeder_result result;
    int is_away;          /* the front end is */
    int is_void;          /* the slice that is out is not to be told of */
    int asks;             /* all tasks do, and have no slice */
    struct msg_idle idle; /* if they do: what they have brought */
    const char *left;     /* why one has ended while nobody heard it; or NULL */
};

static void send_idle(struct step_tasks *t)
{
    struct writer w = {0};

    msg_write_idle(&w, &t->idle);
    t->send(t->arg, MSG_IDLE, &w);
}

static void tasks_send_over(struct step_tasks *t, int error, const char *why)
{
    const struct msg_over over = {(uint32_t)error, (const uint8_t *)why,
                                  strlen(why)};
    struct writer w = {0};

    msg_write_over(&w, &over);
    t->send(t->arg, MSG_OVER, &w);
}

/* A frame ends when its tasks are ready for the next one: what they do between
 * the two is nobody's time. */
static void on_tasks_idle(void *arg, const struct msg_idle *idle)
{
    struct step_tasks *t = arg;
    int is_told = t->done && !t->is_void;
    struct msg_done done = {.id = t->result.id,
                            .elapsed_ns = (uint64_t)t->result.elapsed_ns};
    struct writer w = {0};

    t->done = t->busy = t->is_void = 0;
    t->asks = 1;
    t->idle = *idle;
    if (t->is_away)
        return; /* step_tasks_again() tells */
    if (is_told) {
        msg_write_done(&w, &done);
        t->send(t->arg, MSG_DONE, &w);
    } else {
        send_idle(t);
    }
}

static void on_tasks_done(void *arg, const struct feeder_result *result)
{
    struct step_tasks *t = arg;

    t->done = 1;
    t->result = *result;
}

static void on_left(void *arg, const char *why, int culprit)
{
    struct step_tasks *t = arg;

    (void)culprit; /* the others' fate is the same, and Slurm sees to its */
    if (t->is_away && !t->left)
        t->left = why ? why : "it closed";
    if (!t->is_away)
        tasks_send_over(t, why ? ECONNABORTED : 0, why ? why : "");
}

static void on_waits(void *arg)
{
    struct step_tasks *t = arg;

    if (!event_pending(t->on_patience, EV_TIMEOUT, NULL))
        (void)event_add(t->on_patience, &t->patience); /* else without end */
}

static void on_patience(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    tasks_send_over(arg, ETIMEDOUT,
                    "it has waited for its first slice for too long");
}

static void on_listens(void *arg, int fd, const struct slice_message *m)
{
    const struct step_tasks *t = arg;

    task_ports_take(t->ports, fd, m);
}

static const struct feeder_events events = {
    .listens = on_listens,
    .waits = on_waits,
    .idle = on_tasks_idle,
    .done = on_tasks_done,
    .left = on_left,
};

static void destroy(struct step_tasks *t)
{
    int saved = errno;

    feeder_close(t->feeder);
    task_ports_close(t->ports);
    if (t->on_patience)
        event_free(t->on_patience);
    free(t);
    errno = saved;
}

int step_tasks_open(struct step_tasks **t,
                    struct event_base *base,
                    const struct msg_tasks *step,
                    const uint8_t *ip,
                    step_tasks_send_fn sender,
                    void *arg,
                    struct es_error *err)
{
    const struct task_ports_setup ports = {.base = base,
                                           .tasks = step->tasks,
                                           .patience_s = step->patience_s,
                                           .ip = ip,
                                           .send = sender,
                                           .arg = arg};
    struct step_tasks *new = calloc(1, sizeof *new);
    int rc;

    if (!new)
        return es_no_memory(err);
    new->send = sender;
    new->arg = arg;
    new->patience.tv_sec = step->patience_s;
    new->on_patience = event_new(base, -1, 0, on_patience, new);
    new->ports = task_ports_open(&ports);
    rc = new->on_patience &&new->ports
             ? feeder_open(&new->feeder, base, step->dir, step->tasks,
                           step->by_speed != 0, &events, new, err)
             : es_no_memory(err);
    if (rc == 0)
        *t = new;
    else
        destroy(new);
    return rc;
}

int step_tasks_run(struct step_tasks *t, const struct msg_run *run)
{
    if (t->busy)
        return -1;
    t->busy = 1;
    t->asks = 0;
    (void)event_del(t->on_patience); /* fails for a broken base only */
    feeder_give(t->feeder, run, 0);
    return 0;
}

int step_tasks_survive(const struct step_tasks *t)
{
    return feeder_survives(t->feeder);
}

void step_tasks_away(struct step_tasks *t)
{
    t->is_away = 1;
    t->is_void = t->busy;
    task_ports_away(t->ports);
}

void step_tasks_again(struct step_tasks *t)
{
    t->is_away = 0;
    if (t->left)
        tasks_send_over(t, ECONNABORTED, t->left);
    else if (t->asks)
        send_idle(t);
}

void step_tasks_ports(struct step_tasks *t, uint32_t round, uint32_t error)
{
    task_ports_end(t->ports, round, error);
}

void step_tasks_over(struct step_tasks *t, const struct msg_over *over)
{
    (void)event_del(t->on_patience); /* likewise */
    feeder_end(t->feeder, over->error);
}

void step_tasks_close(struct step_tasks *t)
{
    if (!t)
        return;
    feeder_end(t->feeder, ECONNABORTED); /* else it has been said */
    destroy(t);
}
