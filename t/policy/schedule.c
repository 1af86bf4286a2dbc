/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plans of generated graphs, looked at by a checker that knows the edges and
 * the rules but nothing of how plans are made: it asks each instance for its
 * inputs, and recomputes times and energy by looking at all pairs.
 */
#include "cost.h"
#include "fault.h"
#include "policy/graph_plan.h"
#include "tap.h"

#include "nine_tasks.h"

#define GRAPHS 60
#define N_MAX  1000
#define M_MAX  (3 * N_MAX)

static const struct power power = {10, 2, 5, 3};

struct input {
    uint32_t n, m;
    int64_t time[N_MAX];
    struct graph_edge edge[M_MAX];
};

/* --- graphs --------------------------------------------------------------- */

static uint32_t draw(uint64_t *seed, uint32_t below)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
    return (uint32_t)((*seed >> 33) % below);
}

/* Layers of about sqrt(n) tasks, each with up to three inputs from the last
 * three layers; every fourth graph has a single first task. */
static void generate(struct input *in, uint32_t n, double ccr, uint64_t *seed)
{
    uint32_t width = (uint32_t)sqrt(n), single = draw(seed, 4) == 0;

    in->n = n;
    in->m = 0;
    for (uint32_t v = 0; v < n; v++) {
        uint32_t low = v > 3 * width ? v - 3 * width : 0;
        uint32_t inputs = v < width ? single && v > 0 : 1 + draw(seed, 3);

        in->time[v] = 1 + draw(seed, 2000000000);
        for (uint32_t i = 0; i < inputs; i++)
            in->edge[in->m++] = (struct graph_edge){
                v < width ? 0 : low + draw(seed, v - low), v,
                (int64_t)(ccr * (1 + draw(seed, 2000000000)))};
    }
}

/* --- the checker ---------------------------------------------------------- */

static int64_t comm_between(const struct input *in, uint32_t u, uint32_t v)
{
    int64_t sum = 0;

    for (uint32_t e = 0; e < in->m; e++)
        if (in->edge[e].from == u && in->edge[e].to == v)
            sum += in->edge[e].comm;
    return sum;
}

/* When u's data can be on the processor; *local: when made there. */
static int64_t arrival(const struct graph_plan *p,
                       uint32_t u,
                       uint32_t processor,
                       int64_t comm,
                       int64_t *local)
{
    int64_t first = INT64_MAX;

    *local = INT64_MAX;
    for (uint32_t j = 0; j < p->instances; j++) {
        const struct instance *x = &p->instance[j];
        int64_t at = x->finish + (x->processor == processor ? 0 : comm);

        if (x->task != u)
            continue;
        first = at < first ? at : first;
        if (x->processor == processor && x->finish < *local)
            *local = x->finish;
    }
    return first;
}

/* May an instance start when it does, and would it not be earlier?  Adds its
 * messages. */
static int check_start(const struct input *in,
                       const struct graph_plan *p,
                       uint32_t i,
                       double *messages)
{
    const struct instance *x = &p->instance[i];
    int64_t ready = 0;

    if (i > 0 && x[-1].processor == x->processor && x[-1].core == x->core)
        ready = x[-1].finish;
    for (uint32_t e = 0; e < in->m; e++) {
        int64_t local, at, comm;

        if (in->edge[e].to != x->task)
            continue;
        comm = comm_between(in, in->edge[e].from, x->task);
        at = arrival(p, in->edge[e].from, x->processor, comm, &local);
        ready = at > ready ? at : ready;
        if (local > x->start)
            *messages += (double)in->edge[e].comm; /* parallel: each its own */
    }
    return x->start == ready && x->finish == x->start + in->time[x->task];
}

static int check_sum(const struct graph_plan *p,
                     uint32_t cores,
                     double busy,
                     double messages)
{
    const struct schedule_sum *sum = &p->candidate[p->chosen].sum;
    unsigned char used[N_MAX] = {0};
    uint32_t processors = 0;
    int64_t last = 0;
    double want;

    for (uint32_t i = 0; i < p->instances; i++) {
        processors += !used[p->instance[i].processor];
        used[p->instance[i].processor] = 1;
        if (p->instance[i].finish > last)
            last = p->instance[i].finish;
    }
    want = power.busy * busy
           + power.idle * (cores * processors * (double)last - busy)
           + power.base * processors * (double)last + power.link * messages;
    return sum->makespan == last && sum->processors == processors
           && fabs(sum->energy.total * 1e9 / want - 1) < 1e-9;
}

/* Every task at least once, every instance when it must be, the sum right. */
static int is_sound(const struct input *in,
                    const struct graph_plan *p,
                    uint32_t cores)
{
    unsigned char found[N_MAX] = {0};
    double busy = 0, messages = 0;
    uint32_t different = 0;

    for (uint32_t i = 0; i < p->instances; i++) {
        const struct instance *x = &p->instance[i];

        if (x->task >= in->n || x->core >= cores
            || !check_start(in, p, i, &messages))
            return 0;
        different += !found[x->task];
        found[x->task] = 1;
        busy += (double)in->time[x->task];
    }
    return different == in->n && check_sum(p, cores, busy, messages);
}

/* Is the chosen one the cheapest in time, or is nothing that was tried in time
 * and it is the fastest? */
static int is_candid(const struct graph_plan *p)
{
    const struct graph_candidate *chosen = &p->candidate[p->chosen];

    for (uint32_t i = 0; i < p->candidates; i++) {
        const struct graph_candidate *c = &p->candidate[i];

        if ((c->sum.makespan <= p->deadline) != c->in_time
            || (c->in_time && !p->deadline_met)
            || (c->in_time && c->sum.energy.total < chosen->sum.energy.total)
            || (!p->deadline_met && c->sum.makespan < chosen->sum.makespan))
            return 0;
    }
    return p->deadline_met == chosen->in_time;
}

/* --- what is said of plans ------------------------------------------------ */

struct tally {
    int plans, sound, candid, no_worse, again, ideal;
    int grouped;
    double energy, processors; /* against the pack's, sums of ratios */
};

static void make(struct graph_plan *p,
                 const struct graph *g,
                 struct graph_plan_wish *w,
                 enum grouping_mode mode)
{
    w->mode = mode;
    if (graph_plan_init(p, g, w) != GRAPH_PLAN_SOUND)
        bail("no plan");
}

static int is_same(const struct graph_plan *a, const struct graph_plan *b)
{
    if (a->instances != b->instances || a->candidates != b->candidates)
        return 0;
    for (uint32_t i = 0; i < a->instances; i++)
        if (a->instance[i].task != b->instance[i].task
            || a->instance[i].processor != b->instance[i].processor
            || a->instance[i].core != b->instance[i].core
            || a->instance[i].start != b->instance[i].start)
            return 0;
    return 1;
}

static void look_at(const struct input *in,
                    enum path_algorithm algorithm,
                    uint32_t cores,
                    struct tally *t)
{
    struct graph_plan best, again, pack, spread;
    struct graph_plan_wish w = {.algorithm = algorithm,
                                .threshold = algorithm == PATH_EAD ? 2 : 5,
                                .machine = {0, cores, power, 0, NULL},
                                .deadline = GRAPH_PLAN_FOREVER,
                                .deadline_factor = 1.1};
    const struct schedule_sum *a, *b;
    struct graph *g;

    if (graph_create(&g, in->time, in->n, in->edge, in->m, NULL) != GRAPH_SOUND)
        bail("a generated graph is refused");
    make(&best, g, &w, GROUPING_BEST);
    make(&again, g, &w, GROUPING_BEST);
    make(&pack, g, &w, GROUPING_PACK);
    make(&spread, g, &w, GROUPING_SPREAD);
    a = &best.candidate[best.chosen].sum;
    b = &pack.candidate[0].sum;
    t->plans++;
    t->sound += is_sound(in, &best, cores) && is_sound(in, &pack, cores)
                && is_sound(in, &spread, cores);
    t->candid += is_candid(&best) && is_candid(&pack) && is_candid(&spread);
    t->again += is_same(&best, &again);
    t->no_worse += !pack.deadline_met
                   || (best.deadline_met && a->energy.total <= b->energy.total
                       && a->processors <= b->processors);
    t->ideal +=
        algorithm != PATH_TDS || spread.candidate[0].sum.makespan <= g->ideal;
    t->grouped += best.candidate[best.chosen].mode < GROUPING_PACK;
    t->energy += a->energy.total / b->energy.total;
    t->processors += (double)a->processors / b->processors;
    graph_plan_clear(&best);
    graph_plan_clear(&again);
    graph_plan_clear(&pack);
    graph_plan_clear(&spread);
    graph_destroy(g);
}

static void test_generated(void)
{
    static const double ccr[] = {0.1, 1, 10};
    static const char *const name[] = {"TDS", "EAD", "PEBD"};
    static struct input in;
    struct tally t[3][3] = {{{0}}}, all = {0};
    uint64_t seed = 1;

    for (uint32_t i = 0; i < GRAPHS; i++) {
        uint32_t n = (uint32_t)(10 * pow(100, i / (GRAPHS - 1.0)));

        generate(&in, n, ccr[i % 3], &seed);
        for (int a = 0; a < 3; a++)
            look_at(&in, (enum path_algorithm)a, 1u << i / 3 % 4, &t[a][i % 3]);
    }
    for (int a = 0; a < 3; a++)
        for (int c = 0; c < 3; c++) {
            const struct tally *x = &t[a][c];

            all.plans += x->plans;
            all.sound += x->sound;
            all.candid += x->candid;
            all.no_worse += x->no_worse;
            all.again += x->again;
            all.ideal += x->ideal;
            diag("%-4s CCR %-3g  of %d plans %d are grouped; to the pack: "
                 "energy %.2f, processors %.2f",
                 name[a], ccr[c], x->plans, x->grouped, x->energy / x->plans,
                 x->processors / x->plans);
        }
    is_int(all.sound, all.plans,
           "every task runs, after its inputs, alone on its core, and the "
           "makespan and energy are what the checker finds");
    is_int(all.candid, all.plans,
           "the cheapest in time is chosen; if there is none, the fastest");
    is_int(all.no_worse, all.plans,
           "best takes no more energy or processors than the pack in time");
    is_int(all.again, all.plans, "a second plan is the same");
    is_int(all.ideal, all.plans, "TDS, a path a processor, keeps the ideal");
}

/* --- does the checker see what is wrong? ---------------------------------- */

/* The only instance of its task, or one of several. */
static uint32_t find(const struct graph_plan *p, int only)
{
    for (uint32_t i = 0; i < p->instances; i++) {
        uint32_t copies = 0;

        for (uint32_t j = 0; j < p->instances; j++)
            copies += p->instance[j].task == p->instance[i].task;
        if ((copies == 1) == only)
            return i;
    }
    bail("no such instance");
}

static void drop(struct graph_plan *p, uint32_t i)
{
    p->instances--;
    memmove(&p->instance[i], &p->instance[i + 1],
            (p->instances - i) * sizeof *p->instance);
}

static void shift(struct graph_plan *p, uint32_t i, int64_t by)
{
    p->instance[i].start += by;
    p->instance[i].finish += by;
}

static void spoil(struct graph_plan *p, int how)
{
    struct schedule_sum *sum = &p->candidate[p->chosen].sum;
    uint32_t next = 1; /* whose core was busy before it */

    while (p->instance[next].core != p->instance[next - 1].core
           || p->instance[next].start != p->instance[next - 1].finish)
        next++;
    switch (how) {
    case 0:
        shift(p, find(p, 1), 1);
        break;
    case 1:
        shift(p, next, -1); /* onto the one before it */
        break;
    case 2:
        p->instance[next].finish--;
        break;
    case 3:
        drop(p, find(p, 1));
        break;
    case 4:
        drop(p, find(p, 0)); /* a copy, whose data or energy is missed */
        break;
    case 5:
        p->instance[next].core = 2;
        break;
    case 6:
        sum->makespan--;
        break;
    default:
        sum->energy.total *= 1 - 1e-6;
    }
}

static void test_checker(void)
{
    static const char *const what[] = {
        "a start that is late",      "two on one core at once",
        "a task cut short",          "a task that is nowhere",
        "a copy that is nowhere",    "a core that is not there",
        "a makespan that is missed", "energy that is not counted",
    };
    static struct input in;
    struct graph_plan_wish w = {.machine = {0, 2, power, 0, NULL},
                                .deadline = GRAPH_PLAN_FOREVER};
    uint64_t seed = 3;
    struct graph_plan p;
    struct graph *g;

    generate(&in, 100, 1, &seed);
    if (graph_create(&g, in.time, in.n, in.edge, in.m, NULL) != GRAPH_SOUND)
        bail("a generated graph is refused");
    for (int how = 0; how < 8; how++) {
        make(&p, g, &w, GROUPING_PACK);
        if (!is_sound(&in, &p, 2))
            bail("a plan is unsound before it is spoilt");
        spoil(&p, how);
        ok(!is_sound(&in, &p, 2), "the checker sees %s", what[how]);
        graph_plan_clear(&p);
    }
    graph_destroy(g);
}

/* --- placements by hand --------------------------------------------------- */

static void test_refused(const struct graph *g)
{
    struct machine m = {2, 2, {10, 2, 5, 0}, 0, NULL};
    struct schedule_room *room = schedule_room_create(g, 10, 4);
    struct instance good[10], x[10];
    struct schedule_sum sum;

    for (uint32_t i = 0; i < 9; i++)
        good[i] = (struct instance){i, i % 2, 0, 0, 0};
    good[9] = (struct instance){0, 1, 1, 0, 0};
    memcpy(x, good, sizeof x);
    is_int(schedule_evaluate(g, &m, x, 10, room, &sum), 0, "a placement");
    memcpy(x, good, sizeof x);
    x[8].task = 7;
    is_int(schedule_evaluate(g, &m, x, 9, room, &sum), -1,
           "a task that is nowhere is refused");
    memcpy(x, good, sizeof x);
    x[9] = x[0];
    is_int(schedule_evaluate(g, &m, x, 10, room, &sum), -1,
           "a task twice on one core is refused");
    memcpy(x, good, sizeof x);
    x[3].processor = 2;
    is_int(schedule_evaluate(g, &m, x, 9, room, &sum), -1,
           "a processor that is not there is refused");
    memcpy(x, good, sizeof x);
    x[3].core = 2;
    is_int(schedule_evaluate(g, &m, x, 9, room, &sum), -1,
           "a core that is not there is refused");
    memcpy(x, good, sizeof x);
    x[3].processor = 100000000;
    is_int(schedule_evaluate(g, &m, x, 9, room, &sum), -1,
           "nor is it looked for, however far off");
    memcpy(x, good, sizeof x);
    x[3] = (struct instance){9, 0, 0, 0, 0};
    is_int(schedule_evaluate(g, &m, x, 9, room, &sum), -1,
           "an unknown task is refused");
    memcpy(x, good, sizeof x);
    m.processors = 3;
    is_int(schedule_evaluate(g, &m, x, 9, room, &sum), -1,
           "more cores than there is room for are refused");
    m.processors = 2;
    is_int(schedule_evaluate(g, &m, x, 11, room, &sum), -1,
           "so are more instances");
    schedule_room_destroy(room);
}

static void test_faults(const struct graph *g)
{
    struct graph_plan_wish w = {.mode = GROUPING_SPREAD,
                                .machine = {4, 0, {10, 2, 5, 0}, 0, NULL},
                                .deadline = GRAPH_PLAN_FOREVER};
    struct graph_plan p;

    is_int(graph_plan_init(&p, g, &w), GRAPH_PLAN_MACHINE, "no core");
    w.machine.cores = 1;
    is_int(graph_plan_init(&p, g, &w), GRAPH_PLAN_FEW,
           "five paths want five processors, four are there");
    w.mode = GROUPING_LITERAL;
    is_int(graph_plan_init(&p, g, &w), GRAPH_PLAN_SOUND, "unless grouped");
    ok(p.candidates == 4 && p.candidate[0].M == 4, "then from four down");
    graph_plan_clear(&p);
    w.deadline = 10;
    is_int(graph_plan_init(&p, g, &w), GRAPH_PLAN_SOUND, "a deadline of 10");
    ok(!p.deadline_met && p.candidate[p.chosen].sum.makespan == 16,
       "is not met: the best possible is 16");
    graph_plan_clear(&p);
    w.deadline = -1;
    is_int(graph_plan_init(&p, g, &w), GRAPH_PLAN_LATE, "a negative one");
    w.deadline = 0;
    w.deadline_factor = NAN;
    is_int(graph_plan_init(&p, g, &w), GRAPH_PLAN_LATE, "a factor of NaN");
    w.deadline_factor = 0;
    w.machine.power.link = INFINITY;
    is_int(graph_plan_init(&p, g, &w), GRAPH_PLAN_MACHINE, "infinite power");
    ok(!p.instance && !p.candidate && !p.paths.task, "nothing is left over");
}

/* --- memory --------------------------------------------------------------- */

static void test_memory(void)
{
    struct graph_plan_wish w = {.machine = {0, 2, power, 0, NULL},
                                .deadline = GRAPH_PLAN_FOREVER};
    enum graph_plan_fault planned = GRAPH_PLAN_MEMORY;
    enum graph_fault made;
    struct graph_plan p;
    struct graph *g;
    int empty = 1;
    long n = 0;

    do {
        fault_at = n++;
        made = graph_create(&g, nine_times, 9, nine_edges, 12, NULL);
        if (made == GRAPH_SOUND)
            planned = graph_plan_init(&p, g, &w);
        fault_at = -1;
        empty &= made == GRAPH_SOUND || (made == GRAPH_MEMORY && !g);
        empty &= made != GRAPH_SOUND || planned == GRAPH_PLAN_SOUND
                 || (planned == GRAPH_PLAN_MEMORY && !p.instance);
        if (planned != GRAPH_PLAN_SOUND)
            graph_destroy(g);
    } while (planned != GRAPH_PLAN_SOUND && n < 1000);
    ok(empty && n > 20 && n < 1000,
       "each of %ld allocations that fails is told, and leaves nothing", n - 1);
    graph_plan_clear(&p);
    graph_destroy(g);
}

/* --- many copies ---------------------------------------------------------- */

enum { COPIED = 16400 }; /* tasks */

/* Plan a graph in which task parent[v] is v's only input. */
static enum graph_plan_fault plan_tree(const uint32_t parent[],
                                       enum path_algorithm algorithm,
                                       struct graph_plan *p)
{
    static int64_t time[COPIED];
    static struct graph_edge edge[COPIED];
    struct graph_plan_wish w = {.algorithm = algorithm,
                                .threshold = -1e9,
                                .mode = GROUPING_GUARD,
                                .machine = {0, 4, power, 0, NULL},
                                .deadline = GRAPH_PLAN_FOREVER};
    enum graph_plan_fault fault;
    struct graph *g;

    for (uint32_t v = 0; v < COPIED; v++) {
        time[v] = 1;
        if (v > 0)
            edge[v - 1] = (struct graph_edge){parent[v], v, 1};
    }
    if (graph_create(&g, time, COPIED, edge, COPIED - 1, NULL) != GRAPH_SOUND)
        bail("the tree is refused");
    fault = graph_plan_init(p, g, &w);
    graph_destroy(g);
    return fault;
}

static void test_copies(void)
{
    static uint32_t parent[COPIED];
    struct graph_plan p;

    for (uint32_t v = 1; v < COPIED; v++)
        parent[v] = (v - 1) / 4;
    is_int(plan_tree(parent, PATH_TDS, &p), GRAPH_PLAN_SOUND,
           "a tree is grouped");
    ok(p.paths.n > 12000 && p.candidates > 0,
       "although 72 million pairs of its paths share a task");
    is_int(p.instances, COPIED, "on one processor no copy is left");
    graph_plan_clear(&p);
    /* A chain, and as many tasks that need its last one. */
    for (uint32_t v = 1; v < COPIED; v++)
        parent[v] = v < COPIED / 2 ? v - 1 : COPIED / 2 - 1;
    is_int(plan_tree(parent, PATH_TDS, &p), GRAPH_PLAN_LONG,
           "more copies than there is room for are told");
    is_int(plan_tree(parent, PATH_EAD, &p), GRAPH_PLAN_SOUND,
           "EAD, to which they are too dear, makes a plan");
    graph_plan_clear(&p);
}

/* --- cost ----------------------------------------------------------------- */

/* 100 layers of 100 tasks, each with up to three inputs. */
static void test_cost(void)
{
    enum { N = 10000, WIDTH = 100 };
    static const char *const algorithm[] = {"TDS", "EAD", "PEBD"};
    static const double usual[] = {0.8, 0.4, 0.4};
    static int64_t time[N];
    static struct graph_edge edge[3 * N];
    struct graph_plan_wish w = {.machine = {0, 4, power, 0, NULL},
                                .deadline = GRAPH_PLAN_FOREVER,
                                .deadline_factor = 1.1};
    uint64_t seed = 7;
    uint32_t m = 0;
    struct graph_plan p;
    struct graph *g;
    double begin, made;

    for (uint32_t v = 0; v < N; v++) {
        time[v] = 1 + draw(&seed, 2000000000);
        for (uint32_t i = 0; v >= WIDTH && i <= draw(&seed, 3); i++)
            edge[m++] = (struct graph_edge){v - WIDTH + draw(&seed, WIDTH), v,
                                            draw(&seed, 2000000000)};
        m = m > 3 * N - 4 ? 3 * N - 4 : m;
    }
    for (int a = 0; a < 3; a++) {
        begin = cpu_seconds();
        if (graph_create(&g, time, N, edge, m, NULL) != GRAPH_SOUND)
            bail("the large graph is refused");
        made = cpu_seconds();
        w.algorithm = (enum path_algorithm)a;
        make(&p, g, &w, GROUPING_BEST);
        costs(made - begin, 0.002, "10,000 tasks: checked");
        costs(cpu_seconds() - made, usual[a], algorithm[a]);
        graph_plan_clear(&p);
        graph_destroy(g);
    }
}

int main(void)
{
    struct graph *g;

    if (graph_create(&g, nine_times, 9, nine_edges, 12, NULL) != GRAPH_SOUND)
        bail("the nine tasks are refused");
    test_refused(g);
    test_faults(g);
    graph_destroy(g);
    test_memory();
    test_generated();
    test_checker();
    test_copies();
    test_cost();
    return done();
}
