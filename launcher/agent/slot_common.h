/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slot_common.h - what the slots of a node have in common; and of one of them,
 * what those know that do its slices: the commands (slice_command.h) and the
 * program that stays alive (slot.c).
 */
#ifndef LAUNCHER_AGENT_SLOT_COMMON_H
#define LAUNCHER_AGENT_SLOT_COMMON_H

#include "launcher/exec/scratch.h"
#include "launcher/wire/protocol.h"

#include <stddef.h>

struct event_base;
struct output_batch;
struct place;
struct places;
struct slice_meter;
struct task_ports;
struct throttle;

struct slot_common {
    struct event_base *base;
    struct throttle *throttle;       /* NULL: full speed */
    const char *node;                /* its name */
    char *const *environ;            /* for the commands */
    struct msg_command command;      /* argv NULL: not there yet */
    int alone_fd;                    /* of alone.h, for tasks; 0: none */
    struct places *places;           /* of all slots, for tasks; NULL: none */
    struct msg_work work[WORKS_MAX]; /* works: other commands */
    size_t works;
    struct msg_files files;       /* that each slice makes; n may be 0 */
    struct scratch scratch;       /* where slices have folders of their own */
    int paused;                   /* start no command */
    struct msg_measured measured; /* ranks 0: not all nodes are yet */
    struct task_ports *ports;     /* where programs listen; NULL: nobody asks */
    size_t running;               /* commands and programs, of all slots */
    void (*send)(void *arg, enum protocol_type type, struct writer *w);
    void (*gone)(void *arg);  /* one of them has ended */
    void (*ended)(void *arg); /* likewise, and nothing has followed */
    void *arg;
};

struct slot_owner {
    struct slot_common *common;
    uint32_t number;
    const struct place *place;   /* NULL: as the agent */
    struct output_batch *output; /* of the slices */
    struct slice_meter *meter;   /* likewise, or NULL */
    void (*done)(void *arg);     /* the program has done a slice */
    void (*ended)(void *arg);    /* a command or program that ran has ended */
    void *arg;
};

#endif
