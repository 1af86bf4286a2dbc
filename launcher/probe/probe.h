/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe.h - what all probes of a node have in common, and the runner.
 *
 * A probe is one file, probe_<x>.[ch], with one function of type
 * probe_measure_fn for its core element.  The runner gives each a child
 * process of its own, so that one that hangs in a driver or on a dead disk is
 * ended, and one that is killed for its memory takes nobody along:
 *
 *   C  probe_cpu.h      then      M  probe_memory.h      then
 *   S  probe_storage.h  and  G  probe_gpu.h  and  I  probe_link.h  then
 *   B  probe_bus.h
 *
 * C, M and B each have the CPUs for themselves.  S, G and I wait for devices
 * most of the time and not for the same ones, so they go together.  B comes
 * after G because an idle card rests on a slow link: G has woken it.
 */
#ifndef LAUNCHER_PROBE_PROBE_H
#define LAUNCHER_PROBE_PROBE_H

#include "pmix_bcast/error.h"
#include "policy/metric.h"

#include <stdint.h>

#define PROBE_NODE_BUDGET_MS     1000 /* for all elements of a node */
#define PROBE_NODE_BUDGET_MIN_MS 200  /* below, C sees no whole period */
#define PROBE_NODE_BUDGET_MAX_MS 10000

#define PROBE_PATH_MAX 256 /* of the scratch or the cache's directory */
#define PROBE_WHAT_MAX 160 /* one line of a table, its NUL included */

struct topology; /* topology.h */

/* Where a probe looks, and for how long it may. */
struct probe_setup {
    int budget_ms;       /* for all of a node's elements together */
    unsigned elements;   /* bits of PROBE_BIT(); others are left out */
    const char *sysfs;   /* "/sys" */
    const char *proc;    /* "/proc" */
    const char *scratch; /* a directory on the node's own disk */
    const char *cuda;    /* the driver library, as dlopen() takes it */
    const struct topology *topology; /* NULL: not known; see probe_node() */
};

#define PROBE_BIT(element) (1u << (element))
#define PROBE_ALL          (PROBE_BIT(ELEMENTS) - 1)

enum probe_state {
    PROBE_LEFT_OUT, /* nobody asked for it */
    PROBE_MEASURED,
    PROBE_NOT_MEASURED, /* "what" says why not */
};

struct probe_result {
    enum probe_state state;
    double value;   /* in probe_unit(); 0: the node has none of it */
    double spread;  /* relative standard deviation: how sure; 0 is sure */
    double seconds; /* that it took, also in vain */
    uint32_t count; /* CPUs (C, M, B), ports (I), devices (G) */
    uint64_t capacity_bytes;   /* memory (M, G), free space (S); else 0 */
    char what[PROBE_WHAT_MAX]; /* was measured, or why not */
};

/* What one probe does: fill *r, which is all 0, in about budget_ms, by one
 * call of probe_measured() or probe_not_measured(). */
typedef void (*probe_measure_fn)(const struct probe_setup *setup,
                                 int budget_ms,
                                 struct probe_result *r);

/* Built-in places and budget, all elements; scratch is $TMPDIR or /tmp. */
void probe_setup_init(struct probe_setup *setup);

/* "memory" and "GB/s", for people; both static. */
const char *probe_name(enum element e);
const char *probe_unit(enum element e);

/* A value >= 0 that is not finite counts as not measured. */
void probe_measured(struct probe_result *r,
                    double value,
                    double spread,
                    const char *fmt,
                    ...) __attribute__((format(printf, 4, 5)));
void probe_not_measured(struct probe_result *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Could a probe have filled in r?  A known state, numbers that are finite and
 * not negative, a line of printable text; for what comes out of a file.
 */
int probe_result_holds(const struct probe_result *r);

/*
 * Measure this node.  Every element asked for ends up measured or not
 * measured with the reason, within setup->budget_ms and the time of a few
 * forks.  Where there is no topology it is loaded first, once for all.  Call it
 * from a process with one thread, as its children go on without exec.  Fails,
 * and leaves result[] untouched, only if the budget is out of range or there is
 * no memory to share with a child.
 */
int probe_node(const struct probe_setup *setup,
               struct probe_result result[ELEMENTS],
               struct es_error *err);

#endif
