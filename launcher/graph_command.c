/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep graph: when and where the tasks of a graph run, and what it costs.
 */
#include "launcher/commands.h"
#include "launcher/graph_file.h"
#include "launcher/graph_print.h"
#include "launcher/notice.h"
#include "launcher/number.h"
#include "launcher/svg.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Watts of the sheet's examples: seed 5, section 8. */
static const struct power example_power = {10, 2, 5, 0};

#define RATE 125e6 /* bytes/s: 1 Gbit/s */

static const char see_help[] = "see `evenstep graph --help`";

static const char usage[] =
    "usage: evenstep graph plan [options] GRAPH\n"
    "\n"
    "Say when each task of a graph runs, on which core of which processor (a\n"
    "node), so that it takes least energy within a deadline.  GRAPH is a "
    "file:\n"
    "JSON, WfCommons' or evenstep's own, Graphviz DOT or Standard Task Graph.\n"
    "\n"
    "  --algorithm tds|ead|pebd  how paths are cut (tds)\n"
    "  --threshold X             energy that ead may spend on a copy, J, or\n"
    "                            pebd for each second that it saves (0)\n"
    "  --group MODE              how paths are put together: none, literal,\n"
    "                            guard, cap, or of all what is best (best)\n"
    "  --baseline spread|pack    with --group none: a path a processor, or as\n"
    "                            many as it has cores (spread)\n"
    "  --cores K                 of a processor (as many as this host has)\n"
    "  --processors M            at most so many (as many as it likes)\n"
    "  --deadline SECONDS        not later than this\n"
    "  --deadline-factor F       or than F times the ungrouped makespan\n"
    "  --power BUSY,IDLE,LINK,BASE\n"
    "                            watts of a core at work and idle, of a "
    "message\n"
    "                            on its way, of a processor besides "
    "(10,2,5,0)\n"
    "  --rate BYTES              a second between processors, for WfCommons'\n"
    "                            files (125e6)\n"
    "  --ccr X                   mean communication over mean time, for\n"
    "                            Standard Task Graphs (0)\n"
    "  --all                     compare all algorithms, and bounds\n"
    "  --svg FILE                draw it, too\n"
    "  --json                    print one JSON object\n";

struct options {
    struct graph_plan_wish wish;
    struct graph_reading reading;
    const char *graph, *svg;
    int has_deadline, none, all, json, help;
    enum grouping_mode baseline;
};

/* --- options -------------------------------------------------------------- */

enum option_code {
    OPT_ALGORITHM = 256,
    OPT_THRESHOLD,
    OPT_GROUP,
    OPT_BASELINE,
    OPT_CORES,
    OPT_PROCESSORS,
    OPT_DEADLINE,
    OPT_FACTOR,
    OPT_POWER,
    OPT_RATE,
    OPT_CCR,
    OPT_ALL,
    OPT_SVG,
    OPT_JSON,
    OPT_HELP
};

static const struct option options[] = {
    {"algorithm", required_argument, NULL, OPT_ALGORITHM},
    {"threshold", required_argument, NULL, OPT_THRESHOLD},
    {"group", required_argument, NULL, OPT_GROUP},
    {"baseline", required_argument, NULL, OPT_BASELINE},
    {"cores", required_argument, NULL, OPT_CORES},
    {"processors", required_argument, NULL, OPT_PROCESSORS},
    {"deadline", required_argument, NULL, OPT_DEADLINE},
    {"deadline-factor", required_argument, NULL, OPT_FACTOR},
    {"power", required_argument, NULL, OPT_POWER},
    {"rate", required_argument, NULL, OPT_RATE},
    {"ccr", required_argument, NULL, OPT_CCR},
    {"all", no_argument, NULL, OPT_ALL},
    {"svg", required_argument, NULL, OPT_SVG},
    {"json", no_argument, NULL, OPT_JSON},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

static const char *const algorithms[] = {
    [PATH_TDS] = "tds", [PATH_EAD] = "ead", [PATH_PEBD] = "pebd", NULL};
static const char *const baselines[] = {"spread", "pack", NULL};
static const char *const groups[] = {"best", "literal", "guard",
                                     "cap",  "none",    NULL};

/* Which of the words text is, or -1 with err. */
static int take_word(const char *const word[],
                     const char *option,
                     const char *text,
                     struct es_error *err)
{
    char mend[120] = "give one of:";
    size_t len = strlen(mend);

    for (int i = 0; word[i]; i++) {
        if (strcmp(word[i], text) == 0)
            return i;
        len += (size_t)snprintf(mend + len, sizeof mend - len, " %s", word[i]);
    }
    return es_fail(err, ES_USAGE, mend, "%s: \"%s\" is unknown", option, text);
}

static int take_real(double *value,
                     double low,
                     double high,
                     const char *option,
                     const char *text,
                     struct es_error *err)
{
    char mend[80];

    if (number_parse_double(text, low, high, value) == 0)
        return 0;
    snprintf(mend, sizeof mend, "give a number from %g to %g", low, high);
    return es_fail(err, ES_USAGE, mend, "%s: \"%s\" is out of range", option,
                   text);
}

static int take_count(uint32_t *value,
                      const char *option,
                      const char *text,
                      struct es_error *err)
{
    int64_t n;

    if (number_parse_int(text, 1, SCHEDULE_CORES_MAX, &n) < 0)
        return es_fail(err, ES_USAGE, "give a whole number from 1 to 16777216",
                       "%s: \"%s\" is out of range", option, text);
    *value = (uint32_t)n;
    return 0;
}

static int take_power(struct power *power,
                      const char *text,
                      struct es_error *err)
{
    double *watts[] = {&power->busy, &power->idle, &power->link, &power->base};
    char word[32];

    for (int i = 0; i < 4; i++) {
        size_t len = strcspn(text, ",");

        if (len >= sizeof word || (text[len] == ',') != (i < 3))
            return es_fail(err, ES_USAGE, "give BUSY,IDLE,LINK,BASE in watts",
                           "--power: not four numbers");
        memcpy(word, text, len);
        word[len] = '\0';
        if (take_real(watts[i], 0, 1e9, "--power", word, err) < 0)
            return -1;
        text += len + 1;
    }
    return 0;
}

static int take_deadline(struct options *o,
                         const char *text,
                         struct es_error *err)
{
    double seconds;

    if (take_real(&seconds, 0, 1e9, "--deadline", text, err) < 0)
        return -1;
    o->wish.deadline = (int64_t)floor(seconds * GRAPH_NS_PER_S + 0.5);
    o->has_deadline = 1;
    return 0;
}

static int take(struct options *o,
                int option,
                const char *text,
                struct es_error *err)
{
    struct graph_plan_wish *w = &o->wish;
    int n = 0;

    switch (option) {
    case OPT_ALGORITHM:
        n = take_word(algorithms, "--algorithm", text, err);
        w->algorithm = (enum path_algorithm)n;
        break;
    case OPT_GROUP:
        n = take_word(groups, "--group", text, err);
        o->none = n == 4;
        w->mode = (enum grouping_mode)n;
        break;
    case OPT_BASELINE:
        n = take_word(baselines, "--baseline", text, err);
        o->baseline = n == 0 ? GROUPING_SPREAD : GROUPING_PACK;
        break;
    case OPT_THRESHOLD:
        return take_real(&w->threshold, -1e12, 1e12, "--threshold", text, err);
    case OPT_CORES:
        return take_count(&w->machine.cores, "--cores", text, err);
    case OPT_PROCESSORS:
        return take_count(&w->machine.processors, "--processors", text, err);
    case OPT_DEADLINE:
        return take_deadline(o, text, err);
    case OPT_FACTOR:
        return take_real(&w->deadline_factor, 1e-6, 1e6, "--deadline-factor",
                         text, err);
    case OPT_POWER:
        return take_power(&w->machine.power, text, err);
    case OPT_RATE:
        return take_real(&o->reading.rate, 1, 1e15, "--rate", text, err);
    case OPT_CCR:
        return take_real(&o->reading.ccr, 0, 1e6, "--ccr", text, err);
    case OPT_ALL:
        o->all = 1;
        break;
    case OPT_SVG:
        o->svg = text;
        break;
    case OPT_JSON:
        o->json = 1;
        break;
    default: /* OPT_HELP */
        o->help = 1;
    }
    return n < 0 ? -1 : 0;
}

static int settle(struct options *o,
                  int argc,
                  char **argv,
                  struct es_error *err)
{
    if (argc < 1 || strcmp(argv[0], "plan") != 0)
        return es_fail(err, ES_USAGE, see_help, "graph: %s%s",
                       argc < 1 ? "no action" : "no such action: ",
                       argc < 1 ? "" : argv[0]);
    if (argc != 2)
        return es_fail(err, ES_USAGE, see_help, "%s",
                       argc < 2 ? "graph plan: no GRAPH"
                                : "graph plan: more than one GRAPH");
    o->graph = argv[1];
    if (o->has_deadline && o->wish.deadline_factor > 0)
        return es_fail(err, ES_USAGE, "give one of them",
                       "--deadline and --deadline-factor exclude each other");
    if (o->all && o->svg)
        return es_fail(err, ES_USAGE, "draw one plan at a time",
                       "--all and --svg exclude each other");
    if (o->none)
        o->wish.mode = o->baseline;
    return 0;
}

static int parse(struct options *o, int argc, char **argv, struct es_error *err)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int option;

    o->wish.machine =
        (struct machine){0, cores > 0 ? (uint32_t)cores : 1, example_power};
    o->wish.deadline = GRAPH_PLAN_FOREVER;
    o->reading.rate = RATE;
    o->baseline = GROUPING_SPREAD;
    opterr = 0;
    optind = 0;
    while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
        if (option == ':')
            return es_fail(err, ES_USAGE, see_help, "%s: a value is missing",
                           argv[optind - 1]);
        if (option == '?')
            return es_fail(err, ES_USAGE, see_help, "%s: no such option",
                           argv[optind - 1]);
        if (take(o, option, optarg, err) < 0)
            return -1;
    }
    return o->help ? 0 : settle(o, argc - optind, argv + optind, err);
}

/* --- plans ---------------------------------------------------------------- */

static int refuse(enum graph_plan_fault fault,
                  const struct graph_plan_wish *wish,
                  struct es_error *err)
{
    switch (fault) {
    case GRAPH_PLAN_MACHINE: /* what else can be wrong was seen to */
        return es_fail(err, ES_USAGE, "give fewer cores",
                       "--cores: %u for each path are above %u in all",
                       wish->machine.cores, SCHEDULE_CORES_MAX);
    case GRAPH_PLAN_FEW:
        return es_fail(err, ES_USAGE, "give more, or --group best",
                       "--processors: %u are too few for the paths, ungrouped",
                       wish->machine.processors);
    case GRAPH_PLAN_DENSE:
        return es_fail(err, ES_USAGE, "give --group none, or --algorithm ead",
                       "the paths depend on each other in more than %u ways",
                       GROUPING_DEPENDENCES_MAX);
    default:
        return es_fail(err, ES_ENV, "free some memory", "out of memory");
    }
}

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

static int plan_one(const struct options *o,
                    const struct graph_file *f,
                    struct es_error *err)
{
    struct graph_plan p;
    const struct drawing drawing = {f, &p};
    enum graph_plan_fault fault = graph_plan_init(&p, f->graph, &o->wish);
    int rc;

    if (fault != GRAPH_PLAN_SOUND)
        return refuse(fault, &o->wish, err);
    rc = o->svg ? svg_write_file(o->svg, draw, &drawing, err) : 0;
    if (rc == 0) {
        rc = o->json ? graph_print_json(stdout, f, &p, o->wish.machine.cores)
                     : graph_print_table(stdout, f, &p);
        if (rc < 0 || fflush(stdout) != 0)
            rc = es_fail(err, ES_WORK, "free some space", "cannot write");
    }
    if (rc == 0)
        tell_late(&p);
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
                     const struct options *o,
                     struct es_error *err)
{
    const struct graph *g = f->graph;
    uint32_t processors = apart ? g->tasks : 1;
    struct machine m = {processors, o->wish.machine.cores,
                        o->wish.machine.power};
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
        return refuse(fault, wish, err);
    c = &p.candidate[p.chosen];
    row[(*n)++] = (struct graph_row){algorithms[wish->algorithm],
                                     graph_mode_name(c->mode), c->in_time,
                                     c->instances, c->sum};
    graph_plan_clear(&p);
    return 0;
}

static int plan_all(const struct options *o,
                    const struct graph_file *f,
                    struct es_error *err)
{
    struct graph_plan_wish w = o->wish;
    struct graph_row row[ROWS];
    size_t n = 0;

    for (int a = PATH_TDS; a <= PATH_PEBD; a++) {
        w.algorithm = (enum path_algorithm)a;
        w.mode = o->baseline;
        if (add_plan(row, &n, &w, f, err) < 0)
            return -1;
        w.mode = o->none ? GROUPING_BEST : o->wish.mode;
        if (add_plan(row, &n, &w, f, err) < 0)
            return -1;
    }
    if (add_bound(&row[n++], "sequential", 0, f, o, err) < 0
        || add_bound(&row[n++], "apart", 1, f, o, err) < 0)
        return -1;
    if (graph_print_rows(stdout, row, n, o->json) < 0 || fflush(stdout) != 0)
        return es_fail(err, ES_WORK, "free some space", "cannot write");
    return 0;
}

int command_graph(int argc, char **argv, struct es_error *err)
{
    struct options o = {0};
    struct graph_file f;
    int rc;

    if (parse(&o, argc, argv, err) < 0)
        return -1;
    if (o.help)
        return fputs(usage, stdout) < 0 || fflush(stdout) != 0
                   ? es_fail(err, ES_WORK, "free some space", "cannot write")
                   : 0;
    if (graph_file_read(&f, o.graph, &o.reading, err) < 0)
        return -1;
    rc = o.all ? plan_all(&o, &f, err) : plan_one(&o, &f, err);
    graph_file_clear(&f);
    return rc;
}
