/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * actuator_kind.h - a kind of actuator.  It finds the files to write to (its
 * knobs) and the bounds of each, and formats what to write.
 */
#ifndef LAUNCHER_POWER_ACTUATOR_KIND_H
#define LAUNCHER_POWER_ACTUATOR_KIND_H

#include "launcher/base/sysfs.h"
#include "launcher/wire/parts_line.h"
#include "pmix_bcast/error.h"

#include <sys/types.h>

#define KNOB_TEXT 64   /* bytes of a value, NUL included */
#define KNOBS_MAX 1024 /* for a cpufreq policy for each core */

/* Where to look for files, and for which step. */
struct actuator_place {
    const char *sysfs, *proc; /* "/sys", "/proc" */
    uint32_t job, step;
    pid_t task;        /* a process of the step */
    const char *cores; /* those that the job has here, see whole_node.h */
};

/* What of the step runs on the node: no more than PART_TASKS_MAX each. */
struct actuator_runs {
    const pid_t *task, *thread; /* threads: of tasks, to be apart from them */
    size_t tasks, threads;
};

struct knob {
    char path[SYSFS_PATH];
    char found[KNOB_TEXT]; /* its content at the start */
    char now[KNOB_TEXT];   /* what is in force */
    uint64_t least, most;  /* bounds of what it may be set to */
    uint32_t part;         /* whose limit it takes, or PART_NONE */
};

struct actuator {
    const struct actuator_kind *kind;
    struct knob *knob;              /* n */
    size_t n, own;                  /* own: the node's, before it was divided */
    uint64_t limit, floor, ceiling; /* of the node; floor >= 1 */
    uint64_t lowest;                /* floor that the kernel allows */
    int is_set;                     /* the limit is in force */
    struct node_parts parts;        /* n is 0: it is not divided */
    uint64_t part_limit[PARTS_MAX]; /* of each part, if is_divided */
    int is_divided;
    char group[SYSFS_PATH]; /* of the step's tasks that we made, or "" */
    char above[SYSFS_PATH]; /* else Slurm's for the step, or "" */
    int version;            /* of the cgroup */
};

struct actuator_kind {
    const char *name, *unit; /* of limits */
    double per_cap; /* units in 1 of a configured cap; 0: that is a part */
    int is_of_node; /* it limits the whole node, not only the step */
    int is_nested;  /* a part is limited within the node's group: either the one
                      has a limit, or the other, as the sum of both would be
                      less than what was given */
    /*
     * Add the knobs by actuator_add(), with their bounds; set the ceiling, and
     * the floor below which the kernel does not go.  0, or -1 if the node has
     * no such files.
     */
    int (*find)(struct actuator *a,
                const struct actuator_place *place,
                struct es_error *err);
    /* What to write into a knob for this limit of the node. */
    void (*format)(const struct actuator *a,
                   const struct knob *knob,
                   uint64_t limit,
                   char text[KNOB_TEXT]);
    /* Likewise into a knob of a part, for this limit of the part. */
    void (*format_part)(const struct actuator *a,
                        const struct knob *knob,
                        uint64_t limit,
                        char text[KNOB_TEXT]);
    /*
     * Divide the node over what runs: fill in the parts, the tasks or threads
     * that each has, and the knobs.  More knobs may be added.  parts.n stays 0
     * if there is nothing to divide.  May be NULL.
     */
    int (*divide)(struct actuator *a,
                  const struct actuator_place *place,
                  const struct actuator_runs *runs,
                  struct es_error *err);
    /* A task of the step has started.  May be NULL. */
    int (*enter)(struct actuator *a, pid_t task, struct es_error *err);
    /* Remove what find() created, after the knobs were restored.  May be
     * NULL. */
    void (*remove)(struct actuator *a);
};

/* For find() and divide(): add a knob and read its value.  -1 with *err if that
 * fails. */
int actuator_add(struct actuator *a,
                 const char *path,
                 uint64_t least,
                 uint64_t most,
                 struct es_error *err);
/* For divide(): what runs in a part; no more than PART_TASKS_MAX are told. */
void actuator_add_run(struct actuator *a, pid_t pid, uint32_t part);
/* Write a value.  0, or -1 with errno. */
int actuator_write(const char *path, const char *text);

#endif
