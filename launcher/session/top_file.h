/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top_file.h - how a step's nodes stand, and how far a run is, from its front
 * end to `evenstep top`: a file in the step directory of the front end's host,
 * written anew twice a second while something is metered, or a run goes on.  One
 * JSON object:
 *
 *   {"job":1,"step":0,"skew":0.01,"meter":"",
 *    "aggregate":"min","nodes":[{"name":"n0","rack":"s1","slots":1,
 *    "progress":12.5,"speed":0.8,"waiting":0.1,"skew":0,"misuse":0,
 *    "limit":400000,"floor":80000,"ceiling":800000,"unit":"us/s",
 *    "energy":"measured","joules":1200,"energy_seconds":6.5},...],
 *    "run":{"frame":1,"frames":6,"done":1080,"all":4320,"rate":58.3,
 *    "left":55.5,"efficiency":0.93}}
 *
 * A run that is not metered has no nodes there; only a run has "run".  What is
 * not known of it is -1.  A node of whose energy nothing is known has no such
 * members.  A node whose ranks are metered from outside has, too,
 * in seconds since they began,
 *
 *    "ranks":{"n":2,"useful":23.5,"waiting":1.5,"most":12,"elapsed":12.5,
 *    "last":80}
 */
#ifndef LAUNCHER_SESSION_TOP_FILE_H
#define LAUNCHER_SESSION_TOP_FILE_H

#include "launcher/session/steering.h"
#include "launcher/session/step_times.h"

#include <jansson.h>

#define TOP_FILE      "top.json"
#define TOP_NODES_MAX 65536

/* The time of a node's ranks, see efficiency.h; n is 0 where there is none. */
struct top_ranks {
    double n, useful, waiting, most, elapsed;
    double last; /* regions in which the others waited for the node */
};

struct top_node {
    char name[NODE_NAME_MAX], rack[NODE_NAME_MAX], unit[16];
    double slots, progress, speed, waiting, skew, misuse;
    double limit, floor, ceiling; /* 0: it has none */
    struct top_ranks ranks;
    char energy[16];        /* where it comes from; "": not known */
    double joules, seconds; /* joules of so many seconds */
};

/* Of all units, or of the frames at work if nobody knows how many come. */
struct top_run {
    double frame, frames; /* from 0; in all, or 0 */
    double done, all;     /* units */
    double rate;          /* units a second, or 0 */
    double left;          /* seconds, or -1 */
    double efficiency;    /* so far, or -1 */
};

struct top_step {
    uint32_t job, step;
    double skew;
    char meter[16];
    enum aggregate aggregate; /* what stands for a rack */
    struct top_node *node;    /* n, owned */
    size_t n;
    int is_run;
    struct top_run run; /* if it is one */
};

/* A step as its front end sees it. */
struct top_view {
    uint32_t job, step;
    double skew;
    const char *meter; /* "": the programs' own; units, cmd or cpu */
    enum aggregate aggregate;
    size_t n; /* nodes */
    struct steering_view (*node)(const void *from, size_t i);
    const void *from;
    const struct top_run *run;      /* NULL: it is none */
    const struct step_times *times; /* NULL: no rank is metered */
};

/* Into the step directory of that name.  Returns 0 or an errno value; nothing
 * is left half-written. */
int top_file_write(const char *dir, const struct top_view *top);
/*
 * Read one from JSON; whatever is in it, what comes out holds: names of plain
 * characters, finite numbers >= 0.  0, or -1 (*step zeroed).
 */
int top_step_read(struct top_step *step, const json_t *json);
/* All steps of this user that run here, of that job only unless it is 0; how
 * many, owned by the caller: top_steps_free(). */
size_t top_steps_find(struct top_step **steps, uint32_t job);
void top_steps_free(struct top_step *steps, size_t n);

#endif
