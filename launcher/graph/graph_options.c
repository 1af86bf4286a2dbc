/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_options.h"
#include "launcher/session/qualification.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
const struct option graph_options_table[] = {
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

int graph_options_settle(struct graph_options *o,
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

void graph_options_clear(struct graph_options *o)
{
    free(o->speed);
    free(o->kind);
}
