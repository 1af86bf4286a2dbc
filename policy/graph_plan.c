/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/graph_plan.h"

#include "policy/list_schedule.h"
#include "policy/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KEY_OF_SLOWNESS 1e9 /* so that a whole number sorts like it */

struct search {
    const struct graph *g;
    const struct graph_plan_wish *wish;
    struct graph_plan *p;
    struct grouping *grouping;
    struct schedule_room *room;
    struct instance *instance; /* of the candidate being tried */
    uint32_t room_for;         /* candidates */
    struct machine machine;    /* the wish's, its kinds fastest first */
    struct processor_kind *kind;
    uint32_t *real;  /* by processor: its number in the wish; NULL: the same */
    uint32_t *count; /* by processor: scratch */
    struct seating seating; /* if is_mixed */
    struct list_room *list; /* likewise, or the mode needs it */
    int is_mixed;  /* processors differ, or a task needs more than a core */
    int dependent; /* the grouping knows dependences */
};

/* --- candidates ----------------------------------------------------------- */

/* The factor of the wish times a makespan. */
static int64_t times_factor(int64_t makespan, const struct graph_plan_wish *w)
{
    double ns = floor(w->deadline_factor * (double)makespan + 0.5);

    return ns < (double)GRAPH_TOTAL_MAX ? (int64_t)ns : GRAPH_PLAN_FOREVER;
}

static int is_listed(enum grouping_mode mode)
{
    return mode == GROUPING_HEFT || mode == GROUPING_LIST;
}

/* Into s->instance; how many, or 0 if a task fits none of the processors.  *rank
 * is set if the order is not the graph's. */
static uint32_t place(struct search *s,
                      enum grouping_mode mode,
                      const struct machine *m,
                      const uint32_t **rank)
{
    uint32_t n;

    if (is_listed(mode))
        return list_place(s->g, m,
                          mode == GROUPING_HEFT ? LIST_HEFT : LIST_PLAIN,
                          s->instance, rank, s->list)
                       < 0
                   ? 0
                   : s->g->tasks;
    grouping_set_machine(s->grouping, m);
    n = grouping_place(s->grouping, mode, m->processors, s->instance);
    /* Grouping knows what cores there are, though not what fits. */
    if (s->g->need ? s->is_mixed : m->kind && mode >= GROUPING_PACK)
        n = machine_seat(m, s->g, s->instance, n, &s->seating);
    return n;
}

/* Place and time; the instances, if there are any, are in s->instance.  *rank is
 * as in place(). */
static struct graph_candidate consider_on(struct search *s,
                                          enum grouping_mode mode,
                                          const struct machine *m,
                                          const uint32_t **rank)
{
    struct graph_candidate c = {.mode = mode, .M = m->processors};

    *rank = NULL;
    c.instances = place(s, mode, m, rank);
    if (c.instances == 0)
        return c;
    schedule_room_order(s->room, *rank);
    /* Cannot fail: every task is placed where it fits. */
    (void)schedule_evaluate(s->g, m, s->instance, c.instances, s->room, &c.sum);
    c.in_time = c.sum.makespan <= s->p->deadline;
    return c;
}

/* The same on so many of the processors. */
static struct graph_candidate consider(struct search *s,
                                       enum grouping_mode mode,
                                       uint32_t processors,
                                       const uint32_t **rank)
{
    struct machine m = s->machine;

    m.processors = processors;
    return consider_on(s, mode, &m, rank);
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

/* Make the candidate that was just considered the chosen one. */
static int keep(struct search *s,
                const struct graph_candidate *c,
                const uint32_t *rank)
{
    struct graph_plan *p = s->p;

    p->instances = c->instances;
    memcpy(p->instance, s->instance, c->instances * sizeof *p->instance);
    p->deadline_met = c->in_time;
    free(p->rank);
    p->rank = NULL;
    if (!rank)
        return 0;
    p->rank = calloc(s->g->tasks, sizeof *p->rank);
    if (!p->rank)
        return -1;
    memcpy(p->rank, rank, s->g->tasks * sizeof *p->rank);
    return 0;
}

/* Add to the list, and keep the instances of the best one.  One of no instances
 * is none. */
static int add_candidate(struct search *s,
                         const struct graph_candidate *c,
                         const uint32_t *rank)
{
    struct graph_plan *p = s->p;
    int rc = 0;

    if (c->instances == 0)
        return 0;

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
        rc = keep(s, c, rank);
    }
    p->candidates++;
    return rc;
}

/* --- the search ----------------------------------------------------------- */

static uint32_t together(const struct search *s, enum grouping_mode mode)
{
    return mode == GROUPING_SPREAD ? 1 : s->machine.cores;
}

/* Processors for the paths with so many on each. */
static uint32_t needed(const struct search *s, enum grouping_mode mode)
{
    return (s->p->paths.n - 1) / together(s, mode) + 1;
}

static int are_enough(const struct search *s, enum grouping_mode mode)
{
    uint32_t most = s->machine.processors;

    return most == 0 || needed(s, mode) <= most;
}

static int try_apart(struct search *s, enum grouping_mode mode)
{
    const uint32_t *rank;
    struct graph_candidate c = consider(s, mode, needed(s, mode), &rank);

    return add_candidate(s, &c, rank);
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
    uint32_t m = s->machine.processors, parts;
    const uint32_t *rank;

    if (are_enough(s, mode))
        m = needed(s, mode);
    m = first_rung(s, m);
    for (parts = choose_parts(s, m); m > 0; m = rung_below(m, parts)) {
        struct graph_candidate c = consider(s, mode, m, &rank);

        if (add_candidate(s, &c, rank) < 0)
            return -1;
        if (c.instances == 0 || (!c.in_time && !all))
            return 0; /* fewer have no more room */
    }
    return 0;
}

/* Processors that listing can use: there are no more paths than tasks that can
 * run at once, unless a task fits few of the processors. */
static uint32_t list_most(const struct search *s)
{
    uint32_t most = s->machine.processors;

    return most > 0 && (s->g->need || most < s->p->paths.n) ? most
                                                            : s->p->paths.n;
}

/* Task by task onto ever fewer processors. */
static int try_listed(struct search *s, enum grouping_mode mode)
{
    uint32_t m = list_most(s), parts = m > 2 ? m : 2;
    uint64_t work = s->g->tasks + (uint64_t)s->g->edges;
    const uint32_t *rank;

    while (parts > 2 && work * m * parts / 2 > GRAPH_PLAN_WORK_LIST)
        parts = parts < 4 ? 2 : parts / 2;
    for (; m > 0; m = rung_below(m, parts)) {
        struct graph_candidate c = consider(s, mode, m, &rank);

        if (add_candidate(s, &c, rank) < 0)
            return -1;
        if (c.instances == 0)
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
    if (s->is_mixed && try_listed(s, GROUPING_HEFT) < 0)
        return -1;
    if (!s->p->deadline_met && are_enough(s, GROUPING_SPREAD))
        return try_apart(s, GROUPING_SPREAD);
    return 0;
}

/* No plan meets a deadline that nobody asked for: take the fastest one's, and
 * what is cheapest within that. */
static int relax_deadline(struct search *s)
{
    struct graph_plan *p = s->p;
    const struct graph_candidate *c = p->candidate;
    const uint32_t *rank;

    p->deadline = times_factor(c[p->chosen].sum.makespan, s->wish);
    p->is_relaxed = 1;
    for (uint32_t i = 0; i < p->candidates; i++)
        p->candidate[i].in_time = c[i].sum.makespan <= p->deadline;
    for (uint32_t i = 0; i < p->candidates; i++)
        if (is_better_plan(&c[i], &c[p->chosen]))
            p->chosen = i;
    (void)consider(s, c[p->chosen].mode, c[p->chosen].M, &rank);
    return keep(s, &c[p->chosen], rank);
}

static enum graph_plan_fault search(struct search *s)
{
    enum grouping_mode mode = s->wish->mode;
    int rc;

    if (mode == GROUPING_BEST)
        rc = try_all(s);
    else if (is_listed(mode))
        rc = try_listed(s, mode);
    else if (mode < GROUPING_PACK)
        rc = try_grouped(s, mode, 0);
    else if (!are_enough(s, mode))
        return GRAPH_PLAN_FEW;
    else
        rc = try_apart(s, mode);
    /* On so few processors as there are paths for, a task may fit none. */
    if (rc == 0 && s->p->candidates == 0 && s->is_mixed)
        rc = try_listed(s, GROUPING_HEFT);
    if (rc < 0)
        return GRAPH_PLAN_MEMORY;
    if (s->p->candidates == 0)
        return GRAPH_PLAN_DENSE;
    if (!s->p->deadline_met && s->wish->is_default && relax_deadline(s) < 0)
        return GRAPH_PLAN_MEMORY;
    return GRAPH_PLAN_SOUND;
}

/* --- before it ------------------------------------------------------------ */

static int is_power(double watts)
{
    return isfinite(watts) && watts >= 0;
}

static enum graph_plan_fault check_kinds(const struct machine *m,
                                         const struct graph *g)
{
    for (uint32_t p = 0; m->kind && p < m->processors; p++) {
        const struct processor_kind *k = &m->kind[p];

        if (k->cores == 0 || k->cores > m->cores)
            return GRAPH_PLAN_MACHINE;
        if (!(k->slowness > 0) || k->slowness > MACHINE_SLOWNESS_MAX
            || (double)g->total * k->slowness > (double)GRAPH_TOTAL_MAX)
            return GRAPH_PLAN_SLOW;
    }
    return GRAPH_PLAN_SOUND;
}

static enum graph_plan_fault check_wish(const struct graph_plan_wish *w,
                                        const struct graph *g)
{
    const struct power *power = &w->machine.power;

    if (w->machine.cores == 0 || w->machine.cores > SCHEDULE_CORES_MAX
        || !is_power(power->busy) || !is_power(power->idle)
        || !is_power(power->link) || !is_power(power->base))
        return GRAPH_PLAN_MACHINE;
    if (w->deadline < 0 || !isfinite(w->deadline_factor)
        || w->deadline_factor < 0)
        return GRAPH_PLAN_LATE;
    return check_kinds(&w->machine, g);
}

/* --- processors that differ ----------------------------------------------- */

/* Fastest first; equals as they are. */
static int sort_kinds(struct search *s)
{
    const struct machine *m = &s->wish->machine;
    int64_t *key = calloc(m->processors, sizeof *key);
    uint32_t *scratch = calloc(m->processors, sizeof *scratch);

    s->kind = calloc(m->processors, sizeof *s->kind);
    s->real = calloc(m->processors, sizeof *s->real);
    s->count = calloc(m->processors, sizeof *s->count);
    for (uint32_t p = 0; key && s->real && p < m->processors; p++) {
        key[p] = (int64_t)(-m->kind[p].slowness * KEY_OF_SLOWNESS);
        s->real[p] = p;
    }
    if (key && scratch && s->kind && s->real && s->count) {
        order_descending(s->real, scratch, m->processors, key);
        for (uint32_t p = 0; p < m->processors; p++)
            s->kind[p] = m->kind[s->real[p]];
        s->machine.kind = s->kind;
    }
    free(key);
    free(scratch);
    return s->machine.kind ? 0 : -1;
}

/* Scratch for what differs; after the paths. */
static int prepare_mixed(struct search *s)
{
    uint32_t paths = s->p->paths.n, members = s->p->paths.at[paths];
    uint32_t most = list_most(s) > paths ? list_most(s) : paths;

    if (s->is_mixed) {
        s->seating.first = calloc(s->g->tasks, sizeof *s->seating.first);
        s->seating.next = calloc(members, sizeof *s->seating.next);
        s->seating.load = calloc(most, sizeof *s->seating.load);
        if (!s->seating.first || !s->seating.next || !s->seating.load)
            return -1;
    }
    if (s->is_mixed || is_listed(s->wish->mode)) {
        s->list = list_room_create(s->g, most, s->machine.cores);
        return s->list ? 0 : -1;
    }
    return 0;
}

/* Give the processors the numbers of the wish, and put the instances into their
 * order again. */
static void name_really(struct search *s)
{
    struct graph_plan *p = s->p;
    uint32_t sum = 0;

    for (uint32_t i = 0; i < p->instances; i++) {
        s->instance[i] = p->instance[i];
        s->instance[i].processor = s->real[p->instance[i].processor];
        s->count[s->instance[i].processor]++;
    }
    for (uint32_t q = 0; q < s->machine.processors; q++) {
        sum += s->count[q];
        s->count[q] = sum - s->count[q];
    }
    for (uint32_t i = 0; i < p->instances; i++)
        p->instance[s->count[s->instance[i].processor]++] = s->instance[i];
}

static enum graph_plan_fault make_grouping(struct search *s)
{
    const struct graph_plan_wish *w = s->wish;
    enum grouping_fault fault;

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
    return GRAPH_PLAN_SOUND;
}

/* What the placements go onto. */
static enum graph_plan_fault prepare_machine(struct search *s)
{
    const struct machine *m = &s->wish->machine;

    s->machine = *m;
    s->p->misfit = machine_misfit(m, s->g);
    if (s->p->misfit != GRAPH_NOBODY)
        return GRAPH_PLAN_MISFIT;
    s->is_mixed = !machine_is_plain(m, s->g);
    if (!s->is_mixed)
        s->machine.kind = NULL;
    if (s->machine.kind && sort_kinds(s) < 0)
        return GRAPH_PLAN_MEMORY;
    return GRAPH_PLAN_SOUND;
}

static enum graph_plan_fault prepare_search(struct search *s)
{
    const struct graph_plan_wish *w = s->wish;
    struct path_rule rule = {w->algorithm, w->threshold, w->machine.power.busy,
                             w->machine.power.link};
    enum graph_plan_fault fault = prepare_machine(s);
    enum path_fault cut;
    uint32_t members, most;

    if (fault != GRAPH_PLAN_SOUND)
        return fault;
    cut = graph_paths_init(&s->p->paths, s->g, &rule);
    if (cut != PATH_SOUND)
        return cut == PATH_LONG ? GRAPH_PLAN_LONG : GRAPH_PLAN_MEMORY;
    most = list_most(s) > s->p->paths.n ? list_most(s) : s->p->paths.n;
    if (most > SCHEDULE_CORES_MAX / w->machine.cores)
        return GRAPH_PLAN_MACHINE;
    fault = make_grouping(s);
    if (fault != GRAPH_PLAN_SOUND)
        return fault;
    members = s->p->paths.at[s->p->paths.n];
    s->room = schedule_room_create(s->g, members, most * w->machine.cores);
    s->instance = calloc(members, sizeof *s->instance);
    s->p->instance = calloc(members, sizeof *s->p->instance);
    if (!s->room || !s->instance || !s->p->instance || prepare_mixed(s) < 0)
        return GRAPH_PLAN_MEMORY;
    return GRAPH_PLAN_SOUND;
}

/* Each path on a processor of its own, which are all as fast as the graph says:
 * what deadlines are reckoned from. */
static int64_t ungrouped_makespan(struct search *s)
{
    struct machine m = s->machine;
    const uint32_t *rank;

    m.kind = NULL;
    m.processors = needed(s, GROUPING_SPREAD);
    return consider_on(s, GROUPING_SPREAD, &m, &rank).sum.makespan;
}

/* The deadline as a time. */
static void find_deadline(struct search *s)
{
    s->p->deadline = s->wish->deadline;
    if (s->wish->deadline_factor > 0)
        s->p->deadline = times_factor(ungrouped_makespan(s), s->wish);
}

static void clear_search(struct search *s)
{
    grouping_destroy(s->grouping);
    schedule_room_destroy(s->room);
    list_room_destroy(s->list);
    free(s->instance);
    free(s->kind);
    free(s->real);
    free(s->count);
    free(s->seating.first);
    free(s->seating.next);
    free(s->seating.load);
}

enum graph_plan_fault graph_plan_init(struct graph_plan *p,
                                      const struct graph *g,
                                      const struct graph_plan_wish *wish)
{
    struct search s = {.g = g, .wish = wish, .p = p};
    enum graph_plan_fault fault = check_wish(wish, g);
    uint32_t misfit;

    *p = (struct graph_plan){0};
    if (fault == GRAPH_PLAN_SOUND)
        fault = prepare_search(&s);
    if (fault == GRAPH_PLAN_SOUND) {
        find_deadline(&s);
        fault = search(&s);
    }
    if (fault == GRAPH_PLAN_SOUND && s.real)
        name_really(&s);
    misfit = p->misfit;
    clear_search(&s);
    if (fault != GRAPH_PLAN_SOUND)
        graph_plan_clear(p);
    p->misfit = misfit;
    return fault;
}

void graph_plan_clear(struct graph_plan *p)
{
    graph_paths_clear(&p->paths);
    free(p->candidate);
    free(p->instance);
    free(p->rank);
    *p = (struct graph_plan){0};
}
