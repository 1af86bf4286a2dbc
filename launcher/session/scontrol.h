/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scontrol.h - runs scontrol, and waits for it.
 */
#ifndef LAUNCHER_SESSION_SCONTROL_H
#define LAUNCHER_SESSION_SCONTROL_H

#include <stddef.h>

/*
 * Takes that many seconds at most; with a loop of its own.
 *
 *   words  behind "scontrol", until NULL; SCONTROL_WORDS at most
 *   text   what it prints, cut to size bytes with a NUL; NULL: nobody wants it
 *
 * Returns 0 if it ends well, else -1.
 */
#define SCONTROL_WORDS 6
#define SCONTROL_S     5
int scontrol_run(char *const words[], char *text, size_t size, int seconds);

#endif
