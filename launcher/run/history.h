/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * history.h - what the user's runs have measured and done, a line a run, from
 * which the profile `auto` is fitted:
 *
 *   {"command": "povray", "nodes": [{"C": 11.8, …, "rate": 40.2}, …]}
 *
 * in $XDG_STATE_HOME/evenstep/history, or below ~/.local/state.  A file that
 * has grown over HISTORY_BYTES_MOST becomes history.old, and a new one begins.
 * It only ever helps: what is wrong with it costs the fit, never a run.
 */
#ifndef LAUNCHER_RUN_HISTORY_H
#define LAUNCHER_RUN_HISTORY_H

#include "launcher/run/slots.h"
#include "policy/dispatch.h"
#include "policy/fit.h"

#define HISTORY_BYTES_MOST (1u << 20) /* some thousand runs of 4 nodes */
#define HISTORY_NODES_MOST 256        /* of a run: a fit needs no more */

/* What the nodes of this run have done so far. */
struct history {
    size_t n;
    double *units, *seconds; /* one a node */
};

/* 0, or -1 if memory ran out. */
int history_init(struct history *h, size_t n);
void history_clear(struct history *h);
/* Add what was done of a frame. */
void history_frame(struct history *h,
                   const struct dispatch *d,
                   const struct slots *slots);
/* Likewise by one node, which took so long for it. */
void history_add(struct history *h, size_t node, double units, double seconds);
/*
 * Append the run.  command is the program's path or name, of which the last
 * part counts; measured is a row a node.  0, or -1 with errno.
 */
int history_append(const struct history *h,
                   const char *command,
                   const double measured[][ELEMENTS]);

/* Add up what is kept of a command, NULL: of any.  Lines that are none of ours
 * are passed over. */
void history_read(struct fit *fit, const char *command);
/* One line of it, ended with a NUL; likewise.  Pure. */
void history_add_line(struct fit *fit, const char *line, const char *command);

#endif
