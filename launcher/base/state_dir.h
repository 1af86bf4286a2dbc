/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * state_dir.h - the user's state directory, for what outlives a command:
 * $XDG_STATE_HOME/evenstep, or below ~/.local/state.
 */
#ifndef LAUNCHER_BASE_STATE_DIR_H
#define LAUNCHER_BASE_STATE_DIR_H

/* Open it, made if it is not there, or a directory in it (NULL: itself)
 * likewise; the user's alone, if we make it.  -1 with errno. */
int state_dir_open(const char *name);

#endif
