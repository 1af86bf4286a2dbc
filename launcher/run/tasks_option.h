/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tasks_option.h - what the options of a run whose units are tasks come to (--each,
 * evenstep tasks): the list of its tasks, and what people expect where the options
 * do not say otherwise.
 */
#ifndef LAUNCHER_RUN_TASKS_OPTION_H
#define LAUNCHER_RUN_TASKS_OPTION_H

#include "launcher/run/run_options.h"

/* Before run_options_settle(): the sources become a list, and the command's fields
 * are looked at.  0, or -1 with err; o->renamed and o->feed are the
 * caller's then. */
int tasks_option_settle(struct run_options *o, struct es_error *err);
/* Print each task as a line for sh, as it would be run.  0, or -1 with err. */
int tasks_option_print(const struct run_options *o, struct es_error *err);

#endif
