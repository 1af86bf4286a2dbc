/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/bundles.h"
#include "policy/tasks.h"

#include <math.h>
#include <string.h>

#define NS_PER_S 1e9

size_t bundles_bytes(size_t nodes, size_t fixed, size_t each)
{
    each += sizeof(struct channel);
    fixed += sizeof(struct bundles);
    if (nodes > (SIZE_MAX - fixed) / each)
        return 0;
    return fixed + nodes * each;
}

void *bundles_rest(void *state)
{
    struct bundles *b = state;

    return b->channel + b->n;
}

struct channel *bundles_channel(void *state, size_t node)
{
    struct bundles *b = state;

    return b->channel[node].is_present ? &b->channel[node] : NULL;
}

void bundles_join(void *state, size_t node, int32_t size)
{
    struct bundles *b = state;
    double load = b->channel[node].load;

    b->channel[node] =
        (struct channel){.load = load, .size = size, .is_present = 1};
}

void bundles_init(void *state, size_t nodes, int32_t size)
{
    struct bundles *b = state;

    b->n = nodes;
    b->context_max = 0;
    for (size_t i = 0; i < nodes; i++) {
        b->channel[i].load = 100 / (double)nodes;
        bundles_join(state, i, size);
    }
}

int32_t bundles_max(const void *state, size_t node)
{
    const struct bundles *b = state;

    if (b->channel[node].has_job)
        return b->channel[node].tasks;
    return b->context_max > 0 ? b->context_max : BUNDLES_MAX_SIZE;
}

int32_t bundles_size(const void *state, size_t node)
{
    const struct bundles *b = state;

    return b->channel[node].size;
}

void bundles_set_context(void *state, int32_t tasks)
{
    struct bundles *b = state;

    b->context_max = tasks;
}

void bundles_set_job(void *state, size_t node, int32_t tasks, int32_t left)
{
    struct bundles *b = state;

    (void)left;
    b->channel[node].tasks = tasks;
    b->channel[node].has_job = 1;
}

void bundles_ignore_threads(void *state,
                            size_t node,
                            int32_t threads,
                            int32_t processors)
{
    (void)state, (void)node, (void)threads, (void)processors;
}

void bundles_ignore_feedback(void *state,
                             size_t node,
                             int32_t tasks,
                             double time_ns)
{
    (void)state, (void)node, (void)tasks, (void)time_ns;
}

void bundles_leave(void *state, size_t node)
{
    struct bundles *b = state;

    b->channel[node].is_present = 0;
    b->channel[node].size = 0;
}

double bundles_time(int32_t tasks,
                    double accumulated_ns,
                    double overhead_ns,
                    int32_t threads)
{
    int32_t t = threads < 1 ? 1 : threads;
    int32_t whole = tasks / t, rest = tasks % t;
    double mean = accumulated_ns / tasks, time = mean;

    if (whole != 0) {
        time = whole * mean;
        if (rest > 0)
            time += mean * ((double)rest / t);
    }
    return time + overhead_ns;
}

/* --- whole slices --------------------------------------------------------- */

void bundles_loads(const void *state, double load[])
{
    const struct bundles *b = state;

    for (size_t i = 0; i < b->n; i++)
        load[i] = b->channel[i].load;
}

int bundles_frame(void *state,
                  const struct policy_bundles *policy,
                  const struct completion c[])
{
    struct bundles *b = state;
    uint64_t units = 0;
    struct tasks t;
    int left = 0;

    for (size_t i = 0; i < b->n; i++) {
        units += c[i].units;
        if (c[i].presence == PRESENCE_GONE && b->channel[i].is_present) {
            policy->leave(state, i);
            left = 1;
        }
    }
    t = tasks_of(units, 1);
    for (size_t i = 0; i < b->n; i++) {
        if (!b->channel[i].is_present || c[i].units == 0
            || !isfinite(c[i].seconds) || c[i].seconds <= 0)
            continue;
        policy->set_job(state, i, t.frame, t.frame);
        policy->feedback(state, i, tasks_in(&t, c[i].units),
                         c[i].seconds * NS_PER_S);
    }
    return left;
}

/* A size may be negative: nodethreads wraps.  It then has no load. */
static double size_weight(const struct channel *c)
{
    return c->is_present && c->size > 0 ? c->size : 0;
}

static int publish(struct bundles *b)
{
    double sum = 0, present = 0;
    int changed = 0;

    for (size_t i = 0; i < b->n; i++) {
        sum += size_weight(&b->channel[i]);
        present += b->channel[i].is_present;
    }
    for (size_t i = 0; i < b->n; i++) {
        double before = b->channel[i].load, now = 0;

        if (sum > 0)
            now = 100 * (size_weight(&b->channel[i]) / sum);
        else if (b->channel[i].is_present)
            now = 100 / present;
        changed |= now < before || now > before;
        b->channel[i].load = now;
    }
    return changed;
}

int bundles_publish(void *state, int yes, double load[])
{
    int changed = yes ? publish(state) : 0;

    bundles_loads(state, load);
    return changed;
}

int bundles_adjust(void *state,
                   const struct policy_bundles *policy,
                   const struct completion c[],
                   int over_threshold,
                   double load[])
{
    int left = bundles_frame(state, policy, c);

    return bundles_publish(state, over_threshold || left, load);
}
