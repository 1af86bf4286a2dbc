/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/rack_power.h"
#include "launcher/base/notice.h"
#include "policy/power_levels.h"

#include <stdlib.h>
#include <string.h>

enum { NODES, RACKS, LEVELS };

struct rack {
    const char *name; /* "": of nodes whose rack is not known */
    double most;      /* as in the configuration; 0: no budget */
    uint64_t given;
    int told;
};

struct rack_power {
    size_t n, racks;
    size_t *node;      /* n, by rack */
    uint32_t *rack_of; /* n: of each node */
    struct rack *rack;
    struct power_level level[LEVELS];
    struct power_node *sorted, *sums; /* n, racks */
    uint32_t *first;                  /* racks + 1 */
    uint64_t *budget;                 /* racks, in the actuator's unit */
    void *room;
};

/* --- who is where --------------------------------------------------------- */

/* To sort by. */
struct place {
    const char *rack;
    size_t node;
};

static int by_rack(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    int order = strcmp(x->rack, y->rack);

    return order ? order : (x->node > y->node) - (x->node < y->node);
}

static double budget_of(const struct config_power *config, const char *rack)
{
    for (size_t i = 0; i < config->budgets; i++)
        if (strcmp(config->budget[i].rack, rack) == 0)
            return config->budget[i].most;
    return 0;
}

/* place is sorted. */
static void find_racks(struct rack_power *r,
                       const struct place place[],
                       const struct config_power *config)
{
    for (size_t i = 0; i < r->n; i++) {
        if (i == 0 || strcmp(place[i].rack, place[i - 1].rack) != 0) {
            r->rack[r->racks] = (struct rack){
                .name = place[i].rack,
                .most = budget_of(config, place[i].rack),
            };
            r->first[r->racks++] = (uint32_t)i;
        }
        r->node[i] = place[i].node;
        r->rack_of[place[i].node] = (uint32_t)(r->racks - 1);
    }
    r->first[r->racks] = (uint32_t)r->n;
    r->level[NODES] =
        (struct power_level){.n = r->n, .node = r->sorted, .is_steered = 1};
    r->level[RACKS] = (struct power_level){.n = r->racks,
                                           .node = r->sums,
                                           .first = r->first,
                                           .budget = r->budget,
                                           .how = AGGREGATE_MEAN,
                                           .is_steered = 1};
}

struct rack_power *rack_power_new(const struct session *session,
                                  const struct config_power *config)
{
    size_t n = session_size(session);
    struct rack_power *r = calloc(1, sizeof *r);
    struct place *place = calloc(n, sizeof *place);

    if (r) {
        r->n = n;
        r->node = calloc(n, sizeof *r->node);
        r->rack_of = calloc(n, sizeof *r->rack_of);
        r->rack = calloc(n, sizeof *r->rack);
        r->sorted = calloc(n, sizeof *r->sorted);
        r->sums = calloc(n, sizeof *r->sums);
        r->first = calloc(n + 1, sizeof *r->first);
        r->budget = calloc(n, sizeof *r->budget);
        r->room = malloc(power_bytes(n));
    }
    if (!r || !place || !r->node || !r->rack_of || !r->rack || !r->sorted
        || !r->sums || !r->first || !r->budget || !r->room) {
        rack_power_free(r);
        free(place);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        place[i] = (struct place){session_node(session, i)->rack, i};
    qsort(place, n, sizeof *place, by_rack);
    find_racks(r, place, config);
    free(place);
    return r;
}

void rack_power_free(struct rack_power *r)
{
    if (!r)
        return;
    free(r->node);
    free(r->rack_of);
    free(r->rack);
    free(r->sorted);
    free(r->sums);
    free(r->first);
    free(r->budget);
    free(r->room);
    free(r);
}

/* --- budgets -------------------------------------------------------------- */

/* What is one of them in the configuration. */
static const struct unit {
    const char *name, *configured;
    double steps;
} units[] = {{"uW", "W", 1e6}, {"kHz", "MHz", 1e3}, {"us/s", "CPUs", 1e6}},
  one_by_one = {"", "", 1};

static const struct unit *unit_find(const char *name)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(units[i].name, name) == 0)
            return &units[i];
    return &one_by_one;
}

uint64_t rack_power_start(struct rack_power *r,
                          size_t node,
                          uint64_t limit,
                          uint64_t floor,
                          const char *unit)
{
    uint32_t at = r->rack_of[node];
    struct rack *rack = &r->rack[at];
    const struct unit *u = unit_find(unit);
    size_t nodes = r->first[at + 1] - r->first[at];
    uint64_t part;

    if (!(rack->most > 0))
        return limit;
    r->budget[at] = (uint64_t)(rack->most * u->steps);
    part = r->budget[at] / nodes;
    if (part < floor && !rack->told) {
        rack->told = 1;
        notice("warning: rack %s: its budget of %g %s is below the floors of "
               "its %zu nodes, which keep these: give more, or a lower floor "
               "in power { }",
               rack->name, rack->most, u->configured, nodes);
    }
    if (part < floor)
        return floor;
    return part < limit ? part : limit;
}

void rack_power_clear(struct rack_power *r)
{
    for (size_t i = 0; i < r->racks; i++)
        r->rack[i].given = 0;
}

void rack_power_give(struct rack_power *r, size_t node, uint64_t amount)
{
    r->rack[r->rack_of[node]].given += amount;
}

uint64_t rack_power_left(const struct rack_power *r, size_t node)
{
    uint64_t budget = r->budget[r->rack_of[node]];
    uint64_t given = r->rack[r->rack_of[node]].given;

    if (budget == 0)
        return UINT64_MAX;
    return budget > given ? budget - given : 0;
}

/* --- the step ------------------------------------------------------------- */

size_t rack_power_step(struct rack_power *r,
                       const struct power_rule *rule,
                       struct power_node node[])
{
    size_t changed;

    if (r->racks < 2 || rule->variant == POWER_SAVE) /* nobody gets any */
        return power_step(rule, node, r->n, r->room);
    for (size_t i = 0; i < r->n; i++)
        r->sorted[i] = node[r->node[i]];
    changed = power_levels_step(rule, r->level, LEVELS, r->room);
    for (size_t i = 0; i < r->n; i++)
        node[r->node[i]].limit = r->sorted[i].limit;
    return changed;
}
