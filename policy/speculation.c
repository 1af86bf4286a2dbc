/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/speculation.h"
#include "policy/dispatch_state.h"

#include <math.h>

/* A node, and when it will have done a piece. */
struct end {
    size_t node; /* or d->nodes: there is none */
    uint64_t id;
    double at;     /* seconds */
    double spread; /* standard deviation of that, seconds */
};

/* What a node takes for a piece, in seconds, and how well that is known; 0 if
 * nobody knows. */
static double seconds_of(const struct dispatch *d,
                         size_t node,
                         const struct dispatch_piece *p,
                         double *spread)
{
    const struct cost *cost = d->sizing.cost;
    double speed = d->node[node].speed, seconds;

    if (cost && cost_is_known(cost)) {
        seconds = cost_seconds(cost, node, dispatch_work_of(d, p)) + d->delay;
        *spread = seconds * cost_noise(cost);
        return seconds;
    }
    seconds = speed > 0 ? (double)units_in(p->units) / speed + d->delay : 0;
    *spread = seconds * SPECULATION_NOISE;
    return seconds;
}

/* The end of the piece that a node works at. */
static struct end end_of_current(const struct dispatch *d,
                                 const struct dispatch_piece *p,
                                 double now)
{
    const struct dispatch_node *s = &d->node[p->node];
    double part = s->metered / (double)units_in(p->units);
    double since = now - s->begun, spread;
    double seconds = seconds_of(d, p->node, p, &spread);
    struct end end = {p->node, p->id, s->begun + seconds, spread};

    if (part > 0 && since >= DISPATCH_METER_S)
        end.at = part < 1 ? now + since / part * (1 - part) : now;
    else if (since > seconds + 2 * spread)
        end.at = now + since;
    return end;
}

/* Of all pieces that are out once, the one that ends last. */
static struct end find_latest(const struct dispatch *d, double now)
{
    struct end latest = {.node = d->nodes};

    for (size_t i = 0; i < d->nodes; i++) {
        const struct dispatch_node *s = &d->node[i];
        struct end end = {.at = now};

        for (size_t k = 0; k < s->out; k++) {
            const struct dispatch_piece *p = dispatch_find(d, i, s->piece[k]);

            if (k == 0)
                end = end_of_current(d, p, now);
            else
                end.at += seconds_of(d, i, p, &end.spread);
            end.id = p->id;
            if (!p->has_twin && (latest.node == d->nodes || end.at > latest.at))
                latest = end;
        }
    }
    return latest;
}

/* The node that is idle, of another machine, and would be the first to have done
 * it. */
static struct end find_helper(const struct dispatch *d,
                              const struct dispatch_piece *p,
                              double now)
{
    struct end best = {.node = d->nodes};

    for (size_t i = 0; i < d->nodes; i++) {
        double spread, seconds;

        if (!dispatch_is_idle(d, i) || d->node[i].failures > 0
            || dispatch_are_alike(d, i, p->node))
            continue;
        seconds = seconds_of(d, i, p, &spread);
        if (seconds > 0 && (best.node == d->nodes || now + seconds < best.at))
            best = (struct end){i, p->id, now + seconds, spread};
    }
    return best;
}

static int is_worth(const struct dispatch *d,
                    const struct end *late,
                    const struct end *helper,
                    double now)
{
    double noise =
        sqrt(late->spread * late->spread + helper->spread * helper->spread);
    double in_time = now + (helper->at - now) * DISPATCH_END_CARE;

    return late->at - helper->at
               > fmax(SPECULATION_LEAST_S, SPECULATION_NOISES * noise)
           && in_time <= d->end;
}

int dispatch_speculate(struct dispatch *d, double now)
{
    while (d->speculates && d->out > 0 && d->pool.units == 0
           && d->waiting == 0) {
        struct end late = find_latest(d, now), helper;

        if (late.node == d->nodes)
            return 0;
        helper = find_helper(d, dispatch_piece_of(d, late.id), now);
        if (helper.node == d->nodes || !is_worth(d, &late, &helper, now))
            return 0;
        if (dispatch_make_room(d) < 0)
            return DISPATCH_NO_MEMORY;
        dispatch_copy_out(d, dispatch_piece_of(d, late.id), helper.node, now);
    }
    return 0;
}
