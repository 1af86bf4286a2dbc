/* SPDX-License-Identifier: BSD-2-Clause */
/* Efficiencies and who made others wait, on numbers that one can check by
 * hand. */
#include "policy/efficiency.h"
#include "tap.h"

#define NODES 4

static struct efficiency_sum node[NODES];

/* Ranks in order over the nodes, so many on each; of each it is useful. */
static struct efficiency_sum sum_of(const double useful[],
                                    const double waiting[],
                                    uint32_t each)
{
    struct efficiency_sum all = {0};

    memset(node, 0, sizeof node);
    for (uint32_t r = 0; r < NODES * each; r++)
        efficiency_add_rank(&node[r / each], r, useful[r], waiting[r]);
    for (int i = 0; i < NODES; i++)
        efficiency_add_node(&all, &node[i]);
    return all;
}

static void test_efficiency(void)
{
    static const double useful[] = {10, 10, 10, 10, 10, 10, 20, 20};
    static const double waiting[] = {15, 15, 15, 15, 15, 15, 5, 5};
    struct efficiency_sum all = sum_of(useful, waiting, 2), none = {0};
    struct efficiency e = efficiency_of(&all);

    is_near(e.balance, 12.5 / 20, 1e-12, "load balance: mean / most useful");
    is_near(e.communication, 20.0 / 25, 1e-12, "communication: most / elapsed");
    is_near(e.parallel, 0.5, 1e-12, "both together");
    e = efficiency_of(&node[3]);
    is_near(e.balance, 1, 1e-12, "a node has its own");
    e = efficiency_of(&none);
    ok(e.balance == 0 && e.communication == 0 && e.parallel == 0,
       "of nobody nothing is known");
    efficiency_add_rank(&none, 3, 7, 0);
    e = efficiency_of(&none);
    ok(e.balance == 1 && e.parallel == 1, "one rank alone waits for nobody");
    memset(&none, 0, sizeof none);
    efficiency_add_rank(&none, 3, 0, 7);
    e = efficiency_of(&none);
    ok(e.balance == 1 && e.communication == 0, "nor does one who only waits");
    memset(&none, 0, sizeof none);
    efficiency_add_rank(&none, 3, 0, 0);
    ok(efficiency_of(&none).parallel == 0, "without a time there is none");
}

/* Two ranks of two threads; the second thread of rank 1 works for a half. */
static void test_threads(void)
{
    struct efficiency_sum a = {0}, b = {0}, all = {0};
    struct efficiency e;

    efficiency_add_rank(&a, 0, 10, 0);
    efficiency_add_threads(&a, 2, 20, 20);
    efficiency_add_rank(&b, 1, 8, 2);
    efficiency_add_threads(&b, 2, 12, 16);
    efficiency_add_node(&all, &a);
    efficiency_add_node(&all, &b);
    e = efficiency_of(&all);
    is_int((int)all.threads, 4, "four threads");
    is_near(e.threads, 32.0 / 36, 1e-12, "busy of the room that they had");
    is_near(e.parallel, 0.9 * 1 * 32 / 36, 1e-12, "the third factor");
    memset(&a, 0, sizeof a);
    efficiency_add_rank(&a, 0, 10, 0);
    ok(efficiency_of(&a).threads == 1, "of no threads nothing is lost");
    efficiency_add_threads(&a, 2, 30, 20);
    ok(efficiency_of(&a).threads == 1, "no more is busy than there is room");
}

static void test_lost(void)
{
    static const double useful[] = {10, 10, 10, 10, 10, 10, 10, 16};
    static const double waiting[] = {6.1, 6.1, 6.1, 6.1, 6.1, 6.1, 6.1, 0.1};
    static const double at_once[] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.2};
    struct efficiency_sum all = sum_of(useful, waiting, 2), one = {0};
    struct efficiency_lost lost = efficiency_lost_in(&all);

    ok(!lost.by_work && all.last == 7, "who waits least comes last");
    is_near(lost.ranks, 42, 1e-9, "seven others wait for what is beyond it");
    is_near(lost.nodes, 21, 1e-9, "three nodes and a half");
    all = sum_of(useful, at_once, 2);
    lost = efficiency_lost_in(&all);
    ok(lost.by_work && all.busiest == 7,
       "where all come at once it is the busiest");
    is_near(lost.ranks, 42, 1e-9, "and the others waited as long");
    is_near(lost.nodes, 21, 1e-9, "as nodes, too");
    efficiency_add_rank(&one, 0, 5, 2);
    lost = efficiency_lost_in(&one);
    ok(lost.ranks == 0 && lost.nodes == 0, "nobody waits for one alone");
    memset(&one, 0, sizeof one);
    lost = efficiency_lost_in(&one);
    ok(lost.ranks == 0 && lost.nodes == 0, "nor where nobody is");
}

static void test_last(void)
{
    struct efficiency_sum all = {0}, a = {0}, b = {0}, none = {0};

    efficiency_add_rank(&a, 1, 5, 2);
    efficiency_add_rank(&b, 2, 6, 1);
    efficiency_add_node(&all, &none);
    efficiency_add_node(&all, &a);
    is_int((int)all.last, 1, "the first is the last so far");
    efficiency_add_node(&all, &b);
    is_int((int)all.last, 2, "until one waits less");
    efficiency_add_node(&all, &a);
    ok(all.ranks == 3 && all.nodes == 3 && all.last == 2 && all.busiest == 2,
       "who it is is known");
}

static void test_cause(void)
{
    static const struct {
        const char *what;
        double useful[8];
        double speed[NODES];
        enum efficiency_cause cause;
    } rows[] = {
        {"all alike",
         {10, 10, 10, 10, 10, 10, 10, 10.2},
         {1, 1, 1, 1},
         EFFICIENCY_EVEN},
        {"a slow node",
         {10, 10, 10, 10, 10, 10, 16, 16},
         {1, 1, 1, 0.62},
         EFFICIENCY_SLOW_NODE},
        {"a node with more to do",
         {10, 10, 10, 10, 10, 10, 16, 16},
         {1, 1, 1, 1},
         EFFICIENCY_NODE_WORK},
        {"one rank with more to do",
         {10, 10, 10, 10, 10, 10, 10, 16},
         {1, 1, 1, 1},
         EFFICIENCY_RANK_WORK},
        {"one rank, of a node that is a little slow",
         {10, 10, 10, 10, 10, 10, 11, 17},
         {1, 1, 1, 0.9},
         EFFICIENCY_RANK_WORK},
        {"a slow node that has more to do, too",
         {10, 10, 10, 10, 10, 10, 18, 18},
         {1, 1, 1, 0.6},
         EFFICIENCY_SLOW_NODE},
        {"a slow node that has less to do in one",
         {10, 10, 10, 10, 10, 10, 14, 16},
         {1, 1, 1, 0.62},
         EFFICIENCY_SLOW_NODE},
        {"a fast node with more to do",
         {10, 10, 10, 10, 10, 10, 16, 16},
         {1, 1, 1, 2},
         EFFICIENCY_NODE_WORK},
        {"a node of which nobody knows",
         {10, 10, 10, 10, 10, 10, 16, 16},
         {1, 1, 1, 0},
         EFFICIENCY_NODE},
        {"others of which nobody knows",
         {10, 10, 10, 10, 10, 10, 16, 16},
         {0, 1, 1, 1},
         EFFICIENCY_NODE},
        {"a rank of a node of which nobody knows",
         {10, 10, 10, 10, 10, 10, 10, 16},
         {0},
         EFFICIENCY_RANK_WORK},
        {"nobody does a thing", {0}, {1, 1, 1, 1}, EFFICIENCY_EVEN},
    };
    static const double waiting[8] = {0};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct efficiency_reason r;

        (void)sum_of(rows[i].useful, waiting, 2);
        r = efficiency_judge(node, rows[i].speed, NODES, 3);
        is_int(r.cause, rows[i].cause, rows[i].what);
    }
}

static void test_cause_of_few(void)
{
    static const double useful[] = {10, 10, 10, 16}, waiting[4] = {0};
    static const double speed[] = {3, 3, 3, 1.875};
    struct efficiency_sum one = {0};
    struct efficiency_reason r;

    (void)sum_of(useful, waiting, 1);
    r = efficiency_judge(node, speed, NODES, 3);
    is_int(r.cause, EFFICIENCY_SLOW_NODE, "a node of one rank");
    is_near(r.longer, 1.6, 1e-12, "how much longer it takes");
    is_near(r.apart, 1, 1e-12, "it has no others");
    is_near(r.speed, 0.625, 1e-12, "how fast it is");
    memset(&node[1], 0, 2 * sizeof *node);
    r = efficiency_judge(node, speed, NODES, 3);
    is_int(r.cause, EFFICIENCY_SLOW_NODE, "nodes without ranks do not count");
    r = efficiency_judge(node, NULL, NODES, 3);
    is_int(r.cause, EFFICIENCY_NODE, "without speeds it may be either");
    r = efficiency_judge(node, speed, NODES, 1);
    is_int(r.cause, EFFICIENCY_EVEN, "a node whose ranks have vanished");
    efficiency_add_rank(&one, 0, 10, 0);
    r = efficiency_judge(&one, speed, 1, 0);
    is_int(r.cause, EFFICIENCY_EVEN, "a rank that is alone");
    efficiency_add_rank(&one, 1, 16, 0);
    r = efficiency_judge(&one, speed, 1, 0);
    is_int(r.cause, EFFICIENCY_RANK_WORK, "two on the only node");
}

int main(void)
{
    test_efficiency();
    test_threads();
    test_lost();
    test_last();
    test_cause();
    test_cause_of_few();
    return done();
}
