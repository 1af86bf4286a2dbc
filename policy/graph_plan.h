/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_plan.h - the cheapest schedule of a task graph within a deadline.
 *
 * Cut the graph into paths, place them on M processors for M from as many as
 * are needed down to one, time each placement, and keep the one that takes
 * least energy among those that meet the deadline.  Deterministic.  After
 * CN 103235742.
 */
#ifndef POLICY_GRAPH_PLAN_H
#define POLICY_GRAPH_PLAN_H

#include "policy/grouping.h"

#define GRAPH_PLAN_FOREVER INT64_MAX /* no deadline */
/* Of the ungrouped makespan, where nobody gives a deadline: without one all
   goes to one core of one processor, which is cheapest and slowest. */
#define GRAPH_PLAN_FACTOR 1.1

/*
 * Unlike CN 103235742: in a large graph M is lowered by a part of it and not by one.
 * Each M is a placement and a simulation of the whole graph, so that all of
 * them would take hours for 100,000 tasks.  The part is the smallest that
 * keeps the search of one mode below so many steps of grouping_work(), about
 * 0.15 s; up to 1000 tasks or so it is one processor, as there.  An M
 * whose placement alone takes more than GRAPH_PLAN_WORK_TASK steps a task, or
 * than GRAPH_PLAN_WORK_ONE, is left out if it is also above GRAPH_PLAN_WORK:
 * far more processors than a narrow graph has use for.
 */
#define GRAPH_PLAN_WORK      UINT64_C(100000000)
#define GRAPH_PLAN_WORK_LIST UINT64_C(20000000) /* likewise, without paths */
#define GRAPH_PLAN_WORK_TASK UINT64_C(12000)
#define GRAPH_PLAN_WORK_ONE  UINT64_C(300000000)

struct graph_plan_wish {
    enum path_algorithm algorithm;
    double threshold; /* of EAD and PEBD */
    enum grouping_mode mode;
    struct machine machine; /* processors 0: as many as it likes */
    int64_t deadline;       /* ns, or GRAPH_PLAN_FOREVER */
    double deadline_factor; /* instead, if > 0: times GROUPING_SPREAD's */
    int is_default; /* nobody asked for the factor: if no plan meets it, it is
                       of the fastest plan's makespan */
};

/* One placement that was tried. */
struct graph_candidate {
    enum grouping_mode mode;
    uint32_t M; /* processors that it was to have */
    uint32_t instances;
    int in_time;
    struct schedule_sum sum;
};

struct graph_plan {
    struct graph_paths paths;
    struct graph_candidate *candidate;
    uint32_t candidates;
    uint32_t chosen; /* which candidate */
    struct instance *instance;
    uint32_t instances;
    int64_t deadline; /* ns, or GRAPH_PLAN_FOREVER */
    int is_relaxed;   /* it is of the fastest plan: see is_default */
    int deadline_met; /* if not, the fastest candidate was chosen */
    uint32_t *rank;   /* by task: the order on every core, if it is not the
                         graph's; else NULL */
    uint32_t misfit;  /* of GRAPH_PLAN_MISFIT: the task */
};

enum graph_plan_fault {
    GRAPH_PLAN_SOUND,
    GRAPH_PLAN_MACHINE, /* cores 0, more than SCHEDULE_CORES_MAX cores, or a
                           power that is negative or not finite */
    GRAPH_PLAN_FEW,     /* not grouped, and not enough processors for it */
    GRAPH_PLAN_LATE,    /* the deadline is negative, or the factor no number */
    GRAPH_PLAN_MISFIT,  /* a task fits no processor */
    GRAPH_PLAN_SLOW,  /* a processor is slower than MACHINE_SLOWNESS_MAX, or so
                          slow that the sums become too large */
    GRAPH_PLAN_LONG,  /* more copies of tasks than GRAPH_MEMBERS_MAX */
    GRAPH_PLAN_DENSE, /* more dependences than GROUPING_DEPENDENCES_MAX */
    GRAPH_PLAN_MEMORY,
};

/*
 * Fill *p, to be released by graph_plan_clear().  On a fault *p holds
 * nothing, but misfit.  Processors that differ (machine.kind, then there are
 * machine.processors of them) are taken fastest first; where they do, or tasks
 * need more than a core, GROUPING_BEST tries GROUPING_HEFT, too.  With GROUPING_BEST too many dependences are no fault: then only
 * placements without grouping are tried.
 */
enum graph_plan_fault graph_plan_init(struct graph_plan *p,
                                      const struct graph *g,
                                      const struct graph_plan_wish *wish);
void graph_plan_clear(struct graph_plan *p);

#endif
