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
    static const double alike[] = {10, 10, 10, 10, 10, 10, 10, 10.1};
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
    all = sum_of(alike, waiting, 2);
    lost = efficiency_lost_in(&all);
    ok(lost.ranks == 0 && lost.nodes == 0,
       "who comes last without having worked longer has waited itself");
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

/* Two nodes of two ranks; the waiting of 1 that each has is a message's. */
static void test_tree(void)
{
    static const double useful[] = {10, 12, 16, 20};
    static const double waiting[] = {15, 13, 9, 5};
    struct efficiency_sum two[2] = {0}, all = {0}, none = {0};
    struct efficiency_tree t;
    double lost = 0, product = 1;

    for (uint32_t r = 0; r < 4; r++)
        efficiency_add_rank(&two[r / 2], r, useful[r], waiting[r]);
    efficiency_add_node(&all, &two[0]);
    efficiency_add_node(&all, &two[1]);
    t = efficiency_tree_of(&all, 18, 4);
    is_near(t.factor[EFFICIENCY_NODES], 14.5 / 18, 1e-12, "between nodes");
    is_near(t.factor[EFFICIENCY_WITHIN], 18.0 / 20, 1e-12, "within them");
    is_near(t.factor[EFFICIENCY_TRANSFER], 24.0 / 25, 1e-12, "transfer");
    is_near(t.factor[EFFICIENCY_SERIALISATION], 20.0 / 24, 1e-12,
            "serialisation");
    for (int i = 0; i < EFFICIENCY_FACTORS; i++) {
        lost += t.lost[i];
        product *= t.factor[i];
    }
    is_near(product, efficiency_of(&all).parallel, 1e-12, "their product");
    is_near(lost, 100 - 58, 1e-9, "what they lose is all that is not useful");
    is_near(t.lost[EFFICIENCY_TRANSFER], 4, 1e-12, "the messages are of that");
    t = efficiency_tree_of(&all, 0, 1000);
    is_near(t.factor[EFFICIENCY_TRANSFER], 20.0 / 25, 1e-12,
            "messages take no more than there is");
    is_near(t.factor[EFFICIENCY_SERIALISATION], 1, 1e-12, "then all of it");
    t = efficiency_tree_of(&none, 0, 0);
    ok(t.factor[0] == 1 && t.lost[0] == 0, "of nobody nothing is lost");
}

int main(void)
{
    test_efficiency();
    test_threads();
    test_lost();
    test_last();
    test_tree();
    return done();
}
