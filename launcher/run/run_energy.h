/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_energy.h - the energy that the nodes use while a run lasts, and in each
 * of its frames, for its report.
 */
#ifndef LAUNCHER_RUN_RUN_ENERGY_H
#define LAUNCHER_RUN_RUN_ENERGY_H

#include "launcher/session/energy.h"
#include "launcher/session/top_file.h"

#include <jansson.h>

struct run_energy { /* all zero: not watched */
    struct energy_watch *watch;
    const struct session *session;
    struct energy_view *before; /* n: of each node when the last frame ended */
    size_t n;
};

/* guard: the nodes have one.  Without memory nothing is known. */
void run_energy_start(struct run_energy *e,
                      struct event_base *base,
                      struct session *session,
                      const struct config *config,
                      int guard);
/* A node has come back. */
void run_energy_returned(struct run_energy *e, size_t node);
/* 1 if the message was of it. */
int run_energy_message(struct run_energy *e,
                       size_t node,
                       uint16_t type,
                       const uint8_t *body,
                       size_t len);
/* Add joules and mean watts of the frame that has ended to its line of the report, of each
 * node of which they are known.  Takes line over, NULL for NULL; NULL if memory
 * ran out. */
json_t *run_energy_frame(struct run_energy *e, json_t *line);
/* Likewise of the whole run, to its summary. */
json_t *run_energy_sum(const struct run_energy *e, json_t *line);
/* What is known of it so far. */
void run_energy_view(const struct run_energy *e, struct top_progress *p);
void run_energy_stop(struct run_energy *e);

#endif
