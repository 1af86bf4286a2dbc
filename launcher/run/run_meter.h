/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_meter.h - `evenstep run --meter`: how far each node is with its slice,
 * heard from its agent or seen by the pieces.
 *
 * It is what `evenstep top` shows; those who take over from a late node judge
 * it by what it is at now; and with the actuator "slice" it gives units away
 * before it is late (policy/slice_steering.h).
 */
#ifndef LAUNCHER_RUN_RUN_METER_H
#define LAUNCHER_RUN_RUN_METER_H

#include "launcher/config/config.h"
#include "launcher/config/meter_option.h"
#include "launcher/run/distribution.h"
#include "launcher/session/top_file.h"
#include "policy/determination.h"

struct run_meter_setup {
    struct session *session;
    struct distribution *distribution;
    const struct determination *determination; /* of the frame before */
    const struct meter_option *option;
    const struct config_power *config;
};

struct run_meter {
    struct run_meter_setup setup;
    size_t n;                     /* slots; 0: nothing is metered */
    struct power_rule rule;       /* POWER_OFF: slices are left as they are */
    uint64_t *misuse;             /* n, as told */
    char (*label)[NODE_NAME_MAX]; /* n, for people */
    /* workspace, n each */
    double *part;
    uint64_t *give;
    struct power_node *power;
    void *room;
};

/* Order the agents to meter, if the option was given; what setup points to
 * must outlive it.  0, or -1 if memory ran out. */
int run_meter_start(struct run_meter *m, const struct run_meter_setup *setup);
/* A node is back and knows nothing. */
void run_meter_order(struct run_meter *m, size_t node);
/* Takes a node's message if it is for the meter; 1 if it was. */
int run_meter_message(struct run_meter *m,
                      size_t node,
                      uint16_t type,
                      const uint8_t *body,
                      size_t len);
/* To be called now and then while a frame is at work. */
int run_meter_look(struct run_meter *m, struct es_error *err);
/* How the nodes stand; top is filled but for the job.  Valid until the next
 * call on m. */
void run_meter_view(struct run_meter *m, struct top_view *top);
void run_meter_stop(struct run_meter *m);

#endif
