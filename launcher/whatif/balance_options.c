/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/balance_options.h"
#include "launcher/base/number.h"
#include "launcher/config/pieces_option.h"
#include "launcher/config/policy_site.h"
#include "launcher/config/threshold_option.h"
#include "launcher/whatif/node_numbers.h"
#include "launcher/whatif/report_file.h"
#include "pmix_bcast/error.h"
#include "policy/balance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- balance trace ------------------------------------------------------------- */

/* The nodes of a real run, from its report or journal: how
 * fast each was, frame by frame.  Other policies are then simulated on them.
 *
 * The speed of a node in a frame is the units that it did, over the seconds
 * that their commands ran.  In a frame in which it did none it keeps the speed
 * it had. */

struct balance_trace {
    size_t n;      /* nodes that have done anything */
    double *speed; /* n, in the first frame; units per second */
    struct balance_change *change;
    size_t n_changes;
    uint64_t frames;
    uint64_t units; /* of a frame, on average */
};

/* What is known of a node at the frame that is looked at. */
struct node {
    size_t number;         /* in the trace, if it has a speed */
    double speed;          /* the last known; 0: none yet */
    double units, seconds; /* done in that frame */
};

static void add_up(struct node node[],
                   const struct report_file *f,
                   const struct report_frame *frame)
{
    for (size_t i = 0; i < f->nodes; i++)
        node[i].units = node[i].seconds = 0;
    for (size_t i = 0; i < frame->n; i++) {
        const struct report_slice *s = &f->slice[frame->slice + i];

        if (!s->done)
            continue;
        node[s->node].units += (double)s->units;
        node[s->node].seconds += s->seconds;
    }
}

/* The first speed that is known counts from the start; each that differs from
 * the one before is a change. */
static void note(struct balance_trace *t, struct node *n, uint64_t frame)
{
    double speed = n->seconds > 0 ? n->units / n->seconds : 0;

    if (!(speed > 0))
        return;
    if (!(n->speed > 0)) {
        n->number = t->n++;
        t->speed[n->number] = speed;
    } else if (speed < n->speed || speed > n->speed) {
        t->change[t->n_changes++] =
            (struct balance_change){frame, 0, n->number, speed};
    }
    n->speed = speed;
}

static int take_node(struct balance_trace *t,
                     const struct report_file *f,
                     struct es_error *err)
{
    struct node *node = calloc(f->nodes + 1, sizeof *node);
    double units = 0;

    t->speed = calloc(f->nodes + 1, sizeof *t->speed);
    t->change = calloc(f->n_slices + 1, sizeof *t->change);
    if (!node || !t->speed || !t->change) {
        free(node);
        return es_no_memory(err);
    }
    for (size_t i = 0; i < f->n; i++) {
        add_up(node, f, &f->frame[i]);
        for (size_t k = 0; k < f->nodes; k++)
            note(t, &node[k], i);
        units += (double)f->frame[i].units;
    }
    free(node);
    t->frames = f->n;
    t->units = (uint64_t)fmax(1, units / fmax(1, (double)f->n)); /* < 2^63 */
    return 0;
}

/* Fails as report_file_read() does, or with ES_USAGE if no node has done
 * anything.  Call balance_trace_clear() in any case. */
static int balance_trace_read(struct balance_trace *t,
                              const char *path,
                              struct es_error *err)
{
    struct report_file f;
    int rc;

    memset(t, 0, sizeof *t);
    rc = report_file_read(&f, "--trace", path, err);
    if (rc == 0)
        rc = take_node(t, &f, err);
    report_file_clear(&f);
    if (rc == 0 && t->n == 0)
        return es_fail(err, ES_USAGE,
                       "give the report or journal of a run that worked",
                       "--trace: %s: no node has done anything", path);
    return rc;
}

static void balance_trace_clear(struct balance_trace *t)
{
    free(t->speed);
    free(t->change);
    memset(t, 0, sizeof *t);
}

/* --- balance options ----------------------------------------------------------- */

#define FRAMES_MAX  1000000
#define SPEED_MAX   1e12 /* units per second */
#define STARTUP_MAX 1e6  /* seconds */
#define FRAMES      20   /* unless --frames or --trace says */
#define FRAME_S     10   /* seconds that a frame takes, unless --units says */

/* --- the table ------------------------------------------------------------ */

/* F:NODE:S; whether the node is there is seen at the end. */
static int take_change(void *at, const char *text, struct es_error *err)
{
    struct balance_options *o = at;
    size_t n = o->setup.n_changes;
    struct balance_change c = {0}, *more;
    char copy[80], *rest = copy;
    const char *frame, *node;
    int64_t f, v;

    snprintf(copy, sizeof copy, "%s", text);
    frame = strsep(&rest, ":");
    node = rest ? strsep(&rest, ":") : "";
    if (strlen(text) >= sizeof copy || !rest
        || number_parse_int(frame, 0, FRAMES_MAX, &f) < 0
        || number_parse_int(node, 0, SIMULATED_NODES_MAX, &v) < 0
        || number_parse_double(rest, 1e-9, SPEED_MAX, &c.speed) < 0)
        return es_fail(err, ES_USAGE, "give FRAME:NODE:SPEED, as 8:0:40",
                       "--change: \"%s\" is no change", text);
    more = reallocarray(o->change, n + 1, sizeof *more);
    if (!more)
        return es_no_memory(err);
    o->change = more;
    c.frame = (uint64_t)f;
    c.node = (size_t)v;
    for (; n > 0 && more[n - 1].frame > c.frame; n--)
        more[n] = more[n - 1]; /* they must be in order */
    more[n] = c;
    o->setup.n_changes++;
    return 0;
}

/* X, a fraction, or PERCENT%. */
static int take_noise(void *at, const char *text, struct es_error *err)
{
    size_t len = strcspn(text, "%");
    double *noise = at, v, unit = text[len] ? 0.01 : 1;
    char number[32];
    int why = NUMBER_NONE;

    snprintf(number, sizeof number, "%.*s", (int)(len < 32 ? len : 31), text);
    if (len < sizeof number && (!text[len] || !text[len + 1]))
        why = number_parse_double(number, 0, 1 / unit, &v);
    if (why < 0)
        return es_fail(err, ES_USAGE, "give 0 to 1, or 0% to 100%",
                       "--noise: \"%s\" is %s", text,
                       why == NUMBER_NONE ? "no number" : "out of range");
    *noise = v * unit;
    return 0;
}

#define AT(member) OPTION_AT(struct balance_options, member)

/* clang-format off */
const struct option balance_options_table[] = {
    {OPTION_TEXT, "speeds", "S1,S2,...", AT(speeds), .help =
     "units a second of each node"},
    {OPTION_COUNT, "nodes", "N", AT(nodes), .low = 1,
     .high = SIMULATED_NODES_MAX, .help =
     "as many nodes; the speeds are repeated (one a speed)"},
    {OPTION_TAKE, "change", "F:NODE:S", .take = take_change, .help =
     "from frame F on node NODE, both from 0, has speed S; may be given again"},
    {OPTION_TEXT, "trace", "FILE", AT(trace), .file = OPTION_READS,
     .excludes = "speeds nodes change", .help =
     "the nodes, speeds, frames and units of a real run, by the report or the "
     "journal that it has written"},
    {OPTION_TEXT, "policy", "P,Q,...", AT(policies), .def = KINDS_DEFAULT,
     .word = policy_site_word, .help =
     "policies to compare, each NAME[:key=value,...]"},
    {OPTION_WORD, "metrics", "probe|equal", AT(is_equal), .def = "probe",
     .help = "first sizes: the speeds are known, or not"},
    {OPTION_TAKE, "noise", "X|PERCENT%", AT(setup.noise), .take = take_noise,
     .help = "standard deviation of a time, relative to it (0)"},
    {OPTION_TEXT, "startup", "S1,S2,...", AT(startup), .def = "0", .help =
     "seconds that each command takes to start (0), on all nodes, or on each"},
    {OPTION_WORD, "startup-kind", "wait|cpu", AT(is_cpu), .def = "wait",
     .help = "it waits, or it works, for so long on the fastest node and longer "
     "on a slower one"},
    {OPTION_SECONDS, "delay", "SECONDS", AT(setup.delay), .high = 1e6, .help =
     "from a result to the next command (0)"},
    {OPTION_COUNT, "frames", "F", AT(frames), .low = 1, .high = FRAMES_MAX,
     .help = "how many (20, or as many as the trace has)"},
    {OPTION_COUNT, "units", "U", AT(setup.units), .low = 1, .help =
     "of a frame (what all do in 10 seconds, or as the trace)"},
    {OPTION_COUNT, "grain", "G", AT(setup.grain), .low = 1, .def = "1",
     .help = "units that stay together"},
    {OPTION_TAKE, "pieces", "N|auto", AT(setup.pieces),
     .take = pieces_option_take, .def = "auto", .help = "as `evenstep run`"},
    {OPTION_TAKE, "threshold", "SECONDS|PERCENT%|auto", AT(setup.threshold),
     .take = threshold_option_take, .def = "5%", .help = "as `evenstep run`"},
    {OPTION_COUNT, "ahead", "K", AT(ahead), .high = 100,
     .excludes = "change trace", .help =
     "so many later frames at work, as `evenstep run`: what all frames take, "
     "beside what they would take as one"},
    {OPTION_COUNT, "seed", "S", AT(seed), .high = UINT32_MAX, .help =
     "of the noise, and of policies with random choices (1)"},
    {OPTION_FLAG, "json", NULL, AT(json), .help =
     "print one JSON object a policy"},
    {OPTION_FLAG, "power", NULL, AT(power), .help =
     "steered power instead: see `evenstep simulate balance --power --help`"},
    {.type = OPTION_END},
};
/* clang-format on */

/* --- all together --------------------------------------------------------- */

static int take_speeds(struct balance_options *o, struct es_error *err)
{
    o->speed = node_numbers_parse("speeds", o->speeds, 1e-9, SPEED_MAX,
                                  o->nodes, &o->setup.n, err);
    return o->speed ? 0 : -1;
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
    if (policy_site_parse(&more[o->n_policies], item, POLICY_STRICT, err) < 0)
        return -1;
    o->n_policies++;
    return 0;
}

static int take_policies(struct balance_options *o, struct es_error *err)
{
    char *copy = strdup(o->policies), *rest = copy;
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
static void take_seed(struct balance_options *o)
{
    o->setup.seed = o->seed < 0 ? 1 : (uint64_t)o->seed;
    for (size_t i = 0; o->seed >= 0 && i < o->n_policies; i++) {
        struct policy_option *p = &o->policy[i];
        size_t k = policy_param_find(p->kind, "seed");

        if (k < p->kind->n_params)
            p->value[k] = (double)o->seed;
    }
}

/* The trace says what --nodes, --speeds and --change say, and more. */
static int take_trace(struct balance_options *o, struct es_error *err)
{
    struct balance_trace t;
    int rc = -1;

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

/* What the start that waits least waits, all do; lags are what others wait longer. */
static int take_startup(struct balance_options *o, struct es_error *err)
{
    size_t n = 0;

    o->lag = node_numbers_parse("startup", o->startup, 0, STARTUP_MAX,
                                o->setup.n, &n, err);
    if (!o->lag)
        return -1;
    if (o->is_cpu && strchr(o->startup, ','))
        return es_fail(
            err, ES_USAGE,
            "give one number, of the fastest node: others start longer "
            "by their speeds",
            "--startup: a start that works is one number");
    o->setup.wait = o->lag[0];
    for (size_t i = 1; i < o->setup.n; i++)
        o->setup.wait = fmin(o->setup.wait, o->lag[i]);
    for (size_t i = 0; i < o->setup.n; i++)
        o->lag[i] -= o->setup.wait;
    o->setup.lag = o->lag;
    if (o->is_cpu) {
        o->setup.burn = o->setup.wait;
        o->setup.wait = 0;
    }
    return 0;
}

int balance_options_settle(struct balance_options *o, struct es_error *err)
{
    double all = 0;

    if (!o->speeds && !o->trace)
        return es_fail(err, ES_USAGE, "give --speeds S1,S2,... or --trace FILE",
                       "simulate balance: no nodes");
    if ((o->trace ? take_trace(o, err) : take_speeds(o, err)) < 0
        || take_startup(o, err) < 0 || take_policies(o, err) < 0)
        return -1;
    take_seed(o);
    for (size_t i = 0; i < o->setup.n_changes; i++)
        if (o->change[i].node >= o->setup.n)
            return es_fail(err, ES_USAGE,
                           "give a node from 0, below the number of nodes",
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

void balance_options_clear(struct balance_options *o)
{
    free(o->speed);
    free(o->lag);
    free(o->change);
    free(o->policy);
    memset(o, 0, sizeof *o);
}
