/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep plan: the slices that a run would begin with, and those after one
 * adjustment.  Nothing is run.
 */
#include "launcher/base/json_member.h"
#include "launcher/base/options.h"
#include "launcher/commands.h"
#include "launcher/config/config_file.h"
#include "launcher/config/policy_option.h"
#include "launcher/config/policy_site.h"
#include "launcher/config/profile_option.h"
#include "launcher/run/profile_auto.h"
#include "launcher/session/metrics_file.h"
#include "policy/shares.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIME_MAX 1e9 /* seconds of a slice */

struct options {
    const char *metrics, *times; /* NULL: not given */
    const char *profile_name, *policy_text;
    const struct config_profile *profile;
    struct config_profile fitted; /* `auto` */
    enum rank_by rank_by;
    struct policy_option policy;
    struct option_range range;
    uint64_t grain;
    int json;
};

/* --- options -------------------------------------------------------------- */

#define AT(member) OPTION_AT(struct options, member)

/* clang-format off */
static const struct option options[] = {
    {OPTION_TEXT, "metrics", "FILE", AT(metrics), .file = OPTION_READS, .required = 1, .help =
     "{\"nodes\":[{\"name\":\"n0\",\"C\":1.5,\"M\":9}]} and so on: any unit "
     "per element of C M I B S G; absent is 0.  Adjusting goes on from a "
     "node's \"CU\":{\"C\":30}, as --json prints it"},
    {OPTION_RANGE, "range", "B:E", AT(range), .required = 1, .help =
     "units, from B up to, not with, E"},
    {OPTION_COUNT, "grain", "G", AT(grain), .low = 1, .def = "1", .help =
     "slices begin at multiples of G units behind B"},
    {OPTION_TEXT, "profile", "NAME", AT(profile_name),
     .word = profile_option_word, .help =
     "how much each element matters: one of those that `evenstep config` "
     "prints, or auto: fitted to your earlier runs (cpu)"},
    {OPTION_TEXT, "policy", "NAME[:key=value,...]", AT(policy_text),
     .word = policy_site_word, .help =
     "see `evenstep run --help` (even, or as the profile has it)"},
    {OPTION_TEXT, "times", "T1,T2,...", AT(times), .help =
     "seconds that each node took for that slice, 0 for a node without: show "
     "the next frame.  Any difference is over the threshold"},
    {OPTION_FLAG, "json", NULL, AT(json), .help = "print one JSON object"},
    {.type = OPTION_END},
};
/* clang-format on */

static int parse(struct options *o,
                 const struct config *c,
                 struct es_error *err)
{
    const char *name = o->profile_name;

    o->rank_by = c->probe.rank_by;
    o->profile = profile_option_find(c, name, "--profile", err);
    if (!o->profile)
        return -1;
    if (name && strcmp(name, PROFILE_AUTO) == 0) {
        profile_auto(&o->fitted, c, NULL); /* of any command */
        o->profile = &o->fitted;
    }
    return policy_option_parse(&o->policy, c,
                               policy_option_text(o->policy_text, o->profile),
                               POLICY_STRICT, err);
}

/* One number a node, into c[].seconds. */
static int take_times(struct completion c[],
                      size_t n,
                      const char *text,
                      struct es_error *err)
{
    double *seconds = calloc(n + 1, sizeof *seconds);
    size_t given;
    char mend[40];

    if (!seconds)
        return es_no_memory(err);
    given =
        option_numbers_parse(seconds, n + 1, 0, TIME_MAX, "times", text, err);
    for (size_t i = 0; i < n; i++)
        c[i].seconds = seconds[i];
    free(seconds);
    if (given == 0)
        return -1;
    snprintf(mend, sizeof mend, "give one a node: %zu", n);
    return given == n ? 0
                      : es_fail(err, ES_USAGE, mend, "--times: too %s",
                                given < n ? "few" : "many");
}

/* --- the forecast --------------------------------------------------------- */

struct forecast {
    size_t n;
    const char (*name)[NODE_NAME_MAX]; /* of the metrics file */
    struct metric *metric; /* JL is the load that the slice is cut by */
    double *load;
    struct slice *slice;
    struct completion *completion;
    void *state; /* of the policy */
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

/* Cut the slices by the loads: step 8 of US 8,645,454. */
static int cut(struct forecast *f,
               const struct options *o,
               struct es_error *err)
{
    for (size_t i = 0; i < f->n; i++)
        f->metric[i].JL = f->load[i];
    if (shares_cut(o->range.begin, o->range.end, o->grain, f->load, f->slice,
                   f->n)
        == 0)
        return 0;
    return es_fail(err, ES_WORK, "give another --policy",
                   "%s: no node has any load", o->policy.kind->name);
}

/* The first frame: steps 4 to 8. */
static int first_frame(struct forecast *f,
                       const struct options *o,
                       struct metrics_file *m,
                       struct es_error *err)
{
    const struct policy_setup setup = {m->n, f->metric, &o->profile->profile,
                                       o->policy.value};

    if (metrics_file_rank(m, &o->profile->profile, o->rank_by, f->metric) < 0
        || o->policy.kind->init(f->state, &setup) < 0)
        return es_fail(err, ES_USAGE, "give another --profile, or measure more",
                       "%s: no node has any load by the profile %s", o->metrics,
                       o->profile->name);
    o->policy.kind->loads(f->state, f->load);
    return cut(f, o, err);
}

/* The next frame: steps 10 to 12, and 8. */
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
    json_t *json = json_object();

    for (int e = 0; e < ELEMENTS; e++) {
        const char key[] = {element_letter((enum element)e), '\0'};

        if (e < ELEMENT_SITE || row[e] > 0)
            json = json_member(json, key, json_real(row[e]));
    }
    return json;
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

static int print_json(const struct forecast *f,
                      const struct options *o,
                      struct es_error *err)
{
    char elements[ELEMENTS + 1];
    json_t *nodes = json_array(), *all;
    int rc;

    rank_by_elements(elements, f->metric, &o->profile->profile, f->n);
    all = json_pack("{s:O, s:s, s:s}", "nodes", nodes, "rank_by",
                    rank_by_name(o->rank_by), "elements", elements);
    rc = nodes && all ? 0 : -1;

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

/* The columns of the table: the core elements, and the site's if it has any. */
static int columns_of(const struct forecast *f)
{
    for (size_t i = 0; i < f->n; i++)
        for (int e = ELEMENT_SITE; e < ELEMENTS; e++)
            if (f->metric[i].X[e] > 0)
                return ELEMENTS;
    return ELEMENT_SITE;
}

static void print_row(const char *name,
                      int width,
                      const char *what,
                      const double row[ELEMENTS],
                      int columns)
{
    printf("%-*s %-2s", width, name, what);
    for (int e = 0; e < columns; e++)
        printf(" %6.2f", row[e]);
}

/* Three lines a node: one would be wider than a terminal. */
static int print_table(const struct forecast *f,
                       const struct options *o,
                       struct es_error *err)
{
    size_t width = strlen("node");
    int columns = columns_of(f);
    char elements[ELEMENTS + 1];

    for (size_t i = 0; i < f->n; i++)
        if (strlen(f->name[i]) > width)
            width = strlen(f->name[i]);
    printf("%-*s %%", (int)width, "node");
    for (int e = 0; e < columns; e++)
        printf("      %c", element_letter((enum element)e));
    puts("     JL  begin end");
    for (size_t i = 0; i < f->n; i++) {
        print_row(f->name[i], (int)width, "X", f->metric[i].X, columns);
        printf(" %6.2f  %llu %llu\n", f->metric[i].JL,
               (unsigned long long)f->slice[i].begin,
               (unsigned long long)f->slice[i].end);
        print_row("", (int)width, "CM", f->metric[i].CM, columns);
        putchar('\n');
        print_row("", (int)width, "CU", f->metric[i].CU, columns);
        putchar('\n');
    }
    rank_by_elements(elements, f->metric, &o->profile->profile, f->n);
    printf("ranked by %s: the elements of the profile %s%s\n", elements,
           o->profile->name,
           o->rank_by == RANK_BY_ALL ? "" : " in which the nodes differ");
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : es_no_space(err);
}

/* --- all ------------------------------------------------------------------ */

static int plan(const struct options *o,
                struct metrics_file *m,
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
        rc = o->json ? print_json(&f, o, err) : print_table(&f, o, err);
    forecast_clear(&f);
    return rc;
}

static int plan_main(int argc, char **argv, struct es_error *err)
{
    struct options o = {0};
    struct metrics_file m;
    struct config c;
    int rc = options_parse(&command_plan, &o, argc, argv, err);

    if (rc != 0)
        return rc;
    if (config_load(&c, NULL, err) < 0 || parse(&o, &c, err) < 0
        || metrics_file_read(&m, o.metrics, err) < 0)
        return -1;
    rc = plan(&o, &m, err);
    metrics_file_clear(&m);
    return rc;
}

const struct subcommand command_plan = {
    .name = "plan",
    .brief = "shares of the nodes by what they measured",
    .about =
        "Cut the units [B,E) into one slice a node by what the nodes measured,\n"
        "and say how it comes to that, in percent: X, a node's part of an\n"
        "element; CM, that times the element's influence; CU, its capacity\n"
        "utilization; JL, the job load that its slice is cut by.\n",
    .option = options,
    .run = plan_main,
};
