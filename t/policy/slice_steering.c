/* SPDX-License-Identifier: BSD-2-Clause */
/* Who gives units away: pairs as of power.h, with time in place of progress. */
#include "policy/slice_steering.h"
#include "tap.h"

#define N 4

static const struct power_rule pair = {
    .variant = POWER_PAIR, .bound = 0.0002, .band = 0.005, .gain = 1};
static struct power_node power[N + 1];
static uint64_t give[N + 1];

static size_t step(const struct power_rule *rule,
                   const struct tail_node node[N],
                   uint64_t grain)
{
    char room[1024];
    size_t givers;

    if (power_bytes(N) > sizeof room)
        bail("no room");
    power[N].limit = give[N] = 77;
    givers = slice_steering_step(rule, node, N, grain, give, power, room);
    ok(power[N].limit == 77 && give[N] == 77, "nothing is written behind them");
    return givers;
}

static int gives(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    return give[0] == a && give[1] == b && give[2] == c && give[3] == d;
}

static void test_pairs(void)
{
    /* Seconds left: 10, 10, 10, 40. */
    static const struct tail_node slow[N] = {
        {4, 4, 0, 36}, {4, 4, 0, 36}, {4, 4, 0, 36}, {1, 4, 0, 36}};
    static const struct tail_node even[N] = {
        {4, 4, 0, 36}, {2, 2, 0, 18}, {1, 1, 0, 9}, {8, 8, 0, 72}};
    static const struct tail_node stuck[N] = {
        {4, 4, 0, 36}, {4, 4, 0, 36}, {4, 4, 0, 36}, {0.1, 40, 0, 0}};
    struct power_rule off = pair;

    is_int((int)step(&pair, slow, 1), 1, "the slowest of four gives");
    ok(gives(0, 0, 0, 24), "so much that it and the fastest end together");
    (void)step(&pair, slow, 10);
    ok(gives(0, 0, 0, 20), "in whole grains, to the grain below");
    is_int((int)step(&pair, even, 1), 0,
           "slices that end together stay as they are");
    ok(gives(0, 0, 0, 0), "all of them");
    is_int((int)step(&pair, stuck, 1), 0, "what was sent cannot be given");
    off.variant = POWER_OFF;
    is_int((int)step(&off, slow, 1), 0, "off is off");
}

static void test_unknown(void)
{
    static const struct tail_node unknown[N] = {
        {4, 4, 0, 36}, {4, 4, 0, 36}, {0, 4, 0, 36}, {1, 4, 0, 36}};
    static const struct tail_node late[N] = {
        {4, 4, 0, 36}, {4, 4, 0, 36}, {4, 4, 60, 36}, {0, 0, 0, 0}};

    (void)step(&pair, unknown, 1);
    ok(give[2] == 0 && give[3] > 0, "an unknown speed takes no part");
    (void)step(&pair, late, 1);
    /* Seconds left: 10, 10 and 9, not 9 - 59. */
    ok(gives(2, 0, 0, 0), "what is overdue is as good as done");
}

int main(void)
{
    test_pairs();
    test_unknown();
    return done();
}
