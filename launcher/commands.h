/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * commands.h - the subcommands of `evenstep`, each in a file of its name.
 */
#ifndef LAUNCHER_COMMANDS_H
#define LAUNCHER_COMMANDS_H

#include "pmix_bcast/error.h"

struct subcommand; /* base/options.h */

/* attend is for the plugin: it stays beside one step of an unchanged program. */
extern const struct subcommand command_attend, command_bcast, command_check,
    command_completion, command_config, command_conntable, command_graph,
    command_help, command_join, command_plan, command_probe, command_replay,
    command_report, command_run, command_simulate, command_tasks, command_top;

/* All, in the order of --help, until NULL. */
extern const struct subcommand *const commands[];

/* The one of this name, or NULL with ES_USAGE. */
const struct subcommand *command_find(const char *name, struct es_error *err);

#endif
