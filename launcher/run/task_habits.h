/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * task_habits.h - options that people bring to tasks from GNU parallel, xargs,
 * HyperQueue, disBatch and srun: those that mean one of ours, those that ask for
 * what is done anyhow, and how to say the others here.
 */
#ifndef LAUNCHER_RUN_TASK_HABITS_H
#define LAUNCHER_RUN_TASK_HABITS_H

#include "launcher/base/options.h"

/* Of run and tasks; ends with one of nobody. */
extern const struct option_habit task_habits[];

#endif
