/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_top.h - what `evenstep top` shows of a run: how far it is, each node with
 * its slice and, if it is metered, what the meters say (top_file.h).
 */
#ifndef LAUNCHER_RUN_RUN_TOP_H
#define LAUNCHER_RUN_RUN_TOP_H

#include "launcher/run/progress.h"
#include "launcher/run/run_energy.h"
#include "launcher/run/run_meter.h"
#include "launcher/run/run_power.h"
#include "launcher/session/top_place.h"

struct run_top { /* all zero: not started */
    struct top_place place;
    const char *what;      /* the command */
    struct top_part *part; /* n, one a node */
    size_t n;
    /* Of tasks: which one has run for longest; or NULL. */
    void (*longest)(void *arg, struct top_longest *longest);
    void *arg;
};

/* The first frame begins.  command must outlive it.  Without memory nothing is
 * shown. */
void run_top_start(struct run_top *t, size_t nodes, const char *command);
/* A node has done so many units. */
void run_top_units(struct run_top *t, size_t node, uint64_t units);
/* To be called now and then. */
void run_top_look(struct run_top *t,
                  const struct distribution *d,
                  const struct session *session,
                  struct run_meter *m,
                  struct run_power *power,
                  const struct run_energy *energy,
                  const struct progress *p);
void run_top_stop(struct run_top *t);

#endif
