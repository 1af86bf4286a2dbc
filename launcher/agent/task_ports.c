/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/task_ports.h"
#include "launcher/agent/listening.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct caller { /* a task of that local rank, which waits */
    struct task_ports *owner;
    int fd; /* -1: it has not called */
    uint16_t port;
    struct event *on_end; /* of its connection: it has died */
};

struct task_ports {
    struct task_ports_setup s;
    struct caller *caller; /* one a task */
    uint32_t called;
    uint32_t round, error; /* error: the round that failed; 0: none has */
    int told;              /* PORTS of this round is with the front end */
    struct event *on_late;
};

/* --- who waits ------------------------------------------------------------- */

static void answer(int fd, uint32_t error)
{
    const struct slice_message m = {.type = SLICE_LISTENED, .error = error};

    (void)slice_message_send(fd, &m); /* it may have died */
    (void)close(fd);
}

static void leave(struct caller *c)
{
    if (c->on_end)
        event_free(c->on_end);
    c->on_end = NULL;
    c->fd = -1;
    c->owner->called--;
}

static void answer_all(struct task_ports *t, uint32_t error)
{
    for (uint32_t i = 0; i < t->s.tasks; i++) {
        int fd = t->caller[i].fd;

        if (fd < 0)
            continue;
        leave(&t->caller[i]);
        answer(fd, error);
    }
    t->told = 0;
    if (t->on_late)
        (void)event_del(t->on_late); /* fails for a broken base only */
}

/* A task that waits says nothing: its connection has ended. */
static void on_end(evutil_socket_t fd, short what, void *arg)
{
    struct caller *c = arg;
    struct task_ports *t = c->owner;

    (void)what;
    leave(c);
    (void)close((int)fd);
    if (t->called == 0 && !t->told)
        (void)event_del(t->on_late); /* likewise */
}

/* --- what the front end is told -------------------------------------------- */

static void tell_front(struct task_ports *t)
{
    struct msg_ports m = {.round = t->round, .missing = t->s.tasks - t->called};
    uint8_t *port = calloc(t->s.tasks, 2);
    struct writer w = {0};

    while (m.missing > 0 && t->caller[m.first].fd >= 0)
        m.first++;
    for (uint32_t i = 0; port && i < t->s.tasks; i++)
        put_u16(port + 2 * (size_t)i, t->caller[i].port);
    m.port = port;
    m.len = m.missing == 0 ? 2 * (size_t)t->s.tasks : 0;
    if (port) {
        msg_write_ports(&w, &m);
        t->s.send(t->s.arg, MSG_PORTS, &w);
    }
    free(port); /* without memory the callers' patience ends */
}

/* The front end ends the round, for all nodes. */
static void on_late(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    tell_front(arg);
}

/* --- public ---------------------------------------------------------------- */

struct task_ports *task_ports_open(const struct task_ports_setup *setup)
{
    struct task_ports *t = calloc(1, sizeof *t);

    if (!t)
        return NULL;
    t->s = *setup;
    t->caller = calloc(setup->tasks ? setup->tasks : 1, sizeof *t->caller);
    t->on_late = event_new(setup->base, -1, EV_PERSIST, on_late, t);
    if (!t->caller || !t->on_late) {
        task_ports_close(t);
        return NULL;
    }
    for (uint32_t i = 0; i < setup->tasks; i++)
        t->caller[i] = (struct caller){.owner = t, .fd = -1};
    return t;
}

/* 0, or why this one cannot wait. */
static uint32_t judge(const struct task_ports *t, const struct slice_message *m)
{
    if (!t)
        return ECONNABORTED;
    if (m->rank >= t->s.tasks)
        return EINVAL;
    if (m->port > UINT16_MAX)
        return EINVAL;
    if (m->port > 0 && listening_at(t->s.ip, (uint16_t)m->port) == LISTENING_NO)
        return EADDRNOTAVAIL;
    if (t->error)
        return t->error;
    return t->caller[m->rank].fd >= 0 || t->told ? EBUSY : 0;
}

void task_ports_take(struct task_ports *t,
                     int fd,
                     const struct slice_message *m)
{
    uint32_t why = judge(t, m);
    struct timeval patience = {0, 0};
    struct caller *c;

    if (why) {
        answer(fd, why);
        return;
    }
    patience.tv_sec = t->s.patience_s;
    c = &t->caller[m->rank];
    c->on_end = event_new(t->s.base, fd, EV_READ, on_end, c);
    if (!c->on_end || event_add(c->on_end, NULL) < 0
        || (t->called == 0 && event_add(t->on_late, &patience) < 0)) {
        if (c->on_end)
            event_free(c->on_end);
        c->on_end = NULL;
        answer(fd, ENOMEM);
        return;
    }
    c->fd = fd;
    c->port = (uint16_t)m->port;
    if (++t->called < t->s.tasks)
        return;
    t->told = 1;
    tell_front(t);
}

void task_ports_end(struct task_ports *t, uint32_t round, uint32_t error)
{
    if (round != t->round)
        return;
    t->round++;
    t->error = error;
    answer_all(t, error);
}

void task_ports_away(struct task_ports *t)
{
    if (t->called > 0 || t->told)
        task_ports_end(t, t->round, ECONNABORTED);
}

void task_ports_close(struct task_ports *t)
{
    if (!t)
        return;
    if (t->caller)
        answer_all(t, ECONNABORTED);
    if (t->on_late)
        event_free(t->on_late);
    free(t->caller);
    free(t);
}
