/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * task_ports.h - gathers at which TCP ports the tasks of a step, or the program
 * that stays alive, on this node listen, as they say by evenstep_listen(), and tells the front end (PORTS of
 * protocol.h) when all have; each is answered when the table of all nodes' tasks
 * is on this node, or there will be none.  A port at which nobody listens is told
 * to nobody.
 *
 * That is a round; when all of them call again, it is another one.  A round that
 * has failed is the last: later callers are told the same.
 *
 * All functions run on the event loop's thread.
 */
#ifndef LAUNCHER_AGENT_TASK_PORTS_H
#define LAUNCHER_AGENT_TASK_PORTS_H

#include "launcher/libevenstep/slice_message.h"
#include "launcher/wire/protocol.h"

struct event_base;
struct task_ports;

struct task_ports_setup {
    struct event_base *base;
    uint32_t tasks;      /* on this node */
    uint32_t patience_s; /* from the first who calls to the table; >= 1 */
    const uint8_t *ip;   /* 16 bytes: where others reach them; see adapter.h */
    /* Send what w holds to the front end, and clear it. */
    void (*send)(void *arg, enum protocol_type type, struct writer *w);
    void *arg;
};

/* NULL if memory ran out. */
struct task_ports *task_ports_open(const struct task_ports_setup *setup);
/* A task has sent LISTEN; its connection, fd, is ours from now on.  t NULL: there
 * is no round that it could take part in (ECONNABORTED). */
void task_ports_take(struct task_ports *t,
                     int fd,
                     const struct slice_message *m);
/* The front end says how a round ended: 0 or an errno value. */
void task_ports_end(struct task_ports *t, uint32_t round, uint32_t error);
/* The front end is lost, and with it the round if somebody waits. */
void task_ports_away(struct task_ports *t);
/* NULL is allowed. */
void task_ports_close(struct task_ports *t);

#endif
