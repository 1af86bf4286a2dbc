/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep graph: when and where the tasks of a graph run, and what it costs.
 */
#include "launcher/base/named_files.h"
#include "launcher/base/notice.h"
#include "launcher/base/number.h"
#include "launcher/base/options.h"
#include "launcher/base/out_file.h"
#include "launcher/commands.h"
#include "launcher/config/config_file.h"
#include "launcher/graph/graph_fault.h"
#include "launcher/graph/graph_import.h"
#include "launcher/graph/graph_options.h"
#include "launcher/graph/graph_print.h"
#include "launcher/graph/graph_report_file.h"
#include "launcher/graph/graph_run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- plans ---------------------------------------------------------------- */

static void tell_late(const struct graph_plan *p)
{
    if (!p->deadline_met)
        notice("the deadline of %g s cannot be met: the fastest plan takes "
               "%g s",
               (double)p->deadline / GRAPH_NS_PER_S,
               (double)p->candidate[p->chosen].sum.makespan / GRAPH_NS_PER_S);
}

struct drawing {
    const struct graph_file *file;
    const struct graph_plan *plan;
};

static int draw(FILE *out, const void *arg)
{
    const struct drawing *d = arg;

    return graph_print_svg(out, d->file, d->plan);
}

static int plan_one(const struct graph_options *o,
                    const struct graph_file *f,
                    struct es_error *err)
{
    struct graph_plan p;
    const struct drawing drawing = {f, &p};
    enum graph_plan_fault fault = graph_plan_init(&p, f->graph, &o->run.plan);
    int rc;

    if (fault != GRAPH_PLAN_SOUND)
        return graph_fault_tell(fault, &p, &o->run.plan, f, err);
    rc = o->svg ? out_file_write("--svg", o->svg, draw, &drawing, err) : 0;
    if (rc == 0 && !(o->svg && strcmp(o->svg, "-") == 0)) {
        rc = o->run.json
                 ? graph_print_json(stdout, f, &p, o->run.plan.machine.cores)
                 : graph_print_table(stdout, f, &p);
        if (rc < 0 || fflush(stdout) != 0)
            rc = es_no_space(err);
    }
    if (rc == 0) {
        graph_fault_tell_default(&p, &o->run.plan);
        tell_late(&p);
    }
    graph_plan_clear(&p);
    return rc;
}

/* --- all ------------------------------------------------------------------ */

#define ROWS 8 /* three algorithms, each ungrouped and grouped; two bounds */

/* All tasks on one core, or each on a processor of its own. */
static int add_bound(struct graph_row *row,
                     const char *name,
                     int apart,
                     const struct graph_file *f,
                     const struct graph_options *o,
                     struct es_error *err)
{
    const struct graph *g = f->graph;
    uint32_t processors = apart ? g->tasks : 1;
    struct machine m = {.processors = processors,
                        .cores = o->run.plan.machine.cores,
                        .power = o->run.plan.machine.power};
    struct instance *x = calloc(g->tasks, sizeof *x);
    struct schedule_room *room = NULL;
    int rc = -1;

    if (m.cores <= SCHEDULE_CORES_MAX / processors)
        room = schedule_room_create(g, g->tasks, processors * m.cores);
    for (uint32_t v = 0; x && v < g->tasks; v++)
        x[v] = (struct instance){v, apart ? v : 0, 0, 0, 0};
    *row = (struct graph_row){
        .name = name, .mode = "", .in_time = -1, .instances = g->tasks};
    if (x && room
        && schedule_evaluate(g, &m, x, g->tasks, room, &row->sum) == 0)
        rc = 0;
    else
        es_fail(err, ES_ENV, "give fewer cores, or free some memory",
                "%s: out of memory", name);
    schedule_room_destroy(room);
    free(x);
    return rc;
}

static const char *const algorithms[] = {
    [PATH_TDS] = "tds", [PATH_EAD] = "ead", [PATH_PEBD] = "pebd"};

/* Add a row; none if there are too few processors to run it ungrouped. */
static int add_plan(struct graph_row row[],
                    size_t *n,
                    const struct graph_plan_wish *wish,
                    const struct graph_file *f,
                    struct es_error *err)
{
    const struct graph_candidate *c;
    struct graph_plan p;
    enum graph_plan_fault fault = graph_plan_init(&p, f->graph, wish);

    if (fault == GRAPH_PLAN_FEW)
        return 0;
    if (fault != GRAPH_PLAN_SOUND)
        return graph_fault_tell(fault, &p, wish, f, err);
    c = &p.candidate[p.chosen];
    row[(*n)++] = (struct graph_row){algorithms[wish->algorithm],
                                     graph_mode_name(c->mode), c->in_time,
                                     c->instances, c->sum};
    graph_plan_clear(&p);
    return 0;
}

static int plan_all(const struct graph_options *o,
                    const struct graph_file *f,
                    struct es_error *err)
{
    struct graph_plan_wish w = o->run.plan;
    struct graph_row row[ROWS];
    size_t n = 0;

    for (int a = PATH_TDS; a <= PATH_PEBD; a++) {
        w.algorithm = (enum path_algorithm)a;
        w.mode = o->baseline;
        if (add_plan(row, &n, &w, f, err) < 0)
            return -1;
        w.mode = o->none ? GROUPING_BEST : o->run.plan.mode;
        if (add_plan(row, &n, &w, f, err) < 0)
            return -1;
    }
    if (add_bound(&row[n++], "sequential", 0, f, o, err) < 0
        || add_bound(&row[n++], "apart", 1, f, o, err) < 0)
        return -1;
    if (graph_print_rows(stdout, row, n, o->run.json) < 0
        || fflush(stdout) != 0)
        return es_no_space(err);
    return 0;
}

static int act(const struct graph_options *o,
               const struct graph_file *f,
               struct es_error *err)
{
    if (o->is_import)
        return graph_import(f, &o->reading, o->run.graph, o->to, o->run.json,
                            err);
    if (o->is_run)
        return graph_run(&o->run, f, err);
    return o->all ? plan_all(o, f, err) : plan_one(o, f, err);
}

/* What runs of the graph have measured goes before the configuration.  The power
 * besides the cores is in that of the cores. */
static void take_watts(struct graph_options *o, const struct watts *learnt)
{
    struct power *p = &o->run.plan.machine.power;

    if (o->power.busy < 0 && watts_fit(learnt, &p->busy, &p->idle) == 0)
        p->base = 0;
}

static int read_and_act(struct graph_options *o, struct es_error *err)
{
    struct graph_times times = {0};
    struct graph_file f = {0};
    int rc = 0;

    if (o->times) {
        o->reading.times = &times;
        rc = graph_times_init(&times, err);
        if (rc == 0)
            rc = graph_report_read(&times, o->times, err);
    }
    if (rc == 0)
        rc = graph_file_read(&f, o->run.graph, &o->reading, err);
    if (rc == 0) {
        take_watts(o, &f.watts);
        rc = act(o, &f, err);
    }
    graph_file_clear(&f);
    graph_times_clear(&times);
    return rc;
}

static int check_files(const struct graph_options *o,
                       const char *graph,
                       struct es_error *err)
{
    struct named_files files;

    return named_files_of_options(&files, graph_options_table, o, err) < 0
               ? -1
               : named_files_read(&files, NULL, "the graph", graph, err);
}

static int graph_main(int argc, char **argv, struct es_error *err)
{
    struct graph_options o = {.power.busy = -1, .deadline_s = -1};
    struct config c;
    int rc = options_parse(&command_graph, &o, argc, argv, err);

    if (rc == 0)
        rc = check_files(&o, argv[2], err);
    if (rc == 0 && config_load(&c, NULL, err) < 0)
        rc = -1;
    if (rc == 0)
        rc = graph_options_settle(&o, &c, argv + 1, err);
    if (rc == 0)
        rc = read_and_act(&o, err);
    graph_options_clear(&o);
    return rc;
}

const struct subcommand command_graph = {
    .name = "graph",
    .brief = "schedule a task graph, with energy in mind",
    .about =
        "Say when each task of a graph runs, on which core of which processor (a\n"
        "node), so that it takes least energy within a deadline; or run it so on\n"
        "the nodes of the allocation; or say what is understood of a file, and turn\n"
        "it into evenstep's own.  GRAPH is JSON (evenstep's own, WfCommons' or\n"
        "Makeflow's), or, without commands: Snakemake's --dag, Nextflow's -with-dag,\n"
        "Graphviz DOT or a Standard Task Graph.\n"
        "\n"
        "A task runs in a folder of its own, with its inputs; files that no task\n"
        "makes are taken from here, those that none takes are put here.\n",
    .option = graph_options_table,
    .end =
        "exit status: 0 done, 1 the work failed, 2 usage, 3 no Slurm or agents\n",
    .operands = "plan|run|import GRAPH",
    .run = graph_main,
};
