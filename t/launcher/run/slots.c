/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The slots of nodes, in a row: which is whose, and what part of its node's
 * metric it has.
 */
#include "launcher/run/slots.h"
#include "fault.h"
#include "tap.h"

static void test_one_each(void)
{
    struct slots s;

    ok(slots_init(&s, 3, NULL) == 0 && s.n == 3 && s.nodes == 3,
       "without numbers each node has one slot");
    for (size_t i = 0; i < 3; i++)
        ok(s.node[i] == i && s.first[i] == i && slots_of(&s, i) == 1
               && slots_number(&s, i) == 0,
           "which is its first");
    slots_clear(&s);
    slots_clear(&s);
    ok(!s.node && s.n == 0, "what is cleared may be cleared again");
}

static void test_uneven(void)
{
    static const uint32_t each[] = {2, 0, 3, 1};
    static const size_t node[] = {0, 0, 2, 2, 2, 3};
    static const size_t group[] = {0, 0, 2, 2, 2, 5};
    static const uint32_t number[] = {0, 1, 0, 1, 2, 0};
    struct slots s;

    ok(slots_init(&s, 4, each) == 0 && s.n == 6, "their numbers add up");
    for (size_t i = 0; i < s.n; i++)
        ok(s.node[i] == node[i] && slots_number(&s, i) == number[i],
           "a slot knows its node, and its number there");
    for (size_t i = 0; i < s.n; i++)
        is_int((intmax_t)s.group[i], (intmax_t)group[i],
               "and the first of that node, which is below their number");
    for (size_t i = 0; i < 4; i++)
        is_int((intmax_t)slots_of(&s, i), each[i],
               "a node has as many as it should");
    is_int((intmax_t)s.first[4], 6, "behind the last node is the end");
    slots_clear(&s);
}

static void test_metrics(void)
{
    static const uint32_t each[] = {1, 4};
    const struct metric node[] = {
        {.JL = 20, .X = {20}, .CM = {20}, .CU = {100}},
        {.JL = 80, .X = {80}, .CM = {80}, .CU = {100}}};
    struct metric slot[5];
    double sum = 0;
    struct slots s;

    if (slots_init(&s, 2, each) < 0)
        bail("no memory");
    slots_metrics(&s, node, slot);
    for (size_t i = 0; i < 5; i++) {
        is_near(slot[i].JL, 20, 1e-9, "a node's load is divided evenly");
        ok(slot[i].X[0] == slot[i].JL && slot[i].CM[0] == slot[i].JL,
           "and so is its share of what was measured");
        is_near(slot[i].CU[0], 100, 1e-9, "its utilization is its own");
        sum += slot[i].JL;
    }
    is_near(sum, 100, 1e-9, "the loads add up to what they were");
    slots_clear(&s);
}

static void test_no_memory(void)
{
    struct slots s;
    int rc = -1;
    long n = 0;

    for (fault_at = n; rc < 0 && n < 10; fault_at = ++n) {
        rc = slots_init(&s, 2, NULL);
        if (rc < 0)
            ok(!s.node && !s.first && s.n == 0,
               "without memory nothing is there");
    }
    fault_at = -1;
    ok(rc == 0 && n > 1, "until there is enough");
    slots_clear(&s);
}

int main(void)
{
    test_one_each();
    test_uneven();
    test_metrics();
    test_no_memory();
    return done();
}
