/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/balance_options.h"
#include "launcher/base/help.h"
#include "launcher/base/number.h"
#include "launcher/config/threshold_option.h"
#include "launcher/whatif/balance_trace.h"
#include "policy/tail.h"

#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NODES_MAX  65536
#define FRAMES_MAX 1000000
#define SPEED_MAX  1e12 /* units per second */
#define FRAMES     20   /* unless --frames or --trace says */
#define FRAME_S    10   /* seconds that a frame takes, unless --units says */

static const char see_help[] = "see `evenstep simulate balance --help`";

_Static_assert(TAIL_PIECES == 16, "the help says so");

static const char usage[] =
    "usage: evenstep simulate balance --speeds S1,S2,... | --trace FILE "
    "[options]\n"
    "\n"
    "Simulate frames on unequal nodes, sized by the very policies of `evenstep "
    "run`,\n"
    "and tell how evenly each policy has them finish.\n"
    "\n"
    "  --speeds S1,S2,...   units a second of each node\n"
    "  --nodes N            as many nodes; the speeds are repeated (one a "
    "speed)\n"
    "  --change F:NODE:S    from frame F on node NODE, both from 0, has speed "
    "S;\n"
    "                       may be given again\n"
    "  --trace FILE         the nodes, speeds, frames and units of a real run, "
    "by "
    "the\n"
    "                       report or the journal that it has written\n"
    "  --policy P,Q,...     each NAME[:key=value,...], one after another "
    "(even)\n"
    "  --metrics probe | equal\n"
    "                       first sizes: the speeds are known, or not (probe)\n"
    "  --noise X | PERCENT% standard deviation of a time, relative to it (0)\n"
    "  --start SECONDS      that a command takes to start on the fastest node, "
    "and\n"
    "                       longer on a slower one (0)\n"
    "  --delay SECONDS      from a result to the next command (0)\n"
    "  --frames F           (20, or as many as the trace has)\n"
    "  --units U            of a frame (what all do in 10 seconds, or as the "
    "trace)\n"
    "  --grain G            units that stay together (1)\n"
    "  --pieces K           that a slice is sent in, at most; 1: nobody takes "
    "over\n"
    "                       (16, as `evenstep run`)\n"
    "  --threshold SECONDS | PERCENT% | auto\n"
    "                       as `evenstep run` (5%)\n"
    "  --seed S             of the noise and of policies that draw lots (1)\n"
    "  --json               print one JSON object a policy\n";

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

static int take_speeds(struct balance_options *o, struct es_error *err)
{
    const char *rest = o->speeds;
    int64_t nodes = 0;
    size_t n = 0;

    if (o->nodes && number_parse_int(o->nodes, 1, NODES_MAX, &nodes) < 0)
        return es_fail(err, ES_USAGE, "give 1 to 65536",
                       "--nodes: \"%s\" is out of range", o->nodes);
    o->speed = calloc(NODES_MAX, sizeof *o->speed);
    if (!o->speed)
        return es_no_memory(err);
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
static int take_change(struct balance_options *o,
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
        return es_no_memory(err);
    o->change = more;
    c.frame = (uint64_t)frame;
    c.node = (size_t)node;
    for (; n > 0 && more[n - 1].frame > c.frame; n--)
        more[n] = more[n - 1]; /* they must be in order */
    more[n] = c;
    o->setup.n_changes++;
    return 0;
}

static int take_noise(struct balance_options *o,
                      const char *text,
                      struct es_error *err)
{
    const char *rest;
    double v, unit = strchr(text, '%') ? 0.01 : 1;

    if (take_part(text, '%', 0, 1 / unit, &v, &rest) < 0 || (rest && *rest))
        return es_fail(err, ES_USAGE, "give 0 to 1, or 0% to 100%",
                       "--noise: \"%s\" is out of range", text);
    o->setup.noise = v * unit;
    return 0;
}

static int take_metrics(struct balance_options *o,
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

static int add_policy(struct balance_options *o,
                      const char *item,
                      struct es_error *err)
{
    struct policy_option *more =
        reallocarray(o->policy, o->n_policies + 1, sizeof *more);

    if (!more)
        return es_no_memory(err);
    o->policy = more;
    if (policy_option_parse(&more[o->n_policies], NULL, item, POLICY_STRICT,
                            err)
        < 0)
        return -1;
    o->n_policies++;
    return 0;
}

static int take_policies(struct balance_options *o, struct es_error *err)
{
    char *copy = strdup(o->policies ? o->policies : kinds_at(0)->name),
         *rest = copy;
    const char *item;
    int rc = copy ? 0 : es_no_memory(err);

    while (rc == 0 && (item = strsep(&rest, ",")) != NULL)
        rc = is_parameter(item) && o->n_policies > 0 ? policy_option_set(
                 &o->policy[o->n_policies - 1], item, POLICY_STRICT, err)
                                                     : add_policy(o, item, err);
    free(copy);
    return rc;
}

/* --seed is of the noise and of every policy that makes random choices. */
static int take_seed(struct balance_options *o, struct es_error *err)
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
    {"trace", required_argument, NULL, 'T'},
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

static int take(struct balance_options *o,
                const struct option *option,
                const char *text,
                struct es_error *err)
{
    struct balance_setup *s = &o->setup;

    switch (option->val) {
    case 'T':
        o->trace = text;
        return 0;
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
        return threshold_option_take(&s->threshold, text, err);
    case 'j':
        o->json = 1;
        return 0;
    default: /* 'h' */
        o->help = 1;
        return 0;
    }
}

/* The trace says what --nodes, --speeds and --change say, and more. */
static int take_trace(struct balance_options *o, struct es_error *err)
{
    struct balance_trace t;
    int rc = -1;

    if (o->speeds || o->nodes || o->change)
        return es_fail(err, ES_USAGE, "give one of them",
                       "--trace and %s exclude each other",
                       o->speeds  ? "--speeds"
                       : o->nodes ? "--nodes"
                                  : "--change");
    if (balance_trace_read(&t, o->trace, err) == 0) {
        rc = 0;
        o->speed = t.speed;
        o->setup.n = t.n;
        o->change = t.change;
        o->setup.n_changes = t.n_changes;
        t.speed = NULL; /* they are ours now */
        t.change = NULL;
        if (o->frames == 0)
            o->frames = (int64_t)t.frames;
        if (o->setup.units == 0)
            o->setup.units = t.units;
    }
    balance_trace_clear(&t);
    return rc;
}

/* What depends on several options. */
static int complete(struct balance_options *o, struct es_error *err)
{
    double all = 0;

    if (!o->speeds && !o->trace)
        return es_fail(err, ES_USAGE, see_help,
                       "simulate balance needs --speeds or --trace");
    if ((o->trace ? take_trace(o, err) : take_speeds(o, err)) < 0
        || take_policies(o, err) < 0 || take_seed(o, err) < 0)
        return -1;
    for (size_t i = 0; i < o->setup.n_changes; i++)
        if (o->change[i].node >= o->setup.n)
            return es_fail(err, ES_USAGE, "give one from 0 below the nodes",
                           "--change: there is no node %zu among %zu",
                           o->change[i].node, o->setup.n);
    for (size_t i = 0; i < o->setup.n; i++)
        all += o->speed[i];
    if (o->frames == 0)
        o->frames = FRAMES;
    if (o->setup.units == 0)
        o->setup.units = (uint64_t)fmax(1, fmin(FRAME_S * all, 0x1p62));
    o->setup.speed = o->speed;
    o->setup.prior = o->is_equal ? NULL : o->speed;
    o->setup.change = o->change;
    return 0;
}

int balance_options_parse(struct balance_options *o,
                          int argc,
                          char **argv,
                          struct es_error *err)
{
    int option, index = 0;

    *o = (struct balance_options){
        .setup = {.grain = 1,
                  .pieces = TAIL_PIECES,
                  .threshold = {THRESHOLD_PERCENT, 5},
                  .seed = 1},
    };
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
        return help_print(usage, err) < 0 ? -1 : 1;
    if (optind < argc)
        return es_fail(err, ES_USAGE, see_help,
                       "simulate balance: unexpected argument \"%s\"",
                       argv[optind]);
    return complete(o, err);
}

void balance_options_clear(struct balance_options *o)
{
    free(o->speed);
    free(o->change);
    free(o->policy);
    memset(o, 0, sizeof *o);
}
