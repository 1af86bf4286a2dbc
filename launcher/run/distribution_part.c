/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/distribution_state.h"

#define UNDERWAY_MOST 0.95 /* of a piece */

static double units_in(struct slice s)
{
    return (double)(s.end - s.begin);
}

/* Units a second of a slot's commands: as measured in the frame or, before it
 * has done any of it, as the cost of pieces says; 0: not known. */
static double slot_rate(const struct at_work *w, size_t slot)
{
    const struct dispatch_node *s = dispatch_node(w->in->dispatch, slot);
    const struct dispatch_piece *p = dispatch_current(w->in->dispatch, slot);
    const struct cost *cost = dispatch_cost(w->in->dispatch);
    double seconds;

    if (s->speed > 0 || !p || !cost || !cost_is_known(cost))
        return s->speed;
    seconds = cost_seconds(cost, slot, dispatch_work_of(w->in->dispatch, p))
              - cost_seconds(cost, slot, 0);
    return seconds > 0 ? units_in(p->units) / seconds : 0;
}

/* Seconds until a slot has done its part of a frame; < 0: not known.  One that
 * is late is taken to need as long again as it is late. */
static double slot_left(const struct at_work *w, size_t slot, double rate)
{
    const struct dispatch_node *s = dispatch_node(w->in->dispatch, slot);
    const struct dispatch_piece *p = dispatch_current(w->in->dispatch, slot);
    double waiting = units_in(s->waiting.units), first = 0, left = 0;

    if (s->out == 0 && !(waiting > 0))
        return 0;
    if (!(rate > 0))
        return -1;
    if (p) {
        first = units_in(p->units);
        left = s->metered > 0 ? (first - s->metered) / rate
                              : fabs(first / rate - (now(w) - s->begun));
    }
    return left + ((double)s->out_units - first + waiting) / rate;
}

/* Units of the piece that it works at that are probably done; not all are, as it
 * is not back. */
static double slot_underway(const struct at_work *w, size_t slot, double rate)
{
    const struct dispatch_node *s = dispatch_node(w->in->dispatch, slot);
    const struct dispatch_piece *p = dispatch_current(w->in->dispatch, slot);
    double done;

    if (!p)
        return 0;
    done = s->metered > 0 ? s->metered : rate * (now(w) - s->begun);
    return fmin(fmax(done, 0), UNDERWAY_MOST * units_in(p->units));
}

/* In the frames at work, one after the other. */
static void add_slot(struct distribution_part *part,
                     const struct distribution *d,
                     size_t slot)
{
    double rate = 0, left = 0;

    for (size_t i = 0; i < d->window.n; i++) {
        const struct at_work *w = nth(d, i);
        const struct dispatch_node *s;
        double known, more;

        if (w->in->is_kept)
            continue;
        s = dispatch_node(w->in->dispatch, slot);
        known = slot_rate(w, slot);
        if (known > 0)
            rate = known;
        more = slot_left(w, slot, rate);
        left = left < 0 || more < 0 ? -1 : left + more;
        part->underway += slot_underway(w, slot, rate);
        part->done += s->done;
        part->out += s->out_units;
        part->waiting += s->waiting.units.end - s->waiting.units.begin;
        part->running += s->out > 0;
        if (s->standing > part->standing)
            part->standing = s->standing;
    }
    part->rate += rate;
    part->left = part->left < 0 || left < 0 ? -1 : fmax(part->left, left);
}

const struct piece *distribution_at_work(const struct distribution *d,
                                         size_t slot,
                                         int64_t *begun_ns)
{
    const struct at_work *w = distribution_working_at(d, slot);
    const struct dispatch_piece *p =
        w ? dispatch_current(w->in->dispatch, slot) : NULL;

    if (!p)
        return NULL;
    *begun_ns =
        (int64_t)((w->in->start + dispatch_node(w->in->dispatch, slot)->begun)
                  * 1e9);
    return distribution_piece_of(w, p->id);
}

/* It has no slot. */
static enum idle_reason why_without_slots(const struct distribution *d,
                                          size_t node)
{
    if (session_is_awaited(d->session, node))
        return IDLE_AWAITED;
    return session_node(d->session, node)->present ? IDLE_NO_NEED : IDLE_LOST;
}

struct distribution_part distribution_part(const struct distribution *d,
                                           size_t node)
{
    const size_t *first = d->slots->first;
    struct distribution_part part = {.slots = slots_of(d->slots, node)};

    for (size_t slot = first[node]; slot < first[node + 1]; slot++)
        add_slot(&part, d, slot);
    if (part.running == 0 && d->window.n > 0 && part.slots > 0)
        part.why =
            dispatch_idle(nth(d, d->window.n - 1)->in->dispatch, first[node]);
    else if (part.slots == 0)
        part.why = why_without_slots(d, node);
    if (part.running > part.slots)
        part.running = part.slots; /* one may have pieces of two frames */
    return part;
}

enum idle_reason distribution_idle(const struct distribution *d, size_t node)
{
    const struct dispatch *held = nth(d, 0)->in->dispatch;
    const size_t *first = d->slots->first;
    enum idle_reason why = IDLE_NOT;

    if (first[node] == first[node + 1])
        return why_without_slots(d, node);
    for (size_t slot = first[node]; slot < first[node + 1]; slot++) {
        if (dispatch_node(held, slot)->done > 0)
            return IDLE_NOT;
        why = dispatch_idle(held, slot);
        if (why == IDLE_NOT
            || (why >= IDLE_FEW_UNITS && dispatch_node(held, slot)->got > 0))
            return IDLE_NOT;
    }
    return why;
}

const char *distribution_node(const struct distribution *d, size_t node)
{
    return session_node(d->session, node)->name;
}
