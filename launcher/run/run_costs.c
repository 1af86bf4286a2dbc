/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_costs.h"
#include "launcher/run/cost_history.h"

/* Fewer pieces tell more of chance than of the command. */
#define PIECES_LEAST 3

void run_costs_expect(const struct run *r)
{
    struct cost_record record;
    struct cost_key key;

    if (r->o->persistent)
        return;
    cost_key_of(&key, r->o->command);
    cost_history_read(&record, &key);
    if (record.match != COST_STRANGER)
        cost_expect(distribution_cost(r->distribution), &record.terms,
                    record.noise);
}

void run_costs_keep(const struct run *r)
{
    const struct cost *cost = distribution_cost(r->distribution);
    struct cost_terms terms = cost_terms(cost);
    struct cost_key key;

    if (r->o->persistent || cost_pieces(cost) < PIECES_LEAST)
        return;
    cost_key_of(&key, r->o->command);
    (void)cost_history_append(&key, &terms, cost_noise(cost)); /* only helps */
}
