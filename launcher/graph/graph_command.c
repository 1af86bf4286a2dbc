/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep graph: when and where the tasks of a graph run, and what it costs.
 */
#include "launcher/base/named_files.h"
#include "launcher/base/notice.h"
#include "launcher/base/number.h"
#include "launcher/base/options.h"
#include "launcher/base/out_file.h"
#include "launcher/base/plain_text.h"
#include "launcher/base/text_file.h"
#include "launcher/commands.h"
#include "launcher/config/config_file.h"
#include "launcher/graph/graph_fault.h"
#include "launcher/graph/graph_format.h"
#include "launcher/graph/graph_print.h"
#include "launcher/graph/graph_report.h"
#include "launcher/graph/graph_run.h"
#include "launcher/graph/graph_text.h"
#include "launcher/graph/graph_times.h"
#include "launcher/graph/graph_wish.h"
#include "launcher/graph/graph_work.h"
#include "launcher/session/qualification.h"

#include <errno.h>
#include <fts.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- graph import -------------------------------------------------------------- */

/* Evenstep graph import: says what is understood of a file, and
 * writes it as evenstep's own JSON. */

/* All that there is to say. */
struct import {
    const struct graph_file *f;
    const struct graph_times *times; /* NULL: none */
    const char *path;
    struct graph_work work; /* empty: it cannot be run */
    char reason[600];       /* why not, as plain text */
    uint32_t unused, comms, needs;
    char *first; /* row of the times that no task has taken, as plain text */
};

static int look(struct import *x, struct es_error *err)
{
    const struct graph *g = x->f->graph;
    struct es_error why = {0};

    for (uint32_t i = 0; x->times && i < x->times->rows; i++)
        if (!x->times->row[i].is_used && x->unused++ == 0)
            x->first = plain_text_new(x->times->row[i].name);
    for (uint32_t i = 0; i < g->edges; i++)
        x->comms += g->pred[i].comm > 0;
    for (uint32_t v = 0; g->need && v < g->tasks; v++)
        x->needs += g->need[v].cores > 1 || g->need[v].memory > 0;
    if (graph_work_read(&x->work, x->path, x->f, &why) < 0)
        plain_text(x->reason, sizeof x->reason, why.what);
    return x->unused > 0 && !x->first ? es_no_memory(err) : 0;
}

/* Tasks whose time is their own. */
static uint32_t own_times(const struct import *x)
{
    const struct graph_understood *u = &x->f->understood;

    return x->f->graph->tasks - u->guessed_kind - u->guessed_all
           - u->guessed_given - u->targets;
}

/* --- for people ----------------------------------------------------------- */

static void count(const char *before, uint32_t n, const char *what)
{
    if (n > 0)
        printf("%s%u %s", before, n, what);
}

static void print_edges(const struct import *x)
{
    const struct graph_understood *u = &x->f->understood;

    printf("edges     %u: %u with communication", x->f->graph->edges, x->comms);
    count(", ", u->by_tag, "between tasks of a tag");
    count(", ", u->by_all,
          "from all tasks of a process to all of the next, "
          "which may be too many");
    putchar('\n');
}

static void print_ignored(const struct import *x)
{
    const struct graph_understood *u = &x->f->understood;

    count("passed    ", u->passed, "nodes without a task\n");
    count("done      ", u->done,
          "tasks, says the file; they count as to be "
          "done\n");
    if (x->times)
        count("ignored   ", x->times->failed, "tries that failed\n");
    if (x->unused > 0)
        printf("ignored   %u times of no task of the graph, first that of "
               "\"%s\"\n",
               x->unused, x->first);
}

static void print_text(const struct import *x)
{
    const struct graph_understood *u = &x->f->understood;

    printf("format    %s\n", u->format);
    printf("tasks     %u: %u with a time of their own", x->f->graph->tasks,
           own_times(x));
    count(", ", u->guessed_kind, "guessed: the mean of those alike");
    count(", ", u->guessed_given, "guessed: --guess");
    count(", ", u->guessed_all, "guessed: the mean of all");
    count(", ", u->targets, "that do nothing");
    putchar('\n');
    print_edges(x);
    count("needs     ", x->needs, "tasks need several cores, or memory\n");
    print_ignored(x);
    if (x->reason[0])
        printf("commands  none: %s\n", x->reason);
    else
        printf("commands  %u: graph run can run it\n", x->f->graph->tasks);
}

/* --- for programs --------------------------------------------------------- */

static int print_json(const struct import *x)
{
    const struct graph_understood *u = &x->f->understood;
    json_t *all = json_pack(
        "{s:s, s:i, s:{s:i, s:i, s:i, s:i, s:i}, s:i, s:i, s:i, s:i, s:i, s:i, "
        "s:i, s:i, s:i, s:b}",
        "format", u->format, "tasks", (int)x->f->graph->tasks, "times", "own",
        (int)own_times(x), "alike", (int)u->guessed_kind, "given",
        (int)u->guessed_given, "mean", (int)u->guessed_all, "nothing",
        (int)u->targets, "edges", (int)x->f->graph->edges, "communications",
        (int)x->comms, "by_tag", (int)u->by_tag, "by_all", (int)u->by_all,
        "needs", (int)x->needs, "passed", (int)u->passed, "done", (int)u->done,
        "failed", x->times ? (int)x->times->failed : 0, "unused",
        (int)x->unused, "commands", x->reason[0] == '\0');
    int rc = all ? json_dumpf(all, stdout, JSON_COMPACT) : -1;

    json_decref(all);
    putchar('\n');
    return rc;
}

/* --- evenstep's own ------------------------------------------------------- */

static double seconds(int64_t ns)
{
    return (double)ns / GRAPH_NS_PER_S;
}

/* The line for the shell, if it is one, else the words. */
static json_t *command_of(const struct graph_work_task *t)
{
    json_t *words;

    if (strcmp(t->argv[0], "/bin/sh") == 0 && t->argv[1]
        && strcmp(t->argv[1], "-c") == 0 && t->argv[2] && !t->argv[3])
        return json_string(t->argv[2]);
    words = json_array();
    for (char **word = t->argv; *word; word++)
        if (json_array_append_new(words, json_string(*word)) < 0) {
            json_decref(words);
            return NULL;
        }
    return words;
}

static json_t *names_of(const struct graph_work *w,
                        const uint32_t file[],
                        uint32_t n)
{
    json_t *names = json_array();

    for (uint32_t i = 0; names && i < n; i++)
        if (json_array_append_new(names, json_string(w->file[file[i]].name))
            < 0) {
            json_decref(names);
            return NULL;
        }
    return names;
}

static int write_need(json_t *task, const struct graph_need *need)
{
    int bad = 0;

    if (need->cores > 1)
        bad = json_object_set_new(task, "cores", json_integer(need->cores));
    if (need->memory > 0)
        bad |= json_object_set_new(task, "memory",
                                   json_integer((json_int_t)need->memory));
    return bad;
}

static int write_task(const struct import *x, json_t *tasks, uint32_t v)
{
    const struct graph *g = x->f->graph;
    const struct graph_work_task *t = x->reason[0] ? NULL : &x->work.task[v];
    json_t *task = json_object();
    int bad =
        json_object_set(task, "id", json_array_get(x->f->ids, v))
        | json_object_set_new(task, "time", json_real(seconds(g->time[v])));

    if (g->need)
        bad |= write_need(task, &g->need[v]);
    if (t)
        bad |= json_object_set_new(task, "command", command_of(t))
               | json_object_set_new(task, "inputs",
                                     names_of(&x->work, t->input, t->inputs))
               | json_object_set_new(task, "outputs",
                                     names_of(&x->work, t->output, t->outputs));
    if (t && t->retries >= 0)
        bad |= json_object_set_new(task, "retries", json_integer(t->retries));
    return json_array_append_new(tasks, task) | bad;
}

static int write_edges(const struct import *x, json_t *edges)
{
    const struct graph *g = x->f->graph;
    int bad = 0;

    for (uint32_t v = 0; v < g->tasks; v++)
        for (uint32_t i = g->pred_at[v]; i < g->pred_at[v + 1]; i++)
            bad |= json_array_append_new(
                edges, json_pack("{s:O, s:O, s:f}", "from",
                                 json_array_get(x->f->ids, g->pred[i].task),
                                 "to", json_array_get(x->f->ids, v), "comm",
                                 seconds(g->pred[i].comm)));
    return bad;
}

static int print_graph(FILE *out, const void *arg)
{
    return json_dumpf(arg, out, JSON_INDENT(1) | JSON_REAL_PRECISION(12)) < 0
                   || putc('\n', out) == EOF
               ? -1
               : 0;
}

static int write_to(const struct import *x,
                    const char *to,
                    struct es_error *err)
{
    json_t *tasks = json_array(), *edges = json_array();
    json_t *all = json_pack("{s:o, s:o}", "tasks", tasks, "edges", edges);
    int bad = all ? write_edges(x, edges) : -1, rc;

    for (uint32_t v = 0; !bad && v < x->f->graph->tasks; v++)
        bad = write_task(x, tasks, v);
    rc = bad ? es_no_memory(err)
             : out_file_write("--to", to, print_graph, all, err);
    json_decref(all);
    return rc;
}

/*
 *   how   as f was read
 *   path  of f
 *   to    file to write, or NULL
 *   json  print one JSON object
 */
static int graph_import(const struct graph_file *f,
                        const struct graph_reading *how,
                        const char *path,
                        const char *to,
                        int json,
                        struct es_error *err)
{
    struct import x = {.f = f, .times = how->times, .path = path};
    int rc = look(&x, err);

    if (rc == 0 && json)
        rc = print_json(&x) < 0 ? es_no_memory(err) : 0;
    else if (rc == 0 && (!to || strcmp(to, "-") != 0))
        print_text(&x);
    if (rc == 0 && (ferror(stdout) || fflush(stdout) != 0))
        rc = es_no_space(err);
    if (rc == 0 && to)
        rc = write_to(&x, to, err);
    graph_work_clear(&x.work);
    free(x.first);
    return rc;
}

/* --- graph options ------------------------------------------------------------- */

/* The options of `evenstep graph plan|run|import`. */

#define GRAPH_SPEEDS_MAX 4096 /* of --speeds */

struct graph_options {
    struct graph_run_wish run; /* its plan is for `graph plan`, too */
    struct graph_reading reading;
    struct local_option local;
    double *speed; /* of --speeds; NULL: not given */
    struct processor_kind *kind;
    size_t speeds;
    uint64_t memory;    /* of a processor; 0: not given */
    const char *svg;    /* NULL: not given */
    const char *times;  /* likewise: reports */
    const char *to;     /* likewise: of import */
    struct power power; /* busy below 0: not given */
    double deadline_s;  /* below 0: not given */
    int is_run, is_import, group, none, is_packed, all;
    enum grouping_mode baseline;
};

#define RETRIES_MAX 1000

_Static_assert(GRAPH_RETRIES == 2, "the default of --retries says so");

/* --- the table ------------------------------------------------------------ */

static int take_power(void *at, const char *text, struct es_error *err)
{
    struct power *power = at;
    double watts[4];
    size_t n = option_numbers_parse(watts, 4, 0, 1e9, "power", text, err);

    if (n == 0)
        return -1;
    if (n < 4)
        return es_fail(err, ES_USAGE, "give BUSY,IDLE,LINK,BASE in watts",
                       "--power: not four numbers");
    *power = (struct power){
        .busy = watts[0], .idle = watts[1], .link = watts[2], .base = watts[3]};
    return 0;
}

static int take_speeds(void *at, const char *text, struct es_error *err)
{
    struct graph_options *o = at;

    free(o->speed); /* of an option before */
    o->speed = calloc(GRAPH_SPEEDS_MAX, sizeof *o->speed);
    if (!o->speed)
        return es_no_memory(err);
    o->speeds = option_numbers_parse(o->speed, GRAPH_SPEEDS_MAX, 1e-3, 1e6,
                                     "speeds", text, err);
    return o->speeds > 0 ? 0 : -1;
}

#define ALGORITHMS "tds|ead|pebd"
#define GROUPS     "best|literal|guard|cap|none|heft|list"
#define NONE       4 /* of GROUPS; the others are as in enum grouping_mode */
#define AT(member) OPTION_AT(struct graph_options, member)

_Static_assert(PATH_TDS == 0 && PATH_EAD == 1 && PATH_PEBD == 2,
               "ALGORITHMS has them in this order");
_Static_assert(METRICS_PROBE == 0 && METRICS_CACHED == 1 && METRICS_EQUAL == 2,
               "and --metrics these");
_Static_assert(GROUPING_BEST == 0 && GROUPING_LITERAL == 1
                   && GROUPING_GUARD == 2 && GROUPING_CAP == 3,
               "and GROUPS those");

/* clang-format off */
static const struct option graph_options_table[] = {
    {OPTION_GROUP, .name = "the plan:"},
    {OPTION_WORD, "algorithm", ALGORITHMS, AT(run.plan.algorithm),
     .def = "tds", .help = "how paths are cut"},
    {OPTION_NUMBER, "threshold", "X", AT(run.plan.threshold), .low = -1e12,
     .high = 1e12, .help =
     "energy that ead may spend on a copy, J, or pebd for each second that it "
     "saves (0)"},
    {OPTION_WORD, "group", GROUPS, AT(group), .def = "best", .help =
     "how paths are put together; best: the best of the next three; heft and "
     "list: no paths, but task by task"},
    {OPTION_WORD, "baseline", "spread|pack", AT(is_packed), .def = "spread",
     .help = "with --group none: a path a processor, or as many as it has "
     "cores"},
    {OPTION_COUNT, "cores", "K", AT(run.plan.machine.cores), .low = 1,
     .high = SCHEDULE_CORES_MAX, .help =
     "of a processor (as many as this host has; run: as the smallest node)"},
    {OPTION_COUNT, "processors", "M", AT(run.plan.machine.processors),
     .low = 1, .high = SCHEDULE_CORES_MAX, .help =
     "at most so many (no limit; run: the number of nodes)"},
    {OPTION_TAKE, "speeds", "S1,S2,...", .take = take_speeds, .help =
     "of the processors, of which there are so many, to each other; the graph's "
     "times are those of the fastest (all alike; run: those of --local, or by "
     "--metrics)"},
    {OPTION_SIZE, "memory", "BYTES", AT(memory), .low = 1, .high = 1e18,
     .only = "plan", .help = "of a processor, for tasks that say what they need "
     "(enough)"},
    {OPTION_SECONDS, "deadline", "SECONDS", AT(deadline_s), .high = 1e9,
     .excludes = "deadline-factor", .help = "not later than this"},
    {OPTION_NUMBER, "deadline-factor", "F", AT(run.plan.deadline_factor),
     .low = 1e-6, .high = 1e6, .help =
     "or than F times the ungrouped makespan (1.1, or of the fastest plan)"},
    {OPTION_TAKE, "power", "BUSY,IDLE,LINK,BASE", AT(power),
     .take = take_power, .help =
     "watts of a core at work and idle, of a message on its way, of a processor "
     "besides (section energy of the configuration)"},
    {OPTION_RATE, "rate", "BYTES", AT(reading.rate), .low = 1, .high = 1e15,
     .def = "125M", .help =
     "a second between processors, for WfCommons' files, or as 1gbit"},
    {OPTION_NUMBER, "ccr", "X", AT(reading.ccr), .high = 1e6, .help =
     "mean communication over mean time, for formats without it (0)"},
    {OPTION_TEXT, "times", "FILE", AT(times), .file = OPTION_READS, .help =
     "how long tasks took: Nextflow's trace, Makeflow's log, a Snakemake "
     "benchmark or a folder of them"},
    {OPTION_SECONDS, "guess", "SECONDS", AT(reading.guess), .low = 1e-9,
     .high = 1e9, .help =
     "for tasks of which no report has the time, nor that of one like them (the "
     "mean of all)"},
    {OPTION_FLAG, "json", NULL, AT(run.json), .help = "print one JSON object"},
    {OPTION_GROUP, .name = "plan:"},
    {OPTION_FLAG, "all", NULL, AT(all), .only = "plan", .excludes = "svg",
     .help = "compare all algorithms, and bounds"},
    {OPTION_TEXT, "svg", "FILE", AT(svg), .file = OPTION_WRITES, .only = "plan", .help =
     "draw it, too"},
    {OPTION_GROUP, .name = "import:"},
    {OPTION_TEXT, "to", "FILE", AT(to), .file = OPTION_WRITES, .only = "import", .help =
     "write the graph, as evenstep's own JSON"},
    {OPTION_GROUP, .name = "run:"},
    {OPTION_WORD, "metrics", "probe|cached|equal", AT(run.metrics),
     .def = "cached", .only = "run", .excludes = "speeds", .help =
     "how fast the nodes' cores are: by a probe, by the site's cache where it "
     "has that, or all alike"},
    {OPTION_COUNT, "retries", "N", AT(run.retries), .high = RETRIES_MAX,
     .def = "2", .only = "run", .help =
     "of a task that fails: first on its node, then elsewhere"},
    {OPTION_TEXT, "journal", "FILE", AT(run.journal), .file = OPTION_WRITES, .only = "run", .help =
     "keep what is done in FILE"},
    {OPTION_FLAG, "resume", NULL, AT(run.resume), .only = "run",
     .needs = "journal", .help = "go on where the run of --journal ended"},
    {OPTION_TEXT, "report", "FILE", AT(run.report), .file = OPTION_WRITES, .only = "run", .help =
     "write how it went into FILE, too, for evenstep report"},
    {OPTION_FLAG, "release", NULL, AT(run.release), .only = "run",
     .excludes = "local", .help =
     "give nodes that the plan has no use for back to Slurm"},
    {OPTION_FLAG, "learn", NULL, AT(run.learn), .only = "run", .help =
     "write what was measured into GRAPH"},
    {OPTION_TEXT, "work", "FOLDER", AT(run.work), .only = "run", .help =
     "where the nodes keep files ($TMPDIR, or /tmp)"},
    {OPTION_SRUN, AT(run.srun), .only = "run"},
    {OPTION_LOCAL, AT(local), .only = "run", .excludes = "srun"},
    {.type = OPTION_END},
};
/* clang-format on */

/* --- processors ----------------------------------------------------------- */

static enum grouping_mode mode_of(int group, enum grouping_mode none)
{
    static const enum grouping_mode modes[] = {
        GROUPING_BEST, GROUPING_LITERAL, GROUPING_GUARD, GROUPING_CAP,
        GROUPING_BEST, GROUPING_HEFT,    GROUPING_LIST};

    return group == NONE ? none : modes[group];
}

/* At most as many as there are speeds for. */
static int settle_speeds(struct graph_options *o, struct es_error *err)
{
    struct machine *m = &o->run.plan.machine;
    double most = 0;

    m->core_bytes = (double)o->memory / m->cores;
    if (o->speeds == 0)
        return 0;
    o->kind = calloc(o->speeds, sizeof *o->kind);
    if (!o->kind)
        return es_no_memory(err);
    if (m->processors == 0 || m->processors > o->speeds)
        m->processors = (uint32_t)o->speeds;
    for (size_t i = 0; i < o->speeds; i++)
        most = fmax(most, o->speed[i]);
    for (size_t i = 0; i < o->speeds; i++)
        o->kind[i] = (struct processor_kind){most / o->speed[i], m->cores,
                                             m->core_bytes};
    m->kind = o->kind;
    return 0;
}

/* --- all together --------------------------------------------------------- */

/* What the options and the two operands come to; what they do not say is as in
 * c, which must outlive o.  Returns 0, or -1 with err. */
static int graph_options_settle(struct graph_options *o,
                                const struct config *c,
                                char **words,
                                struct es_error *err)
{
    struct graph_plan_wish *w = &o->run.plan;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    o->is_run = strcmp(words[0], "run") == 0;
    o->is_import = strcmp(words[0], "import") == 0;
    o->run.graph = words[1];
    o->run.config = c;
    o->run.local = &o->local;
    o->run.speed = o->speed;
    o->run.speeds = o->speeds;
    o->baseline = o->is_packed ? GROUPING_PACK : GROUPING_SPREAD;
    o->none = o->group == NONE;
    w->mode = mode_of(o->group, o->baseline);
    w->machine.power = o->power.busy < 0 ? c->energy : o->power;
    w->deadline = o->deadline_s < 0
                      ? GRAPH_PLAN_FOREVER
                      : (int64_t)floor(o->deadline_s * GRAPH_NS_PER_S + 0.5);
    if (o->deadline_s < 0 && !(w->deadline_factor > 0)) {
        w->deadline_factor = GRAPH_PLAN_FACTOR;
        w->is_default = 1;
    }
    if (w->machine.cores == 0 && !o->is_run) /* a run asks the nodes */
        w->machine.cores = cores > 0 ? (uint32_t)cores : 1;
    return o->is_run ? 0 : settle_speeds(o, err);
}

static void graph_options_clear(struct graph_options *o)
{
    free(o->speed);
    free(o->kind);
}

/* --- graph report file --------------------------------------------------------- */

/* Reports from files and folders. */

#define REPORT_MAX (64u << 20) /* bytes */

static int read_one(struct graph_times *t,
                    const char *path,
                    const char *name,
                    struct es_error *err)
{
    char *text = graph_text_read(path, REPORT_MAX, err);
    int rc = text ? graph_report_parse(t, name, text, err) : -1;

    free(text);
    return rc;
}

/* Benchmarks are what is looked for in a folder: a first line tells them. */
static int is_benchmark(const char *path)
{
    char head[8] = "";
    size_t len = strlen(path);
    FILE *file = fopen(path, "re");
    int is;

    if (!file)
        return 0;
    text_file_skip_mark(file);
    is = fgets(head, sizeof head, file)
         && (strcmp(head, "s\th:m:s") == 0
             || (*head == '{' && len > 6
                 && strcmp(path + len - 6, ".jsonl") == 0));
    (void)fclose(file); /* was only read */
    return is;
}

static int read_folder(struct graph_times *t,
                       const char *path,
                       struct es_error *err)
{
    char *copy = strdup(path), *const list[] = {copy, NULL};
    FTS *walk = copy ? fts_open(list, FTS_PHYSICAL | FTS_NOCHDIR, NULL) : NULL;
    const FTSENT *at;
    int rc = walk ? 0 : es_no_memory(err);

    while (rc == 0 && (at = fts_read(walk)))
        if (at->fts_info == FTS_F && is_benchmark(at->fts_path)) {
            const char *name = at->fts_path + strlen(path);

            rc = read_one(t, at->fts_path, name + strspn(name, "/"), err);
        }
    if (walk)
        (void)fts_close(walk);
    free(copy);
    if (rc == 0 && t->rows == 0)
        return es_fail(err, ES_USAGE,
                       "give the folder of Snakemake's benchmarks",
                       "--times: %s: no benchmark is in it", path);
    return rc;
}

/* Add the report at path; of a folder all that are in it and below, where other
 * files are passed over. */
static int graph_report_read(struct graph_times *t,
                             const char *path,
                             struct es_error *err)
{
    struct stat st;

    if (strcmp(path, "-") == 0)
        return read_one(t, path, path, err);
    if (stat(path, &st) < 0)
        return es_fail(err, ES_USAGE, "give a report that can be read",
                       "--times: %s: %s", path, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return read_folder(t, path, err);
    return read_one(t, path, path, err);
}

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
