/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_options.h"
#include "launcher/base/number.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define RATE        125e6 /* bytes/s: 1 Gbit/s */
#define RETRIES_MAX 1000

static const char see_help[] = "see `evenstep graph --help`";

static const char usage[] =
    "usage: evenstep graph plan [options] GRAPH\n"
    "       evenstep graph run [options] GRAPH\n"
    "\n"
    "Say when each task of a graph runs, on which core of which processor (a\n"
    "node), so that it takes least energy within a deadline; or run it so on\n"
    "the nodes of the allocation.  GRAPH is a file: JSON, WfCommons' or\n"
    "evenstep's own, for plan also Graphviz DOT or Standard Task Graph.\n"
    "\n"
    "A task runs in a folder of its own, with its inputs; files that no task\n"
    "makes are taken from here, those that none takes are put here.\n"
    "\n"
    "the plan:\n"
    "  --algorithm tds|ead|pebd  how paths are cut (tds)\n"
    "  --threshold X             energy that ead may spend on a copy, J, or\n"
    "                            pebd for each second that it saves (0)\n"
    "  --group MODE              how paths are put together: none, literal,\n"
    "                            guard, cap, or of all what is best (best)\n"
    "  --baseline spread|pack    with --group none: a path a processor, or as\n"
    "                            many as it has cores (spread)\n"
    "  --cores K                 of a processor (as many as this host has; "
    "run:\n"
    "                            as the smallest node)\n"
    "  --processors M            at most so many (as many as it likes; run: "
    "as\n"
    "                            there are nodes)\n"
    "  --deadline SECONDS        not later than this\n"
    "  --deadline-factor F       or than F times the ungrouped makespan\n"
    "  --power BUSY,IDLE,LINK,BASE\n"
    "                            watts of a core at work and idle, of a "
    "message\n"
    "                            on its way, of a processor besides (section\n"
    "                            energy of the configuration)\n"
    "  --rate BYTES              a second between processors, for WfCommons'\n"
    "                            files (125e6)\n"
    "  --ccr X                   mean communication over mean time, for\n"
    "                            Standard Task Graphs (0)\n"
    "  --json                    print one JSON object\n"
    "plan:\n"
    "  --all                     compare all algorithms, and bounds\n"
    "  --svg FILE                draw it, too\n"
    "run:\n"
    "  --retries N               of a task that fails: first on its node, "
    "then\n"
    "                            elsewhere (2)\n"
    "  --journal FILE            keep what is done in FILE\n"
    "  --resume                  go on where the run of --journal ended\n"
    "  --learn                   write what was measured into GRAPH\n"
    "  --work FOLDER             where the nodes keep files ($TMPDIR, or "
    "/tmp)\n"
    "  --srun \"ARGS\"             for the step that brings the agents, e.g.\n"
    "                            \"-N2\"\n"
    "  --local N[=S1,S2,...]     no Slurm: N agents on this machine; S: CPU "
    "speed\n"
    "                            in percent of one core\n"
    "\n"
    "exit status: 0 done, 1 the work failed, 2 usage, 3 no Slurm or agents\n";

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
    OPT_RETRIES,
    OPT_JOURNAL,
    OPT_RESUME,
    OPT_LEARN,
    OPT_WORK,
    OPT_SRUN,
    OPT_LOCAL,
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
    {"retries", required_argument, NULL, OPT_RETRIES},
    {"journal", required_argument, NULL, OPT_JOURNAL},
    {"resume", no_argument, NULL, OPT_RESUME},
    {"learn", no_argument, NULL, OPT_LEARN},
    {"work", required_argument, NULL, OPT_WORK},
    {"srun", required_argument, NULL, OPT_SRUN},
    {"local", required_argument, NULL, OPT_LOCAL},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

static const char *const algorithms[] = {
    [PATH_TDS] = "tds", [PATH_EAD] = "ead", [PATH_PEBD] = "pebd", NULL};

const char *graph_algorithm_name(enum path_algorithm algorithm)
{
    return algorithms[algorithm];
}

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

static int take_deadline(struct graph_options *o,
                         const char *text,
                         struct es_error *err)
{
    double seconds;

    if (take_real(&seconds, 0, 1e9, "--deadline", text, err) < 0)
        return -1;
    o->run.plan.deadline = (int64_t)floor(seconds * GRAPH_NS_PER_S + 0.5);
    o->has_deadline = 1;
    return 0;
}

static int take_retries(struct graph_options *o,
                        const char *text,
                        struct es_error *err)
{
    int64_t n;

    if (number_parse_int(text, 0, RETRIES_MAX, &n) < 0)
        return es_fail(err, ES_USAGE, "give a whole number from 0 to 1000",
                       "--retries: \"%s\" is out of range", text);
    o->run.retries = (unsigned)n;
    return 0;
}

/* Those of `graph run` alone. */
static int take_run(struct graph_options *o,
                    int option,
                    const char *text,
                    struct es_error *err)
{
    switch (option) {
    case OPT_RETRIES:
        return take_retries(o, text, err);
    case OPT_JOURNAL:
        o->run.journal = text;
        break;
    case OPT_RESUME:
        o->run.resume = 1;
        break;
    case OPT_LEARN:
        o->run.learn = 1;
        break;
    case OPT_WORK:
        o->run.work = text;
        break;
    case OPT_SRUN:
        o->run.srun = text;
        break;
    default: /* OPT_LOCAL */
        return local_option_parse(&o->local, text, err);
    }
    return 0;
}

static int take(struct graph_options *o,
                int option,
                const char *text,
                struct es_error *err)
{
    struct graph_plan_wish *w = &o->run.plan;
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
        o->run.json = 1;
        break;
    default:
        return take_run(o, option, text, err);
    }
    return n < 0 ? -1 : 0;
}

/* The first option of the other action that was given, or NULL. */
static const char *alien(const struct graph_options *o)
{
    if (o->is_run)
        return o->all ? "--all" : o->svg ? "--svg" : NULL;
    return o->run.journal                    ? "--journal"
           : o->run.resume                   ? "--resume"
           : o->run.learn                    ? "--learn"
           : o->run.work                     ? "--work"
           : o->run.srun                     ? "--srun"
           : o->local.n > 0                  ? "--local"
           : o->run.retries != GRAPH_RETRIES ? "--retries"
                                             : NULL;
}

static int settle_graph(struct graph_options *o,
                        int argc,
                        char **argv,
                        struct es_error *err)
{
    const char *action = argc < 1 ? "" : argv[0];

    o->is_run = strcmp(action, "run") == 0;
    if (!o->is_run && strcmp(action, "plan") != 0)
        return es_fail(err, ES_USAGE, see_help, "graph: %s%s",
                       argc < 1 ? "no action" : "no such action: ", action);
    if (argc != 2)
        return es_fail(err, ES_USAGE, see_help, "graph %s: %s", action,
                       argc < 2 ? "no GRAPH" : "more than one GRAPH");
    o->run.graph = argv[1];
    if (alien(o))
        return es_fail(err, ES_USAGE, see_help, "graph %s: %s is not for it",
                       action, alien(o));
    return 0;
}

static int settle(struct graph_options *o, struct es_error *err)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t *k = &o->run.plan.machine.cores;

    if (o->has_deadline && o->run.plan.deadline_factor > 0)
        return es_fail(err, ES_USAGE, "give one of them",
                       "--deadline and --deadline-factor exclude each other");
    if (o->all && o->svg)
        return es_fail(err, ES_USAGE, "draw one plan at a time",
                       "--all and --svg exclude each other");
    if (o->run.resume && !o->run.journal)
        return es_fail(err, ES_USAGE, "give --journal FILE",
                       "--resume: of which journal?");
    if (o->local.n > 0 && o->run.srun)
        return es_fail(err, ES_USAGE, "give one of them",
                       "--local and --srun exclude each other");
    if (o->none)
        o->run.plan.mode = o->baseline;
    if (*k == 0 && !o->is_run) /* a run asks the nodes */
        *k = cores > 0 ? (uint32_t)cores : 1;
    return 0;
}

int graph_options_parse(struct graph_options *o,
                        const struct config *c,
                        int argc,
                        char **argv,
                        struct es_error *err)
{
    int option;

    *o = (struct graph_options){.baseline = GROUPING_SPREAD};
    o->run.config = c;
    o->run.local = &o->local;
    o->run.retries = GRAPH_RETRIES;
    o->run.plan.machine.power = c->energy;
    o->run.plan.deadline = GRAPH_PLAN_FOREVER;
    o->reading.rate = RATE;
    opterr = 0;
    optind = 0;
    while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
        if (option == ':')
            return es_fail(err, ES_USAGE, see_help, "%s: a value is missing",
                           argv[optind - 1]);
        if (option == '?')
            return es_fail(err, ES_USAGE, see_help, "%s: no such option",
                           argv[optind - 1]);
        if (option == OPT_HELP)
            return fputs(usage, stdout) < 0 || fflush(stdout) != 0 ? es_fail(
                       err, ES_WORK, "free some space", "cannot write")
                                                                   : 1;
        if (take(o, option, optarg, err) < 0)
            return -1;
    }
    if (settle_graph(o, argc - optind, argv + optind, err) < 0)
        return -1;
    return settle(o, err);
}
