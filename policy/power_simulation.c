/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/power_simulation.h"
#include "policy/power_need.h"
#include "policy/power_response.h"
#include "policy/random.h"

#include <math.h>

#define FULL 1e6 /* limit at which work is given in seconds */

struct simulation {
    const struct power_simulation_setup *setup;
    struct rng rng;
    struct steering_worth worth;
    struct power_node *node; /* n */
    struct power_response response;
    struct power_need *need; /* n, behind the nodes, and so on: */
    struct power_seen *seen; /* n */
    uint64_t *tried;         /* n limits */
    uint64_t *before;        /* n limits */
    void *room;
};

size_t power_simulation_bytes(size_t n)
{
    size_t each = sizeof(struct power_node) + sizeof(struct power_need)
                  + sizeof(struct power_seen) + 2 * sizeof(uint64_t)
                  + power_bytes(1);

    if (n > (SIZE_MAX - sizeof(struct simulation)) / each)
        return 0;
    return sizeof(struct simulation) + n * each;
}

static int holds(const struct power_simulation_setup *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (!isfinite(s->work[i]) || !(s->work[i] > 0))
            return 0;
    return s->n > 0 && s->idle < s->floor && (double)s->idle < FULL
           && s->floor <= s->limit && s->limit <= s->ceiling
           && s->ceiling <= POWER_LIMIT_MAX && isfinite(s->exponent)
           && s->exponent > 0 && isfinite(s->noise) && s->noise >= 0
           && s->rule.bound >= 0 && s->rule.band >= 0 && s->rule.gain > 0
           && s->rule.gain <= 1;
}

int power_simulation_init(void *state,
                          const struct power_simulation_setup *setup)
{
    struct simulation *s = state;

    if (!holds(setup))
        return -1;
    s->setup = setup;
    s->node = (struct power_node *)(void *)(s + 1);
    s->need = (struct power_need *)(void *)(s->node + setup->n);
    s->seen = (struct power_seen *)(void *)(s->need + setup->n);
    s->tried = (uint64_t *)(void *)(s->seen + setup->n);
    s->before = s->tried + setup->n;
    s->room = s->before + setup->n;
    s->worth =
        (struct steering_worth){.saves = setup->rule.variant == POWER_SAVE};
    s->response = (struct power_response){.n = 0};
    random_init(&s->rng, GENERATOR_LCG32, setup->seed);
    for (size_t i = 0; i < setup->n; i++) {
        s->need[i] = (struct power_need){.weight = 0};
        s->seen[i] = (struct power_seen){.limit = 0};
        s->node[i] = (struct power_node){.limit = setup->limit,
                                         .floor = setup->floor,
                                         .ceiling = setup->ceiling};
    }
    return 0;
}

static double speed(const struct simulation *s, size_t node)
{
    double idle = (double)s->setup->idle;

    return pow(((double)s->node[node].limit - idle) / (FULL - idle),
               s->setup->exponent);
}

static double region_seconds(struct simulation *s, size_t node)
{
    double noise = s->setup->noise;

    return (s->setup->work[node] / speed(s, node)
            + (s->setup->io ? s->setup->io[node] : 0))
           * (noise > 0 ? exp(noise * random_normal(&s->rng)) : 1);
}

/* Of a node that has waited for so many seconds since it was there. */
static double energy_of(const struct simulation *s,
                        size_t node,
                        double took,
                        double waited)
{
    double limit = (double)s->node[node].limit;
    double waits = s->setup->sleeps ? (double)s->setup->idle : limit;

    return (limit * took + waits * waited) / FULL;
}

static double part_moved(const struct simulation *s)
{
    double start = (double)s->setup->limit, moved = 0;

    for (size_t i = 0; i < s->setup->n; i++)
        moved += fabs((double)s->node[i].limit - start);
    return moved / 2 / start / (double)s->setup->n;
}

static void put_back(struct simulation *s)
{
    for (size_t i = 0; i < s->setup->n; i++) {
        s->tried[i] = s->node[i].limit;
        s->node[i].limit = s->setup->limit;
    }
}

static void resume(struct simulation *s)
{
    for (size_t i = 0; i < s->setup->n; i++)
        s->node[i].limit = s->tried[i];
}

/* How many have changed. */
static size_t move_limits(struct simulation *s)
{
    size_t n = s->setup->n, changed;

    for (size_t i = 0; i < n; i++)
        s->before[i] = s->node[i].limit;
    changed = power_step(&s->setup->rule, s->node, n, s->room);
    for (size_t i = 0; i < n; i++)
        s->node[i].progress *= (double)s->node[i].limit / (double)s->before[i];
    return changed;
}

static enum worth_order what_to_do(struct simulation *s,
                                   const struct power_region *region)
{
    size_t n = s->setup->n;
    struct worth_round round = {
        .seconds = region->seconds,
        .skew = region->skew,
        .promise = power_promise(s->node, n),
        .gain = power_response_gain(&s->response, s->seen, s->node, n),
        .elapsed = region->seconds,
        .loss = power_loss(s->seen, s->node, n)};

    if (s->setup->rule.variant == POWER_SAVE)
        round.promise = round.gain = 0;

    return s->setup->stops ? steering_worth_next(&s->worth, &round)
                           : WORTH_STEER;
}

static void keep_depth(struct simulation *s, double seconds)
{
    int saves = s->setup->rule.variant == POWER_SAVE;

    for (size_t i = 0; i < s->setup->n; i++)
        s->node[i].floor = s->setup->floor;
    power_keep_depth(steering_worth_depth(&s->worth,
                                          saves ? 2 * seconds : seconds,
                                          power_response_most(&s->response)),
                     saves, s->seen, s->node, s->setup->n);
}

/* As launcher/session/steering_decide.c does it. */
static void steer(struct simulation *s, struct power_region *region)
{
    unsigned steps = 1;

    power_response_note(&s->response, s->seen, s->node, s->setup->n);
    if (s->setup->rule.variant != POWER_SAVE)
        steps = power_response_steps(&s->response);
    region->order = what_to_do(s, region);
    region->changed = 0;
    if (region->order == WORTH_PUT_BACK)
        put_back(s);
    if (region->order == WORTH_RESUME)
        resume(s);
    if (region->order != WORTH_STEER)
        return;
    if (s->setup->rule.variant != POWER_SAVE)
        power_need_steady(s->need, s->node, s->setup->n);
    if (s->setup->stops)
        keep_depth(s, region->seconds);
    for (unsigned i = 0; i < steps; i++) {
        size_t changed = move_limits(s);

        region->changed = changed > region->changed ? changed : region->changed;
    }
    steering_worth_stepped(&s->worth, part_moved(s));
}

void power_simulation_next(void *state, struct power_region *region)
{
    struct simulation *s = state;
    size_t n = s->setup->n;
    double busy = 0, last = 0, work = 0, speeds = 0;

    for (size_t i = 0; i < n; i++) {
        double took = region_seconds(s, i);

        s->node[i].progress = 1 / took;
        busy += took;
        last = fmax(last, took);
        work += s->setup->work[i];
        speeds += speed(s, i);
    }
    region->seconds = last;
    region->waiting = 1 - busy / ((double)n * last);
    region->ideal = last / (work / speeds);
    region->energy = 0;
    for (size_t i = 0; i < n; i++) {
        double took = 1 / s->node[i].progress;

        region->energy += energy_of(s, i, took, last - took);
    }
    region->skew = power_skew(s->node, n, s->room);
    steer(s, region);
}

uint64_t power_simulation_limit(const void *state, size_t node)
{
    const struct simulation *s = state;

    return s->node[node].limit;
}
