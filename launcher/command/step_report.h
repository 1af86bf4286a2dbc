/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step_report.h - how the ranks of an attended step use their time is collected
 * while it runs; when it is over, it is told on stderr and in a file, if that
 * is wanted.
 *
 * Whatever fails here costs the report, and one line; never the step.
 */
#ifndef LAUNCHER_COMMAND_STEP_REPORT_H
#define LAUNCHER_COMMAND_STEP_REPORT_H

#include "launcher/session/energy.h"
#include "launcher/session/energy_saved.h"
#include "launcher/session/qualification.h"
#include "launcher/session/step_times.h"

#include <stdio.h>

struct event;
struct event_base;

struct step_report { /* all zero: not started */
    struct step_times *times;
    const struct energy_watch *energy; /* the caller's; NULL: not known */
    const struct energy_saved *saved;  /* a node each; likewise */
    struct event *late;                /* nodes do not answer */
    const char *path;                  /* of the file, or "" */
    const char *command;               /* of the step, or NULL: not known */
    FILE *file;                        /* or NULL */
    int wanted, is_steered; /* the latter as of the end, by the caller */
    int is_cpu;             /* the meter, by the caller: CPU time, not MPI */
    int is_awaited; /* by the caller: its nodes are asked, wanted or not */
    uint32_t job, step;
    void (*over)(void *arg);
    void *arg;
};

/* Want it, as a file, too, unless path is "" or NULL. */
void step_report_want(struct step_report *r, const char *path);
/* r->job and r->step are set. */
void step_report_start(struct step_report *r, struct session *session);
/* 1 if the message was for it. */
int step_report_message(struct step_report *r,
                        size_t node,
                        uint16_t type,
                        const uint8_t *body,
                        size_t len);
void step_report_lost(struct step_report *r, size_t node);
/* The step is over: over() is called when all nodes have told how it went, or
 * a second has passed, or at once if nobody wants to know. */
void step_report_end(struct step_report *r,
                     struct event_base *base,
                     void (*over)(void *arg),
                     void *arg);
/* Tell it, if it is wanted and has ended. */
void step_report_tell(struct step_report *r, const struct qualification *q);
void step_report_stop(struct step_report *r);

#endif
