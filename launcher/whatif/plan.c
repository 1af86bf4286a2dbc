/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep plan: the slices that a run would begin with, without running, and
 * those after one adjustment.
 */
#include "launcher/base/help.h"
#include "launcher/base/number.h"
#include "launcher/commands.h"
#include "launcher/config/config_file.h"
#include "launcher/config/policy_option.h"
#include "launcher/config/profile_option.h"
#include "launcher/config/range_option.h"
#include "launcher/run/profile_auto.h"
#include "launcher/session/metrics_file.h"
#include "policy/kinds.h"
#include "policy/shares.h"

#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIME_MAX 1e9 /* seconds that a node takes for a slice */

static const char see_help[] = "see `evenstep plan --help`";

static const char usage[] =
    "usage: evenstep plan --metrics FILE --range B:E [options]\n"
    "\n"
    "Cut the units [B,E) into one slice a node by what the nodes measured,\n"
    "and say how it comes to that, in percent: X, a node's part of an\n"
    "element; CM, that times the element's influence; CU, its capacity\n"
    "utilization; JL, the job load that its slice is cut by.\n"
    "\n"
    "  --metrics FILE       {\"nodes\":[{\"name\":\"n0\",\"C\":1.5,\"M\":9}]}\n"
    "                       and so on: any unit per element of C M I B S G;\n"
    "                       absent is 0.  Adjusting goes on from a node's\n"
    "                       \"CU\":{\"C\":30}, as --json prints it\n"
    "  --range B:E          units, from B up to, not with, E\n"
    "  --grain G            slices begin at multiples of G units behind B (1)\n"
    "  --profile NAME       how much each element matters: one of those that\n"
    "                       `evenstep config` prints, or auto: fitted to your\n"
    "                       earlier runs (cpu)\n"
    "  --policy NAME[:key=value,...]\n"
    "                       see `evenstep run --help` (even)\n"
    "  --times T1,T2,...    seconds that each node took for that slice, 0\n"
    "                       for a node without: show the next frame.  Any\n"
    "                       difference is over the threshold\n"
    "  --json               print one JSON object\n";

struct options {
    const char *metrics, *times; /* NULL: not given */
    const struct config_profile *profile;
    struct config_profile fitted; /* `auto` */
    struct policy_option policy;
    uint64_t begin, end, grain;
    int json, help;
};

/* --- options -------------------------------------------------------------- */

enum option_code {
    OPT_METRICS = 256,
    OPT_RANGE,
    OPT_GRAIN,
    OPT_PROFILE,
    OPT_POLICY,
    OPT_TIMES,
    OPT_JSON,
    OPT_HELP
};

static const struct option options[] = {
    {"metrics", required_argument, NULL, OPT_METRICS},
    {"range", required_argument, NULL, OPT_RANGE},
    {"grain", required_argument, NULL, OPT_GRAIN},
    {"profile", required_argument, NULL, OPT_PROFILE},
    {"policy", required_argument, NULL, OPT_POLICY},
    {"times", required_argument, NULL, OPT_TIMES},
    {"json", no_argument, NULL, OPT_JSON},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

static int take(struct options *o,
                const struct config *c,
                int option,
                const char *text,
                struct es_error *err)
{
    switch (option) {
    case OPT_METRICS:
        o->metrics = text;
        return 0;
    case OPT_RANGE:
        return range_option_parse(&o->begin, &o->end, "--range", text, err);
    case OPT_GRAIN:
        if (number_parse_u64(text, &o->grain) < 0 || o->grain == 0)
            return es_fail(err, ES_USAGE, "give a whole number from 1",
                           "--grain: \"%s\" is out of range", text);
        return 0;
    case OPT_PROFILE:
        o->profile = profile_option_find(c, text, "--profile", err);
        if (o->profile && strcmp(text, PROFILE_AUTO) == 0) {
            profile_auto(&o->fitted, c, NULL); /* of any command */
            o->profile = &o->fitted;
        }
        return o->profile ? 0 : -1;
    case OPT_POLICY:
        return policy_option_parse(&o->policy, c, text, POLICY_STRICT, err);
    case OPT_TIMES:
        o->times = text;
        return 0;
    case OPT_JSON:
        o->json = 1;
        return 0;
    default: /* OPT_HELP */
        o->help = 1;
        return 0;
    }
}

static int parse(struct options *o,
                 const struct config *c,
                 int argc,
                 char **argv,
                 struct es_error *err)
{
    int option;

    o->grain = 1;
    o->profile = &c->profile[0];
    if (policy_option_parse(&o->policy, c, kinds_at(0)->name, POLICY_STRICT,
                            err)
        < 0)
        return -1;
    opterr = 0;
    optind = 0;
    while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
        if (option == ':' || option == '?')
            return es_fail(err, ES_USAGE, see_help, "%s: %s", argv[optind - 1],
                           option == ':' ? "a value is missing"
                                         : "no such option");
        if (take(o, c, option, optarg, err) < 0)
            return -1;
    }
    if (o->help)
        return 0;
    if (optind < argc)
        return es_fail(err, ES_USAGE, see_help,
                       "plan: unexpected argument \"%s\"", argv[optind]);
    if (!o->metrics || o->begin == o->end)
        return es_fail(err, ES_USAGE, see_help,
                       "plan needs --metrics and --range");
    return 0;
}

/* One number a node, into c[].seconds. */
static int take_times(struct completion c[],
                      size_t n,
                      const char *text,
                      struct es_error *err)
{
    size_t i = 0;
    char mend[80], word[32];

    for (;; text++) {
        size_t len = strcspn(text, ",");
        double v;

        snprintf(word, sizeof word, "%.*s", (int)(len < 32 ? len : 31), text);
        if (len >= sizeof word
            || number_parse_double(word, 0, TIME_MAX, &v) < 0)
            return es_fail(err, ES_USAGE, "give seconds from 0 to 1e9",
                           "--times: \"%s\" is out of range", word);
        if (i < n)
            c[i].seconds = v;
        i++;
        text += len;
        if (!*text)
            break;
    }
    snprintf(mend, sizeof mend, "give one a node: %zu", n);
    return i == n ? 0
                  : es_fail(err, ES_USAGE, mend, "--times: %zu are %s", i,
                            i < n ? "too few" : "too many");
}

/* --- the forecast --------------------------------------------------------- */

struct forecast {
    size_t n;
    const char (*name)[NODE_NAME_MAX]; /* the metrics file's */
    struct metric *metric; /* JL: the load that the slice is cut by */
    double *load;
    struct slice *slice;
    struct completion *completion;
    void *state; /* the policy's */
};

static int forecast_init(struct forecast *f,
                         const struct metrics_file *m,
                         const struct policy_option *policy)
{
    size_t bytes = policy->kind->state_bytes(m->n, policy->value);

    f->n = m->n;
    f->name = (const char(*)[NODE_NAME_MAX])m->name;
    f->metric = calloc(m->n, sizeof *f->metric);
    f->load = calloc(m->n, sizeof *f->load);
    f->slice = calloc(m->n, sizeof *f->slice);
    f->completion = calloc(m->n, sizeof *f->completion);
    f->state = bytes ? malloc(bytes) : NULL;
    return f->metric && f->load && f->slice && f->completion && f->state ? 0
                                                                         : -1;
}

static void forecast_clear(struct forecast *f)
{
    free(f->metric);
    free(f->load);
    free(f->slice);
    free(f->completion);
    free(f->state);
}

/* Step 8, by the loads as they are. */
static int cut(struct forecast *f,
               const struct options *o,
               struct es_error *err)
{
    for (size_t i = 0; i < f->n; i++)
        f->metric[i].JL = f->load[i];
    if (shares_cut(o->begin, o->end, o->grain, f->load, f->slice, f->n) == 0)
        return 0;
    return es_fail(err, ES_WORK, "give another --policy",
                   "%s: no node has any "
                   "load",
                   o->policy.kind->name);
}

/* Steps 4 to 8: the first frame. */
static int first_frame(struct forecast *f,
                       const struct options *o,
                       const struct metrics_file *m,
                       struct es_error *err)
{
    const struct policy_setup setup = {m->n, f->metric, &o->profile->profile,
                                       o->policy.value};

    if (metrics_file_rank(m, &o->profile->profile, f->metric) < 0
        || o->policy.kind->init(f->state, &setup) < 0)
        return es_fail(err, ES_USAGE, "give another --profile, or measure more",
                       "%s: no node has any load by the profile %s", o->metrics,
                       o->profile->name);
    o->policy.kind->loads(f->state, f->load);
    return cut(f, o, err);
}

/* Steps 10 to 12 and 8: the next one. */
static int next_frame(struct forecast *f,
                      const struct options *o,
                      struct es_error *err)
{
    const struct policy_kind *kind = o->policy.kind;
    double first = TIME_MAX, last = 0;

    if (take_times(f->completion, f->n, o->times, err) < 0)
        return -1;
    for (size_t i = 0; i < f->n; i++) {
        struct completion *c = &f->completion[i];

        c->units = f->slice[i].end - f->slice[i].begin;
        if (c->units > 0 && c->seconds < first)
            first = c->seconds;
        if (c->units > 0 && c->seconds > last)
            last = c->seconds;
    }
    kind->adjust(f->state, f->completion, last > first, f->load);
    if (kind->metrics)
        kind->metrics(f->state, f->metric);
    return cut(f, o, err);
}

/* --- printing ------------------------------------------------------------- */

static json_t *elements_to_json(const double row[ELEMENTS])
{
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "C", row[ELEMENT_C], "M",
                     row[ELEMENT_M], "I", row[ELEMENT_I], "B", row[ELEMENT_B],
                     "S", row[ELEMENT_S], "G", row[ELEMENT_G]);
}

static json_t *node_to_json(const struct forecast *f, size_t i)
{
    const struct metric *m = &f->metric[i];

    return json_pack("{s:s, s:o, s:o, s:o, s:f, s:I, s:I}", "name", f->name[i],
                     "X", elements_to_json(m->X), "CM", elements_to_json(m->CM),
                     "CU", elements_to_json(m->CU), "JL", m->JL, "begin",
                     (json_int_t)f->slice[i].begin, "end",
                     (json_int_t)f->slice[i].end);
}

static int print_json(const struct forecast *f, struct es_error *err)
{
    json_t *nodes = json_array(), *all = json_pack("{s:O}", "nodes", nodes);
    int rc = nodes && all ? 0 : -1;

    for (size_t i = 0; rc == 0 && i < f->n; i++)
        rc = json_array_append_new(nodes, node_to_json(f, i));
    if (rc < 0)
        rc = es_no_memory(err);
    else if (json_dumpf(all, stdout, JSON_COMPACT) < 0 || putchar('\n') == EOF
             || fflush(stdout) != 0)
        rc = es_no_space(err);
    json_decref(all);
    json_decref(nodes);
    return rc;
}

static void print_row(const char *name,
                      int width,
                      const char *what,
                      const double row[ELEMENTS])
{
    printf("%-*s %-2s", width, name, what);
    for (int e = 0; e < ELEMENTS; e++)
        printf(" %6.2f", row[e]);
}

/* Three lines a node: all of it fits beside each other on no terminal. */
static int print_table(const struct forecast *f, struct es_error *err)
{
    size_t width = strlen("node");

    for (size_t i = 0; i < f->n; i++)
        if (strlen(f->name[i]) > width)
            width = strlen(f->name[i]);
    printf(
        "%-*s %%       C      M      I      B      S      G     JL  begin end"
        "\n",
        (int)width, "node");
    for (size_t i = 0; i < f->n; i++) {
        print_row(f->name[i], (int)width, "X", f->metric[i].X);
        printf(" %6.2f  %llu %llu\n", f->metric[i].JL,
               (unsigned long long)f->slice[i].begin,
               (unsigned long long)f->slice[i].end);
        print_row("", (int)width, "CM", f->metric[i].CM);
        putchar('\n');
        print_row("", (int)width, "CU", f->metric[i].CU);
        putchar('\n');
    }
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : es_no_space(err);
}

/* --- all ------------------------------------------------------------------ */

static int plan(const struct options *o,
                const struct metrics_file *m,
                struct es_error *err)
{
    struct forecast f;
    int rc;

    if (forecast_init(&f, m, &o->policy) < 0)
        rc = es_no_memory(err);
    else
        rc = first_frame(&f, o, m, err);
    if (rc == 0 && o->times)
        rc = next_frame(&f, o, err);
    if (rc == 0)
        rc = o->json ? print_json(&f, err) : print_table(&f, err);
    forecast_clear(&f);
    return rc;
}

int command_plan(int argc, char **argv, struct es_error *err)
{
    struct options o = {0};
    struct metrics_file m;
    struct config c;
    int rc;

    if (config_load(&c, NULL, err) < 0 || parse(&o, &c, argc, argv, err) < 0)
        return -1;
    if (o.help)
        return help_print(usage, err);
    if (metrics_file_read(&m, o.metrics, err) < 0)
        return -1;
    rc = plan(&o, &m, err);
    metrics_file_clear(&m);
    return rc;
}
