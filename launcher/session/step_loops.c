/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/step_loops.h"
#include "policy/aggregate.h"

#include <math.h>
#include <string.h>

void step_sample_add(struct step_sample *s, double value)
{
    if (s->every == 0)
        s->every = 1;
    if (s->added++ % s->every)
        return;
    if (s->n == STEP_SAMPLE) {
        for (uint32_t i = 0; i < STEP_SAMPLE / 2; i++)
            s->value[i] = s->value[2 * i];
        s->n /= 2;
        s->every *= 2;
    }
    s->value[s->n++] = value;
}

double step_sample_median(const struct step_sample *s)
{
    double value[STEP_SAMPLE];

    memcpy(value, s->value, s->n * sizeof *value);
    return aggregate_of(AGGREGATE_MEDIAN, value, s->n);
}

/* Between two ends of an iteration there is the same time for all, so who waits
 * less by so much has worked more. */
static void end_iteration(struct step_loops *l,
                          const struct msg_region *is,
                          double weight)
{
    struct step_loop *loop = &l->loop[is->loop];
    double skew = is->sum.longest - is->sum.least;

    loop->n += weight;
    loop->time_ns += weight * is->sum.elapsed;
    step_sample_add(&loop->skew, skew);
    loop->skew_most = fmax(loop->skew_most, skew);
    loop->period = is->period;
    step_sample_add(&loop->length, is->sum.elapsed);
    l->weight += weight;
}

static void add_iteration(struct step_loops *l,
                          const struct msg_region *m,
                          uint64_t stride,
                          uint32_t size)
{
    uint64_t hash = m->number * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (hash >> 32) % STEP_LOOPS_PENDING;
    struct msg_region *is = &l->pending[at].is;

    if (is->sum.ranks > 0 && is->number > m->number)
        return; /* it is too late */
    if (is->sum.ranks == 0 || is->number != m->number) {
        *is = (struct msg_region){
            .number = m->number, .loop = m->loop, .period = m->period};
        l->pending[at].stride = stride;
    }
    if (is->loop != m->loop || is->period != m->period)
        return; /* the ranks do not agree: it is never whole */
    efficiency_add_node(&is->sum, &m->sum);
    if (stride > l->pending[at].stride)
        l->pending[at].stride = stride;
    if (is->sum.ranks < size)
        return;
    end_iteration(l, is, (double)l->pending[at].stride);
    is->sum.ranks = 0;
}

void step_loops_add(struct step_loops *l, const struct msg_ranks *m)
{
    l->most = fmax(l->most, (double)m->iterations);
    for (uint32_t i = 0; i < m->l; i++)
        add_iteration(l, &m->iteration[i], m->iteration_stride, m->size);
}

void step_loops_forget(struct step_loops *l)
{
    memset(l->pending, 0, sizeof l->pending);
}

struct step_iterations step_loops_sum(const struct step_loops *l)
{
    const struct step_loop *best = &l->loop[0];

    for (size_t i = 1; i < RANKS_LOOPS - 1; i++)
        if (l->loop[i].time_ns > best->time_ns)
            best = &l->loop[i];
    if (!(best->n > 0))
        return (struct step_iterations){0};
    return (struct step_iterations){
        .n = round(best->n * fmax(l->most / l->weight, 1)),
        .period = best->period,
        .median_ns = step_sample_median(&best->length),
        .skew_ns = step_sample_median(&best->skew),
        .skew_most_ns = best->skew_most};
}
