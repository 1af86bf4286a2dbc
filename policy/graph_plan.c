/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/graph_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct search {
    const struct graph *g;
    const struct graph_plan_wish *wish;
    struct graph_plan *p;
    struct grouping *grouping;
    struct schedule_room *room;
    struct instance *instance; /* of the candidate being tried */
    uint32_t room_for;         /* candidates */
    int dependent;             /* the grouping knows dependences */
};

/* --- candidates ----------------------------------------------------------- */

/* The factor of the wish times a makespan. */
static int64_t times_factor(int64_t makespan, const struct graph_plan_wish *w)
{
    double ns = floor(w->deadline_factor * (double)makespan + 0.5);

    return ns < (double)GRAPH_TOTAL_MAX ? (int64_t)ns : GRAPH_PLAN_FOREVER;
}

/* Place and time; the instances are in s->instance. */
static struct graph_candidate consider(struct search *s,
                                       enum grouping_mode mode,
                                       uint32_t processors)
{
    struct graph_candidate c = {.mode = mode, .M = processors};
    struct machine m = s->wish->machine;

    m.processors = processors;
    c.instances = grouping_place(s->grouping, mode, processors, s->instance);
    /* Cannot fail: every task is on a path. */
    (void)schedule_evaluate(s->g, &m, s->instance, c.instances, s->room,
                            &c.sum);
    c.in_time = c.sum.makespan <= s->p->deadline;
    return c;
}

/* The cheapest in time; of those too late the fastest. */
static int is_better_plan(const struct graph_candidate *a,
                          const struct graph_candidate *b)
{
    double a_energy = a->sum.energy.total, b_energy = b->sum.energy.total;

    if (a->in_time != b->in_time)
        return a->in_time;
    if (!a->in_time && a->sum.makespan != b->sum.makespan)
        return a->sum.makespan < b->sum.makespan;
    if (a_energy < b_energy || a_energy > b_energy)
        return a_energy < b_energy;
    if (a->sum.makespan != b->sum.makespan)
        return a->sum.makespan < b->sum.makespan;
    return a->M < b->M;
}

/* Add to the list, and keep the instances of the best one. */
static int add_candidate(struct search *s, const struct graph_candidate *c)
{
    struct graph_plan *p = s->p;

    if (p->candidates == s->room_for) {
        uint32_t room = s->room_for ? 2 * s->room_for : 64;
        struct graph_candidate *more =
            realloc(p->candidate, room * sizeof *more);

        if (!more)
            return -1;
        p->candidate = more;
        s->room_for = room;
    }
    p->candidate[p->candidates] = *c;
    if (p->candidates == 0 || is_better_plan(c, &p->candidate[p->chosen])) {
        p->chosen = p->candidates;
        p->instances = c->instances;
        memcpy(p->instance, s->instance, c->instances * sizeof *p->instance);
        p->deadline_met = c->in_time;
    }
    p->candidates++;
    return 0;
}

/* --- the search ----------------------------------------------------------- */

static uint32_t together(const struct search *s, enum grouping_mode mode)
{
    return mode == GROUPING_SPREAD ? 1 : s->wish->machine.cores;
}

/* Processors for the paths with so many on each. */
static uint32_t needed(const struct search *s, enum grouping_mode mode)
{
    return (s->p->paths.n - 1) / together(s, mode) + 1;
}

static int are_enough(const struct search *s, enum grouping_mode mode)
{
    uint32_t most = s->wish->machine.processors;

    return most == 0 || needed(s, mode) <= most;
}

static int try_apart(struct search *s, enum grouping_mode mode)
{
    struct graph_candidate c = consider(s, mode, needed(s, mode));

    return add_candidate(s, &c);
}

/* The next M, from a ladder on which it is lowered by its parts-th part. */
static uint32_t rung_below(uint32_t m, uint32_t parts)
{
    return m - 1 - (m - 1) / parts;
}

/* In how many parts to lower M from so many: as many as there is time for. */
static uint32_t choose_parts(const struct search *s, uint32_t from)
{
    uint64_t rungs_most = GRAPH_PLAN_WORK / grouping_work(s->grouping, from);
    uint32_t parts = from > 2 ? from : 2;

    for (; parts > 2; parts = parts < 4 ? 2 : parts / 2) {
        uint64_t rungs = 0;

        for (uint32_t m = from; m > 0; m = rung_below(m, parts))
            rungs++;
        if (rungs <= rungs_most)
            break;
    }
    return parts;
}

/* The largest M on the way down from m that is not too much work. */
static uint32_t first_rung(const struct search *s, uint32_t m)
{
    uint64_t most = s->g->tasks * GRAPH_PLAN_WORK_TASK;

    if (most < GRAPH_PLAN_WORK)
        most = GRAPH_PLAN_WORK;
    if (most > GRAPH_PLAN_WORK_ONE)
        most = GRAPH_PLAN_WORK_ONE;
    while (m > 1 && grouping_work(s->grouping, m) > most)
        m = rung_below(m, 2);
    return m;
}

/* Group onto ever fewer processors; `all`: do not stop at the first that is
 * too late. */
static int try_grouped(struct search *s, enum grouping_mode mode, int all)
{
    uint32_t m = s->wish->machine.processors, parts;

    if (are_enough(s, mode))
        m = needed(s, mode);
    m = first_rung(s, m);
    for (parts = choose_parts(s, m); m > 0; m = rung_below(m, parts)) {
        struct graph_candidate c = consider(s, mode, m);

        if (add_candidate(s, &c) < 0)
            return -1;
        if (!c.in_time && !all)
            return 0;
    }
    return 0;
}

/* Nothing stops at the first that is too late, as makespans do not only grow;
 * what stopping would find is among them.  If all are too late, the paths as
 * they are come last. */
static int try_all(struct search *s)
{
    if (s->dependent)
        for (int mode = GROUPING_LITERAL; mode <= GROUPING_CAP; mode++)
            if (try_grouped(s, (enum grouping_mode)mode, 1) < 0)
                return -1;
    if (are_enough(s, GROUPING_PACK) && try_apart(s, GROUPING_PACK) < 0)
        return -1;
    if (!s->p->deadline_met && are_enough(s, GROUPING_SPREAD))
        return try_apart(s, GROUPING_SPREAD);
    return 0;
}

/* No plan meets a deadline that nobody asked for: take the fastest one's, and
 * what is cheapest within that. */
static void relax_deadline(struct search *s)
{
    struct graph_plan *p = s->p;
    const struct graph_candidate *c = p->candidate;

    p->deadline = times_factor(c[p->chosen].sum.makespan, s->wish);
    p->is_relaxed = 1;
    for (uint32_t i = 0; i < p->candidates; i++)
        p->candidate[i].in_time = c[i].sum.makespan <= p->deadline;
    for (uint32_t i = 0; i < p->candidates; i++)
        if (is_better_plan(&c[i], &c[p->chosen]))
            p->chosen = i;
    p->instances = consider(s, c[p->chosen].mode, c[p->chosen].M).instances;
    memcpy(p->instance, s->instance, p->instances * sizeof *p->instance);
    p->deadline_met = c[p->chosen].in_time;
}

static enum graph_plan_fault search(struct search *s)
{
    enum grouping_mode mode = s->wish->mode;
    int rc;

    if (mode == GROUPING_BEST)
        rc = try_all(s);
    else if (mode < GROUPING_PACK)
        rc = try_grouped(s, mode, 0);
    else if (!are_enough(s, mode))
        return GRAPH_PLAN_FEW;
    else
        rc = try_apart(s, mode);
    if (rc < 0)
        return GRAPH_PLAN_MEMORY;
    if (s->p->candidates == 0)
        return GRAPH_PLAN_DENSE;
    if (!s->p->deadline_met && s->wish->is_default)
        relax_deadline(s);
    return GRAPH_PLAN_SOUND;
}

/* --- before it ------------------------------------------------------------ */

static int is_power(double watts)
{
    return isfinite(watts) && watts >= 0;
}

static enum graph_plan_fault check_wish(const struct graph_plan_wish *w)
{
    const struct power *power = &w->machine.power;

    if (w->machine.cores == 0 || w->machine.cores > SCHEDULE_CORES_MAX
        || !is_power(power->busy) || !is_power(power->idle)
        || !is_power(power->link) || !is_power(power->base))
        return GRAPH_PLAN_MACHINE;
    if (w->deadline < 0 || !isfinite(w->deadline_factor)
        || w->deadline_factor < 0)
        return GRAPH_PLAN_LATE;
    return GRAPH_PLAN_SOUND;
}

static enum graph_plan_fault prepare_search(struct search *s)
{
    const struct graph_plan_wish *w = s->wish;
    struct path_rule rule = {w->algorithm, w->threshold, w->machine.power.busy,
                             w->machine.power.link};
    enum path_fault cut = graph_paths_init(&s->p->paths, s->g, &rule);
    enum grouping_fault fault;
    uint32_t members;

    if (cut != PATH_SOUND)
        return cut == PATH_LONG ? GRAPH_PLAN_LONG : GRAPH_PLAN_MEMORY;
    if (s->p->paths.n > SCHEDULE_CORES_MAX / w->machine.cores)
        return GRAPH_PLAN_MACHINE;
    s->dependent = w->mode < GROUPING_PACK;
    fault = grouping_create(&s->grouping, s->g, &s->p->paths, w->machine.cores,
                            s->dependent);
    if (fault == GROUPING_DENSE && w->mode == GROUPING_BEST) {
        s->dependent = 0;
        fault = grouping_create(&s->grouping, s->g, &s->p->paths,
                                w->machine.cores, 0);
    }
    if (fault != GROUPING_SOUND)
        return fault == GROUPING_DENSE ? GRAPH_PLAN_DENSE : GRAPH_PLAN_MEMORY;
    members = s->p->paths.at[s->p->paths.n];
    s->room =
        schedule_room_create(s->g, members, s->p->paths.n * w->machine.cores);
    s->instance = calloc(members, sizeof *s->instance);
    s->p->instance = calloc(members, sizeof *s->p->instance);
    return s->room && s->instance && s->p->instance ? GRAPH_PLAN_SOUND
                                                    : GRAPH_PLAN_MEMORY;
}

/* The deadline as a time. */
static void find_deadline(struct search *s)
{
    struct graph_candidate c;

    s->p->deadline = s->wish->deadline;
    if (!(s->wish->deadline_factor > 0))
        return;
    c = consider(s, GROUPING_SPREAD, needed(s, GROUPING_SPREAD));
    s->p->deadline = times_factor(c.sum.makespan, s->wish);
}

enum graph_plan_fault graph_plan_init(struct graph_plan *p,
                                      const struct graph *g,
                                      const struct graph_plan_wish *wish)
{
    struct search s = {.g = g, .wish = wish, .p = p};
    enum graph_plan_fault fault = check_wish(wish);

    *p = (struct graph_plan){0};
    if (fault == GRAPH_PLAN_SOUND)
        fault = prepare_search(&s);
    if (fault == GRAPH_PLAN_SOUND) {
        find_deadline(&s);
        fault = search(&s);
    }
    grouping_destroy(s.grouping);
    schedule_room_destroy(s.room);
    free(s.instance);
    if (fault != GRAPH_PLAN_SOUND)
        graph_plan_clear(p);
    return fault;
}

void graph_plan_clear(struct graph_plan *p)
{
    graph_paths_clear(&p->paths);
    free(p->candidate);
    free(p->instance);
    *p = (struct graph_plan){0};
}
