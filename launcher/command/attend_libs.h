/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attend_libs.h - the libraries that come with the programs among the inputs of
 * a step.
 */
#ifndef LAUNCHER_COMMAND_ATTEND_LIBS_H
#define LAUNCHER_COMMAND_ATTEND_LIBS_H

#include "launcher/base/step_env.h"
#include "launcher/command/attend_options.h"

/*
 * Find those of each input that is a program; list is their folders, "a:b", for
 * STEP_ENV_LIBS.  0, or -1 with err: no input is a program, one lacks a library,
 * or the list gets too long.
 */
int attend_libs_find(struct attend_options *o,
                     const char *exclude,
                     char list[LIBS_LIST_MAX],
                     struct es_error *err);

#endif
