/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_early.h"
#include "launcher/run/run_costs.h"
#include "launcher/run/run_known.h"
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

/* Nothing else has to know all nodes, and one that can do nothing has another
 * beside it that shows it. */
static int is_plain(const struct run_options *o)
{
    return !o->works && !o->persistent && !o->dry_run && !o->profile_auto
           && o->power == POWER_OFF && o->slots.kind == SLOTS_NUMBER
           && o->slots.n == 1 && !o->has_needs && !o->overlap
           && o->keep_going == 0 && !o->bisect;
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
    return is_sized_by_cost(r->o) && is_plain(r->o)
           && r->o->metrics != METRICS_OF_FILE && r->o->local.n == 0
           && !r->o->srun && r->o->joinable == 0 && r->to_bring.n == 0
           && !has_need(&r->profile) && !qualification_wants_ring(&r->profile);
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

/* Without that a piece could be far too large: what the first node is says little
 * of the others. */
static int is_blank(const struct run *r, size_t node)
{
    return is_unknown(r, node)
           && !qualification_may_guess(&r->qualification, node);
}

/* Was it given up before it came? */
static int is_given_up(const struct run *r, size_t node)
{
    return !session_has_come(r->front.session, node)
           && !session_is_awaited(r->front.session, node);
}

static int note_stages(struct run *r)
{
    size_t n = session_start_size(r->front.session);

    r->early.awaited = calloc(n, 1);
    if (!r->early.awaited)
        return es_no_memory(r->err);
    for (size_t i = 0; i < n; i++)
        r->early.awaited[i] = is_unknown(r, i)    ? EARLY_AWAITED
                              : is_given_up(r, i) ? EARLY_GIVEN_UP
                                                  : EARLY_KNOWN;
    if (r->qualification.missing > 0)
        qualification_go_on(&r->qualification);
    return 1;
}

int run_early_begin(struct run *r)
{
    if (count(r, is_unknown) == 0 && r->qualification.missing > 0)
        return 0; /* the links are measured */
    if (count(r, is_unknown) == 0)
        return count(r, is_given_up) == 0 ? 1 : note_stages(r);
    if (count(r, is_measured) == 0 || count(r, is_blank) > 0
        || !run_early_may(r) || session_size(r->front.session) > NODES_MOST)
        return 0;
    return note_stages(r);
}

/* Its speed is known now. */
static int take_in(struct run *r, size_t node)
{
    r->early.awaited[node] = EARLY_KNOWN;
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

/* --- who comes ------------------------------------------------------------ */

int run_early_is_awaited(const struct run *r, size_t node)
{
    return r->early.awaited && node < session_start_size(r->front.session)
           && r->early.awaited[node] == EARLY_AWAITED;
}

int run_early_is_waiting(const struct run *r)
{
    return r->early.awaited && count(r, run_early_is_awaited) > 0;
}

/* The last that was awaited is not any more. */
static void all_known(struct run *r)
{
    if (r->summary.frames == 0)
        run_known_report(r);
    run_known_keep(r);
    run_known_put(r, RUN_KNOWN_ALL);
}

int run_early_await(struct run *r)
{
    size_t n = r->early.awaited ? session_start_size(r->front.session) : 0;
    size_t before = n > 0 ? count(r, run_early_is_awaited) : 0;

    for (size_t i = 0; i < n; i++)
        if (run_early_is_awaited(r, i) && await(r, i) < 0)
            return -1;
    if (n > 0 && count(r, run_early_is_awaited) < before)
        run_known_put(r, RUN_KNOWN_ALL);
    return 0;
}

int run_early_measured(struct run *r, size_t node)
{
    if (!r->early.awaited || node >= session_start_size(r->front.session)
        || r->early.awaited[node] == EARLY_KNOWN)
        return 0;
    if (take_in(r, node) < 0)
        return -1;
    run_costs_expect_again(r);
    run_known_put(r, node);
    run_slots_threads(r, node);
    if (distribution_joined(r->distribution, node, r->err) < 0)
        return -1;
    if (!run_early_is_waiting(r))
        all_known(r);
    return 1;
}

void run_early_lost(struct run *r, size_t node)
{
    if (!run_early_is_awaited(r, node))
        return;
    r->early.awaited[node] = EARLY_GIVEN_UP;
    qualification_lost(&r->qualification, node);
    if (r->phase == WORKING && !run_early_is_waiting(r))
        all_known(r);
}

void run_early_clear(struct run *r)
{
    free(r->early.awaited);
    r->early.awaited = NULL;
}
