/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy.h - the one interface of everything that sizes slices and bundles;
 * kinds.h lists them.
 *
 * A policy is a table of constants and pure functions on a state that the
 * caller owns.  A size policy hears how the last frame went and says how much
 * load each node gets in the next one; shares_cut() makes slices of that.
 *
 *   state = malloc(kind->state_bytes(n, value));
 *   kind->init(state, &setup);                 may fail, once
 *   kind->loads(state, load);                  for the first frame
 *   per frame: kind->adjust(state, completion, over_threshold, load);
 *
 * A bundle policy (kind->bundles is not NULL) is one for frames that are cut
 * into many bundles: a node gets its next one as soon as one is back.
 *
 *   per frame:    kind->bundles->set_context(state, tasks of the frame);
 *   per dispatch: kind->bundles->set_job(state, node, tasks of the frame, tasks
 *                 of it that are left to be sent);
 *                 send kind->bundles->size(state, node) tasks, or what is left
 *   per result:   kind->bundles->feedback(state, node, tasks, time_ns);
 *
 * It has loads() and adjust(), too, and so can size slices; those of a size
 * policy are its bundles.  So every policy can drive every work.
 *
 * The state holds no pointers: a copy by memcpy() is a state of its own.
 */
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include "policy/metric.h"

#include <stddef.h>
#include <stdint.h>

#define POLICY_PARAMS 10 /* of one kind, at most; for callers' arrays */

/* What the program that a policy comes from makes of a value out of range. */
enum policy_outside {
    OUTSIDE_REFUSED, /* it is ours: an error */
    OUTSIDE_NEAREST, /* the nearest bound; a fraction is cut off */
    OUTSIDE_DEFAULT  /* the default; a fraction is cut off */
};

/* What can be said after the name: key=value. */
struct policy_param {
    const char *key;
    double def, min, max; /* both bounds are allowed values */
    int integer;          /* only whole numbers */
    const char *help;     /* one line */
    enum policy_outside outside;
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
    double begin, end;      /* where in the frame, of 0 to 1, that was measured;
                               both 0: where its load has it */
};

/*
 * What a bundle policy has besides.  tasks.h says what a task is.  None fails;
 * a node that has left is passed over.  O(1) or, for `proportional`, O(n).
 */
struct policy_bundles {
    /* A frame begins: the most tasks of any frame that waits, 0 = not known. */
    void (*set_context)(void *state, int32_t tasks);

    /* Before each dispatch: the frame has so many tasks in all, of which so
       many are left to be sent. */
    void (*set_job)(void *state, size_t node, int32_t tasks, int32_t left);

    /* Tasks to send next; may be more than are left.  0 = the node has left,
       below 0 = overflow, as JPPF has it: send 1. */
    int32_t (*size)(const void *state, size_t node);

    /* A bundle is back, whose round trip took time_ns. */
    void (*feedback)(void *state, size_t node, int32_t tasks, double time_ns);

    /* What the node is made of: threads as configured, processors as found; 0
       or less = not known. */
    void (*set_threads)(void *state,
                        size_t node,
                        int32_t threads,
                        int32_t processors);

    void (*leave)(void *state, size_t node);

    /* A node that has left is back, as new. */
    void (*join)(void *state, size_t node);
};

struct policy_kind {
    const char *name;
    const char *help; /* one line */
    const struct policy_param *params;
    size_t n_params;
    const struct policy_bundles *bundles; /* NULL: a size policy */
    int by_speed; /* its loads are only to make all end together: where it is
                     known what pieces cost, that tells better */

    /* Bytes of a state for so many nodes and these parameters (in the table's
       order, accepted), aligned as by malloc(); 0 if that many cannot be. */
    size_t (*state_bytes)(size_t nodes, const double value[]);

    /* Start: 0, or -1 if setup breaks policy_setup_holds() (nothing done). */
    int (*init)(void *state, const struct policy_setup *setup);

    /* The loads of the frame to come, percent, n values. */
    void (*loads)(const void *state, double load[]);

    /* What has become of the metrics, n values; NULL: it leaves them alone. */
    void (*metrics)(const void *state, struct metric m[]);

    /*
     * After a frame: the loads of the next one.
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

/* Place of a key in the kind's table, or n_params if it has none such. */
size_t policy_param_find(const struct policy_kind *kind, const char *key);

/* Is value allowed for the parameter: finite, in range, whole if it must? */
int policy_param_accepts(const struct policy_param *param, double value);

/*
 * What the policy's program of origin makes of a value: the value itself, or
 * the nearest whole number, bound or default; NaN if it is refused.
 */
double policy_param_settle(const struct policy_param *param, double value);

/* Every parameter's default, in the table's order: n_params values. */
void policy_defaults(const struct policy_kind *kind, double value[]);

/*
 * Is setup fit for the kind: n >= 1, each JL finite and >= 0 with one > 0,
 * every parameter accepted?  init() asks this.
 */
int policy_setup_holds(const struct policy_kind *kind,
                       const struct policy_setup *setup);

#endif
