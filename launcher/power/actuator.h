/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * actuator.h - what sets how fast a node may go: each kind in a file of its
 * own behind this.
 *
 * A kind finds its files (its knobs), with what each may be set to.  Whatever
 * it finds in them is put back at the end.  A limit is of the whole node, in
 * the kind's unit; it is divided over the knobs.  The guard (power_guard.c)
 * is the only one that uses this, as it may be root: nothing but these files
 * is ever written, and nothing but numbers within their bounds.
 */
#ifndef LAUNCHER_POWER_ACTUATOR_H
#define LAUNCHER_POWER_ACTUATOR_H

#include "launcher/base/sysfs.h"
#include "pmix_bcast/error.h"

#include <sys/types.h>

#define KNOB_TEXT 64   /* bytes of a value, NUL included */
#define KNOBS_MAX 1024 /* a cpufreq policy each core */

/* Where to look, and for whom. */
struct actuator_place {
    const char *sysfs, *proc; /* "/sys", "/proc" */
    uint32_t job, step;
    pid_t task;        /* one of the step's, for what is its own */
    const char *cores; /* that the job has here, see whole_node.h */
};

struct knob {
    char path[SYSFS_PATH];
    char found[KNOB_TEXT]; /* what was in it */
    uint64_t least, most;  /* that it may be set to */
};

struct actuator {
    const struct actuator_kind *kind;
    struct knob *knob; /* n */
    size_t n;
    uint64_t limit, floor, ceiling; /* of the node; floor >= 1 */
    int is_set;                     /* the limit is in force */
    char group[SYSFS_PATH]; /* of the step's tasks that we made, or "" */
    int version;            /* of the cgroup */
};

struct actuator_kind {
    const char *name, *unit; /* of limits */
    int is_of_node;          /* also of what is no part of the step */
    /*
     * Add the knobs by actuator_add(), with their bounds, and set the ceiling,
     * and a floor below which the kernel does not go.  0, or -1 if the node
     * has no such thing.
     */
    int (*find)(struct actuator *a,
                const struct actuator_place *place,
                struct es_error *err);
    /* What to write into a knob for this limit of the node. */
    void (*format)(const struct actuator *a,
                   const struct knob *knob,
                   uint64_t limit,
                   char text[KNOB_TEXT]);
    /* One more task of the step; NULL: nothing to do. */
    int (*enter)(struct actuator *a, pid_t task, struct es_error *err);
    /* Remove what find() made, after the knobs are put back; or NULL. */
    void (*remove)(struct actuator *a);
};

extern const struct actuator_kind rapl_kind, cpufreq_kind, cgroup_kind;

/* NULL if there is none of that name. */
const struct actuator_kind *actuator_find(const char *name);

/*
 * Find the knobs and what is in them.  Nothing is set yet: limit is start, and
 * floor is lowest, both as parts of the ceiling (0..1).  On failure *a is
 * empty.  actuator_close() it.
 */
int actuator_open(struct actuator *a,
                  const struct actuator_kind *kind,
                  const struct actuator_place *place,
                  double start,
                  double lowest,
                  struct es_error *err);
/* Can all knobs be written?  Nothing is. */
int actuator_check(const struct actuator *a, struct es_error *err);
/* Set the node's limit, floor to ceiling.  If a knob cannot be set, those that
 * were are set back. */
int actuator_set(struct actuator *a, uint64_t limit, struct es_error *err);
/* Put back what was found, if anything was set. */
void actuator_restore(struct actuator *a);
/* The same, and remove what was made for the tasks. */
void actuator_close(struct actuator *a);

/* For find(): one more knob; its value is read.  -1: it cannot be. */
int actuator_add(struct actuator *a,
                 const char *path,
                 uint64_t least,
                 uint64_t most,
                 struct es_error *err);
/* Remove a cgroup; what runs in it goes on above it.  Not there is fine. */
void actuator_remove_group(const char *group);
/* Write one value.  -1 with errno. */
int actuator_write(const char *path, const char *text);

#endif
