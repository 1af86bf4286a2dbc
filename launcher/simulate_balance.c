/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/simulations.h"

#include "launcher/help.h"
#include "launcher/number.h"
#include "launcher/policy_option.h"
#include "launcher/threshold_option.h"
#include "policy/balance.h"

#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES_MAX  65536
#define FRAMES_MAX 1000000
#define SPEED_MAX  1e12 /* units per second */
#define GOOD       0.9  /* efficiency that a policy should come to */
#define FRAME_S    10   /* seconds that a frame takes, unless --units says */

static const char see_help[] = "see `evenstep simulate balance --help`";

static const char usage[] =
    "usage: evenstep simulate balance --speeds S1,S2,... [options]\n"
    "\n"
    "Simulate frames on unequal nodes, sized by the very policies of `evenstep "
    "run`,\n"
    "and tell how evenly each policy has them finish.\n"
    "\n"
    "  --speeds S1,S2,...   units a second of each node (required)\n"
    "  --nodes N            as many nodes; the speeds are repeated (one a "
    "speed)\n"
    "  --change F:NODE:S    from frame F on node NODE, both from 0, has speed "
    "S;\n"
    "                       may be given again\n"
    "  --policy P,Q,...     each NAME[:key=value,...], one after another "
    "(even)\n"
    "  --metrics probe | equal\n"
    "                       first sizes: the speeds are known, or not (probe)\n"
    "  --noise X | PERCENT% standard deviation of a time, relative to it (0)\n"
    "  --start SECONDS      that a command takes to start (0)\n"
    "  --delay SECONDS      from a result to the next command (0)\n"
    "  --frames F           (20)\n"
    "  --units U            of a frame (what all do in 10 seconds)\n"
    "  --grain G            units that stay together (1)\n"
    "  --pieces K           that a slice is sent in; 1: nobody takes over (1)\n"
    "  --threshold SECONDS | PERCENT% | auto\n"
    "                       as `evenstep run` (5%)\n"
    "  --seed S             of the noise and of policies that draw lots (1)\n"
    "  --json               print one JSON object a policy\n";

struct options {
    struct balance_setup setup; /* but for the policy */
    double *speed;              /* setup.n */
    struct balance_change *change;
    struct policy_option *policy;
    size_t n_policies;
    const char *nodes, *speeds, *policies, *seed; /* NULL: not given */
    int64_t frames;
    int is_equal, json, help;
};

static int no_memory(struct es_error *err)
{
    return es_fail(err, ES_ENV, "free some memory", "out of memory");
}

/* --- options -------------------------------------------------------------- */

/* The text up to the separator as a number; what is behind it in *rest, NULL if
 * nothing is.  Untouched if it is none. */
static int take_part(const char *text,
                     char separator,
                     double low,
                     double high,
                     double *v,
                     const char **rest)
{
    const char *end = strchr(text, separator);
    size_t len = end ? (size_t)(end - text) : strlen(text);
    char number[32];

    if (len >= sizeof number)
        return -1;
    memcpy(number, text, len);
    number[len] = '\0';
    if (number_parse_double(number, low, high, v) < 0)
        return -1;
    *rest = end ? end + 1 : NULL;
    return 0;
}

static int take_speeds(struct options *o, struct es_error *err)
{
    const char *rest = o->speeds;
    int64_t nodes = 0;
    size_t n = 0;

    if (o->nodes && number_parse_int(o->nodes, 1, NODES_MAX, &nodes) < 0)
        return es_fail(err, ES_USAGE, "give 1 to 65536",
                       "--nodes: \"%s\" is out of range", o->nodes);
    o->speed = calloc(NODES_MAX, sizeof *o->speed);
    if (!o->speed)
        return no_memory(err);
    while (rest && n < NODES_MAX
           && take_part(rest, ',', 1e-9, SPEED_MAX, &o->speed[n], &rest) == 0)
        n++;
    if (rest || n == 0)
        return es_fail(err, ES_USAGE,
                       "give numbers from 1e-9 to 1e12, as 80,40",
                       "--speeds: number %zu is out of range", n + 1);
    if (o->nodes && (size_t)nodes < n)
        return es_fail(err, ES_USAGE, "give as many nodes, or less speeds",
                       "--speeds: has %zu for %" PRId64 " nodes", n, nodes);
    o->setup.n = o->nodes ? (size_t)nodes : n;
    for (size_t i = n; i < o->setup.n; i++)
        o->speed[i] = o->speed[i % n];
    return 0;
}

/* F:NODE:S; whether the node is there is seen at the end. */
static int take_change(struct options *o,
                       const char *text,
                       struct es_error *err)
{
    size_t n = o->setup.n_changes;
    struct balance_change c = {0}, *more;
    double frame, node;
    const char *rest;

    if (take_part(text, ':', 0, FRAMES_MAX, &frame, &rest) < 0 || !rest
        || take_part(rest, ':', 0, NODES_MAX, &node, &rest) < 0 || !rest
        || take_part(rest, ':', 1e-9, SPEED_MAX, &c.speed, &rest) < 0 || rest
        || floor(frame) < frame || floor(node) < node)
        return es_fail(err, ES_USAGE, "give FRAME:NODE:SPEED, as 8:0:40",
                       "--change: \"%s\" is none", text);
    more = reallocarray(o->change, n + 1, sizeof *more);
    if (!more)
        return no_memory(err);
    o->change = more;
    c.frame = (uint64_t)frame;
    c.node = (size_t)node;
    for (; n > 0 && more[n - 1].frame > c.frame; n--)
        more[n] = more[n - 1]; /* they must be in order */
    more[n] = c;
    o->setup.n_changes++;
    return 0;
}

static int take_noise(struct options *o, const char *text, struct es_error *err)
{
    const char *rest;
    double v, unit = strchr(text, '%') ? 0.01 : 1;

    if (take_part(text, '%', 0, 1 / unit, &v, &rest) < 0 || (rest && *rest))
        return es_fail(err, ES_USAGE, "give 0 to 1, or 0% to 100%",
                       "--noise: \"%s\" is out of range", text);
    o->setup.noise = v * unit;
    return 0;
}

static int take_metrics(struct options *o,
                        const char *text,
                        struct es_error *err)
{
    o->is_equal = strcmp(text, "equal") == 0;
    if (o->is_equal || strcmp(text, "probe") == 0)
        return 0;
    return es_fail(err, ES_USAGE, "give probe or equal",
                   "--metrics: \"%s\" is unknown", text);
}

/* An item with a '=' and no ':' before it is a parameter of the policy before:
 * even,canon:step=5,worst=2,static. */
static int is_parameter(const char *item)
{
    return item[strcspn(item, ":=")] == '=';
}

static int add_policy(struct options *o, const char *item, struct es_error *err)
{
    struct policy_option *more =
        reallocarray(o->policy, o->n_policies + 1, sizeof *more);

    if (!more)
        return no_memory(err);
    o->policy = more;
    if (policy_option_parse(&more[o->n_policies], NULL, item, POLICY_STRICT,
                            err)
        < 0)
        return -1;
    o->n_policies++;
    return 0;
}

static int take_policies(struct options *o, struct es_error *err)
{
    char *copy = strdup(o->policies ? o->policies : "even"), *rest = copy;
    const char *item;
    int rc = copy ? 0 : no_memory(err);

    while (rc == 0 && (item = strsep(&rest, ",")) != NULL)
        rc = is_parameter(item) && o->n_policies > 0 ? policy_option_set(
                 &o->policy[o->n_policies - 1], item, POLICY_STRICT, err)
                                                     : add_policy(o, item, err);
    free(copy);
    return rc;
}

/* --seed is of the noise and of every policy that makes random choices. */
static int take_seed(struct options *o, struct es_error *err)
{
    int64_t seed;

    if (!o->seed)
        return 0;
    if (number_parse_int(o->seed, 0, UINT32_MAX, &seed) < 0)
        return es_fail(err, ES_USAGE, "give 0 to 4294967295",
                       "--seed: \"%s\" is out of range", o->seed);
    o->setup.seed = (uint64_t)seed;
    for (size_t i = 0; i < o->n_policies; i++) {
        struct policy_option *p = &o->policy[i];
        size_t k = policy_param_find(p->kind, "seed");

        if (k < p->kind->n_params)
            p->value[k] = (double)seed;
    }
    return 0;
}

static const struct option options[] = {
    {"nodes", required_argument, NULL, 'n'},
    {"speeds", required_argument, NULL, 's'},
    {"change", required_argument, NULL, 'c'},
    {"policy", required_argument, NULL, 'p'},
    {"metrics", required_argument, NULL, 'm'},
    {"noise", required_argument, NULL, 'r'},
    {"start", required_argument, NULL, 'b'},
    {"delay", required_argument, NULL, 'd'},
    {"frames", required_argument, NULL, 'f'},
    {"units", required_argument, NULL, 'u'},
    {"grain", required_argument, NULL, 'g'},
    {"pieces", required_argument, NULL, 'k'},
    {"threshold", required_argument, NULL, 't'},
    {"seed", required_argument, NULL, 'x'},
    {"json", no_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int take_seconds(double *v,
                        const char *name,
                        const char *text,
                        struct es_error *err)
{
    if (number_parse_double(text, 0, 1e6, v) == 0)
        return 0;
    return es_fail(err, ES_USAGE, "give seconds from 0 to 1e6",
                   "--%s: \"%s\" is out of range", name, text);
}

static int take_count(uint64_t *v,
                      const char *name,
                      const char *text,
                      struct es_error *err)
{
    int64_t n;

    if (number_parse_int(text, 1, INT64_MAX, &n) < 0)
        return es_fail(err, ES_USAGE, "give a whole number from 1",
                       "--%s: \"%s\" is out of range", name, text);
    *v = (uint64_t)n;
    return 0;
}

static int take_frames(int64_t *v, const char *text, struct es_error *err)
{
    if (number_parse_int(text, 1, FRAMES_MAX, v) == 0)
        return 0;
    return es_fail(err, ES_USAGE, "give 1 to 1000000",
                   "--frames: \"%s\" is out of range", text);
}

static int take(struct options *o,
                const struct option *option,
                const char *text,
                struct es_error *err)
{
    struct balance_setup *s = &o->setup;

    switch (option->val) {
    case 'n':
        o->nodes = text;
        return 0;
    case 's':
        o->speeds = text;
        return 0;
    case 'p':
        o->policies = text;
        return 0;
    case 'x':
        o->seed = text;
        return 0;
    case 'c':
        return take_change(o, text, err);
    case 'm':
        return take_metrics(o, text, err);
    case 'r':
        return take_noise(o, text, err);
    case 'b':
        return take_seconds(&s->start, option->name, text, err);
    case 'd':
        return take_seconds(&s->delay, option->name, text, err);
    case 'f':
        return take_frames(&o->frames, text, err);
    case 'u':
        return take_count(&s->units, option->name, text, err);
    case 'g':
        return take_count(&s->grain, option->name, text, err);
    case 'k':
        return take_count(&s->pieces, option->name, text, err);
    case 't':
        return threshold_option_parse(&s->threshold, text, err);
    case 'j':
        o->json = 1;
        return 0;
    default: /* 'h' */
        o->help = 1;
        return 0;
    }
}

/* What depends on several options. */
static int complete(struct options *o, struct es_error *err)
{
    double all = 0;

    if (!o->speeds)
        return es_fail(err, ES_USAGE, see_help,
                       "simulate balance needs --speeds");
    if (take_speeds(o, err) < 0 || take_policies(o, err) < 0
        || take_seed(o, err) < 0)
        return -1;
    for (size_t i = 0; i < o->setup.n_changes; i++)
        if (o->change[i].node >= o->setup.n)
            return es_fail(err, ES_USAGE, "give one from 0 below the nodes",
                           "--change: there is no node %zu among %zu",
                           o->change[i].node, o->setup.n);
    for (size_t i = 0; i < o->setup.n; i++)
        all += o->speed[i];
    if (o->setup.units == 0)
        o->setup.units = (uint64_t)fmax(1, fmin(FRAME_S * all, 0x1p62));
    o->setup.speed = o->speed;
    o->setup.prior = o->is_equal ? NULL : o->speed;
    o->setup.change = o->change;
    return 0;
}

static int parse(struct options *o, int argc, char **argv, struct es_error *err)
{
    int option, index = 0;

    opterr = 0;
    optind = 0;
    while ((option = getopt_long(argc, argv, ":", options, &index)) != -1) {
        if (option == ':' || option == '?')
            return es_fail(err, ES_USAGE, see_help, "%s: %s", argv[optind - 1],
                           option == ':' ? "a value is missing"
                                         : "no such option");
        if (take(o, &options[index], optarg, err) < 0)
            return -1;
    }
    if (o->help)
        return 0;
    if (optind < argc)
        return es_fail(err, ES_USAGE, see_help,
                       "simulate balance: unexpected argument \"%s\"",
                       argv[optind]);
    return complete(o, err);
}

/* --- a policy's run ------------------------------------------------------- */

struct outcome {
    double mean, first; /* efficiency: of all frames, of the first */
    int64_t good;       /* the first frame with an efficiency of GOOD, or -1 */
    double seconds, ideal;
    uint64_t messages, taken;
};

/* Of the node that changes, until it does. */
static double speed_before(const struct options *o, size_t change)
{
    size_t node = o->change[change].node;

    while (change-- > 0)
        if (o->change[change].node == node)
            return o->change[change].speed;
    return o->speed[node];
}

/* What all frames take if nobody ever waits. */
static double ideal_seconds(const struct options *o)
{
    double all = 0, seconds = 0;
    size_t k = 0;

    for (size_t i = 0; i < o->setup.n; i++)
        all += o->speed[i];
    for (int64_t i = 0; i < o->frames; i++) {
        for (; k < o->setup.n_changes && o->change[k].frame == (uint64_t)i; k++)
            all += o->change[k].speed - speed_before(o, k);
        seconds += (double)o->setup.units / all;
    }
    return seconds;
}

static void add_up(struct outcome *out,
                   const struct balance_frame *f,
                   int64_t i)
{
    if (i == 0)
        out->first = f->efficiency;
    if (out->good < 0 && f->efficiency >= GOOD)
        out->good = i;
    out->mean += (f->efficiency - out->mean) / (double)(i + 1);
    out->seconds += f->last;
    out->messages += f->messages;
    out->taken += f->taken;
}

/* efficiency: one a frame; out: but for ideal still empty. */
static int run(const struct options *o,
               const struct policy_option *policy,
               double efficiency[],
               struct outcome *out,
               struct es_error *err)
{
    struct balance_setup setup = o->setup;
    size_t bytes;
    void *state;

    setup.policy = policy->kind;
    setup.value = policy->value;
    bytes = balance_bytes(&setup);
    state = bytes ? malloc(bytes) : NULL;
    if (!state || balance_init(state, &setup) < 0) {
        free(state);
        return no_memory(err);
    }
    for (int64_t i = 0; i < o->frames; i++) {
        struct balance_frame f;

        balance_next(state, &f);
        efficiency[i] = f.efficiency;
        add_up(out, &f, i);
    }
    free(state);
    return 0;
}

/* --- results -------------------------------------------------------------- */

static json_t *list(const double x[], int64_t n)
{
    json_t *all = json_array();

    for (int64_t i = 0; i < n; i++)
        if (json_array_append_new(all, json_real(x[i])) < 0) {
            json_decref(all);
            return NULL;
        }
    return all;
}

static json_t *parameters(const struct policy_option *p)
{
    json_t *all = json_object();

    for (size_t k = 0; k < p->kind->n_params; k++)
        if (json_object_set_new(all, p->kind->params[k].key,
                                json_real(p->value[k]))
            < 0) {
            json_decref(all);
            return NULL;
        }
    return all;
}

static int print_json(const struct options *o,
                      const struct policy_option *policy,
                      const double efficiency[],
                      const struct outcome *out)
{
    json_t *good =
        out->good < 0 ? json_null() : json_integer((json_int_t)out->good);
    json_t *all = json_pack(
        "{s:s, s:o, s:I, s:I, s:I, s:f, s:f, s:o, s:f, s:f, s:f, s:I, s:I, "
        "s:o}",
        "policy", policy->kind->name, "parameters", parameters(policy), "nodes",
        (json_int_t)o->setup.n, "units", (json_int_t)o->setup.units, "frames",
        (json_int_t)o->frames, "efficiency", out->mean, "first_efficiency",
        out->first, "frames_to_0.9", good, "seconds", out->seconds,
        "ideal_seconds", out->ideal, "ratio", out->seconds / out->ideal,
        "messages", (json_int_t)out->messages, "units_taken_over",
        (json_int_t)out->taken, "efficiencies", list(efficiency, o->frames));
    int rc = all ? json_dumpf(all, stdout, JSON_COMPACT) : -1;

    json_decref(all);
    return rc == 0 && putchar('\n') != EOF ? 0 : -1;
}

static int print_head(const struct options *o)
{
    return printf("%zu nodes, %" PRId64 " frames of %" PRIu64 " units\n"
                  "%-14s %10s %7s %13s %16s %10s %10s\n",
                  o->setup.n, o->frames, o->setup.units, "policy", "efficiency",
                  "first", "frames to 0.9", "makespan / ideal", "messages",
                  "taken over");
}

static int print_text(const char *policy, const struct outcome *out)
{
    char good[24] = "never";

    if (out->good >= 0)
        snprintf(good, sizeof good, "%" PRId64, out->good);
    return printf("%-14s %10.3f %7.3f %13s %16.3f %10" PRIu64 " %10" PRIu64
                  "\n",
                  policy, out->mean, out->first, good,
                  out->seconds / out->ideal, out->messages, out->taken);
}

static int run_all(const struct options *o, struct es_error *err)
{
    double *efficiency = calloc((size_t)o->frames, sizeof *efficiency);
    int rc = efficiency ? 0 : no_memory(err), printed;

    printed = rc == 0 && !o->json ? print_head(o) : 0;
    for (size_t i = 0; rc == 0 && printed >= 0 && i < o->n_policies; i++) {
        const struct policy_option *p = &o->policy[i];
        struct outcome out = {.good = -1, .ideal = ideal_seconds(o)};

        rc = run(o, p, efficiency, &out, err);
        if (rc == 0)
            printed = o->json ? print_json(o, p, efficiency, &out)
                              : print_text(p->kind->name, &out);
    }
    free(efficiency);
    if (rc == 0 && (printed < 0 || fflush(stdout) != 0))
        return es_fail(err, ES_WORK, "free some space", "cannot write");
    return rc;
}

int simulate_balance(int argc, char **argv, struct es_error *err)
{
    struct options o = {
        .setup = {.grain = 1,
                  .pieces = 1,
                  .threshold = {THRESHOLD_PERCENT, 5},
                  .seed = 1},
        .frames = 20,
    };
    int rc = parse(&o, argc, argv, err);

    if (rc == 0)
        rc = o.help ? help_print(usage, err) : run_all(&o, err);
    free(o.speed);
    free(o.change);
    free(o.policy);
    return rc;
}
