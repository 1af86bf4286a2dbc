/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slice_input.h - the file of lines that is the stdin of a slice's command: has
 * all of it been read?
 *
 * The command shares our place in the file, as its children do, so that the place
 * tells at its end how far they have come.  Who opens it anew (/dev/stdin), maps it
 * or reads by pread(2) leaves that at the begin: then the time of the last access
 * tells that somebody has read it, where the file system keeps one.
 */
#ifndef LAUNCHER_AGENT_SLICE_INPUT_H
#define LAUNCHER_AGENT_SLICE_INPUT_H

#include <stddef.h>

#define SLICE_INPUT_WHY 192 /* bytes of a reason, with its NUL */

/* It is complete: whoever gets it begins with the first line. */
void slice_input_rewind(int fd);
/* 1 if lines are left that nobody has read, and why says how many; else 0. */
int slice_input_is_left(int fd, char why[SLICE_INPUT_WHY]);

#endif
