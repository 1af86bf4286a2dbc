/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whatever happens, and in whatever order: each unit is in exactly one place,
 * and comes out once.  Small setups are tried in all orders, a large number of
 * events at random, and each allocation is made to fail.
 */
#include "policy/dispatch.h"
#include "fenced.h"
#include "policy/kinds.h"
#include "policy/random.h"
#include "policy/static.h"
#include "tap.h"

#define UNITS_MOST 1024
#define NODES_MOST 12

/* --- a run that only this test knows ------------------------------------- */

enum happening { /* what may happen, and how often at most */
                 ANSWER,
                 FAIL,
                 LOSE,
                 LOSE_BLAMED,
                 RETURN,
                 AWAIT,
                 RETIRE,
                 DISTRUST,
                 METER,
                 GIVE,
                 LOOK,
                 COPY,
                 SHORTEN, /* and what is left of it is answered */
                 HAPPENINGS
};

static const char *const names[] = {
    [ANSWER] = "answered",   [FAIL] = "failed",
    [LOSE] = "lost",         [LOSE_BLAMED] = "lost by its command",
    [RETURN] = "returned",   [AWAIT] = "awaited",
    [RETIRE] = "retired",    [DISTRUST] = "distrusted",
    [METER] = "metered",     [GIVE] = "given",
    [LOOK] = "looked at",    [COPY] = "copied",
    [SHORTEN] = "shortened",
};

struct setup {
    const char *name;
    size_t nodes;
    uint64_t units, grain, pieces;
    struct slice done[3]; /* before */
    size_t n_done;
    int is_bundles; /* of two tasks each */
    double load[NODES_MOST];
    unsigned most[HAPPENINGS]; /* ANSWER: any number */
    struct failure_rule rule;  /* all zero: none */
    int is_ruled;
    int is_needy; /* units need cores, of nodes of two lanes each */
};

/* Of units that are needy. */
static const size_t pairs[] = {0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10};
static const uint64_t memory[NODES_MOST];
static const uint32_t no_gpus[NODES_MOST];
static struct unit_need wide[] = {{.unit = 1, .line = 1, .cores = 2},
                                  {.unit = 2, .line = 2, .cores = NEEDS_ALL}};
static const struct need_list needy = {wide, 2};

static struct run {
    const struct setup *setup;
    struct dispatch *d;
    void *policy;
    struct cost *cost; /* of DISPATCH_BY_COST */
    struct needs *needs;
    double now;
    unsigned had[HAPPENINGS];
    uint64_t sent, seen; /* pieces handed out; events */
    uint64_t copies;     /* of these, of the frames before this one too */
    size_t before;       /* pieces of the frames before this one */
    int is_stuck;        /* nobody is left */
} run;

static const char *wrong; /* what was found first, or NULL */

static void expect(int pass, const char *what)
{
    if (!pass && !wrong)
        wrong = what;
}

static void end_run(void)
{
    dispatch_destroy(run.d);
    free(run.policy);
    cost_destroy(run.cost);
    needs_destroy(run.needs);
    memset(&run, 0, sizeof run);
}

/* -1: no memory. */
static int start_run(const struct setup *setup)
{
    static const double value[POLICY_PARAMS] = {2};
    static const struct profile profile = {{1}};
    static struct metric metric[NODES_MOST];
    const struct policy_kind *kind =
        setup->is_bundles ? kinds_find("manual") : &static_kind;
    const struct policy_setup policy = {setup->nodes, metric, &profile, value};

    memset(&run, 0, sizeof run);
    for (size_t i = 0; i < setup->nodes; i++)
        metric[i].JL = 1;
    run.setup = setup;
    if (setup->is_bundles) {
        run.policy = malloc(kind->state_bytes(setup->nodes, value));
        if (!run.policy || kind->init(run.policy, &policy) < 0)
            return -1;
    }
    run.d = dispatch_create(setup->nodes, setup->grain, setup->pieces);
    if (!run.d)
        return -1;
    dispatch_set_policy(run.d, kind, run.policy, setup->load);
    if (setup->pieces == DISPATCH_BY_COST) {
        run.cost = cost_create(setup->nodes, NULL);
        if (!run.cost)
            return -1;
        dispatch_set_cost(run.d, run.cost);
    }
    if (setup->is_needy) {
        run.needs = needs_create(setup->nodes, pairs, memory, no_gpus,
                                 &(struct unit_need){.cores = 1}, &needy);
        if (!run.needs)
            return -1;
        dispatch_set_groups(run.d, pairs);
        dispatch_set_needs(run.d, run.needs);
    }
    dispatch_set_speculation(run.d, setup->most[COPY] > 0);
    if (setup->is_ruled)
        dispatch_set_failure_rule(run.d, &setup->rule);
    return 0;
}

/* --- each unit in one place ----------------------------------------------- */

static unsigned char places[UNITS_MOST];

static uint64_t put(struct slice s)
{
    expect(s.begin <= s.end && s.end <= run.setup->units,
           "units are of the frame");
    for (uint64_t u = s.begin; u < s.end && u < UNITS_MOST; u++)
        places[u]++;
    return s.end - s.begin;
}

/* Is it the copy of one that is out, too?  Then both have the same units. */
static int is_copy(const struct dispatch_piece *p)
{
    const struct dispatch_piece *twin = dispatch_twin(run.d, p);

    if (!twin)
        return 0;
    expect(twin->node != p->node && twin->units.begin == p->units.begin
               && twin->units.end == p->units.end,
           "a copy has the same units, elsewhere");
    expect(dispatch_twin(run.d, twin) == p, "of two, each is the other's copy");
    return twin->id < p->id;
}

static void check_pieces(void)
{
    uint64_t left = run.setup->units, left_out = 0, out[NODES_MOST] = {0};
    size_t n[NODES_MOST] = {0};

    for (size_t i = 0; i < run.setup->n_done; i++)
        left -= put(run.setup->done[i]);
    for (size_t i = 0; i < dispatch_pieces(run.d); i++) {
        const struct dispatch_piece *p = dispatch_piece(run.d, i);

        expect(p->id == run.before + i, "ids ascend");
        expect(p->state == PIECE_OUT || !dispatch_find(run.d, p->node, p->id),
               "what is not out any more is not found");
        if (p->state == PIECE_VOID)
            continue;
        if (p->state == PIECE_DONE) {
            left -= put(p->units);
            continue;
        }
        if (p->state == PIECE_LEFT_OUT) {
            left_out += put(p->units);
            continue;
        }
        n[p->node]++;
        out[p->node] += p->units.end - p->units.begin;
        if (!is_copy(p))
            put(p->units);
        expect(dispatch_find(run.d, p->node, p->id) == p,
               "what is out can be found");
    }
    expect(left_out == dispatch_left_out(run.d),
           "units that are left out are counted");
    expect(left == dispatch_left(run.d) + left_out,
           "units that are left are counted");
    for (size_t i = 0; i < run.setup->nodes; i++)
        expect(dispatch_node(run.d, i)->out == n[i]
                   && dispatch_node(run.d, i)->out_units == out[i],
               "what a node has out is counted");
}

/* All places of all units. */
static void check(void)
{
    const struct unit_pool *pool = dispatch_pool(run.d);
    uint64_t units = 0;
    size_t waiting = 0;

    memset(places, 0, sizeof places);
    check_pieces();
    for (size_t i = 0; i < pool->n; i++)
        units += put(pool->batch[i].units);
    expect(units == pool->units, "units of the pool are counted");
    for (size_t i = 0; i < run.setup->nodes; i++)
        waiting += put(dispatch_node(run.d, i)->waiting.units) > 0;
    expect(waiting == dispatch_waiting(run.d), "who has units is counted");
    for (uint64_t u = 0; u < run.setup->units; u++)
        expect(places[u] == 1, "each unit is in one place");
}

/* Units that a node has out as copies. */
static uint64_t copied_to(const struct dispatch_node *s, size_t node)
{
    uint64_t units = 0;

    for (size_t k = 0; k < s->out; k++) {
        const struct dispatch_piece *p =
            dispatch_find(run.d, node, s->piece[k]);

        units += is_copy(p) ? p->units.end - p->units.begin : 0;
    }
    return units;
}

/* Are those that are to work yet to come, and is nobody else? */
static int is_all_awaited(void)
{
    int awaited = 0;

    for (size_t i = 0; i < run.setup->nodes; i++) {
        const struct dispatch_node *s = dispatch_node(run.d, i);

        if (s->standing == STANDING_GOOD && run.setup->load[i] > 0
            && !s->is_awaited)
            return 0;
        awaited |= s->is_awaited;
    }
    return awaited;
}

/* The same by sums alone, for many events. */
static void check_sums(void)
{
    uint64_t units = dispatch_pool(run.d)->units;
    size_t out = 0;

    for (size_t i = 0; i < run.setup->nodes; i++) {
        const struct dispatch_node *s = dispatch_node(run.d, i);

        units += s->waiting.units.end - s->waiting.units.begin + s->out_units;
        units -= copied_to(s, i);
        out += s->out;
        expect(!s->is_awaited || s->waiting.units.end == s->waiting.units.begin,
               "nothing waits for a node that is not here");
        expect(s->out <= (s->standing == STANDING_LEAVING ? 1
                          : s->standing == STANDING_AWAY  ? 0
                          : s->is_awaited                 ? 0
                          : run.setup->is_needy           ? 1
                          : run.setup->is_bundles         ? 2
                                                          : 1),
               "a node has no more out than it may");
    }
    expect(units == dispatch_left(run.d), "what is left is somewhere");
    expect(out > 0 || units == 0 || run.is_stuck || is_all_awaited(),
           "somebody is at work");
}

/* --- one event ------------------------------------------------------------ */

static void send_all(void)
{
    const struct dispatch_piece *p;

    while ((p = dispatch_next(run.d)) != NULL) {
        expect(p->state == PIECE_OUT && p->id >= run.sent,
               "a piece is handed out once");
        expect(dispatch_may_send(run.d, p->node), "to one that may have it");
        run.copies += (uint64_t)p->has_twin;
        run.sent = p->id + 1;
    }
}

/* -1: no memory. */
static int feed(size_t node)
{
    int rc = node < run.setup->nodes ? dispatch_feed_node(run.d, node, run.now)
                                     : dispatch_feed(run.d, run.now);

    run.is_stuck = rc == DISPATCH_NOBODY || rc == DISPATCH_NO_ROOM;
    send_all();
    return rc == DISPATCH_NO_MEMORY ? -1 : 0;
}

static int begin_frame(void)
{
    size_t before = run.before + dispatch_pieces(run.d);

    if (dispatch_begin(run.d, (struct slice){0, run.setup->units},
                       run.setup->done, run.setup->n_done)
        < 0)
        return -1;
    run.before = before;
    run.now = 0;
    return feed(SIZE_MAX);
}

static int is_divisible(const struct dispatch_piece *p)
{
    return !run.setup->is_bundles && !p->has_twin
           && p->units.end - p->units.begin > run.setup->grain;
}

static int may_happen(enum happening h, size_t node)
{
    const struct dispatch_node *s = dispatch_node(run.d, node);

    if (h != ANSWER && run.had[h] >= run.setup->most[h])
        return 0;
    switch (h) {
    case RETURN:
        return s->standing == STANDING_AWAY || s->is_awaited;
    case AWAIT:
        return dispatch_may_send(run.d, node) && s->out == 0;
    case RETIRE:
        return dispatch_may_send(run.d, node);
    case LOSE:
        return s->standing != STANDING_AWAY;
    case DISTRUST:
        return s->standing == STANDING_GOOD;
    case GIVE:
        return s->waiting.units.end > s->waiting.units.begin;
    case LOOK:
    case COPY:
        return node == 0;
    case SHORTEN:
        return s->out > 0 && is_divisible(dispatch_current(run.d, node));
    default:
        return s->out > 0;
    }
}

/* -1: no memory. */
static int copy(void)
{
    int rc = dispatch_speculate(run.d, run.now);

    send_all();
    return rc;
}

/* It happens; then the caller does what it must.  -1: no memory. */
static int happen(enum happening h, size_t node)
{
    const struct dispatch_piece *p = dispatch_current(run.d, node);
    int frees_two, rc = 0;

    run.now += 1;
    run.had[h]++;
    run.seen++;
    switch (h) {
    case ANSWER:
        frees_two = dispatch_twin(run.d, p) != NULL;
        dispatch_answered(run.d, p->id, run.now, 0.5, 0);
        return feed(frees_two ? SIZE_MAX : node);
    case SHORTEN:
        dispatch_shorten(run.d, p->id, p->units.begin + run.setup->grain);
        dispatch_answered(run.d, p->id, run.now, 0.5, 0);
        break;
    case FAIL:
        dispatch_failed(run.d, p->id, run.now, 0.5);
        break;
    case LOSE_BLAMED:
        dispatch_blame(run.d, p->id);
        /* fall through */
    case LOSE:
        dispatch_lost(run.d, node, run.now);
        break;
    case RETURN:
        dispatch_returned(run.d, node);
        break;
    case AWAIT: /* a second longer, perhaps again */
        dispatch_await(run.d, node, run.now + 1);
        break;
    case RETIRE:
        dispatch_retire(run.d, node, run.now);
        break;
    case DISTRUST:
        dispatch_distrust(run.d, node, run.now);
        break;
    case METER:
        dispatch_metered(run.d, node, p->id, 0.5);
        dispatch_moved(run.d, node, 0.5, run.now);
        break;
    case GIVE:
        rc = dispatch_give(run.d, node, 1);
        break;
    case LOOK:
    case COPY:
    case HAPPENINGS:
        break;
    }
    if (feed(SIZE_MAX) < 0 || rc < 0)
        return -1;
    return h == COPY ? copy() : 0;
}

/* --- all orders ----------------------------------------------------------- */

#define DEPTH 40

struct path {
    unsigned choice[DEPTH], of[DEPTH];
    size_t n;
};

static struct {
    enum happening h;
    size_t node;
} can[HAPPENINGS * NODES_MOST];

static unsigned list_events(void)
{
    unsigned n = 0;

    for (size_t node = 0; node < run.setup->nodes; node++)
        for (int h = 0; h < HAPPENINGS; h++)
            if (may_happen((enum happening)h, node)) {
                can[n].h = (enum happening)h;
                can[n++].node = node;
            }
    return n;
}

/* One order of events to the frame's end: as the path says, then the first
 * that may happen, which it is told. */
static void walk(struct path *path)
{
    size_t at = 0;

    if (begin_frame() < 0)
        bail("no memory");
    check();
    for (; dispatch_left(run.d) > 0 && !run.is_stuck && !wrong; at++) {
        unsigned choice;

        if (at == DEPTH)
            bail("%s: too many events", run.setup->name);
        choice = at < path->n ? path->choice[at] : 0;
        path->of[at] = list_events();
        path->choice[at] = choice;
        if (happen(can[choice].h, can[choice].node) < 0)
            bail("no memory");
        check();
        check_sums();
    }
    path->n = at;
}

/* The next order; 0 if that was the last. */
static int next_path(struct path *path)
{
    while (path->n > 0
           && path->choice[path->n - 1] + 1 == path->of[path->n - 1])
        path->n--;
    if (path->n == 0)
        return 0;
    path->choice[path->n - 1]++;
    return 1;
}

static const struct setup small[] = {
    {"by cost, three nodes, one of which comes late, or never",
     3,
     6,
     1,
     DISPATCH_BY_COST,
     {{0}},
     0,
     0,
     {1, 2, 1},
     {[AWAIT] = 2, [RETURN] = 3, [LOSE] = 1},
     {0, 0, 0},
     0,
     0},
    {"two nodes, one of which comes late, or never",
     2,
     5,
     1,
     2,
     {{0}},
     0,
     0,
     {1, 2},
     {[AWAIT] = 2, [RETURN] = 3, [FAIL] = 1},
     {0, 0, 0},
     0,
     0},
    {"by cost, two nodes, one of which is lost and returns",
     2,
     6,
     1,
     DISPATCH_BY_COST,
     {{0}},
     0,
     0,
     {3, 1},
     {[LOSE] = 1, [LOSE_BLAMED] = 1, [RETURN] = 2, [LOOK] = 1},
     {0, 0, 0},
     0,
     0},
    {"by cost, two nodes, commands that fail",
     2,
     6,
     2,
     DISPATCH_BY_COST,
     {{0}},
     0,
     0,
     {1, 1},
     {[FAIL] = 3, [DISTRUST] = 1, [METER] = 1},
     {0, 0, 0},
     0,
     0},
    {"by cost, three nodes, one leaves, and something was done before",
     3,
     9,
     1,
     DISPATCH_BY_COST,
     {{2, 4}},
     1,
     0,
     {1, 2, 0},
     {[RETIRE] = 1, [LOSE] = 1, [FAIL] = 1},
     {0, 0, 0},
     0,
     0},
    {"by cost, two nodes, pieces of which a part is done",
     2,
     6,
     1,
     DISPATCH_BY_COST,
     {{0}},
     0,
     0,
     {2, 1},
     {[SHORTEN] = 2, [LOSE] = 1, [FAIL] = 1},
     {0, 0, 0},
     0,
     0},
    {"two nodes, answers only",
     2,
     6,
     1,
     3,
     {{0}},
     0,
     0,
     {1, 1},
     {0},
     {0, 0, 0},
     0,
     0},
    {"two nodes, one of which is lost and returns",
     2,
     4,
     1,
     2,
     {{0}},
     0,
     0,
     {3, 1},
     {[LOSE] = 1, [LOSE_BLAMED] = 1, [RETURN] = 2},
     {0, 0, 0},
     0,
     0},
    {"two nodes, commands that fail",
     2,
     4,
     1,
     2,
     {{0}},
     0,
     0,
     {1, 1},
     {[FAIL] = 3, [DISTRUST] = 1},
     {0, 0, 0},
     0,
     0},
    {"two nodes, commands that fail too often",
     2,
     4,
     1,
     2,
     {{0}},
     0,
     0,
     {1, 1},
     {[FAIL] = 4, [LOSE_BLAMED] = 1, [RETURN] = 1},
     {.retries = 1},
     1,
     0},
    {"two nodes in grains, failing pieces are halved",
     2,
     7,
     2,
     1,
     {{0}},
     0,
     0,
     {1, 1},
     {[FAIL] = 5, [LOSE] = 1},
     {.halves = 1},
     1,
     0},
    {"bundles that fail are halved",
     2,
     6,
     1,
     1,
     {{0}},
     0,
     1,
     {1, 1},
     {[FAIL] = 4, [LOSE_BLAMED] = 1},
     {.retries = 1, .halves = 1},
     1,
     0},
    {"three nodes in grains, one leaves",
     3,
     9,
     2,
     2,
     {{0}},
     0,
     0,
     {1, 2, 1},
     {[RETIRE] = 1, [LOSE] = 1, [GIVE] = 1},
     {0, 0, 0},
     0,
     0},
    {"three nodes, of which one has no load",
     3,
     4,
     1,
     2,
     {{0}},
     0,
     0,
     {1, 1, 0},
     {[LOSE] = 2, [RETURN] = 1},
     {0, 0, 0},
     0,
     0},
    {"what a run before has done is left out",
     2,
     8,
     1,
     2,
     {{1, 3}, {5, 6}},
     2,
     0,
     {1, 1},
     {[FAIL] = 1, [LOSE] = 1, [GIVE] = 1},
     {0, 0, 0},
     0,
     0},
    {"two nodes, with a meter, looked at",
     2,
     4,
     1,
     4,
     {{0}},
     0,
     0,
     {2, 1},
     {[METER] = 1, [LOOK] = 2, [LOSE] = 1},
     {0, 0, 0},
     0,
     0},
    {"one whose commands failed helps out until another is back",
     2,
     6,
     1,
     3,
     {{0}},
     0,
     0,
     {1, 1},
     {[DISTRUST] = 1, [LOSE] = 1, [RETURN] = 1},
     {0, 0, 0},
     0,
     0},
    {"bundles for two nodes that are lost and return",
     2,
     8,
     1,
     1,
     {{0}},
     0,
     1,
     {1, 1},
     {[LOSE] = 1, [LOSE_BLAMED] = 1, [RETURN] = 1, [FAIL] = 1},
     {0, 0, 0},
     0,
     0},
    {"bundles for three nodes, one of which leaves",
     3,
     9,
     2,
     1,
     {{2, 4}},
     1,
     1,
     {1, 1, 1},
     {[RETIRE] = 1, [DISTRUST] = 1, [FAIL] = 1},
     {0, 0, 0},
     0,
     0},
    {"a late piece is copied, and nodes are lost and return",
     2,
     3,
     1,
     1,
     {{0}},
     0,
     0,
     {1, 1},
     {[COPY] = 2, [LOSE] = 1, [LOSE_BLAMED] = 1, [RETURN] = 1, [LOOK] = 1},
     {0, 0, 0},
     0,
     0},
    {"by cost, copies that fail",
     2,
     4,
     1,
     DISPATCH_BY_COST,
     {{0}},
     0,
     0,
     {1, 1},
     {[COPY] = 2, [FAIL] = 2},
     {.retries = 1},
     1,
     0},
    {"copies of what is left out at last, of three nodes of which one leaves",
     3,
     3,
     1,
     1,
     {{0}},
     0,
     0,
     {1, 1, 1},
     {[COPY] = 1, [FAIL] = 2, [RETIRE] = 1},
     {.retries = 0},
     1,
     0},
    {"bundles that are late are copied, those in hand as well",
     2,
     6,
     1,
     1,
     {{0}},
     0,
     1,
     {1, 1},
     {[COPY] = 2, [LOSE] = 1, [FAIL] = 1},
     {0, 0, 0},
     0,
     0},
    {"units that need two cores, of two nodes that have them",
     4,
     4,
     1,
     DISPATCH_BY_COST,
     {{0}},
     0,
     0,
     {1, 1, 1, 1},
     {[LOSE] = 1, [FAIL] = 1, [RETURN] = 1},
     {0, 0, 0},
     0,
     1},
    {"bundles of such, with one done before, of a node of two cores and one of one",
     3,
     5,
     1,
     1,
     {{3, 4}},
     1,
     1,
     {1, 1, 1},
     {[FAIL] = 2, [RETIRE] = 1, [LOSE] = 1, [RETURN] = 1},
     {0, 0, 0},
     0,
     1},
};

static void test_all_orders(const struct setup *setup)
{
    struct path path = {.n = 0};
    uint64_t orders = 0, had[HAPPENINGS] = {0};
    char text[200] = "";

    wrong = NULL;
    do {
        if (start_run(setup) < 0)
            bail("no memory");
        walk(&path);
        orders++;
        for (int h = 0; h < HAPPENINGS; h++)
            had[h] += h == COPY ? run.copies : run.had[h];
        end_run();
    } while (!wrong && next_path(&path));
    ok(!wrong, "%s: %s in %ju orders", setup->name,
       wrong ? wrong : "each unit comes out once", (uintmax_t)orders);
    for (int h = 0; h < HAPPENINGS; h++)
        if (setup->most[h] > 0 && had[h] == 0)
            snprintf(text, sizeof text, "%s", names[h]);
    ok(text[0] == '\0', "each event happens%s%s", text[0] ? ", but not " : "",
       text);
}

/* --- at random ------------------------------------------------------------ */

#define EVENTS 1000000

static struct rng rng;

/* Answers come often, the rest now and then. */
static enum happening draw_one(void)
{
    int32_t percent = random_below(&rng, 100);

    return percent < 65   ? ANSWER
           : percent < 85 ? COPY
                          : (enum happening)random_below(&rng, HAPPENINGS);
}

static int draw(enum happening *h, size_t *node)
{
    for (int i = 0; i < 1000; i++) {
        *h = draw_one();
        *node = *h == COPY
                    ? 0
                    : (size_t)random_below(&rng, (int32_t)run.setup->nodes);
        if (may_happen(*h, *node))
            return 1;
    }
    return 0;
}

static void bring_back_all(void)
{
    for (size_t i = 0; i < run.setup->nodes; i++) {
        dispatch_lost(run.d, i, run.now);
        dispatch_returned(run.d, i);
    }
    if (feed(SIZE_MAX) < 0)
        bail("no memory");
}

static void random_setup(struct setup *s)
{
    *s = (struct setup){
        .name = "at random",
        .nodes = 1 + (size_t)random_below(&rng, NODES_MOST),
        .units = 1 + (uint64_t)random_below(&rng, UNITS_MOST),
        .grain = 1 + (uint64_t)random_below(&rng, 5),
        .pieces = (uint64_t)random_below(&rng, 9),
        .is_bundles = random_boolean(&rng),
        .is_ruled = random_boolean(&rng),
        .rule = {(unsigned)random_below(&rng, 3), random_boolean(&rng),
                 random_boolean(&rng)},
    };
    for (int h = 0; h < HAPPENINGS; h++)
        s->most[h] = UINT32_MAX;
    for (size_t i = 0; i < s->nodes; i++)
        s->load[i] = random_below(&rng, 5);
    if (s->units > 20 && random_boolean(&rng)) {
        s->done[0] = (struct slice){3, 7};
        s->done[1] = (struct slice){s->units - 5, s->units};
        s->n_done = 2;
    }
}

/* A few frames of one setup; returns how many events. */
static uint64_t random_run(uint64_t *copies)
{
    static struct setup setup;
    uint64_t events;

    random_setup(&setup);
    if (start_run(&setup) < 0)
        bail("no memory");
    for (int frame = 0; frame < 5 && !wrong; frame++) {
        if (begin_frame() < 0)
            bail("no memory");
        while (dispatch_left(run.d) > 0 && !wrong) {
            enum happening h;
            size_t node;

            if (run.is_stuck || !draw(&h, &node))
                bring_back_all();
            else if (happen(h, node) < 0)
                bail("no memory");
            check_sums();
            if (run.seen % 64 == 0)
                check();
        }
        check();
    }
    events = run.seen;
    *copies += run.copies;
    end_run();
    return events;
}

static void test_random(void)
{
    uint64_t events = 0, runs = 0, copies = 0;

    random_init(&rng, GENERATOR_LCG32, 14);
    wrong = NULL;
    for (; events < EVENTS && !wrong; runs++)
        events += random_run(&copies);
    ok(!wrong, "%ju events in %ju runs: %s", (uintmax_t)events, (uintmax_t)runs,
       wrong ? wrong : "each unit comes out once");
    ok(copies > 1000, "%ju pieces were done twice at once", (uintmax_t)copies);
}

/* --- without memory ------------------------------------------------------- */

/* As many events as make each array grow.  0, or -1: an allocation failed, and
 * all is as it must be. */
static int go_on(void)
{
    uint64_t x = 1;

    for (int frame = 0; frame < 2; frame++) {
        if (begin_frame() < 0)
            return -1;
        while (dispatch_left(run.d) > 0 && !wrong) {
            size_t node = (size_t)(x % run.setup->nodes);
            enum happening h = x % 11 == 0  ? FAIL
                               : x % 7 == 0 ? GIVE
                               : x % 5 == 0 ? COPY
                                            : ANSWER;

            x++;
            if (may_happen(h, node) && happen(h, node) < 0)
                return -1;
        }
    }
    return 0;
}

static void finish_frame(void)
{
    if (dispatch_pieces(run.d) > 0 || dispatch_left(run.d) > 0)
        check();
    else if (begin_frame() < 0)
        bail("no memory");
    if (feed(SIZE_MAX) < 0)
        bail("no memory");
    while (dispatch_left(run.d) > 0 && !wrong && list_events() > 0)
        if (happen(can[0].h, can[0].node) < 0)
            bail("no memory");
    check();
    expect(dispatch_left(run.d) == 0, "the frame can be ended after that");
}

static void test_no_memory(int is_bundles, uint64_t pieces)
{
    struct setup setup = {.name = "no memory",
                          .nodes = 5,
                          .units = 500,
                          .grain = 1,
                          .pieces = pieces,
                          .is_bundles = is_bundles,
                          .load = {1, 2, 3, 4, 5},
                          .most = {[FAIL] = 100, [GIVE] = 20, [COPY] = 200}};
    long n = 0, failed = 0;
    int rc = -1;

    wrong = NULL;
    for (; rc < 0 && !wrong; n++) {
        fault_at = n;
        rc = start_run(&setup);
        if (rc == 0)
            rc = go_on();
        expect(rc < 0 || fault_at >= 0, "an allocation that fails is told");
        fault_at = -1;
        failed += rc < 0;
        if (run.d && rc < 0)
            finish_frame();
        end_run();
    }
    ok(!wrong && failed > 8, "%s: each of %ld allocations fails: %s",
       is_bundles                   ? "bundles"
       : pieces == DISPATCH_BY_COST ? "by cost"
                                    : "slices",
       failed, wrong ? wrong : "each unit is in one place, and comes out once");
}

/* --- who gets what -------------------------------------------------------- */

static const struct dispatch_piece *sent_to(size_t node)
{
    const struct dispatch_piece *last = NULL;

    for (size_t i = 0; i < dispatch_pieces(run.d); i++)
        if (dispatch_piece(run.d, i)->node == node
            && dispatch_piece(run.d, i)->state == PIECE_OUT)
            last = dispatch_piece(run.d, i);
    return last;
}

static void begin_with(const struct setup *setup)
{
    wrong = NULL;
    if (start_run(setup) < 0 || begin_frame() < 0)
        bail("no memory");
}

static void test_slices(void)
{
    const struct setup setup = {
        .nodes = 3, .units = 60, .grain = 1, .pieces = 3, .load = {3, 2, 1}};
    uint64_t before;

    begin_with(&setup);
    ok(sent_to(0)->units.begin == 0 && sent_to(0)->units.end == 10
           && sent_to(1)->units.begin == 30 && sent_to(2)->units.end == 54,
       "each gets the first piece of its slice");
    happen(ANSWER, 0);
    ok(sent_to(0)->units.begin == 10 && sent_to(0)->attempt == 1,
       "then its next one");
    happen(FAIL, 1);
    ok(sent_to(1)->units.begin == 37 && dispatch_pool(run.d)->n == 1,
       "what failed is for another, while there is one");
    ok(dispatch_node(run.d, 1)->failures == 1, "its failures are counted");
    happen(ANSWER, 1);
    ok(dispatch_node(run.d, 1)->failures == 0, "those in a row");
    happen(ANSWER, 0);
    happen(ANSWER, 0);
    ok(sent_to(0)->units.begin == 30 && sent_to(0)->attempt == 2
           && sent_to(0)->failures == 1,
       "one with nothing left takes from the pool before it takes over");
    before = dispatch_pool(run.d)->units;
    dispatch_lost(run.d, 2, run.now);
    ok(!dispatch_may_send(run.d, 2)
           && dispatch_pool(run.d)->units == before + 10,
       "of a lost one all is in the pool");
    end_run();
}

/* What a run before has left is handed out of the pool. */
static void test_resumed(void)
{
    const struct setup setup = {.nodes = 2,
                                .units = 44,
                                .grain = 2,
                                .pieces = 1,
                                .done = {{0, 4}},
                                .n_done = 1,
                                .load = {3, 1}};

    begin_with(&setup);
    ok(sent_to(0)->units.begin == 4 && sent_to(0)->units.end == 34,
       "a node takes its part of the pool, by its load");
    ok(sent_to(1)->units.begin == 34 && sent_to(1)->units.end == 38,
       "the next one its part of what is left, in whole grains");
    happen(ANSWER, 1);
    ok(sent_to(1)->units.begin == 38 && sent_to(1)->units.end == 40,
       "and again when it is back");
    end_run();
}

/* Its only node leaves: what it works at it ends, and nobody does the rest. */
static void test_last_leaves(void)
{
    const struct setup setup = {
        .nodes = 2, .units = 40, .grain = 1, .pieces = 4, .load = {1, 1}};

    begin_with(&setup);
    happen(LOSE, 1);
    ok(!run.is_stuck, "one of two is lost: the other goes on");
    happen(RETIRE, 0);
    ok(run.is_stuck && dispatch_node(run.d, 0)->out == 1,
       "that one leaves: nobody is left, but it ends its piece");
    happen(ANSWER, 0);
    ok(dispatch_node(run.d, 0)->out == 0, "and gets no other");
    dispatch_distrust(run.d, 0, run.now);
    ok(dispatch_node(run.d, 0)->standing == STANDING_LEAVING,
       "one that leaves stays so, whatever its commands do");
    happen(RETURN, 1);
    ok(!run.is_stuck && dispatch_node(run.d, 1)->out == 1,
       "the other returns: it does the rest");
    dispatch_returned(run.d, 1);
    ok(dispatch_node(run.d, 1)->out == 1, "it can do so but once");
    end_run();
}

/* The piece that a unit is in and that is out, or NULL. */
static const struct dispatch_piece *piece_with(uint64_t unit)
{
    for (size_t i = 0; i < dispatch_pieces(run.d); i++) {
        const struct dispatch_piece *p = dispatch_piece(run.d, i);

        if (p->state == PIECE_OUT && p->units.begin <= unit
            && unit < p->units.end)
            return p;
    }
    return NULL;
}

/* To the end, every piece with this unit fails; returns pieces in all. */
static size_t run_with_bad(uint64_t unit)
{
    const struct dispatch_piece *p;

    for (size_t node = 0; dispatch_left(run.d) > 0 && !wrong;
         node = (node + 1) % run.setup->nodes) {
        if (dispatch_node(run.d, node)->out == 0)
            continue;
        p = piece_with(unit);
        happen(p && p == dispatch_current(run.d, node) ? FAIL : ANSWER, node);
        check();
    }
    return dispatch_pieces(run.d);
}

static void test_halves(void)
{
    const struct setup setup = {.nodes = 2,
                                .units = 1000,
                                .grain = 3,
                                .pieces = 1,
                                .load = {1, 1},
                                .most = {[FAIL] = 100},
                                .rule = {.retries = 1, .halves = 1},
                                .is_ruled = 1};
    const struct dispatch_piece *out;
    size_t n;

    for (uint64_t bad = 0; bad < 1000; bad += 333) {
        begin_with(&setup);
        n = run_with_bad(bad);
        out = NULL;
        for (size_t i = 0; i < n; i++)
            if (dispatch_piece(run.d, i)->state == PIECE_LEFT_OUT)
                out = dispatch_piece(run.d, i);
        ok(!wrong && out && out->units.begin == bad / 3 * 3
               && dispatch_left_out(run.d) == out->units.end - out->units.begin
               && out->units.end - out->units.begin <= 3,
           "of 1,000 units the grain of unit %ju is left out: %s",
           (uintmax_t)bad, wrong ? wrong : "each unit is in one place");
        ok(dispatch_node(run.d, 0)->failures < 3
               && dispatch_node(run.d, 1)->failures < 3,
           "that halves of it fail is no node's fault");
        /* 334 grains, of which a node has a half: 2 x 8 halves, and twice
         * two tries of the same */
        ok(run.had[FAIL] <= 11, "found by %u tries that fail", run.had[FAIL]);
        end_run();
    }
}

static void test_left_out(void)
{
    const struct setup setup = {.nodes = 1,
                                .units = 2,
                                .grain = 1,
                                .pieces = 2,
                                .load = {1},
                                .most = {[FAIL] = 100},
                                .rule = {.retries = 1},
                                .is_ruled = 1};

    begin_with(&setup);
    run_with_bad(1);
    ok(!wrong && dispatch_left_out(run.d) == 1 && run.had[FAIL] == 2,
       "what fails twice is left out with --retries 1");
    begin_frame();
    ok(dispatch_left_out(run.d) == 0 && dispatch_left(run.d) == 2,
       "the next frame has all");
    dispatch_blame(run.d, sent_to(0)->id);
    ok(dispatch_verdict(run.d, sent_to(0)->id) == FAILURE_RETRY,
       "what becomes of one that is late can be asked");
    end_run();
}

/* One of three nodes can do nothing. */
static void test_doubts(void)
{
    const struct setup setup = {.nodes = 3,
                                .units = 60,
                                .grain = 1,
                                .pieces = 4,
                                .load = {1, 1, 1},
                                .most = {[FAIL] = 100},
                                .rule = {.doubts = 1},
                                .is_ruled = 1};

    begin_with(&setup);
    for (int i = 0; i < 10; i++)
        if (dispatch_node(run.d, 0)->out > 0)
            happen(FAIL, 0);
    ok(run.had[FAIL] > 3 && dispatch_left_out(run.d) == 0,
       "what a node without any success fails at is for others");
    while (dispatch_left(run.d) > 0 && !wrong)
        for (size_t node = 0; node < 3; node++)
            if (dispatch_node(run.d, node)->out > 0)
                happen(node == 0 ? FAIL : ANSWER, node);
    ok(!wrong && dispatch_left_out(run.d) == 0, "and they do all of it");
    begin_frame();
    happen(FAIL, 1);
    ok(dispatch_left_out(run.d) > 0, "one that has done its part is believed");
    end_run();
    begin_with(&setup);
    happen(FAIL, 0);
    happen(FAIL, 1);
    happen(FAIL, 2);
    ok(dispatch_left_out(run.d) > 0, "where all fail it is the work's fault");
    end_run();
}

/* Two bundles of two each; [8, 11) is left. */
static void test_failed_bundle(void)
{
    const struct setup setup = {.nodes = 2,
                                .units = 11,
                                .grain = 1,
                                .pieces = 1,
                                .is_bundles = 1,
                                .load = {1, 1}};

    begin_with(&setup);
    happen(FAIL, 0);
    ok(sent_to(0)->units.begin == 8 && dispatch_node(run.d, 0)->out == 2,
       "one whose bundle failed gets another");
    ok(dispatch_pool(run.d)->batch[0].units.begin == 0
           && dispatch_pool(run.d)->batch[0].failures == 1,
       "which is not that one");
    dispatch_answered(run.d, 1, 2, 1, 0);
    dispatch_answered(run.d, 3, 2, 1, 0);
    dispatch_feed_node(run.d, 1, 2);
    ok(dispatch_node(run.d, 1)->out == 2
           && dispatch_piece(run.d, dispatch_pieces(run.d) - 2)->units.begin
                  == 0,
       "that is for one that has done its two, and gets two");
    end_run();
}

static void test_bundles(void)
{
    const struct setup setup = {.nodes = 2,
                                .units = 11,
                                .grain = 1,
                                .pieces = 1,
                                .is_bundles = 1,
                                .load = {1, 1}};

    begin_with(&setup);
    ok(dispatch_node(run.d, 0)->piece[0] == 0
           && dispatch_node(run.d, 1)->piece[0] == 1
           && dispatch_node(run.d, 0)->piece[1] == 2,
       "all get one bundle before any gets a second");
    happen(RETIRE, 0);
    ok(dispatch_node(run.d, 0)->out == 1 && dispatch_pool(run.d)->units == 5,
       "one that leaves keeps what it works at");
    happen(ANSWER, 0);
    happen(ANSWER, 1);
    ok(dispatch_node(run.d, 1)->out == 2 && dispatch_node(run.d, 0)->out == 0,
       "the rest is the other's");
    end_run();
}

/* --- what the policy hears ------------------------------------------------ */

static struct {
    unsigned left[2];
    int32_t context, frame, rest, tasks;
    double time_ns;
} heard;

static void hear_context(void *state, int32_t tasks)
{
    (void)state;
    heard.context = tasks;
}

static void hear_job(void *state, size_t node, int32_t tasks, int32_t left)
{
    (void)state, (void)node;
    heard.frame = tasks;
    heard.rest = left;
}

static int32_t want_four(const void *state, size_t node)
{
    (void)state, (void)node;
    return 4;
}

static void hear_result(void *state, size_t node, int32_t tasks, double time_ns)
{
    (void)state, (void)node;
    heard.tasks = tasks;
    heard.time_ns = time_ns;
}

static void hear_leave(void *state, size_t node)
{
    (void)state;
    heard.left[node]++;
}

/* Nobody is left, but nothing is left to be given out either. */
static void test_last_piece(void)
{
    const struct setup setup = {
        .nodes = 1, .units = 1, .grain = 1, .pieces = 1, .load = {1}};

    begin_with(&setup);
    happen(RETIRE, 0);
    ok(!run.is_stuck, "the last node may leave while it does the last piece");
    happen(FAIL, 0);
    ok(run.is_stuck, "but that must go well");
    end_run();
}

static void test_policy_hears(void)
{
    static const struct policy_bundles bundles = {.set_context = hear_context,
                                                  .set_job = hear_job,
                                                  .size = want_four,
                                                  .feedback = hear_result,
                                                  .leave = hear_leave};
    static const struct policy_kind kind = {.name = "test",
                                            .bundles = &bundles};
    static const double load[2] = {1, 1};
    struct dispatch *d = dispatch_create(2, 5, 1);

    if (!d)
        bail("no memory");
    dispatch_set_policy(d, &kind, NULL, load);
    if (dispatch_begin(d, (struct slice){0, 98}, NULL, 0) < 0
        || dispatch_feed(d, 0) < 0)
        bail("no memory");
    ok(heard.context == 20 && heard.frame == 20 && heard.rest == 8,
       "a bundle policy hears of the frame, and of what is left, in grains");
    dispatch_answered(d, 0, 3, 2, 0);
    ok(heard.tasks == 4 && fabs(heard.time_ns - 3e9) < 1,
       "of a result, and the time that it took");
    dispatch_feed_node(d, 0, 3);
    dispatch_answered(d, 2, 5, 1, 0);
    ok(fabs(heard.time_ns - 2e9) < 1,
       "which for the next one begins with the answer before");
    dispatch_retire(d, 1, 5);
    ok(heard.left[1] == 1 && heard.left[0] == 0, "of a node that retires");
    dispatch_lost(d, 1, 6);
    ok(heard.left[1] == 1, "but once, although it goes later");
    dispatch_lost(d, 0, 6);
    ok(heard.left[0] == 1, "and of one that is lost");
    dispatch_lost(d, 0, 7);
    ok(heard.left[0] == 1, "which can be so but once");
    dispatch_destroy(d);
}

/* When what a node works at was begun: as it was sent, or as the one before was
   answered. */
static void test_begun(void)
{
    const struct setup setup = {.name = "begun",
                                .nodes = 2,
                                .units = 40,
                                .grain = 1,
                                .pieces = 4,
                                .load = {1, 1}};
    const struct dispatch_node *n;

    begin_with(&setup);
    n = dispatch_node(run.d, 0);
    dispatch_answered(run.d, sent_to(0)->id, 2, 2, 0);
    ok(n->out == 0 && !(dispatch_tail(run.d, 4)[0].since > 0)
           && dispatch_tail(run.d, 4)[1].since > 3,
       "a node is idle, the other is at work for 4 s");
    run.now = 5;
    if (dispatch_feed_node(run.d, 0, 5) < 0)
        bail("no memory");
    ok(n->out == 1 && n->begun >= 5 && n->begun <= 5,
       "what it is sent later begins later");
    end_run();
}

/* Units that a node has been sent, and has out. */
static uint64_t out_of(size_t node)
{
    return dispatch_node(run.d, node)->out_units;
}

/* Units come to a frame that is at work: each is sent alone, until no more come. */
static void test_growing(const char *what, uint64_t pieces, int is_bundles)
{
    const struct setup setup = {.name = "growing",
                                .nodes = 2,
                                .units = 100,
                                .grain = 1,
                                .pieces = pieces,
                                .is_bundles = is_bundles,
                                .load = {1, 1}};

    if (start_run(&setup) < 0)
        bail("no memory");
    dispatch_set_growing(run.d, 1);
    if (dispatch_begin(run.d, (struct slice){0, 3}, NULL, 0) < 0
        || dispatch_feed(run.d, 0) < 0)
        bail("no memory");
    ok(out_of(0) + out_of(1) <= 2 && dispatch_left(run.d) == 3,
       "%s: of three units each node is sent no more than one piece", what);
    while (dispatch_next(run.d))
        ;
    for (uint64_t end = 4; end <= 100; end += 6)
        if (dispatch_grow(run.d, end) < 0)
            bail("no memory");
    ok(dispatch_left(run.d) == 100 && dispatch_frame(run.d).end == 100
           && dispatch_pool(run.d)->n <= 2
           && dispatch_pool(run.d)->units + out_of(0) + out_of(1) == 100,
       "%s: those that come are all in the pool, and together", what);
    dispatch_answered(run.d, dispatch_node(run.d, 0)->piece[0], 1, 0.9, 0);
    if (dispatch_feed(run.d, 1) < 0)
        bail("no memory");
    ok(out_of(0) == 1, "%s: one more is sent", what);
    for (double at = 1.001; pieces == DISPATCH_BY_COST && at < 1.02;
         at += 0.001) {
        dispatch_answered(run.d, dispatch_node(run.d, 0)->piece[0], at, 0.001,
                          0);
        if (dispatch_feed(run.d, at) < 0)
            bail("no memory");
        if (out_of(0) > 1)
            break;
    }
    ok((out_of(0) > 1) == (pieces == DISPATCH_BY_COST) && out_of(0) < 50,
       "%s: of short ones, which that is known of, more at once", what);
    dispatch_set_growing(run.d, 0);
    dispatch_answered(run.d, dispatch_node(run.d, 0)->piece[0], 2, 0.9, 0);
    if (dispatch_feed(run.d, 2) < 0)
        bail("no memory");
    ok(out_of(0) > 1, "%s: as no more come pieces are as ever", what);
    end_run();
}

/* With a meter a node's speed is what it does now. */
static void test_meter(void)
{
    const struct setup setup = {
        .nodes = 2, .units = 40, .grain = 1, .pieces = 2, .load = {1, 1}};
    const struct tail_node *t;

    begin_with(&setup);
    dispatch_metered(run.d, 0, sent_to(0)->id, 0.3);
    dispatch_metered(run.d, 1, sent_to(0)->id, 0.3);
    t = dispatch_tail(run.d, 0.1);
    ok(t[0].running == 10 && t[0].since > 0, "too early to tell a speed");
    t = dispatch_tail(run.d, 2);
    is_near(t[0].speed, 1.5, 1e-12, "three units in 2 s");
    ok(t[0].running == 7 && t[0].waiting == 10 && t[1].running == 10,
       "what is done is done, of the piece that was metered");
    dispatch_moved(run.d, 0, 1.5, 2);
    t = dispatch_tail(run.d, 2);
    is_near(t[0].speed, 6, 1e-12, "it was stopped for 1.5 s of them");
    dispatch_moved(run.d, 0, 5, 2);
    ok(dispatch_node(run.d, 0)->begun <= 2, "at most until now");
    dispatch_answered(run.d, sent_to(0)->id, 3, 0, 0);
    is_near(dispatch_node(run.d, 0)->speed, 0, 0,
            "a command that took no time tells no speed");
    end_run();
}

/* --- taking over ---------------------------------------------------------- */

/* Two nodes of 12 units, in four and eight as the first answer shows node 0 to
 * be fast.  Its two answers come so many seconds after they were sent, of which
 * the command ran 0.1.  Returns what it takes over from node 1, whose first
 * piece is not back then. */
static uint64_t taken_over(double first, double second)
{
    const struct setup setup = {
        .nodes = 2, .units = 24, .grain = 1, .pieces = 3, .load = {1, 1}};
    const double now[2] = {first, first + second};
    uint64_t taken;

    begin_with(&setup);
    for (int i = 0; i < 2; i++) {
        const struct dispatch_piece *p = dispatch_current(run.d, 0);

        if (!p)
            bail("node 0 has nothing");
        dispatch_answered(run.d, p->id, now[i], 0.1, 0);
        if (dispatch_feed_node(run.d, 0, now[i]) < 0)
            bail("no memory");
    }
    check();
    taken = dispatch_taken(run.d);
    end_run();
    return taken;
}

/* Node 1 has 8 units waiting, and has not done 4 in 4 s (3 s): it counts as 1
 * (4/3) a second.  Node 0 does 60 a second, once they are there. */
static void test_take_over(void)
{
    is_int((intmax_t)taken_over(2, 2), 6,
           "one that is idle takes over as much as it ends with the other, "
           "1.9 s being lost on the way");
    is_int((intmax_t)taken_over(2, 1), 7, "more if that is 0.9 s");
    is_int((intmax_t)taken_over(1, 2), 7, "the least that was seen");
    is_int((intmax_t)taken_over(0.1, 0.1), 6,
           "without any their speeds of 60 and 20 decide");
}

/* --- the tail of many ----------------------------------------------------- */

#define MANY 8192

static struct dispatch *begin_many(const double load[])
{
    struct dispatch *d = dispatch_create(MANY, 1, 4);

    if (!d)
        bail("no memory");
    dispatch_set_policy(d, &static_kind, NULL, load);
    if (dispatch_begin(d, (struct slice){0, UINT64_C(100) * MANY}, NULL, 0) < 0)
        bail("no memory");
    return d;
}

/* All but the late are idle at once. */
static void test_look(size_t late)
{
    static double load[MANY];
    uint64_t work;
    size_t helped = 0;
    struct dispatch *d;

    for (size_t i = 0; i < MANY; i++)
        load[i] = i < late ? 1 : 1e-12;
    d = begin_many(load);
    if (dispatch_feed(d, 0) < 0)
        bail("no memory");
    work = dispatch_work(d);
    for (size_t i = late; i < MANY; i++)
        helped += dispatch_node(d, i)->out > 0;
    ok(helped >= late, "%zu late nodes: idle ones take over (%zu)", late,
       helped);
    ok(work > 0 && work < UINT64_C(40) * MANY,
       "one look does for all of them: %ju nodes looked at, of %u",
       (uintmax_t)work, MANY);
    dispatch_destroy(d);
}

/* They become idle one by one, a microsecond after each other. */
static void test_one_by_one(void)
{
    static double load[MANY];
    const struct dispatch_piece *p;
    struct dispatch *d;
    double now = 1;
    int waited = 0, failed = 0;

    for (size_t i = 0; i < MANY; i++)
        load[i] = i == 0 ? MANY : 1e-12;
    d = begin_many(load);
    for (size_t i = 0; i < MANY; i++)
        failed |= dispatch_feed_node(d, i, 0);
    for (size_t i = 1; i < MANY; i++) {
        p = dispatch_current(d, i);
        if (p)
            dispatch_answered(d, p->id, now, now, 0);
        failed |= dispatch_feed_node(d, i, now);
        waited |= dispatch_wants_look(d);
        now += 1e-6;
    }
    ok(!failed, "nothing fails");
    ok(waited, "of many that become idle one after the other some wait");
    ok(dispatch_work(d) <= UINT64_C(4) * 2 * MANY,
       "and there is no look for each: %ju nodes looked at",
       (uintmax_t)dispatch_work(d));
    is_near(dispatch_gap(d), MANY * 1e-6, 1e-12, "the gap is a second in 20");
    ok(dispatch_feed(d, now) == 0 && !dispatch_wants_look(d),
       "the next look is for those that wait");
    is_near(dispatch_looked(d), now, 0, "which is remembered");
    dispatch_destroy(d);
}

/* A node of two cores and one of one; units 1 and 2 need the first. */
static void test_needy(void)
{
    static const struct setup setup = {.nodes = 3,
                                       .units = 4,
                                       .grain = 1,
                                       .pieces = DISPATCH_BY_COST,
                                       .load = {1, 1, 1},
                                       .is_needy = 1};
    const struct dispatch_piece *p;

    wrong = NULL;
    if (start_run(&setup) < 0 || begin_frame() < 0)
        bail("no memory");
    p = dispatch_current(run.d, 0);
    ok(p && p->units.begin == 1 && !dispatch_current(run.d, 1),
       "the unit that needs two cores begins first, and nothing beside it");
    p = dispatch_current(run.d, 2);
    ok(p && p->units.begin == 2 && p->units.end == 3,
       "the small node has one that it can do, alone in its piece");
    (void)happen(FAIL, 0);
    p = dispatch_current(run.d, 0);
    ok(p && p->units.begin == 0 && dispatch_current(run.d, 1),
       "what has failed at a node makes way for what has not ...");
    (void)happen(ANSWER, 2);
    (void)happen(ANSWER, 1);
    ok(!dispatch_current(run.d, 2) && !dispatch_current(run.d, 1),
       "... and waits for all that it needs");
    (void)happen(ANSWER, 0);
    p = dispatch_current(run.d, 0);
    ok(p && p->units.begin == 1 && p->attempt == 2, "then it is tried again");
    (void)happen(FAIL, 0);
    p = dispatch_current(run.d, 0);
    ok(p && p->units.begin == 1 && p->attempt == 3,
       "also at the node where it has just failed, if no other is large enough");
    (void)happen(LOSE, 0);
    ok(dispatch_left(run.d) == 1 && dispatch_current(run.d, 1),
       "also while it has lost a slot");
    (void)happen(LOSE, 1);
    ok(dispatch_feed(run.d, run.now) == DISPATCH_NO_ROOM && !wrong,
       "where only a node that is too small is left, that is told");
    end_run();
}

int main(void)
{
    test_needy();
    for (size_t i = 0; i < sizeof small / sizeof small[0]; i++)
        test_all_orders(&small[i]);
    test_random();
    test_no_memory(0, 60);
    test_no_memory(0, DISPATCH_BY_COST);
    test_no_memory(1, 1);
    fence_on = 1;
    test_slices();
    test_resumed();
    test_last_leaves();
    test_last_piece();
    test_bundles();
    test_halves();
    test_left_out();
    test_doubts();
    test_failed_bundle();
    test_policy_hears();
    test_begun();
    test_growing("slices", 1, 0);
    test_growing("by cost", DISPATCH_BY_COST, 0);
    test_growing("bundles", 1, 1);
    test_meter();
    test_take_over();
    test_look(1);
    test_look(100);
    test_look(MANY / 2);
    test_one_by_one();
    return done();
}
