/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_early.h"
#include "launcher/run/run_costs.h"
#include "launcher/run/run_frames.h"
#include "launcher/run/run_nodes.h"
#include "launcher/run/run_slots.h"

#include <stdlib.h>

/* Each that comes late is a look at all. */
#define NODES_MOST 64

/* --- may it --------------------------------------------------------------- */

/* Is a piece no larger than what its node should have of all? */
static int is_sized_by_cost(const struct run_options *o)
{
    return o->policy->by_speed && o->pieces == DISPATCH_BY_COST;
}

static int is_alone(const struct run_options *o)
{
    return !o->works && !o->persistent && !o->dry_run && !o->profile_auto
           && o->power == POWER_OFF && o->slots.kind == SLOTS_NUMBER
           && o->slots.n == 1 && !o->overlap;
}

/* Must there be so much of a thing on a node? */
static int has_need(const struct config_profile *p)
{
    for (int e = 0; e < ELEMENTS; e++)
        if (p->need[e] > 0)
            return 1;
    return 0;
}

int run_early_may(const struct run *r)
{
    return is_sized_by_cost(r->o) && is_alone(r->o)
           && r->o->metrics != METRICS_OF_FILE && r->o->local.n == 0
           && r->to_bring.n == 0 && !has_need(&r->profile);
}

/* --- begin ---------------------------------------------------------------- */

/* Is it yet to come, or to answer? */
static int is_unknown(const struct run *r, size_t node)
{
    return session_is_awaited(r->front.session, node)
           || (r->qualification.missing > 0 && !r->qualification.in_ring
               && !r->qualification.answered[node]);
}

static int is_measured(const struct run *r, size_t node)
{
    return session_node(r->front.session, node)->present
           && !is_unknown(r, node);
}

/* Of those that the session began with. */
static size_t count(const struct run *r,
                    int (*is)(const struct run *r, size_t node))
{
    size_t n = 0;

    for (size_t i = 0; i < session_start_size(r->front.session); i++)
        n += is(r, i) != 0;
    return n;
}

static int await_unknown(struct run *r)
{
    size_t n = session_start_size(r->front.session);

    r->early.awaited = calloc(n, 1);
    if (!r->early.awaited)
        return es_no_memory(r->err);
    for (size_t i = 0; i < n; i++)
        r->early.awaited[i] = (char)is_unknown(r, i);
    if (r->qualification.missing > 0)
        qualification_go_on(&r->qualification);
    return 1;
}

int run_early_begin(struct run *r)
{
    if (count(r, is_unknown) == 0)
        return r->qualification.missing == 0;
    if (count(r, is_measured) == 0 || !run_early_may(r) || r->qualify.ring
        || session_size(r->front.session) > NODES_MOST)
        return 0;
    return await_unknown(r);
}

/* Its speed is known now. */
static int take_in(struct run *r, size_t node)
{
    r->early.awaited[node] = 0;
    return run_slots_join(r, node);
}

/* One that has been measured since, as the first frame had to wait, is not awaited
 * any more. */
static int await(struct run *r, size_t node)
{
    if (!session_is_awaited(r->front.session, node)
        && !qualification_is_again(&r->qualification, node))
        return take_in(r, node);
    if (distribution_await(r->distribution, node, r->early.since_ns) < 0)
        return es_no_memory(r->err);
    return 0;
}

int run_early_await(struct run *r)
{
    size_t n = r->early.awaited ? session_start_size(r->front.session) : 0;

    for (size_t i = 0; i < n; i++)
        if (r->early.awaited[i] && await(r, i) < 0)
            return -1;
    return 0;
}

/* --- who comes ------------------------------------------------------------ */

static int is_awaited(const struct run *r, size_t node)
{
    return r->early.awaited && node < session_start_size(r->front.session)
           && r->early.awaited[node];
}

/* The last that was awaited is not any more. */
static void all_known(struct run *r)
{
    run_frames_know_all(r);
    run_nodes_metrics(r, RUN_ALL_NODES);
}

int run_early_measured(struct run *r, size_t node)
{
    if (!is_awaited(r, node))
        return 0;
    if (take_in(r, node) < 0)
        return -1;
    run_costs_expect_again(r);
    run_nodes_metrics(r, node);
    run_slots_threads(r, node);
    if (distribution_joined(r->distribution, node, r->err) < 0)
        return -1;
    if (count(r, is_awaited) == 0)
        all_known(r);
    return 1;
}

void run_early_lost(struct run *r, size_t node)
{
    if (!is_awaited(r, node))
        return;
    r->early.awaited[node] = 0;
    if (r->phase == WORKING && count(r, is_awaited) == 0)
        all_known(r);
}

void run_early_clear(struct run *r)
{
    free(r->early.awaited);
    r->early.awaited = NULL;
}
