/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/levels_simulation.h"
#include "policy/random.h"

#include <math.h>
#include <string.h>

#define FULL 1e6 /* limit at which work is given in seconds */

/* Behind it: the members of each level, their firsts and budgets, the work of
 * each core, room for a step. */
struct simulation {
    const struct levels_simulation_setup *setup;
    struct rng rng;
    struct power_level level[SIMULATED_LEVELS];
    double *work;
    void *room;
};

static const char *const names[SIMULATED_LEVELS] = {"core", "socket", "node",
                                                    "rack"};

const char *simulated_level_name(enum simulated_level level)
{
    return names[level];
}

enum simulated_level simulated_level_find(const char *name)
{
    enum simulated_level k = SIMULATED_CORE;

    while (k < SIMULATED_LEVELS && strcmp(name, names[k]) != 0)
        k++;
    return k;
}

/* --- the room ------------------------------------------------------------- */

static size_t racks_of(const struct levels_simulation_setup *s)
{
    return (s->nodes - 1) / s->rack + 1;
}

static size_t count(const struct levels_simulation_setup *s,
                    enum simulated_level level)
{
    if (level == SIMULATED_RACK)
        return racks_of(s);
    if (level == SIMULATED_NODE)
        return s->nodes;
    return s->nodes * s->sockets * (level == SIMULATED_CORE ? s->cores : 1);
}

/* Members of a group of that level, as many as it can have. */
static size_t members_of(const struct levels_simulation_setup *s,
                         enum simulated_level level)
{
    return level == SIMULATED_SOCKET ? s->cores
           : level == SIMULATED_NODE ? s->sockets
                                     : s->rack;
}

static size_t most_of(const struct levels_simulation_setup *s)
{
    size_t most = racks_of(s);

    for (unsigned k = SIMULATED_SOCKET; k < SIMULATED_LEVELS; k++) {
        size_t n = members_of(s, (enum simulated_level)k);

        most = n > most ? n : most;
    }
    return most < s->nodes * s->sockets * s->cores
               ? most
               : s->nodes * s->sockets * s->cores;
}

static int is_small(const struct levels_simulation_setup *s)
{
    return s->nodes > 0 && s->sockets > 0 && s->cores > 0 && s->rack > 0
           && s->nodes <= SIMULATED_CORES_MAX
           && s->sockets <= SIMULATED_CORES_MAX / s->nodes
           && s->cores <= SIMULATED_CORES_MAX / s->nodes / s->sockets;
}

static size_t round_up(size_t bytes)
{
    return (bytes + sizeof(double) - 1) / sizeof(double) * sizeof(double);
}

size_t levels_simulation_bytes(const struct levels_simulation_setup *s)
{
    size_t bytes = round_up(sizeof(struct simulation));

    if (!is_small(s))
        return 0;
    for (unsigned k = 0; k < SIMULATED_LEVELS; k++) {
        size_t n = count(s, (enum simulated_level)k);

        bytes += n * sizeof(struct power_node)
                 + round_up((n + 1) * sizeof(uint32_t));
    }
    return bytes + racks_of(s) * sizeof(uint64_t)
           + count(s, SIMULATED_CORE) * sizeof(double)
           + power_bytes(most_of(s));
}

static void *take(char **at, size_t bytes)
{
    void *taken = *at;

    *at += round_up(bytes);
    return taken;
}

/* --- the tree ------------------------------------------------------------- */

static void grow_level(struct simulation *s, enum simulated_level k, char **at)
{
    const struct levels_simulation_setup *setup = s->setup;
    struct power_level *level = &s->level[k];
    uint32_t *first;

    *level = (struct power_level){.n = count(setup, k),
                                  .how = AGGREGATE_MIN,
                                  .is_steered = setup->steered >> k & 1};
    level->node = take(at, level->n * sizeof *level->node);
    first = take(at, (level->n + 1) * sizeof *first);
    if (k == SIMULATED_CORE)
        return;
    for (size_t i = 0; i <= level->n; i++) {
        size_t begin = i * members_of(setup, k);

        first[i] = (uint32_t)(begin < level[-1].n ? begin : level[-1].n);
    }
    level->first = first;
    if (level[-1].is_steered) /* it will be balanced within */
        level->how = AGGREGATE_MEAN;
}

static void grow(struct simulation *s)
{
    char *at = (char *)s + round_up(sizeof *s);
    uint64_t *budget;

    for (unsigned k = 0; k < SIMULATED_LEVELS; k++)
        grow_level(s, (enum simulated_level)k, &at);
    budget = take(&at, racks_of(s->setup) * sizeof *budget);
    for (size_t i = 0; i < racks_of(s->setup); i++)
        budget[i] = s->setup->budget;
    s->level[SIMULATED_RACK].budget = budget;
    s->work = take(&at, count(s->setup, SIMULATED_CORE) * sizeof *s->work);
    s->room = at;
}

static double factor(struct simulation *s)
{
    double uneven = s->setup->uneven;

    return uneven > 0 ? exp(uneven * random_normal(&s->rng)) : 1;
}

static void share_work(struct simulation *s)
{
    const struct levels_simulation_setup *setup = s->setup;
    double rack = 1, *work = s->work;

    for (size_t i = 0; i < setup->nodes; i++) {
        double node;

        if (i % setup->rack == 0)
            rack = factor(s);
        node = setup->work[i] * rack * factor(s);
        for (size_t k = 0; k < setup->sockets; k++) {
            double socket = node * factor(s);

            for (size_t c = 0; c < setup->cores; c++)
                *work++ = socket * factor(s);
        }
    }
}

static int holds(const struct levels_simulation_setup *s)
{
    for (size_t i = 0; i < s->nodes; i++)
        if (!isfinite(s->work[i]) || !(s->work[i] > 0))
            return 0;
    return is_small(s) && s->floor > 0 && s->floor <= s->limit
           && s->limit <= s->ceiling
           && s->ceiling <= POWER_LIMIT_MAX / SIMULATED_CORES_MAX
           && isfinite(s->exponent) && s->exponent > 0 && isfinite(s->noise)
           && s->noise >= 0 && isfinite(s->uneven) && s->uneven >= 0
           && s->rule.bound >= 0 && s->rule.band >= 0 && s->rule.gain > 0
           && s->rule.gain <= 1;
}

int levels_simulation_init(void *state,
                           const struct levels_simulation_setup *setup)
{
    struct simulation *s = state;

    if (!holds(setup))
        return -1;
    s->setup = setup;
    random_init(&s->rng, GENERATOR_LCG32, setup->seed);
    grow(s);
    share_work(s);
    for (size_t i = 0; i < s->level[0].n; i++)
        s->level[0].node[i] = (struct power_node){.limit = setup->limit,
                                                  .floor = setup->floor,
                                                  .ceiling = setup->ceiling};
    return power_levels_fit(s->level, SIMULATED_LEVELS) > 0 ? -2 : 0;
}

/* --- a region ------------------------------------------------------------- */

static double speed(const struct simulation *s, size_t core)
{
    double full = (double)s->level[0].node[core].limit / FULL;

    return s->setup->exponent < 1 || s->setup->exponent > 1
               ? pow(full, s->setup->exponent)
               : full;
}

/* As power_skew(), without room for all of them. */
static double skew_of(const struct power_level *cores, double sum, double most)
{
    double mean = sum / (double)cores->n, squares = 0;

    for (size_t i = 0; i < cores->n; i++) {
        double apart = cores->node[i].progress - mean;

        squares += apart * apart;
    }
    return squares / (double)cores->n / (mean * most);
}

void levels_simulation_region(void *state, struct levels_region *region)
{
    struct simulation *s = state;
    size_t n = s->level[0].n;
    double noise = s->setup->noise, busy = 0, last = 0, work = 0, speeds = 0;
    double sum = 0, most = 0;

    region->power = 0;
    for (size_t i = 0; i < n; i++) {
        struct power_node *core = &s->level[0].node[i];
        double fast = speed(s, i), took = s->work[i] / fast;

        if (noise > 0)
            took *= exp(noise * random_normal(&s->rng));
        core->progress = 1 / took;
        sum += core->progress;
        most = core->progress > most ? core->progress : most;
        busy += took;
        last = took > last ? took : last;
        work += s->work[i];
        speeds += fast;
        region->power += core->limit;
    }
    region->seconds = last;
    region->waiting = 1 - busy / ((double)n * last);
    region->ideal = last / (work / speeds);
    region->skew = skew_of(&s->level[0], sum, most);
}

size_t levels_simulation_step(void *state)
{
    struct simulation *s = state;

    return power_levels_step(&s->setup->rule, s->level, SIMULATED_LEVELS,
                             s->room);
}

uint64_t levels_simulation_rack(const void *state, size_t i)
{
    const struct simulation *s = state;
    const struct levels_simulation_setup *setup = s->setup;
    size_t each = setup->sockets * setup->cores;
    size_t begin = i * setup->rack * each, end = begin + setup->rack * each;
    uint64_t sum = 0;

    for (size_t c = begin; c < end && c < s->level[0].n; c++)
        sum += s->level[0].node[c].limit;
    return sum;
}
