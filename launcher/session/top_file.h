/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top_file.h - how far a front end's work is, from the front end to `evenstep
 * top`: a file in a step directory of the front end's host, written anew every
 * second or so while it works.  One JSON object:
 *
 *   {"kind":"run","what":"povray","pid":4711,"job":1,"step":0,"skew":0.01,
 *    "meter":"","aggregate":"min",
 *    "progress":{"frame":1,"frames":6,"done":1080,"all":4320,"rate":58.3,
 *    "left":55.5,"elapsed":18.5,"planned":-1,"efficiency":0.93,"gain":2.3},
 *    "parts":[{"name":"n0","state":"working","slots":1,"running":1,"part":180,
 *    "done":97,"underway":20,"total":640,"rate":14.2,"left":5.8,"waiting":-1},...],
 *    "nodes":[{"name":"n0","rack":"s1","slots":1,
 *    "progress":12.5,"speed":0.8,"waiting":0.1,"skew":0,"misuse":0,
 *    "limit":400000,"floor":80000,"ceiling":800000,"unit":"us/s",
 *    "energy":"measured","joules":1200,"energy_seconds":6.5},...]}
 *
 * A part that is idle has "why", a word of idle_word(), where that is known.
 * kind is run, bcast, graph or step: of a step nothing is known but what is
 * metered, so it has neither progress nor parts.  What is not known is -1.
 * nodes are those that are metered; others have none there.  A node of whose
 * energy nothing is known has no such members.  A node whose ranks are metered
 * from outside has, too, in seconds since they began,
 *
 *    "ranks":{"n":2,"useful":23.5,"waiting":1.5,"most":12,"elapsed":12.5,
 *    "last":80}
 *
 * A step has "seconds" since it began, and "reason", a sentence.
 * progress of a run whose units are tasks has "failed", how many of them have, and
 * "open", true, while more may come; and while tasks run, of that which has for longest,
 *
 *    "longest":{"task":"cmds:4: sleep 9","node":"n0","seconds":7.5}
 *
 * One whose agent was lost while its tasks go on has "lost", the seconds after
 * which nothing more is known of it.
 *
 * and where the time of their threads is known "busy" and "room", of them, see
 * policy/efficiency.h.  Of a step whose limits were lowered to save energy there
 * is "joules_saved", which may be below 0, see energy_saved.h.
 */
#ifndef LAUNCHER_SESSION_TOP_FILE_H
#define LAUNCHER_SESSION_TOP_FILE_H

#include "launcher/session/steering.h"
#include "launcher/session/step_times.h"
#include "policy/dispatch.h"

#include <jansson.h>

#define TOP_FILE      "top.json"
#define TOP_NODES_MAX 65536
#define TOP_WHAT_MAX  48 /* bytes, NUL included */
#define TOP_TEXT_MAX  512
#define TOP_TASK_MAX  160 /* likewise */

/* Who writes.  Units are those of the command, bytes or tasks. */
enum top_kind { TOP_STEP, TOP_RUN, TOP_BCAST, TOP_GRAPH, TOP_KINDS };

/* How a node stands. */
enum top_state {
    TOP_WORKING,
    TOP_IDLE,    /* has nothing to do, and may get more */
    TOP_DONE,    /* has all, and gets no more */
    TOP_BAD,     /* its commands fail */
    TOP_LEAVING, /* finishes what it works at */
    TOP_LOST,
    TOP_STATES
};

/* The time of a node's ranks, see efficiency.h; n is 0 where there is none. */
struct top_ranks {
    double n, useful, waiting, most, elapsed;
    double last;       /* regions in which the others waited for the node */
    double busy, room; /* of their threads; 0: not known */
};

struct top_node {
    char name[NODE_NAME_MAX], rack[NODE_NAME_MAX], unit[16];
    double slots, progress, speed, waiting, skew, misuse;
    double limit, floor, ceiling; /* 0: it has none */
    struct top_ranks ranks;
    int is_lost; /* its agent is, and all is known until then, in seconds: */
    double lost;
    char energy[16];        /* where it comes from; "": not known */
    double joules, seconds; /* joules of so many seconds */
};

/* The task that has run for longest, of those that run now. */
struct top_longest {
    /* Its text, cut, of characters that can be shown; "": none runs, or that is not
     * known. */
    char task[TOP_TASK_MAX];
    char node[NODE_NAME_MAX];
    double seconds; /* since it began, at most; -1: none runs */
};

/* Of all units, or of the frames at work if nobody knows how many come. */
struct top_progress {
    double frame, frames; /* of a run: from 0; in all, or 0 */
    double done, all;     /* units */
    double rate;          /* units a second, or 0 */
    double left;          /* seconds, or -1 */
    double elapsed;       /* seconds */
    double planned;       /* seconds in all, of a graph; or -1 */
    double efficiency;    /* of a run, so far; or -1 */
    double gain;          /* time of equal parts / its time; or -1 */
    int are_tasks;        /* units, of a run: */
    double failed;        /* so many have; -1: they are none */
    char energy[16];      /* where it comes from; "": not known */
    double joules, watts; /* of all nodes */
    int is_open;          /* more tasks may come */
    struct top_longest longest;
};

/* A node's part in it. */
struct top_part {
    char name[NODE_NAME_MAX];
    enum top_state state;
    enum idle_reason why; /* of TOP_IDLE; IDLE_NOT: not known */
    double slots;         /* commands at once */
    double running;       /* commands at work */
    double part, done;    /* units: its part, which may change; of these */
    double underway;      /* likewise: probably done, not back */
    double total;         /* units, done since the start */
    double rate;          /* units a second; or -1 */
    double left;          /* seconds until it has done its part; or -1 */
    double waiting;       /* units that it has not begun; or -1 */
};

struct top_step {
    enum top_kind kind;
    char what[TOP_WHAT_MAX]; /* its command, file or graph; or "" */
    uint32_t pid, job, step; /* job 0: not in one */
    struct top_progress progress;
    struct top_part *part; /* parts, owned */
    size_t parts;
    double skew;
    double seconds;            /* since it began; 0: not known */
    char reason[TOP_TEXT_MAX]; /* why its ranks wait, or that it hangs; or "" */
    char meter[16];
    enum aggregate aggregate; /* what stands for a rack */
    struct top_node *node;    /* n, owned */
    size_t n;
    int has_saved; /* it is known: */
    double saved;  /* joules by lower limits, of all nodes */
};

/* A step as its front end sees it. */
struct top_view {
    enum top_kind kind;
    const char *what; /* any text, or NULL */
    uint32_t job, step;
    const struct top_progress *progress; /* unless it is a TOP_STEP */
    const struct top_part *part;         /* parts */
    size_t parts;
    double skew;
    double seconds;     /* as of top_step; what is TOP_STEP only */
    const char *reason; /* likewise, or NULL */
    const char *meter;  /* "": the programs' own; units, cmd or cpu */
    enum aggregate aggregate;
    size_t n; /* nodes */
    struct steering_view (*node)(const void *from, size_t i);
    const void *from;
    const struct step_times *times; /* NULL: no rank is metered */
    int has_saved;                  /* as of top_step */
    double saved;
};

const char *top_kind_name(enum top_kind kind);
const char *top_state_name(enum top_state state);
/* Into the step directory of that name.  Returns 0 or an errno value; nothing
 * is left half-written. */
int top_file_write(const char *dir, const struct top_view *top);
/*
 * Read one from JSON; whatever is in it, what comes out holds: names of plain
 * characters, finite numbers >= 0, or -1 where that is allowed.  0, or -1
 * (*step zeroed).
 */
int top_step_read(struct top_step *step, const json_t *json);
/* All of this user that run here, of that job only unless it is 0, by kind, job
 * and process; how many, owned by the caller: top_steps_free().  What front ends
 * have left that are no more is removed. */
size_t top_steps_find(struct top_step **steps, uint32_t job);
void top_step_clear(struct top_step *step);
void top_steps_free(struct top_step *steps, size_t n);

#endif
