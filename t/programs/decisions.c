/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Does the simulator decide as a real run has done?  For t/2315-decisions.t.
 *
 *   decisions REPORT NODES UNITS GRAIN PIECES POLICY PERCENT PROCESSORS
 *
 * REPORT is that of `evenstep run --local NODES --metrics equal --report`; its
 * times are the simulator's, and each piece that it sends must be the run's
 * next one: node, units, and when.  The last two words are --threshold's and
 * how many processors each node has told.  Exit status 1: another decision, 2:
 * no such report.
 */
#include "launcher/config/config_file.h"
#include "launcher/config/policy_option.h"
#include "policy/balance.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MOST 64
#define NODES_MOST  64

struct report {
    struct balance_record frame[FRAMES_MOST];
    int adjusted[FRAMES_MOST];
    struct cost_terms before; /* what was known of the command's costs */
    double noise;
    struct cost_scaling scaling;
    struct cost_profile profile;
    double lag[NODES_MOST];
    size_t n;
};

static void refuse(const char *why)
{
    fprintf(stderr, "decisions: %s\n", why);
    exit(2);
}

static uint64_t number(const char *text)
{
    return strtoull(text, NULL, 10);
}

/* --- the report ----------------------------------------------------------- */

static struct balance_piece read_piece(json_t *slice)
{
    struct balance_piece p = {0};
    const char *node;
    json_int_t begin, end, status;

    if (json_unpack(slice, "{s:s, s:I, s:I, s:F, s:F, s:F, s?F, s:I}", "node",
                    &node, "begin", &begin, "end", &end, "sent", &p.sent,
                    "back", &p.back, "seconds", &p.seconds, "cpu", &p.cpu,
                    "status", &status)
            < 0
        || strncmp(node, "local", 5) != 0 || status != 0)
        refuse("a slice that is none, or that failed");
    p.node = (size_t)number(node + 5);
    p.units = (struct slice){(uint64_t)begin, (uint64_t)end};
    return p;
}

static void read_scaling(struct cost_scaling *s, json_t *costs)
{
    if (json_object_get(costs, "exponent")
        && json_unpack(costs, "{s:F, s:F, s:F}", "exponent", &s->exponent,
                       "loose", &s->loose, "sure", &s->sure)
               < 0)
        refuse("a scaling that is none");
}

static void read_profile(struct cost_profile *p, json_t *costs)
{
    json_t *seen = json_object_get(costs, "seen");

    p->begin = json_number_value(json_object_get(costs, "begin"));
    p->units = json_number_value(json_object_get(costs, "units"));
    p->n = json_array_size(seen);
    if (p->n > COST_PROFILE)
        refuse("a profile of too many parts");
    for (size_t i = 0; i < p->n; i++)
        if (json_unpack(json_array_get(seen, i), "[F, F, F, F]",
                        &p->seen[i].begin, &p->seen[i].end, &p->seen[i].mean,
                        &p->seen[i].deviation)
            < 0)
            refuse("a profile that is none");
}

static void read_lags(double lag[NODES_MOST], json_t *lags)
{
    const char *node;
    json_t *seconds;

    json_object_foreach(lags, node, seconds)
    {
        if (strncmp(node, "local", 5) != 0 || number(node + 5) >= NODES_MOST)
            refuse("the lag of no node");
        lag[number(node + 5)] = json_number_value(seconds);
    }
}

static void read_costs(struct report *r, json_t *costs)
{
    if (costs
        && json_unpack(costs, "{s:F, s:F, s:F, s:F}", "wait", &r->before.wait,
                       "burn", &r->before.burn, "each", &r->before.each,
                       "noise", &r->noise)
               < 0)
        refuse("costs that are none");
    read_scaling(&r->scaling, costs);
    read_profile(&r->profile, costs);
    read_lags(r->lag, json_object_get(costs, "lag"));
}

static void read_frame(struct report *r, json_t *line)
{
    json_t *slices = json_object_get(line, "slices");
    size_t n = json_array_size(slices);
    struct balance_piece *piece = calloc(n + 1, sizeof *piece);

    if (r->n == FRAMES_MOST || !piece || n == 0)
        refuse("too many frames, or an empty one");
    for (size_t i = 0; i < n; i++)
        piece[i] = read_piece(json_array_get(slices, i));
    if (r->n == 0)
        read_costs(r, json_object_get(line, "costs_before"));
    r->adjusted[r->n] = json_is_true(json_object_get(line, "adjusted"));
    r->frame[r->n++] = (struct balance_record){piece, n};
}

static void read_report(struct report *r, const char *path)
{
    FILE *file = fopen(path, "r");
    json_t *line;
    const char *type;

    if (!file)
        refuse("no report");
    while ((line = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL)) != NULL) {
        type = json_string_value(json_object_get(line, "type"));
        if (type && strcmp(type, "frame") == 0)
            read_frame(r, line);
        json_decref(line);
    }
    (void)fclose(file);
    if (r->n == 0)
        refuse("no frame");
}

/* --- the simulator -------------------------------------------------------- */

static void rank_equal(struct balance_setup *setup, struct metric m[])
{
    double(*measured)[ELEMENTS] = calloc(setup->n, sizeof *measured);

    if (!measured)
        refuse("no memory");
    for (size_t i = 0; i < setup->n; i++)
        for (int e = 0; e < ELEMENTS; e++)
            measured[i][e] = 1;
    if (metric_rank((const double(*)[ELEMENTS])measured, setup->profile, m,
                    setup->n)
        < 0)
        refuse("no node has any load");
    setup->metric = m;
    free(measured);
}

static int compare(struct balance *b, const struct report *r)
{
    uint64_t pieces = 0;

    for (size_t i = 0; i < r->n; i++) {
        struct balance_frame f;

        if (balance_next(b, &f) < 0)
            refuse("no memory");
        pieces += f.same;
        if (!f.differs && f.adjusted == r->adjusted[i])
            continue;
        printf("frame %zu: %ju of %zu pieces are the same, adjusted: %d\n", i,
               (uintmax_t)f.same, r->frame[i].n, f.adjusted);
        return 1;
    }
    printf("%zu frames, %ju pieces: each the same\n", r->n, (uintmax_t)pieces);
    return 0;
}

int main(int argc, char **argv)
{
    static struct report report;
    static struct policy_option policy;
    static struct config config;
    static struct metric metric[NODES_MOST];
    static double speed[NODES_MOST];
    struct balance_setup setup = {.speed = speed};
    struct es_error err = {0};
    struct balance *b;
    int rc;

    if (argc != 9 || number(argv[2]) > NODES_MOST)
        refuse("wrong arguments");
    setup.n = number(argv[2]);
    setup.units = number(argv[3]);
    setup.grain = number(argv[4]);
    setup.pieces = number(argv[5]);
    if (config_load(&config, NULL, &err) < 0
        || policy_option_parse(&policy, NULL, argv[6], POLICY_STRICT, &err) < 0)
        refuse(err.what);
    setup.policy = policy.kind;
    setup.value = policy.value;
    setup.threshold.unit = THRESHOLD_PERCENT;
    setup.threshold.value = strtod(argv[7], NULL);
    setup.processors = (int32_t)number(argv[8]);
    setup.profile = &config.profile[0].profile;
    for (size_t i = 0; i < setup.n; i++)
        speed[i] = 1; /* the record has the times */
    rank_equal(&setup, metric);
    read_report(&report, argv[1]);
    setup.record = report.frame;
    setup.before = report.before;
    setup.noise_before = report.noise;
    setup.scaling_before = &report.scaling;
    setup.lag_before = report.lag;
    setup.profile_before = &report.profile;
    b = balance_create(&setup);
    if (!b)
        refuse("no such setup");
    rc = compare(b, &report);
    balance_destroy(b);
    for (size_t i = 0; i < report.n; i++)
        free((void *)(uintptr_t)report.frame[i].piece);
    return rc;
}
