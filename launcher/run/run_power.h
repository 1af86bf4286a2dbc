/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_power.h - the programs of `evenstep run` tell how far they are by
 * evenstep_tick(), which `evenstep top` shows; and with --power they are
 * steered by it, as under srun (session/steering.h).
 */
#ifndef LAUNCHER_RUN_RUN_POWER_H
#define LAUNCHER_RUN_RUN_POWER_H

#include "launcher/run/slots.h"
#include "launcher/session/top_file.h"

struct run_power { /* all zero: not started */
    struct steering *steering;
    const struct slots *slots;
    enum aggregate aggregate;
    int64_t await_ns; /* a guard may take as long; 0: none is awaited */
    struct top_view meter;
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
/* To be called now and then. */
void run_power_look(struct run_power *p);
/* Put how the nodes stand into top, if it has none and they tell of it; else
 * what limits those have that it has.  Valid until the next call on p. */
void run_power_view(struct run_power *p, struct top_view *top);
void run_power_stop(struct run_power *p);

#endif
