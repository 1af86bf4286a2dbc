/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top_screen.h - `evenstep top` on a terminal.  ncurses is used here and
 * nowhere else.
 */
#ifndef LAUNCHER_COMMAND_TOP_SCREEN_H
#define LAUNCHER_COMMAND_TOP_SCREEN_H

#include "pmix_bcast/error.h"

#include <stdint.h>

/* Show the user's steps (job 0: all) until q is typed; see help in the
 * screen's last line.  metrics: also written at each look; NULL: none. */
int top_screen(uint32_t job, const char *metrics, struct es_error *err);

#endif
