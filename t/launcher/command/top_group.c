/* SPDX-License-Identifier: BSD-2-Clause */
/* Nodes to racks, racks to the step. */
#include "launcher/command/top_group.h"
#include "tap.h"

static struct top_node node[] = {
    {.name = "n0", .rack = "s10", .speed = 1},
    {.name = "n1", .rack = "s9", .speed = 2},
    {.name = "n2", .rack = "s10", .speed = 3},
    {.name = "n3", .rack = "s9", .speed = 4},
    {.name = "n4", .rack = "s9", .speed = 9},
    {.name = "n5", .rack = "s9", .speed = 0}, /* not known yet */
    {.name = "n6", .rack = "", .speed = 100},
};

static void test_racks(void)
{
    struct top_step step = {.node = node, .n = 7};
    struct top_group *rack, all;

    step.aggregate = AGGREGATE_MEDIAN;
    is_int((int)top_groups_find(&step, &rack, &all), 2,
           "racks are those that are known");
    is_str(rack[0].rack, "s9", "9 comes before 10");
    is_int((int)rack[0].n, 3, "of the nodes whose speed is known");
    ok(rack[0].speed[AGGREGATE_MIN] == 2 && rack[0].speed[AGGREGATE_MEAN] == 5
           && rack[0].speed[AGGREGATE_MEDIAN] == 4
           && fabs(rack[0].speed[AGGREGATE_VARIANCE] - 26.0 / 3) < 1e-12
           && fabs(rack[0].speed[AGGREGATE_DEVIATION] - sqrt(26.0 / 3)) < 1e-12,
       "least, mean, median, variance and deviation of a rack");
    ok(all.n == 2 && all.speed[AGGREGATE_MIN] == 2
           && all.speed[AGGREGATE_MEAN] == 3
           && all.speed[AGGREGATE_VARIANCE] == 1,
       "the step is of its racks, for which their medians stand");
    free(rack);
    step.aggregate = AGGREGATE_MIN;
    (void)top_groups_find(&step, &rack, &all);
    ok(all.speed[AGGREGATE_MIN] == 1 && all.speed[AGGREGATE_MEAN] == 1.5,
       "or their least, as the site has it");
    free(rack);
}

static void test_none(void)
{
    struct top_node plain[] = {{.name = "n0", .speed = 1},
                               {.name = "n1", .speed = 3}};
    struct top_step step = {.node = plain, .n = 2};
    struct top_group *rack, all;

    is_int((int)top_groups_find(&step, &rack, &all), 0, "no topology, no rack");
    ok(!rack && all.n == 2 && all.speed[AGGREGATE_MEAN] == 2,
       "the step is of its nodes then");
    step.node[0].speed = step.node[1].speed = 0;
    is_int((int)top_groups_find(&step, &rack, &all), 0,
           "nor before anything is known");
    ok(!rack && all.n == 0 && all.speed[AGGREGATE_MIN] == 0,
       "all there is is nothing");
}

int main(void)
{
    test_racks();
    test_none();
    return done();
}
