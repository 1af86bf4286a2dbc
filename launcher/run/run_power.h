/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_power.h - the programs of `evenstep run` tell how far they are by
 * evenstep_tick(), which `evenstep top` shows; and with --power they are
 * steered by it, as under srun (session/steering.h).
 */
#ifndef LAUNCHER_RUN_RUN_POWER_H
#define LAUNCHER_RUN_RUN_POWER_H

#include "launcher/run/slots.h"
#include "launcher/run/turns.h"
#include "launcher/session/top_file.h"
#include "policy/determination.h"

struct run_power { /* all zero: not started */
    struct steering *steering;
    const struct slots *slots;
    enum aggregate aggregate;
    int limits;       /* are set */
    int64_t await_ns; /* a guard may take as long; 0: none is awaited */
    struct top_view meter;
    struct turns turns; /* of the work, and of limits */
};

/* 1 if limits are to be set by the guard of each node, which the plugin has to
 * start. */
int run_power_wants_guard(const struct config_power *config,
                          enum power_variant variant,
                          int is_local);
/* Order the agents to watch the programs, which have not begun; slots must
 * outlive it.  0, or -1 if memory ran out. */
int run_power_start(struct run_power *p,
                    struct session *session,
                    const struct slots *slots,
                    const struct config_power *config,
                    enum power_variant variant);
/* Takes a node's message if it is for steering; 1 if it was. */
int run_power_message(struct run_power *p,
                      size_t node,
                      uint16_t type,
                      const uint8_t *body,
                      size_t len);
/* Threads that a node's programs are advised to use; 0: they are not. */
uint32_t run_power_threads(const struct run_power *p, size_t node);
void run_power_lost(struct run_power *p, size_t node);
void run_power_returned(struct run_power *p, size_t node);
/*
 * Work is moved from frame to frame, and so steers, too: in each frame one of both
 * does.  Returns the speeds of the slots, see dispatch_set_speeds(); NULL: nothing
 * is limited, or memory ran out.
 */
const double *run_power_turns(struct run_power *p);
/* A frame begins. */
void run_power_frame(struct run_power *p);
/* It has ended: t is as with the limits of the start from here on, and not over the
 * threshold where work is to stay as it is cut. */
void run_power_frame_end(struct run_power *p,
                         const struct dispatch *d,
                         struct determination *t);
/* To be called now and then. */
void run_power_look(struct run_power *p);
/* Put how the nodes stand into top, if it has none and they tell of it; else
 * what limits those have that it has.  Valid until the next call on p. */
void run_power_view(struct run_power *p, struct top_view *top);
void run_power_stop(struct run_power *p);

#endif
