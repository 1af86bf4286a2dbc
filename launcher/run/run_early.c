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

/* Is there one to begin with? */
static int is_anyone_known(const struct run *r)
{
    for (size_t i = 0; i < session_size(r->front.session); i++)
        if (session_node(r->front.session, i)->present
            && r->qualification.answered[i])
            return 1;
    return 0;
}

static int may_begin(const struct run *r)
{
    return is_sized_by_cost(r->o) && is_alone(r->o) && !has_need(&r->profile)
           && r->to_bring.n == 0 && !r->qualify.ring
           && !session_is_local(r->front.session)
           && session_size(r->front.session) <= NODES_MOST
           && is_anyone_known(r);
}

/* --- begin ---------------------------------------------------------------- */

int run_early_begin(struct run *r)
{
    size_t n = session_size(r->front.session);

    if (!may_begin(r))
        return 0;
    r->early.awaited = calloc(n, 1);
    if (!r->early.awaited)
        return es_no_memory(r->err);
    qualification_go_on(&r->qualification);
    for (size_t i = 0; i < n; i++)
        r->early.awaited[i] =
            (char)qualification_is_again(&r->qualification, i);
    return 1;
}

static int take_in(struct run *r, size_t node)
{
    r->early.awaited[node] = 0;
    return run_slots_join(r, node);
}

int run_early_await(struct run *r)
{
    size_t n = r->early.awaited ? session_size(r->front.session) : 0;
    int rc = 0;

    for (size_t i = 0; i < n && rc == 0; i++)
        if (r->early.awaited[i]
            && !qualification_is_again(&r->qualification, i))
            rc = take_in(r, i); /* it was measured meanwhile */
        else if (r->early.awaited[i]
                 && distribution_await(r->distribution, i, r->early.since_ns)
                        < 0)
            rc = es_no_memory(r->err);
    return rc;
}

/* --- who comes ------------------------------------------------------------ */

static int is_anyone_awaited(const struct run *r)
{
    for (size_t i = 0; i < session_size(r->front.session); i++)
        if (r->early.awaited[i])
            return 1;
    return 0;
}

static void all_known(struct run *r)
{
    run_frames_know_all(r);
    run_nodes_metrics(r, RUN_ALL_NODES);
}

int run_early_measured(struct run *r, size_t node)
{
    if (!r->early.awaited || !r->early.awaited[node])
        return 0;
    if (take_in(r, node) < 0)
        return -1;
    run_costs_expect_again(r);
    if (distribution_joined(r->distribution, node, r->err) < 0)
        return -1;
    run_slots_threads(r, node);
    if (!is_anyone_awaited(r))
        all_known(r);
    return 1;
}

void run_early_lost(struct run *r, size_t node)
{
    if (r->early.awaited)
        r->early.awaited[node] = 0;
}

void run_early_clear(struct run *r)
{
    free(r->early.awaited);
    r->early.awaited = NULL;
}
