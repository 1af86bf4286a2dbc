/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_costs.h"
#include "launcher/run/cost_history.h"

/* Fewer pieces tell more of chance than of the command. */
#define PIECES_LEAST 3

/* Of the nodes' CPUs, as they were measured; 0: they were not. */
static double mean_speed(const struct run *r)
{
    const struct qualification *q = &r->qualification;
    double sum = 0;

    for (size_t i = 0; i < q->n; i++)
        sum += q->measured[i][ELEMENT_C];
    return r->o->metrics == METRICS_EQUAL || q->n == 0 ? 0 : sum / (double)q->n;
}

void run_costs_expect(struct run *r)
{
    struct cost *cost = distribution_cost(r->distribution);
    struct cost_record record = {.match = COST_STRANGER};
    struct cost_terms terms;
    struct cost_key key;

    if (r->o->persistent)
        return;
    cost_key_of(&key, r->o->command);
    cost_history_read(&record, &key);
    if (record.match == COST_STRANGER)
        return;
    terms = cost_record_terms(&record, mean_speed(r));
    cost_expect(cost, &terms, record.noise);
    if (cost_is_known(cost))
        report_costs_before(&r->report, &terms, record.noise);
}

void run_costs_keep(const struct run *r)
{
    const struct cost *cost = distribution_cost(r->distribution);
    struct cost_record record = {.terms = cost_terms(cost),
                                 .noise = cost_noise(cost),
                                 .speed = mean_speed(r)};
    struct cost_key key;

    if (r->o->persistent || cost_pieces(cost) < PIECES_LEAST)
        return;
    cost_key_of(&key, r->o->command);
    (void)cost_history_append(&key, &record); /* it only helps */
}
