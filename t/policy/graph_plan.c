/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Vectors made by an independent implementation of the same rules:
 * paths, every candidate, energy, and each instance's place and time.
 */
#include "policy/graph_plan.h"
#include "fenced.h"
#include "tap.h"

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
                    {10, 2, 5, 0}},
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
    return done();
}
