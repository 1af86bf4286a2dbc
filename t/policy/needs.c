/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Units that need cores and memory: in which order they begin, that no node ever has
 * more than it has, that none waits for ever, and how long a frame of them takes.
 */
#include "policy/needs.h"
#include "fenced.h"
#include "policy/random.h"
#include "tap.h"

#include <math.h>

#define LANES_MOST 64
#define UNITS_MOST 2000
#define GB         1000000000u

/* --- a frame that only this test knows ------------------------------------- */

static struct {
    size_t lanes, group[LANES_MOST];
    uint64_t memory[LANES_MOST];
    uint32_t gpus[LANES_MOST];
    struct unit_need need[UNITS_MOST];
    struct need_list said;
    struct needs *needs;
    struct unit_pool pool;
    uint64_t units;
    double took[UNITS_MOST]; /* seconds of each */
    double now, busy;
    uint64_t at[LANES_MOST]; /* unit + 1 that a lane has; 0: none */
    double end[LANES_MOST];
    unsigned begun[UNITS_MOST];
    uint64_t order[UNITS_MOST]; /* in which they began */
    size_t n;
    size_t crowded; /* times that a node had more than it has */
} sim;

/* Nodes of so many cores and 8 GB each; 0 ends them. */
static void make_nodes(const size_t cores[])
{
    memset(&sim, 0, sizeof sim);
    for (; *cores > 0; cores++) {
        size_t first = sim.lanes;

        for (size_t i = 0; i < *cores; i++) {
            sim.memory[sim.lanes] = 8ull * GB;
            sim.group[sim.lanes++] = first;
        }
    }
}

static void say(uint64_t unit, uint32_t cores, uint64_t memory, double seconds)
{
    sim.need[sim.said.n++] = (struct unit_need){.unit = unit,
                                                .line = 1,
                                                .cores = cores,
                                                .memory = memory,
                                                .seconds = seconds};
}

static void put(uint64_t begin, uint64_t end)
{
    if (unit_pool_add(&sim.pool, &(struct batch){.units = {begin, end}}) < 0)
        bail("no memory");
}

static void begin(uint64_t units, const struct unit_need *usual, int is_growing)
{
    sim.said.need = sim.need;
    sim.units = units;
    sim.needs = needs_create(sim.lanes, sim.group, sim.memory, sim.gpus, usual,
                             &sim.said);
    if (!sim.needs
        || needs_begin(sim.needs, (struct slice){0, units}, is_growing) < 0)
        bail("no memory");
    if (units > 0)
        put(0, units);
    for (uint64_t u = 0; u < units; u++)
        sim.took[u] = 1;
}

static void end(void)
{
    needs_destroy(sim.needs);
    unit_pool_clear(&sim.pool);
}

/* Of what needs.c says, by the test's own list. */
static struct unit_need need_of(uint64_t unit, size_t lane)
{
    struct unit_need need = {.cores = 1};
    uint32_t all = 0;

    for (size_t i = 0; i < sim.lanes; i++)
        all += sim.group[i] == sim.group[lane];
    for (size_t i = 0; i < sim.said.n; i++)
        if (sim.need[i].unit == unit)
            need = sim.need[i];
    need.cores = need.cores == NEEDS_ALL ? all
                 : need.cores > 0        ? need.cores
                                         : 1;
    return need;
}

static void check_node(size_t node)
{
    uint64_t cores = 0, memory = 0, all = 0;

    for (size_t i = 0; i < sim.lanes; i++) {
        all += sim.group[i] == node;
        if (sim.group[i] != node || sim.at[i] == 0)
            continue;
        cores += need_of(sim.at[i] - 1, i).cores;
        memory += need_of(sim.at[i] - 1, i).memory;
    }
    sim.crowded += cores > all || memory > sim.memory[node];
}

static void take_out(uint64_t unit)
{
    uint64_t first;
    size_t i = 0;

    while (sim.pool.batch[i].units.end <= unit)
        i++;
    first = sim.pool.batch[i].units.begin;
    if (first < unit)
        (void)unit_pool_take(&sim.pool, i, unit - first);
    (void)unit_pool_take(&sim.pool, i, 1);
    put(first, unit);
}

/* Lanes that are free begin with what there is. */
static void feed(void)
{
    uint64_t unit;

    for (size_t i = 0; i < sim.lanes; i++) {
        if (sim.at[i] > 0 || !needs_choose(sim.needs, i, &sim.pool, 0, &unit))
            continue;
        take_out(unit);
        needs_take(sim.needs, i, unit);
        sim.at[i] = unit + 1;
        sim.end[i] = sim.now + sim.took[unit];
        sim.busy += sim.took[unit] * need_of(unit, i).cores;
        sim.begun[unit]++;
        if (sim.n < UNITS_MOST)
            sim.order[sim.n++] = unit;
        check_node(sim.group[i]);
    }
}

/* The lane that ends first does; 0: nobody works. */
static int end_one(void)
{
    size_t first = sim.lanes;

    for (size_t i = 0; i < sim.lanes; i++)
        if (sim.at[i] > 0
            && (first == sim.lanes || sim.end[i] < sim.end[first]))
            first = i;
    if (first == sim.lanes)
        return 0;
    sim.now = sim.end[first];
    sim.at[first] = 0;
    needs_give(sim.needs, first);
    return 1;
}

static void run_all(void)
{
    do
        feed();
    while (end_one());
}

static const char *order(void)
{
    static char text[400];
    size_t len = 0;

    text[0] = '\0';
    for (size_t i = 0; i < sim.n && len < sizeof text; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%ju",
                                i > 0 ? " " : "", (uintmax_t)sim.order[i]);
    return text;
}

static const struct unit_need one = {.cores = 1};

/* --- in which order -------------------------------------------------------- */

static void test_order(void)
{
    make_nodes((size_t[]){1, 0});
    begin(4, &one, 0);
    run_all();
    is_str(order(), "0 1 2 3",
           "units of which nothing is said begin as they stand");
    is_int(needs_cores(sim.needs, 0), 0, "and nobody is told of cores");
    end();
    make_nodes((size_t[]){4, 0});
    say(1, 2, 0, 0);
    say(2, 4, 0, 0);
    say(4, NEEDS_ALL, 0, 0);
    begin(5, &one, 0);
    run_all();
    is_str(order(), "2 4 1 0 3", "the widest first");
    end();
    make_nodes((size_t[]){4, 0});
    say(1, 2, 0, 0);
    say(2, 0, 7ull * GB, 0);
    begin(4, &one, 0);
    run_all();
    is_str(order(), "2 1 0 3", "by cores or by memory");
    end();
    make_nodes((size_t[]){1, 0});
    say(1, 0, 0, 60);
    say(3, 0, 0, 600);
    begin(5, &(struct unit_need){.cores = 1, .seconds = 30}, 0);
    run_all();
    is_str(order(), "3 1 0 2 4",
           "those that take longest first, the others as usual");
    end();
    make_nodes((size_t[]){4, 4, 0});
    for (uint64_t u = 0; u < 4; u++)
        say(u, 4, 0, 1);
    say(4, 1, 0, 100);
    begin(5, &one, 0);
    run_all();
    is_str(order(), "4 0 1 2 3",
           "and a narrow one that takes most of the time before all");
    end();
    make_nodes((size_t[]){2, 0});
    say(1, 2, 0, 5);
    say(3, 2, 0, 600);
    begin(2, &one, 1);
    put(2, 5);
    if (needs_grow(sim.needs, 5) < 0)
        bail("no memory");
    for (int i = 2; i < 5; i++)
        sim.took[i] = 1;
    run_all();
    is_str(order(), "0 1 2 3 4", "a frame that grows begins as it stands");
    end();
}

/* A head of three cores where four are taken: one filler at a time. */
static void test_beside(void)
{
    make_nodes((size_t[]){4, 0});
    say(4, 3, 0, 0);
    begin(9, &one, 1);
    for (uint64_t u = 0; u < 4; u++)
        sim.took[u] = (double)u + 1;
    sim.took[4] = 3;
    run_all();
    is_str(order(), "0 1 2 3 5 6 7 4 8",
           "what begins beside a head leaves room for it");
    ok(sim.now < 7.5,
       "and it need not wait for more than ran before it: all take %g s",
       sim.now);
    end();
    make_nodes((size_t[]){4, 0});
    say(4, 4, 0, 0);
    begin(1500, &one, 1);
    run_all();
    is_int((intmax_t)sim.order[4], 4,
           "one that needs a whole node gets it, however many wait");
    end();
}

static void test_memory(void)
{
    make_nodes((size_t[]){4, 0});
    for (uint64_t u = 0; u < 4; u++)
        say(u, 0, 3ull * GB, 0);
    begin(5, &one, 0);
    feed();
    is_str(order(), "0 1 4",
           "no more begin than there is memory for; one without need does");
    run_all();
    is_int((intmax_t)sim.crowded, 0, "nor ever later");
    is_int((intmax_t)sim.n, 5, "and all are done");
    end();
}

/* Two nodes, of which one has three GPUs. */
static void test_gpus(void)
{
    uint32_t taken = 0, gpus;

    make_nodes((size_t[]){4, 4, 0});
    for (size_t i = 4; i < 8; i++)
        sim.gpus[i] = 3;
    for (uint64_t u = 0; u < 8; u += 2) {
        say(u, 0, 0, 0);
        sim.need[sim.said.n - 1].gpus = 2;
    }
    begin(8, &one, 0);
    feed();
    for (size_t i = 0; i < 8; i++) {
        ok(needs_gpus(sim.needs, i, &gpus), "units need GPUs");
        ok(i >= 4 || gpus == 0, "a node has none, and gives none");
        taken += gpus;
    }
    is_int(taken, 2, "one of two GPUs is at work, as a second has no room");
    run_all();
    is_int((intmax_t)sim.n, 8, "and all are done");
    end();
}

static void test_largest(void)
{
    size_t lane;

    make_nodes((size_t[]){2, 4, 8, 0});
    sim.memory[2] = 16ull * GB;
    begin(0, &one, 0);
    ok(needs_can_be_met(sim.needs, &(struct unit_need){.cores = 8}, &lane),
       "a need that one node can meet");
    ok(!needs_can_be_met(sim.needs, &(struct unit_need){.cores = 9}, &lane)
           && lane == 6,
       "one of more cores than any has: the node with the most is named");
    ok(needs_can_be_met(sim.needs, &(struct unit_need){.memory = 16ull * GB},
                        &lane)
           && lane == 2,
       "memory that one has");
    ok(!needs_can_be_met(sim.needs,
                         &(struct unit_need){.cores = 8, .memory = 16ull * GB},
                         &lane)
           && lane == 6,
       "cores of one and memory of another are no node");
    sim.gpus[0] = sim.gpus[2] = 2;
    ok(needs_can_be_met(sim.needs, &(struct unit_need){.gpus = 2}, &lane),
       "GPUs that one has");
    ok(!needs_can_be_met(sim.needs, &(struct unit_need){.cores = 4, .gpus = 3},
                         &lane)
           && lane == 2,
       "more than any has: that with the cores and the most");
    ok(needs_can_be_met(sim.needs, &(struct unit_need){.cores = NEEDS_ALL},
                        &lane),
       "any node can be had whole");
    end();
}

/* --- how long it takes ------------------------------------------------------ */

/* Against the least that all could take: their work, or the longest of them. */
static double efficiency(uint64_t seed, int is_told, double spread)
{
    struct rng rng;
    double work = 0, longest = 0, ideal;

    random_init(&rng, GENERATOR_JAVA, seed);
    make_nodes((size_t[]){4, 4, 0});
    for (uint64_t u = 0; u < 60; u++) {
        double took = exp(spread * 2 * (random_unit(&rng) - 0.5));

        sim.took[u] = took;
        say(u, 1 + (uint32_t)(random_unit(&rng) * 4), 0, is_told ? took : 0);
        work += took * sim.need[u].cores;
        longest = fmax(longest, took);
    }
    ideal = fmax(work / 8, longest);
    {
        double took[60];

        memcpy(took, sim.took, sizeof took);
        begin(60, &one, 0);
        memcpy(sim.took, took, sizeof took);
    }
    run_all();
    if (sim.n != 60 || sim.crowded > 0)
        bail("units are lost, or nodes crowded");
    end();
    return sim.now / ideal;
}

static void test_time(void)
{
    static const struct {
        int is_told;
        double spread, most;
        const char *what;
    } with[] = {{0, 0, 1.2, "alike"},
                {0, 1, 1.3, "of 1 to 7 s, which nobody has said"},
                {1, 1, 1.1, "of 1 to 7 s, which is said"},
                {0, 3, 1.3, "of 1 to 400 s, which nobody has said"},
                {1, 3, 1.15, "of 1 to 400 s, which is said"}};

    for (size_t k = 0; k < sizeof with / sizeof *with; k++) {
        double sum = 0, worst = 0;

        for (uint64_t seed = 1; seed <= 100; seed++) {
            double ratio = efficiency(seed, with[k].is_told, with[k].spread);

            sum += ratio / 100;
            worst = fmax(worst, ratio);
        }
        ok(sum < with[k].most,
           "60 units of 1 to 4 cores on 2 nodes of 4, %s: time / ideal %.3f, at worst %.3f",
           with[k].what, sum, worst);
    }
}

/* --- whatever happens -------------------------------------------------------- */

static void test_random(void)
{
    size_t wrong = 0, crowded = 0;

    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct rng rng;
        uint64_t units;

        random_init(&rng, GENERATOR_JAVA, seed);
        units = 1 + (uint64_t)(random_unit(&rng) * 60);
        make_nodes((size_t[]){1 + (size_t)(random_unit(&rng) * 4), 4, 2, 0});
        for (uint64_t u = 0; u < units; u++)
            if (random_unit(&rng) < 0.5)
                say(u, (uint32_t)(random_unit(&rng) * 5),
                    (uint64_t)(random_unit(&rng) * 8) * GB, random_unit(&rng));
        begin(units, &one, random_unit(&rng) < 0.3);
        for (uint64_t u = 0; u < units; u++)
            sim.took[u] = random_unit(&rng);
        for (int again = 0; again < 20; again++) { /* some are given back */
            size_t lane = (size_t)(random_unit(&rng) * (double)sim.lanes);

            feed();
            if (sim.at[lane] == 0)
                continue;
            sim.begun[sim.at[lane] - 1]--;
            sim.n--;
            put(sim.at[lane] - 1, sim.at[lane]);
            needs_give(sim.needs, lane);
            needs_back(sim.needs,
                       (struct slice){sim.at[lane] - 1, sim.at[lane]});
            sim.at[lane] = 0;
        }
        run_all();
        for (uint64_t u = 0; u < units; u++)
            wrong += sim.begun[u] != 1;
        crowded += sim.crowded;
        wrong += sim.pool.units;
        end();
    }
    is_int((intmax_t)wrong, 0,
           "each unit is done once, whatever was given back");
    is_int((intmax_t)crowded, 0, "and no node has ever had more than it has");
}

static void test_no_memory(void)
{
    long fails = 0;
    int rc = -1;

    make_nodes((size_t[]){2, 0});
    say(1, 2, 0, 0);
    sim.said.need = sim.need;
    for (; rc < 0 && fails < 100; fails++) {
        struct needs *n;

        fault_at = fails;
        n = needs_create(sim.lanes, sim.group, sim.memory, sim.gpus, &one,
                         &sim.said);
        rc = n ? needs_begin(n, (struct slice){0, 9}, 0) : -1;
        rc = rc == 0 ? needs_begin(n, (struct slice){0, 9}, 1) : rc;
        rc = rc == 0 ? needs_grow(n, 900) : rc;
        fault_at = -1;
        needs_destroy(n);
    }
    ok(rc == 0 && fails > 5, "memory may run out at any time (%ld allocations)",
       fails - 1);
}

int main(void)
{
    fence_on = 1;
    test_order();
    test_beside();
    test_memory();
    test_gpus();
    test_largest();
    test_time();
    test_random();
    test_no_memory();
    return done();
}
