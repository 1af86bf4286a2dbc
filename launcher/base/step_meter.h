/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step_meter.h - how a step of an unchanged program is metered: the site's
 * choice in plugin { meter } and the user's in srun --evenstep-meter.  Pure.
 */
#ifndef LAUNCHER_BASE_STEP_METER_H
#define LAUNCHER_BASE_STEP_METER_H

enum step_meter {
    STEP_METER_NONE, /* by what the program itself says, if anything */
    STEP_METER_MPI,  /* by its calls of MPI: libevenstep-mpi.so */
    STEP_METER_CPU,  /* by the CPU time of its tasks */
    STEP_METERS,
};

#define STEP_METER_WORDS "none|mpi|cpu" /* in that order; of an option */

/* Find one by its name; STEP_METERS if there is none of that name. */
enum step_meter step_meter_find(const char *name);
const char *step_meter_name(enum step_meter meter);

#endif
