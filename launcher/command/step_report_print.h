/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step_report_print.h - how a step went: a paragraph for people, and the lines
 * of the report's file.
 */
#ifndef LAUNCHER_COMMAND_STEP_REPORT_PRINT_H
#define LAUNCHER_COMMAND_STEP_REPORT_PRINT_H

#include "launcher/session/energy.h"
#include "launcher/session/energy_saved.h"
#include "launcher/session/qualification.h"
#include "launcher/session/step_times.h"

#include <stdio.h>

#define STEP_REPORT_LINES 8
#define STEP_REPORT_LINE  1024

struct step_report_of {
    uint32_t job, step;
    const struct step_times *times;
    const struct step_summary *summary;
    const char *command; /* NULL: not known */
    const double *speed; /* of each node, percent; NULL: not known */
    const struct energy_watch *energy; /* likewise */
    const struct energy_saved *saved;  /* a node each; likewise */
    const struct qualification *nodes; /* likewise */
    int is_steered; /* nodes had more or less than their parts */
    int is_cpu;     /* metered by CPU time: waiting is time without it */
};

/* The paragraph, a line each; returns how many lines there are. */
size_t step_report_text(const struct step_report_of *of,
                        char line[STEP_REPORT_LINES][STEP_REPORT_LINE]);
/* One line for the job's comment. */
void step_report_comment(const struct step_report_of *of,
                         char line[STEP_REPORT_LINE]);
/* What the nodes have used and, unless saved is NULL, saved; 0 if that is not known (line is untouched). */
int step_report_energy(uint32_t job,
                       uint32_t step,
                       const struct energy_watch *energy,
                       const struct energy_saved *saved,
                       char line[STEP_REPORT_LINE]);
/* A line of JSON for the step, each node and each rank; 0, or -1 with errno.
 */
int step_report_write(FILE *out, const struct step_report_of *of);

#endif
