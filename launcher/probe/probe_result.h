/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_result.h - what all probes of a node have in common: their setup and
 * their result.
 */
#ifndef LAUNCHER_PROBE_PROBE_RESULT_H
#define LAUNCHER_PROBE_PROBE_RESULT_H

#include "policy/metric.h"

#include <stdatomic.h>
#include <stdint.h>

#define PROBE_NODE_BUDGET_MS     1000 /* for all elements of a node */
#define PROBE_NODE_BUDGET_MIN_MS 200  /* with less C sees no whole period */
#define PROBE_NODE_BUDGET_MAX_MS 10000

#define PROBE_PATH_MAX                                                         \
    256 /* path of the scratch or cache directory, with NUL */
#define PROBE_WHAT_MAX 160 /* one line of a table, with its NUL */

#define PROBE_NAME_MAX    24   /* of an element of the site's, with its NUL */
#define PROBE_UNIT_MAX    16   /* likewise */
#define PROBE_COMMAND_MAX 1024 /* likewise */

struct topology; /* topology.h */

/* An element of the site's own: a command that prints a number.  All 0 where
 * there is none. */
struct probe_site {
    char name[PROBE_NAME_MAX];
    char unit[PROBE_UNIT_MAX];
    char command[PROBE_COMMAND_MAX]; /* for sh -c */
    int less;                        /* less of it is better */
    int budget_ms;                   /* PROBE_NODE_BUDGET_MIN_MS to _MAX_MS */
};

/* Where a probe looks, and how long it may take. */
struct probe_setup {
    int budget_ms;       /* for all of a node's elements together */
    unsigned elements;   /* bits of PROBE_BIT(); others are left out */
    const char *sysfs;   /* "/sys" */
    const char *proc;    /* "/proc" */
    const char *scratch; /* a directory on the node's own disk */
    const char *drivers; /* a folder of GPUs' drivers; NULL: the loader's */
    const struct topology *topology; /* NULL: not known; see probe_node() */
    const struct probe_site *site;   /* [SITE_ELEMENTS]; NULL: there are none */
    struct probe_early *early;       /* of the probe that runs, or NULL */
};

#define PROBE_BIT(element) (1u << (element))
#define PROBE_ALL          (PROBE_BIT(ELEMENTS) - 1)
#define PROBE_CORE         (PROBE_BIT(ELEMENT_SITE) - 1)

enum probe_state {
    PROBE_LEFT_OUT, /* it was not asked for */
    PROBE_MEASURED,
    PROBE_NOT_MEASURED, /* "what" says why */
};

struct probe_result {
    enum probe_state state;
    double value;              /* in its unit; 0: the node has none of it */
    double spread;             /* relative standard deviation; 0: certain */
    double seconds;            /* that it took, also if it failed */
    uint32_t count;            /* CPUs (C, M, B), ports (I), devices (G) */
    uint64_t capacity_bytes;   /* memory (M, G), free space (S); else 0 */
    double compute;            /* of G: Gflop/s; 0: not measured, or no GPU */
    char what[PROBE_WHAT_MAX]; /* what was measured, or why it was not */
    int between; /* of I: a flow between nodes, not what the port tells */
    /* of an element of the site's: */
    char name[PROBE_NAME_MAX];
    char unit[PROBE_UNIT_MAX];
    int less; /* less of it is better; then a value is above 0 */
};

/* What a probe knows before its end, for those who wait for it. */
struct probe_early {
    struct probe_result result;
    atomic_int known; /* 0: none, or it is being written */
};

/* A probe.  It fills *r, which is all 0, in about budget_ms, by one call of
 * probe_measured() or probe_not_measured(). */
typedef void (*probe_measure_fn)(const struct probe_setup *setup,
                                 int budget_ms,
                                 struct probe_result *r);

/* Name and unit of a result of an element, such as "memory" and "GB/s"; static
 * strings, or those of *r. */
const char *probe_name(const struct probe_result *r, enum element e);
const char *probe_unit(const struct probe_result *r, enum element e);

/* What a node is ranked by, of which more is better; NaN if it was not
 * measured. */
double probe_amount(const struct probe_result *r);

/* A printable line of 1 to size - 1 bytes, as a name, a unit or a command is? */
int probe_is_label(const char *text, size_t size);

/* Set a result; if value is not finite, it counts as not measured. */
void probe_measured(struct probe_result *r,
                    double value,
                    double spread,
                    const char *fmt,
                    ...) __attribute__((format(printf, 4, 5)));
void probe_not_measured(struct probe_result *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Say what is known so far, as the result of a probe that gets no further; one
 * that was not measured gets its reason then. */
void probe_publish(const struct probe_setup *setup,
                   const struct probe_result *r);

/*
 * Check a result that was read from a file: its state must be known, its
 * numbers finite and not negative, its text one printable line.
 */
int probe_result_holds(const struct probe_result *r);

#endif
