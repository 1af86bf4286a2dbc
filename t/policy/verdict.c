/* SPDX-License-Identifier: BSD-2-Clause */
/* Each verdict on numbers that one can check by hand. */
#include "policy/verdict.h"
#include "tap.h"

#define NODES 4
#define RANKS 8
#define S     1e9

static struct verdict_rank rank[RANKS];
static struct verdict_node node[NODES];
static struct verdict_in in;
static struct efficiency_sum all;
static double scratch[RANKS];

/* Two ranks a node on CPUs of their own, which spin while they wait, until the
 * busiest has done its useful seconds. */
static void begin(const double useful[RANKS])
{
    double most = 0;

    for (int i = 0; i < RANKS; i++)
        most = useful[i] > most ? useful[i] : most;
    memset(node, 0, sizeof node);
    for (int i = 0; i < RANKS; i++) {
        rank[i] = (struct verdict_rank){.rank = (uint32_t)i,
                                        .node = (size_t)i / 2,
                                        .useful = useful[i] * S,
                                        .waiting = (most - useful[i]) * S,
                                        .cpu = most * S};
        node[i / 2].cpus = 2;
        node[i / 2].speed = 10;
        node[i / 2].own_cpu = most * S;
    }
    in = (struct verdict_in){.rank = rank,
                             .n = RANKS,
                             .node = node,
                             .nodes = NODES,
                             .all = &all,
                             .noise = VERDICT_NOISE,
                             .worst = NODES,
                             .scratch = scratch};
}

static double calls = 100;

static struct verdict judge(double transfer)
{
    struct efficiency_sum of_node[NODES] = {0};
    double most = 0;

    for (size_t i = 0; i < in.n; i++)
        efficiency_add_rank(&of_node[rank[i].node], rank[i].rank,
                            rank[i].useful, rank[i].waiting);
    memset(&all, 0, sizeof all);
    for (int i = 0; i < NODES; i++) {
        efficiency_add_node(&all, &of_node[i]);
        if (of_node[i].n_useful > most)
            most = of_node[i].n_useful;
    }
    all.calls = calls;
    in.tree = efficiency_tree_of(&all, most, transfer);
    return verdict_of(&in);
}

static struct verdict is_judged(enum verdict_cause cause, const char *what)
{
    struct verdict v = judge(0);

    is_str(verdict_name(v.cause), verdict_name(cause), what);
    return v;
}

static const double alike[RANKS] = {10, 10, 10, 10, 10, 10, 10, 10};
static const double one_node[RANKS] = {10, 10, 10, 10, 10, 10, 16, 16};
static const double one_rank[RANKS] = {10, 10, 10, 10, 10, 10, 10, 16};

static void test_even(void)
{
    begin(alike);
    is_judged(VERDICT_EVEN, "all alike");
    begin((double[RANKS]){10, 10, 10, 10, 10, 10, 10, 10.2});
    is_judged(VERDICT_EVEN, "too little to name anybody");
    begin(alike);
    in.n = 1;
    rank[0].waiting = 10 * S;
    is_judged(VERDICT_EVEN, "a rank that is alone");
    begin((double[RANKS]){0});
    is_judged(VERDICT_EVEN, "nobody does a thing");
    in.n = 0;
    is_judged(VERDICT_EVEN, "of nobody nothing is known");
}

static void test_work(void)
{
    struct verdict v;

    begin(one_rank);
    v = is_judged(VERDICT_WORK, "one rank has more to do");
    ok(v.is_rank && v.rank == 7 && v.node == 3, "which is named");
    is_near(v.apart, 1.6, 1e-9, "by how much");
    begin(one_node);
    v = is_judged(VERDICT_WORK, "all ranks of a node have");
    ok(!v.is_rank && v.node == 3, "which is named");
    is_near(v.work, 1.6, 1e-9, "its CPU time is that much more");
    in.worst = 1;
    ok(judge(0).node == 3, "also where others were last in most regions");
    in.worst = NODES;
    node[3].speed = 9.6;
    is_judged(VERDICT_WORK, "a probe within its noise is no evidence");
    begin((double[RANKS]){1, 10, 10, 10, 10, 10, 10, 10});
    for (int i = 1; i < RANKS; i++)
        rank[i].waiting = 1 * S;
    v = is_judged(VERDICT_LESS, "one has less: the others are not guilty");
    ok(v.is_rank && v.rank == 0, "it is named");
}

static void test_outlier(void)
{
    struct verdict v;

    begin((double[RANKS]){10, 10, 10, 10, 10, 200, 60, 60});
    in.worst = 3;
    v = is_judged(VERDICT_WORK, "one that is far off among the others");
    is_near(v.longer, 6, 1e-9, "does not spoil what is usual");
}

/* Of the node's ranks a second of CPU takes longer. */
static void take_cpu(size_t of, double part)
{
    for (int i = 0; i < RANKS; i++)
        if (rank[i].node == of) {
            rank[i].cpu = (1 - part) * (rank[i].useful + rank[i].waiting);
            rank[i].delay = part * (rank[i].useful + rank[i].waiting);
        }
    node[of].own_cpu *= 1 - part;
}

static void test_cpu(void)
{
    struct verdict v;

    begin(one_node);
    take_cpu(3, 0.375);
    node[3].others_cpu = 12 * S;
    v = is_judged(VERDICT_CPU, "a neighbour takes the CPU");
    ok(v.who == VERDICT_OTHERS && v.node == 3 && !v.is_rank, "others did");
    is_near(v.work, 1, 1e-9, "there is no more work");
    is_near(v.share, 0.625, 1e-9, "how much of its time it had the CPU");
    for (size_t i = 0; i < NODES; i++)
        node[i].throttled = 6 * S;
    ok(judge(0).who == VERDICT_OTHERS, "also where all nodes have a quota");
    rank[6].throttled = rank[7].throttled = 6 * S;
    ok(judge(0).who == VERDICT_QUOTA, "a quota of the ranks");
    begin(one_node);
    take_cpu(3, 0.375);
    node[3].throttled = 6 * S;
    node[3].speed = 9.4;
    v = is_judged(VERDICT_CPU, "a quota of the node, of which the probe knew "
                               "nothing");
    ok(v.who == VERDICT_QUOTA, "it is said to be that");
    node[3].speed = 6;
    v = is_judged(VERDICT_SLOW, "where the probe was slow, too, the node is");
    ok(v.who == VERDICT_QUOTA, "by its quota");
    begin(one_rank);
    rank[7].cpu = 16 * S;
    rank[7].delay = 48 * S; /* four threads on one CPU */
    v = is_judged(VERDICT_CPU, "threads of a rank take each other's CPU");
    ok(v.who == VERDICT_OWN && v.is_rank && v.rank == 7, "its own");
    begin(one_node);
    take_cpu(3, 0.375);
    node[3].cpus = 1;
    node[3].own_cpu = 16 * S;
    ok(judge(0).who == VERDICT_OWN, "more ranks than CPUs");
}

/* All nodes have the same quota, and one rank twice the work. */
static void test_quota_of_all(void)
{
    begin((double[RANKS]){10, 10, 10, 10, 10, 10, 10, 20});
    for (size_t i = 0; i < NODES; i++) {
        take_cpu(i, 0.7);
        node[i].throttled = 14 * S;
    }
    ok(is_judged(VERDICT_WORK, "who has more to do under it").is_rank,
       "is found all the same");
}

static void test_slow(void)
{
    struct verdict v;

    begin(one_node);
    node[3].speed = 6.2;
    v = is_judged(VERDICT_SLOW, "at full CPU time, and the probe says so");
    is_near(v.speed, 0.62, 1e-9, "how fast it is");
    begin(alike);
    node[3].speed = 6.2;
    is_judged(VERDICT_EVEN, "a slow probe alone is no evidence");
    begin(one_rank);
    node[3].speed = 6.2;
    is_judged(VERDICT_WORK, "nor against one rank of the node");
    begin(one_node);
    for (int i = 0; i < RANKS; i++)
        rank[i].cpu = 0;
    is_judged(VERDICT_WORK, "without CPU time by the probe alone");
    node[3].speed = 0;
    is_judged(VERDICT_UNKNOWN, "without either it may be both");
    node[3].speed = 6.2;
    is_judged(VERDICT_SLOW, "or the node that is slow");
}

static void test_io(void)
{
    struct verdict v;

    begin(one_rank);
    rank[7].cpu = 8 * S;
    v = is_judged(VERDICT_IO, "neither CPU nor delay");
    ok(v.is_rank && v.rank == 7 && !v.by_device, "it is not known of what");
    rank[7].io_wait = 7 * S;
    ok(judge(0).by_device, "unless the kernel says so");
    begin(one_node);
    node[3].speed = 5.2;
    rank[6].cpu = rank[7].cpu = 6 * S;
    is_judged(VERDICT_IO, "a probe does not make a slow CPU of it");
    begin((double[RANKS]){1, 1, 1, 1, 1, 1, 1, 3.8});
    for (int i = 0; i < RANKS; i++) {
        rank[i].cpu = 1.1 * S;
        rank[i].delay = 2.7 * S;
    }
    rank[7].cpu = 0.4 * S;
    rank[7].delay = 2.1 * S;
    is_judged(VERDICT_IO, "on nodes where all wait for CPUs, too");
    begin(alike);
    for (int i = 0; i < RANKS; i++)
        rank[i].waiting = rank[i].cpu = 10 * S;
    rank[0].io = 8 * S;
    v = is_judged(VERDICT_IO, "a rank that writes while the others wait");
    ok(v.is_rank && v.rank == 0 && v.by_device, "which is named");
}

static void test_moves(void)
{
    begin(alike);
    for (int i = 0; i < RANKS; i++)
        rank[i].waiting = 5 * S;
    in.regional = 8 * 5 * S;
    in.most_last = 0.26;
    node[1].speed = 9.6;
    is_judged(VERDICT_MOVES, "in turn, on nodes that are equal");
    in.regional = 8 * 5 * S;
    in.most_last = 0.6;
    is_judged(VERDICT_MOVES, "with one more often, and no work that is more");
    for (int i = 0; i < RANKS; i++)
        rank[i].waiting = 0.9 * S;
    in.regional = 8 * 0.9 * S;
    is_judged(VERDICT_EVEN, "not by what CPUs that are shared make of it");
}

static void test_communication(void)
{
    struct verdict v;

    begin(alike);
    for (int i = 0; i < RANKS; i++)
        rank[i].waiting = 30 * S;
    is_judged(VERDICT_SERIALISATION, "in a pipeline all wait, for nobody");
    v = judge(8 * 20 * S);
    is_int(v.cause, VERDICT_TRANSFER, "or for what the messages take");
    is_str(verdict_name(v.cause), "communication", "it has one name");
    /* Neighbours wait for each other, and all of them for one with more to do. */
    begin(one_node);
    for (int i = 0; i < RANKS; i++)
        rank[i].waiting += 6 * S;
    for (int i = 0; i < RANKS; i++)
        rank[i].cpu = rank[i].useful + rank[i].waiting;
    in.worst = 3;
    v = is_judged(VERDICT_WORK, "more work, where waiting in turn is more");
    is_int((int)v.node, 3, "of that node");
    begin((double[RANKS]){10, 10, 10, 10, 10, 10, 11, 11});
    for (int i = 0; i < RANKS; i++)
        rank[i].waiting += 6 * S;
    in.worst = 3;
    is_judged(VERDICT_SERIALISATION, "not where that is a small part of it");
    begin(alike);
    for (int i = 0; i < RANKS; i++)
        rank[i].waiting = 30 * S;
    calls = 0;
    (void)is_judged(VERDICT_EVEN, "tasks without MPI wait for nobody");
    calls = 100;
}

static void test_names(void)
{
    ok(!verdict_who_name(VERDICT_NOBODY), "nobody has no name");
    is_str(verdict_who_name(VERDICT_OWN), "own threads", "others have");
}

int main(void)
{
    test_even();
    test_work();
    test_outlier();
    test_cpu();
    test_quota_of_all();
    test_slow();
    test_io();
    test_moves();
    test_communication();
    test_names();
    return done();
}
