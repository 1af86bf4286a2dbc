/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_costs.h"
#include "launcher/run/cost_history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fewer pieces tell more of chance than of the command. */
#define PIECES_LEAST 3

/* Of the nodes' CPUs, as they were measured; 0: they were not. */
static double mean_speed(const struct run *r)
{
    const struct qualification *q = &r->qualification;
    double sum = 0;

    for (size_t i = 0; i < q->known; i++)
        sum += q->measured[i][ELEMENT_C];
    return r->o->metrics == METRICS_EQUAL || q->known == 0
               ? 0
               : sum / (double)q->known;
}

static const char *const source[] = {[METRICS_PROBE] = "probe",
                                     [METRICS_CACHED] = "probe",
                                     [METRICS_EQUAL] = "equal",
                                     [METRICS_OF_FILE] = "file"};
static const char *const kind[] = {[SLOTS_NUMBER] = "slots",
                                   [SLOTS_CORES] = "cores",
                                   [SLOTS_SOCKETS] = "sockets",
                                   [SLOTS_GPUS] = "gpus",
                                   [SLOTS_PART] = "percent"};

/* What told speeds are: those of another measure are followed in another way.  How
 * nodes were measured, what counts of that and by how much, what they differ in, and
 * whether they or their slots have them. */
static void name_told(char by[COST_BY], const struct run *r, size_t type)
{
    const struct profile *p = &r->o->types.type[type].profile.profile;
    const struct msg_slots *slots = &r->o->slots;
    int is_node = slots->kind == SLOTS_NUMBER && slots->n == 1;
    char weights[COST_BY / 2] = "";
    size_t n = 0;

    for (int e = 0; e < ELEMENTS && n < sizeof weights; e++)
        if (p->influence[e] > 0)
            n += (size_t)snprintf(weights + n, sizeof weights - n, "%c%.3g",
                                  element_letter((enum element)e),
                                  p->influence[e]);
    (void)snprintf(by, COST_BY, "%s %s %s %s %u", source[r->o->metrics],
                   weights, r->type[type].elements,
                   is_node ? "node" : kind[slots->kind], slots->n);
}

static void read_before(struct run *r, size_t type)
{
    struct cost_key key;

    r->type[type].before.match = COST_STRANGER;
    cost_key_of(&key, r->o->types.type[type].command);
    cost_history_read(&r->type[type].before, &key);
}

/* Without memory the run learns them itself. */
static void expect_lags(const struct run *r,
                        struct cost *cost,
                        const struct cost_record *before)
{
    size_t n = distribution_slots(r->distribution)->n;
    double *lag = before->lags > 0 ? calloc(n, sizeof *lag) : NULL;

    for (size_t i = 0; lag && i < n; i++)
        lag[i] = cost_record_lag(before, distribution_name(r->distribution, i));
    if (lag)
        cost_expect_lags(cost, lag);
    free(lag);
}

/* What runs before say of this one: on its nodes, as it tells speeds. */
static void say_before(struct cost_record *said,
                       const struct run *r,
                       size_t type)
{
    char by[COST_BY];

    *said = r->type[type].before;
    said->terms = cost_record_terms(said, mean_speed(r));
    name_told(by, r, type);
    if (strcmp(by, said->by) != 0)
        said->scaling = (struct cost_scaling){0};
}

static void expect(struct run *r, size_t type)
{
    struct cost *cost = distribution_cost_of(r->distribution, type);
    struct cost_record said;

    if (r->type[type].before.match == COST_STRANGER)
        return;
    say_before(&said, r, type);
    cost_expect_scaling(cost, &said.scaling);
    cost_expect(cost, &said.terms, said.noise);
    expect_lags(r, cost, &said);
    cost_expect_profile(cost, &said.profile);
}

static void tell_report(struct run *r)
{
    struct cost_record said;

    if (r->o->persistent || r->type[0].before.match == COST_STRANGER
        || !cost_is_known(distribution_cost_of(r->distribution, 0)))
        return;
    say_before(&said, r, 0);
    report_costs_before(&r->report, cost_record_json(&said));
}

void run_costs_expect(struct run *r)
{
    for (size_t t = 0; t < r->o->types.n && !r->o->persistent; t++) {
        read_before(r, t);
        expect(r, t);
    }
    tell_report(r);
}

void run_costs_expect_again(struct run *r)
{
    for (size_t t = 0; t < r->o->types.n && !r->o->persistent; t++)
        expect(r, t);
}

static int is_here(const struct run *r, const char *node)
{
    const struct slots *slots = distribution_slots(r->distribution);

    for (size_t k = 0; k < slots->nodes; k++)
        if (strcmp(distribution_name(r->distribution, slots->first[k]), node)
            == 0)
            return 1;
    return 0;
}

/* One a node, and those of nodes that this run did not have. */
static void keep_lags(struct cost_record *record,
                      const struct run *r,
                      const struct cost *cost,
                      const struct cost_record *before)
{
    const struct slots *slots = distribution_slots(r->distribution);

    for (size_t k = 0; k < slots->nodes; k++) {
        size_t slot = slots->first[k];
        double lag = cost_lag(cost, slot);

        if (lag < 0 || lag > 0)
            cost_record_add_lag(record,
                                distribution_name(r->distribution, slot), lag);
    }
    for (size_t i = 0; i < before->lags; i++)
        if (!is_here(r, before->lag[i].node))
            cost_record_add_lag(record, before->lag[i].node,
                                before->lag[i].seconds);
}

static void keep(const struct run *r, size_t type)
{
    struct cost *cost = distribution_cost_of(r->distribution, type);
    const struct cost_record *before = &r->type[type].before;
    struct cost_record record;
    struct cost_key key;

    if (cost_pieces(cost) < PIECES_LEAST)
        return;
    cost_settle(cost);
    record = (struct cost_record){.terms = cost_terms(cost),
                                  .noise = cost_noise(cost),
                                  .speed = mean_speed(r),
                                  .scaling = cost_scaling(cost),
                                  .profile = cost_profile(cost)};
    keep_lags(&record, r, cost, before);
    name_told(record.by, r, type);
    if (!(record.scaling.exponent > 0)) { /* it says nothing of that */
        record.scaling = before->scaling;
        memcpy(record.by, before->by, sizeof record.by);
    }
    cost_key_of(&key, r->o->types.type[type].command);
    (void)cost_history_append(&key, &record); /* it only helps */
}

void run_costs_keep(struct run *r)
{
    for (size_t t = 0; t < r->o->types.n && !r->o->persistent; t++)
        keep(r, t);
}
