/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/estimator.h"

/* What a refusal adds to all times, and the first silence after one, in slots;
 * how often that silence is doubled: when home stalls nobody has anything, and
 * nobody should ask. */
#define CORRECTION 0.25
#define DOUBLINGS  5u
/* Slots behind its time, per branch and in all, that are not yet late: in
 * simulations queues come and go by as much. */
#define LATE_PER_BRANCH 4u
#define LATE            8u

/* Behind the time that is due, in slots. */
static double grace_slots(const struct estimator *e)
{
    return LATE_PER_BRANCH * e->plan->branches + LATE;
}

static double grace(const struct estimator *e)
{
    return grace_slots(e) * e->slot;
}

void estimator_init(struct estimator *e,
                    const struct plan *p,
                    double start,
                    double slot)
{
    *e = (struct estimator){.plan = p, .start = start, .slot = slot};
}

void estimator_saw(struct estimator *e,
                   uint32_t node,
                   uint32_t chunk,
                   double now)
{
    uint64_t slots = plan_slots(e->plan, node, chunk);

    if (slots <= e->seen || now <= e->start)
        return;
    e->seen = slots;
    e->slot = (now - e->start) / (double)slots;
    e->shift = 0; /* the slope has it all */
    e->refusals = 0;
}

void estimator_missed(struct estimator *e,
                      uint32_t node,
                      uint32_t chunk,
                      double now)
{
    double slots = (double)plan_slots(e->plan, node, chunk) + grace_slots(e);

    if (now <= e->start || (e->slot > 0 && now >= e->start + e->slot * slots))
        return;
    e->slot = (now - e->start) / (slots + 1);
    e->shift = e->quiet_until = 0;
}

void estimator_refused(struct estimator *e, double now)
{
    unsigned doublings = e->refusals < DOUBLINGS ? e->refusals : DOUBLINGS;

    if (e->shift < grace(e))
        e->shift += CORRECTION * e->slot;
    e->quiet_until = now + CORRECTION * e->slot * (double)(1u << doublings);
    e->refusals++;
}

void estimator_confirmed(struct estimator *e)
{
    e->refusals = 0;
    e->quiet_until = 0;
}

static double due(const struct estimator *e, uint32_t node, uint32_t chunk)
{
    return e->start + e->shift
           + e->slot * (double)plan_slots(e->plan, node, chunk);
}

int estimator_holds(const struct estimator *e,
                    uint32_t node,
                    uint32_t chunk,
                    double now)
{
    return e->slot > 0 && now >= e->quiet_until && now >= due(e, node, chunk);
}

int estimator_late(const struct estimator *e,
                   uint32_t node,
                   uint32_t chunk,
                   double now)
{
    return e->slot > 0 && now >= due(e, node, chunk) + grace(e);
}
