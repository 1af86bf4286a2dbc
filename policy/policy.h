/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy.h - the one interface of everything that sizes slices.
 *
 * A policy is a table of constants and pure functions on a state that the
 * caller owns.  It hears how the last frame went and says how much load each
 * node gets in the next one; shares_cut() makes slices of that.
 *
 *   state = malloc(kind->state_bytes(n));
 *   kind->init(state, &setup);                 may fail, once
 *   kind->loads(state, load);                  for the first frame
 *   per frame: kind->adjust(state, completion, over_threshold, load);
 *
 * The state holds no pointers: a copy by memcpy() is a state of its own.
 */
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include "policy/metric.h"

#include <stddef.h>
#include <stdint.h>

#define POLICY_PARAMS 8 /* of one kind, at most; for callers' arrays */

/* What can be said after the name: key=value. */
struct policy_param {
    const char *key;
    double def, min, max; /* both bounds are allowed values */
    int integer;          /* only whole numbers */
    const char *help;     /* one line */
};

struct policy_setup {
    size_t n;                      /* nodes */
    const struct metric *metric;   /* n, after metric_rank() */
    const struct profile *profile; /* that they were ranked with */
    const double *value;           /* one a parameter, in the table's order */
};

enum presence {
    PRESENCE_PRESENT, /* may get a slice */
    PRESENCE_GONE     /* has left, for good */
};

/* One node's part in the last frame. */
struct completion {
    uint64_t units;         /* that it did itself; 0 = it had no slice */
    double seconds;         /* from the frame's start to its response */
    enum presence presence; /* after the frame */
};

struct policy_kind {
    const char *name;
    const char *help; /* one line */
    const struct policy_param *params;
    size_t n_params;

    /* Bytes of a state for so many nodes, aligned as by malloc(); 0 if that
       many cannot be. */
    size_t (*state_bytes)(size_t nodes);

    /* Start: 0, or -1 if setup breaks policy_setup_holds() (nothing done). */
    int (*init)(void *state, const struct policy_setup *setup);

    /* The loads of the frame to come, percent, n values. */
    void (*loads)(const void *state, double load[]);

    /*
     * Steps 10 to 12 of seed 1, after a frame.
     *
     *   c               n values; seconds are looked at only with units > 0
     *   over_threshold  last response - first response > T, as found by the
     *                   launcher's determination
     *   load            n results, percent, for the next frame
     *
     * Returns 1 if load[] differs from the loads before, else 0.  A node that
     * has left has load 0 from then on.  All loads are 0 if no node that can
     * work is left (shares_cut() refuses them).  O(n).
     */
    int (*adjust)(void *state,
                  const struct completion c[],
                  int over_threshold,
                  double load[]);
};

/* The policy of that name, or NULL. */
const struct policy_kind *policy_find(const char *name);

/* The i-th policy, the default first; NULL past the end. */
const struct policy_kind *policy_at(size_t i);

/* Place of a key in the kind's table, or n_params if it has none such. */
size_t policy_param_find(const struct policy_kind *kind, const char *key);

/* Is value allowed for the parameter: finite, in range, whole if it must? */
int policy_param_accepts(const struct policy_param *param, double value);

/* Every parameter's default, in the table's order: n_params values. */
void policy_defaults(const struct policy_kind *kind, double value[]);

/*
 * Is setup fit for the kind: n >= 1, each JL finite and >= 0 with one > 0,
 * every parameter accepted?  init() asks this.
 */
int policy_setup_holds(const struct policy_kind *kind,
                       const struct policy_setup *setup);

#endif
