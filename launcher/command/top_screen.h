/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top_screen.h - `evenstep top` on a terminal, redrawn twice a second.  ncurses is
 * used here and nowhere else.
 */
#ifndef LAUNCHER_COMMAND_TOP_SCREEN_H
#define LAUNCHER_COMMAND_TOP_SCREEN_H

#include "pmix_bcast/error.h"

#include <stdint.h>

/* Show what the user has at work (job 0: of all jobs) until q is typed.  The
 * last line of the screen tells the keys. metrics: a file that is written at each
 * look, too; NULL: none. */
int top_screen(uint32_t job, const char *metrics, struct es_error *err);

#endif
