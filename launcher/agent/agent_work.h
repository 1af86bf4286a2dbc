/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * agent_work.h - what a node does of the frames: its slices one after another,
 * each by a command of its own, or all by one program that stays alive.
 *
 * What it has to say to the front end (protocol.h) it says by itself: OUTPUT
 * and DONE of each slice, METERED while it runs, IDLE and OVER of the program,
 * and PORTS, see task_ports.h.
 */
#ifndef LAUNCHER_AGENT_AGENT_WORK_H
#define LAUNCHER_AGENT_AGENT_WORK_H

#include "launcher/wire/protocol.h"

struct agent_work;
struct event_base;
struct throttle;

struct agent_work_setup {
    struct event_base *base;
    struct throttle *throttle; /* NULL: full speed */
    const char *node;
    char **environ;    /* for the commands */
    const uint8_t *ip; /* 16 bytes: of the node's adapter */
    void (*send)(void *arg, enum protocol_type type, struct writer *w);
    void (*gone)(void *arg); /* a command or program has ended */
    void (*idle)(void *arg); /* likewise, and nothing has followed */
    void *arg;
};

/* NULL if memory ran out. */
struct agent_work *agent_work_open(const struct agent_work_setup *setup);
/* SLOTS, COMMAND, FILES, METER, MEASURED, PORTS, INPUT, RUN, CANCEL or OVER has
 * come; -1 if it breaks the protocol. */
int agent_work_receive(struct agent_work *w,
                       enum protocol_type type,
                       const uint8_t *body,
                       size_t len);
/* Start nothing (on != 0) while the node is measured. */
void agent_work_pause(struct agent_work *w, int on);
/* From now on the commands hear of the step directory, as EVENSTEP_DIR.
 * 0, or an errno. */
int agent_work_directory(struct agent_work *w, const char *step);
/* Do not read (on != 0) what the commands write. */
void agent_work_hold(struct agent_work *w, int on);
/* Does a command run for a slice, or end because it was told to? */
int agent_work_busy(const struct agent_work *w);
/*
 * Forget what waits, and let what runs see its SIGTERM; execution_stop() bounds
 * how long it then takes, and nothing more is said of it.  Is there anything to
 * wait for?  NULL is allowed.
 */
int agent_work_stop(struct agent_work *w);
/* End it at once; NULL is allowed. */
void agent_work_close(struct agent_work *w);

#endif
