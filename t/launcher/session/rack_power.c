/* SPDX-License-Identifier: BSD-2-Clause */
/* Who is in which rack, and what racks may have; the session is ours. */
#include "launcher/session/rack_power.h"
#include "tap.h"

#define NODES 6

static struct node named[NODES];
static struct config_power config;
static const struct power_rule pairs = {POWER_PAIR, 0, 0, 1};

size_t session_size(const struct session *s)
{
    (void)s;
    return NODES;
}

const struct node *session_node(const struct session *s, size_t node)
{
    (void)s;
    return &named[node];
}

/* Racks of the nodes, "ababa." where . is one that is not known. */
static struct rack_power *racks(const char *of)
{
    struct rack_power *r;

    for (size_t i = 0; i < NODES; i++)
        snprintf(named[i].rack, sizeof named[i].rack, "%.1s",
                 of[i] == '.' ? "" : &of[i]);
    r = rack_power_new(NULL, &config);
    if (!r)
        bail("no memory");
    return r;
}

static void budget(const char *rack, double most)
{
    config.budgets = 1;
    snprintf(config.budget[0].rack, sizeof config.budget[0].rack, "%s", rack);
    config.budget[0].most = most;
}

static void test_start(void)
{
    static const struct {
        const char *what, *unit;
        double most;
        uint64_t limit, floor, want;
    } rows[] = {
        {"no budget", "uW", 0, 50000000, 10000000, 50000000},
        {"a third of 120 W", "uW", 120, 50000000, 10000000, 40000000},
        {"more than it would have", "uW", 1200, 50000000, 10000000, 50000000},
        {"less than its floor", "uW", 12, 50000000, 10000000, 10000000},
        {"MHz", "kHz", 6000, 2400000, 800000, 2000000},
        {"CPUs", "us/s", 24, 16000000, 1000000, 8000000},
        {"threads", "threads", 24, 16, 1, 8},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rack_power *r;

        budget("b", rows[i].most);
        r = racks("abbcb.");
        is_int((long long)rack_power_start(r, 4, rows[i].limit, rows[i].floor,
                                           rows[i].unit),
               (long long)rows[i].want, rows[i].what);
        is_int((long long)rack_power_start(r, 5, rows[i].limit, rows[i].floor,
                                           rows[i].unit),
               (long long)rows[i].limit, "one of no known rack has no budget");
        rack_power_free(r);
    }
}

static void test_left(void)
{
    struct rack_power *r;

    budget("b", 10);
    r = racks("abbcb.");
    for (size_t i = 0; i < NODES; i++)
        (void)rack_power_start(r, i, 3, 1, "threads");
    ok(rack_power_left(r, 1) == 10 && rack_power_left(r, 0) == UINT64_MAX,
       "at first a rack can be given its budget, one without it anything");
    rack_power_give(r, 2, 7);
    rack_power_give(r, 0, 7);
    ok(rack_power_left(r, 4) == 3, "what one has the others there have not");
    rack_power_give(r, 1, 7);
    ok(rack_power_left(r, 4) == 0, "above its budget it gets nothing");
    rack_power_clear(r);
    ok(rack_power_left(r, 4) == 10, "and all anew");
    rack_power_free(r);
}

static void test_step(void)
{
    static const double progress[NODES] = {3, 1, 1, 3, 1, 3};
    struct power_node node[NODES], flat[NODES];
    double room[NODES * 4];
    struct rack_power *r;

    for (size_t i = 0; i < NODES; i++)
        flat[i] = node[i] = (struct power_node){progress[i], 1000, 100, 4000};
    if (sizeof room < power_bytes(NODES))
        bail("no room");
    (void)power_step(&pairs, flat, NODES, room);
    r = racks("aaaaaa");
    ok(rack_power_step(r, &pairs, node) > 0
           && memcmp(node, flat, sizeof node) == 0,
       "one rack: the step of power.h");
    rack_power_free(r);
    budget("b", 3600);
    r = racks("abbaba");
    for (size_t i = 0; i < NODES; i++) {
        (void)rack_power_start(r, i, 1000, 100, "threads");
        node[i] = (struct power_node){progress[i], 1000, 100, 4000};
    }
    ok(rack_power_step(r, &pairs, node) > 0, "two racks, not side by side");
    for (size_t i = 0; i < NODES; i++)
        is_int((int)node[i].limit, progress[i] > 2 ? 800 : 1200,
               "the slow one gets as much as its budget lets it, all alike");
    rack_power_free(r);
}

int main(void)
{
    test_start();
    test_left();
    test_step();
    rack_power_free(NULL);
    return done();
}
