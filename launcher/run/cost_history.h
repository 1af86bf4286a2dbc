/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cost_history.h - what the user's commands have cost, a line a run, from which
 * the next run of one knows it before its first piece:
 *
 *   {"command": "python3", "file": "render.py", "line": "9f1c…", "wait": 0.61,
 *    "burn": 0.02, "each": 0.0035, "noise": 0.04, "speed": 11.8,
 *    "lag": {"n3": 1.95},
 *    "exponent": 1.07, "loose": 0.04, "sure": 6.1, "by": "probe C0.3M0.3 C node 1",
 *    "begin": 0, "units": 360, "seen": [[0, 0.6, 1.2, 0.05], [0.6, 1, 0.7, 0.05]]}
 *
 * in $XDG_STATE_HOME/evenstep/costs, or below ~/.local/state.
 *
 * line is a hash of the command line as it was given, {begin} and all, with the
 * full path of its file: the newest run of that very line counts.  Is there
 * none, then the newest of the same program with the same file: other arguments
 * change less than other work does.  The file is the first argument that names
 * one; so `python3 a.py` and `python3 b.py` are strangers.  A command without a
 * file (`sh -c ...`) is known by its line alone, as a shell tells nothing of
 * what it runs.
 *
 * Where units are not alike, along a frame of `units` from `begin` on, `seen` is
 * what pieces said of that (density.h: begin, end, mean and deviation of each).  It
 * counts for a run of the same line whose first frame is as that.
 *
 * Where nodes differed, their speeds went as those that were measured to the power
 * of `exponent`; ln() of one is off that by `loose`, and `sure` says how well the
 * exponent is known (struct cost_scaling).  It counts where speeds are told in the
 * same way, which `by` names.
 *
 * Where starts wait longer on some nodes, or less (cost_lag()), `lag` has the seconds
 * of each by its name.
 *
 * speed is what the run's nodes measured of their CPUs, as a mean, 0 if they
 * did not: nodes that are faster burn less time.
 *
 * It only ever helps: what is wrong with it costs the first pieces, never a
 * run.
 */
#ifndef LAUNCHER_RUN_COST_HISTORY_H
#define LAUNCHER_RUN_COST_HISTORY_H

#include "policy/cost.h"

#include <jansson.h>

#define COST_HISTORY_BYTES_MOST (1u << 19) /* of hundreds of runs */

#define COST_BY 200
/* Nodes whose lag is kept. */
#define COST_LAGS 64

/* Which command it is. */
struct cost_key {
    char command[64]; /* the last part of its path, shortened */
    char file[64];    /* likewise; "": none */
    char line[17];    /* in hexadecimal */
};

/* How well a line is known. */
enum cost_match { COST_STRANGER, COST_SAME_PROGRAM, COST_SAME_LINE };

struct cost_node_lag {
    char node[64];
    double seconds;
};

struct cost_record {
    enum cost_match match;
    struct cost_terms terms;
    double noise;
    double speed; /* of the nodes' CPUs, in any one unit; 0: not known */
    struct cost_scaling scaling; /* exponent 0: not known */
    char by[COST_BY];            /* what told speeds were, as text */
    struct cost_profile profile; /* of the same line only */
    struct cost_node_lag lag[COST_LAGS];
    size_t lags;
};

/* argv: the command, NULL after its last. */
void cost_key_of(struct cost_key *key, char *const argv[]);
/* The best that is known of it. */
void cost_history_read(struct cost_record *best, const struct cost_key *key);
/* One line of it, ended with a NUL: taken if it is as good a match as what is
 * there, or better.  Pure. */
void cost_history_line(struct cost_record *best,
                       const struct cost_key *key,
                       const char *line);
/* The terms on nodes of such a speed. */
struct cost_terms cost_record_terms(const struct cost_record *r, double speed);
/* What starts wait longer on a node; 0 if that is not known. */
double cost_record_lag(const struct cost_record *r, const char *node);
/* There is one more, if there is room and its name is none too long. */
void cost_record_add_lag(struct cost_record *r,
                         const char *node,
                         double seconds);
/* What it says of the costs, as an object with the keys above; NULL if memory ran
 * out. */
json_t *cost_record_json(const struct cost_record *r);
/* Append what a run has learned; match does not count.  0, or -1 with errno. */
int cost_history_append(const struct cost_key *key,
                        const struct cost_record *r);

#endif
