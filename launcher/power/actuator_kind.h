/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * actuator_kind.h - one kind of actuator: it finds its files (its knobs), with
 * what each may be set to, and says what to write into them.
 */
#ifndef LAUNCHER_POWER_ACTUATOR_KIND_H
#define LAUNCHER_POWER_ACTUATOR_KIND_H

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

/* For find(): one more knob; its value is read.  -1: it cannot be. */
int actuator_add(struct actuator *a,
                 const char *path,
                 uint64_t least,
                 uint64_t most,
                 struct es_error *err);
/* Write one value.  -1 with errno. */
int actuator_write(const char *path, const char *text);

#endif
