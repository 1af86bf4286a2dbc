/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Vectors made by an independent implementation of the same rules:
 * paths, every candidate, energy, and each instance's place and time.
 */
#include "policy/graph_plan.h"
#include "fenced.h"
#include "tap.h"

#include "drawn_graph.h"

#include <jansson.h>

#define S INT64_C(1000000000) /* ns */

static double number(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

static const char *text(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

/* Identifiers in the vectors are 1, 2, ... in order. */
static uint32_t task_of(const json_t *id)
{
    return (uint32_t)json_integer_value(id) - 1;
}

static struct graph *make_graph(const json_t *from)
{
    const json_t *tasks = json_object_get(from, "tasks");
    const json_t *edges = json_object_get(from, "edges");
    int64_t *time = calloc(json_array_size(tasks), sizeof *time);
    struct graph_edge *edge = calloc(json_array_size(edges), sizeof *edge);
    struct graph *g;

    if (!time || !edge)
        bail("no memory");
    for (size_t i = 0; i < json_array_size(tasks); i++)
        time[i] = (int64_t)number(json_array_get(tasks, i), "time") * S;
    for (size_t i = 0; i < json_array_size(edges); i++) {
        const json_t *e = json_array_get(edges, i);

        edge[i].from = task_of(json_object_get(e, "from"));
        edge[i].to = task_of(json_object_get(e, "to"));
        edge[i].comm = (int64_t)number(e, "comm") * S;
    }
    if (graph_create(&g, time, (uint32_t)json_array_size(tasks), edge,
                     (uint32_t)json_array_size(edges), NULL)
        != GRAPH_SOUND)
        bail("a graph of the vectors is refused");
    free(time);
    free(edge);
    return g;
}

static struct graph_plan_wish make_wish(const json_t *o)
{
    static const struct {
        const char *name;
        enum grouping_mode mode;
    } modes[] = {
        {"literal", GROUPING_LITERAL}, {"guard", GROUPING_GUARD},
        {"cap", GROUPING_CAP},         {"pack", GROUPING_PACK},
        {"spread", GROUPING_SPREAD},
    };
    const char *algorithm = text(o, "algorithm"), *group = text(o, "group");
    const json_t *deadline = json_object_get(o, "deadline");
    struct graph_plan_wish w = {
        .algorithm = strcmp(algorithm, "tds") == 0   ? PATH_TDS
                     : strcmp(algorithm, "ead") == 0 ? PATH_EAD
                                                     : PATH_PEBD,
        .threshold = number(o, "threshold"),
        .machine = {(uint32_t)number(o, "processors"),
                    (uint32_t)number(o, "cores"),
                    {10, 2, 5, 0},
                    0,
                    NULL},
        .deadline = json_is_null(deadline)
                        ? GRAPH_PLAN_FOREVER
                        : (int64_t)(json_number_value(deadline) * 1e9),
        .deadline_factor = number(o, "deadline_factor"),
    };

    if (strcmp(group, "none") == 0)
        group = text(o, "baseline");
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (strcmp(modes[i].name, group) == 0)
            w.mode = modes[i].mode;
    return w;
}

static int same_paths(const struct graph_plan *p, const json_t *want)
{
    if (json_array_size(want) != p->paths.n)
        return 0;
    for (uint32_t i = 0; i < p->paths.n; i++) {
        const json_t *path = json_array_get(want, i);
        uint32_t begin = p->paths.at[i], n = p->paths.at[i + 1] - begin;

        if (json_array_size(path) != n)
            return 0;
        for (uint32_t k = 0; k < n; k++)
            if (task_of(json_array_get(path, k)) != p->paths.task[begin + k])
                return 0;
    }
    return 1;
}

static int same_candidate(const struct graph_candidate *c, const json_t *want)
{
    double got[] = {c->M,
                    c->sum.processors,
                    c->sum.cores,
                    c->instances,
                    (double)c->sum.makespan / 1e9,
                    c->sum.energy.total};

    for (size_t i = 0; i < sizeof got / sizeof got[0]; i++)
        if (fabs(got[i] - json_number_value(json_array_get(want, i))) > 1e-9)
            return 0;
    return c->in_time == json_is_true(json_array_get(want, 6));
}

static int same_candidates(const struct graph_plan *p, const json_t *want)
{
    if (json_array_size(want) != p->candidates)
        return 0;
    for (uint32_t i = 0; i < p->candidates; i++)
        if (!same_candidate(&p->candidate[i], json_array_get(want, i)))
            return 0;
    return 1;
}

static int same_sum(const struct graph_candidate *c, const json_t *want)
{
    const struct energy *e = &c->sum.energy;
    const json_t *energy = json_object_get(want, "energy");

    return c->M == (uint32_t)number(want, "chosen_M")
           && fabs((double)c->sum.makespan / 1e9 - number(want, "makespan"))
                  < 1e-9
           && fabs(e->busy - number(energy, "busy")) < 1e-9
           && fabs(e->idle - number(energy, "idle")) < 1e-9
           && fabs(e->base - number(energy, "base")) < 1e-9
           && fabs(e->comm - number(energy, "comm")) < 1e-9
           && fabs(e->total - number(energy, "total")) < 1e-9;
}

static int same_schedule(const struct graph_plan *p, const json_t *want)
{
    uint32_t n = 0;

    for (size_t i = 0; i < json_array_size(want); i++) {
        const json_t *row = json_array_get(want, i);
        const json_t *run = json_array_get(row, 2);

        for (size_t k = 0; k < json_array_size(run); k++, n++) {
            const json_t *one = json_array_get(run, k);
            const struct instance *x = &p->instance[n];

            if (n >= p->instances || x->task != task_of(json_array_get(one, 0))
                || x->processor != json_integer_value(json_array_get(row, 0))
                || x->core != json_integer_value(json_array_get(row, 1))
                || x->start != json_integer_value(json_array_get(one, 1)) * S
                || x->finish != json_integer_value(json_array_get(one, 2)) * S)
                return 0;
        }
    }
    return n == p->instances;
}

static void run_case(const json_t *graphs, const json_t *c)
{
    const json_t *options = json_object_get(c, "options");
    const json_t *want = json_object_get(c, "expect");
    struct graph *g = make_graph(json_object_get(graphs, text(c, "dag")));
    struct graph_plan_wish w = make_wish(options);
    struct graph_plan p;
    int pass;

    pass = graph_plan_init(&p, g, &w) == GRAPH_PLAN_SOUND
           && same_paths(&p, json_object_get(want, "paths"))
           && same_candidates(&p, json_object_get(want, "candidates"))
           && same_sum(&p.candidate[p.chosen], want)
           && same_schedule(&p, json_object_get(want, "schedule"));
    ok(pass, "%s: %s %g, %s, %u cores, deadline %g: as in the vectors",
       text(c, "dag"), text(options, "algorithm"), w.threshold,
       text(options, w.mode == GROUPING_PACK ? "baseline" : "group"),
       w.machine.cores,
       w.deadline_factor > 0 ? w.deadline_factor : number(options, "deadline"));
    if (!pass)
        diag("paths %d candidates %d sum %d",
             same_paths(&p, json_object_get(want, "paths")),
             same_candidates(&p, json_object_get(want, "candidates")),
             p.candidates && same_sum(&p.candidate[p.chosen], want));
    graph_plan_clear(&p);
    graph_destroy(g);
}

/* --- the search, on random graphs ----------------------------------------- */

static const struct power watts = {10, 2, 5, 3};

static struct graph_plan_wish draw_wish(enum grouping_mode mode)
{
    return (struct graph_plan_wish){
        .algorithm = (enum path_algorithm)drawn_number(3),
        .threshold = drawn_number(9),
        .mode = mode,
        .machine = {drawn_number(2) * (1 + drawn_number(6)),
                    1 + drawn_number(3), watts, 0, NULL},
        .deadline = drawn_number(3) ? (5 + drawn_number(20)) * DRAWN_S
                                    : GRAPH_PLAN_FOREVER,
        .deadline_factor = drawn_number(3) ? 0 : 0.5 * drawn_number(4),
    };
}

/* Processors for the paths, `each` on one. */
static uint32_t processors_for(const struct graph_plan *p, uint32_t each)
{
    return p->paths.n / each + (p->paths.n % each != 0);
}

/* In time first; of those late the fastest, else the cheapest; then the faster,
   then who takes fewer processors. */
static int comes_before(const struct graph_candidate *a,
                        const struct graph_candidate *b)
{
    double ea = a->sum.energy.total, eb = b->sum.energy.total;
    int64_t ta = a->sum.makespan, tb = b->sum.makespan;

    if (a->in_time || b->in_time) {
        if (a->in_time && b->in_time && ea != eb)
            return ea < eb;
        if (!a->in_time || !b->in_time)
            return a->in_time;
    }
    if (ta != tb && !(a->in_time && b->in_time))
        return ta < tb;
    if (ea != eb)
        return ea < eb;
    return ta != tb ? ta < tb : a->M < b->M;
}

static int choice_is_right(const struct graph_plan *p)
{
    const struct graph_candidate *c = p->candidate;
    uint32_t best = 0;

    for (uint32_t i = 0; i < p->candidates; i++) {
        if (c[i].in_time != (c[i].sum.makespan <= p->deadline))
            return 0;
        if (comes_before(&c[i], &c[best]))
            best = i;
    }
    return p->chosen == best && p->deadline_met == c[best].in_time
           && p->instances == c[best].instances;
}

/* The candidates of a mode: M from as many as are needed, or there are, down to
   one; not beyond the first that is late, if it is the only mode.  Returns the
   number of the next candidate, or NONE. */
#define NONE UINT32_MAX
static uint32_t skip_mode(const struct graph_plan *p,
                          const struct graph_plan_wish *w,
                          enum grouping_mode mode,
                          uint32_t i)
{
    uint32_t most = w->machine.processors;
    uint32_t m = processors_for(p, w->machine.cores);

    if (most > 0 && most < m)
        m = most;
    for (; m > 0; m--, i++) {
        if (i == p->candidates || p->candidate[i].mode != mode
            || p->candidate[i].M != m)
            return NONE;
        if (w->mode != GROUPING_BEST && !p->candidate[i].in_time)
            return i + 1;
    }
    return i;
}

static uint32_t skip_apart(const struct graph_plan *p,
                           const struct graph_plan_wish *w,
                           enum grouping_mode mode,
                           uint32_t i)
{
    uint32_t each = mode == GROUPING_PACK ? w->machine.cores : 1;
    uint32_t m = processors_for(p, each), most = w->machine.processors;

    if (most > 0 && most < m)
        return i;
    if (i == p->candidates || p->candidate[i].mode != mode
        || p->candidate[i].M != m)
        return NONE;
    return i + 1;
}

static int candidates_are_right(const struct graph_plan *p,
                                const struct graph_plan_wish *w)
{
    uint32_t i = 0;
    int met = 0;

    if (w->mode == GROUPING_PACK || w->mode == GROUPING_SPREAD)
        return skip_apart(p, w, w->mode, 0) == p->candidates;
    if (w->mode != GROUPING_BEST)
        return skip_mode(p, w, w->mode, 0) == p->candidates;
    for (int mode = GROUPING_LITERAL; mode <= GROUPING_CAP && i != NONE; mode++)
        i = skip_mode(p, w, (enum grouping_mode)mode, i);
    if (i != NONE)
        i = skip_apart(p, w, GROUPING_PACK, i);
    for (uint32_t k = 0; k < i && i != NONE; k++)
        met |= p->candidate[k].in_time;
    if (i != NONE && !met)
        i = skip_apart(p, w, GROUPING_SPREAD, i);
    return i == p->candidates;
}

static void test_search(void)
{
    static const char *const names[] = {"best", "literal", "guard",
                                        "cap",  "pack",    "spread"};

    for (int mode = GROUPING_BEST; mode <= GROUPING_SPREAD; mode++) {
        int tried = 1, chosen = 1, few = 1, n_few = 0, late = 0;

        for (int round = 0; round < 300; round++) {
            struct graph_plan_wish w = draw_wish((enum grouping_mode)mode);
            enum graph_plan_fault fault;
            struct graph_plan p;
            struct drawn t;
            struct graph *g = draw_graph(&t);

            fault = graph_plan_init(&p, g, &w);
            if (fault == GRAPH_PLAN_FEW) {
                few &= mode >= GROUPING_PACK && w.machine.processors > 0;
                n_few++;
            } else if (fault != GRAPH_PLAN_SOUND) {
                bail("no plan");
            } else {
                tried &= candidates_are_right(&p, &w);
                chosen &= choice_is_right(&p);
                late += !p.deadline_met;
            }
            graph_plan_clear(&p);
            graph_destroy(g);
        }
        ok(tried, "%s: what is to be tried is tried", names[mode]);
        ok(chosen, "%s: the best of these is chosen", names[mode]);
        ok(late > 0 && few && (n_few > 0) == (mode >= GROUPING_PACK),
           "%s: %d are late, %d have too few processors", names[mode], late,
           n_few);
    }
}

/* n tasks that need nobody. */
static struct graph *loose_tasks(uint32_t n)
{
    int64_t *time = calloc(n, sizeof *time);
    struct graph *g = NULL;

    for (uint32_t i = 0; time && i < n; i++)
        time[i] = S;
    if (!time || graph_create(&g, time, n, NULL, 0, NULL) != GRAPH_SOUND)
        bail("no graph");
    free(time);
    return g;
}

/* A deadline as a factor, to the nanosecond; one beyond all times is none. */
static void test_deadline(void)
{
    struct graph_plan_wish w = {.mode = GROUPING_SPREAD,
                                .machine = {0, 1, watts, 0, NULL}};
    struct graph *g = loose_tasks(3);
    struct graph_plan p;

    w.deadline_factor = 1.2345678906;
    if (graph_plan_init(&p, g, &w) != GRAPH_PLAN_SOUND)
        bail("no plan");
    is_int(p.deadline, 1234567891, "a factor is of the makespan, rounded");
    ok(p.deadline_met, "which is in time");
    graph_plan_clear(&p);
    w.deadline_factor = 1e300;
    if (graph_plan_init(&p, g, &w) != GRAPH_PLAN_SOUND)
        bail("no plan");
    ok(p.deadline == GRAPH_PLAN_FOREVER, "a factor beyond all times is none");
    graph_plan_clear(&p);
    graph_destroy(g);
}

/* As many candidates as it takes, and each allocation failing. */
static void test_memory(void)
{
    struct graph_plan_wish w = {.mode = GROUPING_BEST,
                                .machine = {0, 1, watts, 0, NULL},
                                .deadline = GRAPH_PLAN_FOREVER};
    struct graph *g = loose_tasks(100);
    enum graph_plan_fault fault;
    struct graph_plan p;
    int clean = 1;
    long n = 0;

    do {
        fault_at = n++;
        fault = graph_plan_init(&p, g, &w);
        fault_at = -1;
        clean &= fault == GRAPH_PLAN_SOUND
                 || (fault == GRAPH_PLAN_MEMORY && !p.candidate && !p.instance);
    } while (fault != GRAPH_PLAN_SOUND && n < 1000);
    ok(clean && n > 20, "each of %ld allocations fails cleanly", n - 1);
    is_int(p.candidates, 301, "300 placements and the pack are tried");
    graph_plan_clear(&p);
    graph_destroy(g);
}

/* Where a placement is much work, fewer are tried: from one on, M is lowered by
   a part of it, which is the smallest that there is time for. */
static void test_work(void)
{
    static const struct {
        uint32_t tasks, candidates, first, second;
    } rows[] = {{100, 100, 100, 99},
                {500, 375, 500, 498},
                {1000, 70, 1000, 933},
                {10500, 14, 10500, 5250}};
    struct graph_plan_wish w = {.mode = GROUPING_LITERAL,
                                .machine = {0, 1, watts, 0, NULL},
                                .deadline = GRAPH_PLAN_FOREVER};

    fence_on = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct graph *g = loose_tasks(rows[i].tasks);
        struct graph_plan p;

        if (graph_plan_init(&p, g, &w) != GRAPH_PLAN_SOUND)
            bail("no plan");
        ok(p.candidates == rows[i].candidates
               && p.candidate[0].M == rows[i].first
               && p.candidate[1].M == rows[i].second,
           "%u paths: %u candidates, from %u, %u on", rows[i].tasks,
           p.candidates, p.candidate[0].M, p.candidate[1].M);
        graph_plan_clear(&p);
        graph_destroy(g);
    }
}

int main(void)
{
    const char *src = getenv("EVENSTEP_SRC");
    char path[4096];
    json_t *all, *graphs, *cases;

    snprintf(path, sizeof path, "%s/t/policy/graph_vectors.json",
             src ? src : ".");
    all = json_load_file(path, 0, NULL);
    graphs = json_object_get(all, "graphs");
    cases = json_object_get(all, "cases");
    fence_on = 1;
    is_int((intmax_t)json_array_size(cases), 216, "there are 216 vectors");
    for (size_t i = 0; i < json_array_size(cases); i++)
        run_case(graphs, json_array_get(cases, i));
    json_decref(all);
    test_search();
    test_deadline();
    test_memory();
    test_work();
    return done();
}
