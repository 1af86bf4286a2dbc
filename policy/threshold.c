/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/threshold.h"
#include "policy/select.h"

#include <math.h>
#include <string.h>

#define MEDIAN_TO_DEVIATION 1.4826 /* of a normal variate's absolute value */

static int is_measured(const struct completion *c)
{
    return c->units > 0 && isfinite(c->seconds) && c->seconds > 0;
}

/* The k-th node that is watched. */
static size_t watched(size_t k, size_t n)
{
    return n <= THRESHOLD_NODES ? k : k * n / THRESHOLD_NODES;
}

/* Logarithms of the changes since the last frame; returns how many. */
static size_t take_changes(struct threshold_noise *noise,
                           const struct completion c[],
                           size_t n,
                           double change[])
{
    size_t known = 0;

    for (size_t k = 0; k < THRESHOLD_NODES && k < n; k++) {
        const struct completion *now = &c[watched(k, n)];
        double before = noise->rate[k];

        noise->rate[k] =
            is_measured(now) ? now->seconds / (double)now->units : 0;
        if (before > 0 && noise->rate[k] > 0)
            change[known++] = log(noise->rate[k] / before);
    }
    return known;
}

/*
 * The median node itself is left out: what n - 1 others differ from it by has
 * the median of a normal variate, 8 % less at n = 4 and 2 % or less from 5 on
 * (simulated); only of two the difference has twice the variance.
 */
void threshold_feedback(struct threshold_noise *noise,
                        const struct completion c[],
                        size_t n)
{
    double change[THRESHOLD_NODES], *against;
    size_t known = take_changes(noise, c, n, change);
    double middle, scale = known == 2 ? sqrt(0.5) : 1;

    if (known < 2) /* nothing but what all have in common */
        return;
    middle = select_smallest(change, known, known / 2);
    against = noise->change[noise->frames % THRESHOLD_FRAMES];
    for (size_t k = 0, at = 0; k < known; k++)
        if (k != known / 2) /* where the selection has put it */
            against[at++] = scale * fabs(change[k] - middle);
    noise->changes[noise->frames % THRESHOLD_FRAMES] = known - 1;
    noise->frames++;
}

double threshold_deviation(const struct threshold_noise *noise)
{
    double all[THRESHOLD_FRAMES * THRESHOLD_NODES];
    size_t m = 0;

    for (size_t f = 0; f < THRESHOLD_FRAMES; f++) {
        memcpy(all + m, noise->change[f], noise->changes[f] * sizeof all[0]);
        m += noise->changes[f];
    }
    if (m == 0)
        return 0;
    return MEDIAN_TO_DEVIATION / sqrt(2) * select_median(all, m);
}

double threshold_seconds(const struct threshold_rule *rule,
                         const struct threshold_noise *noise,
                         const struct completion c[],
                         size_t n,
                         uint64_t grain)
{
    double sum = 0, slowest = 0, m = 0, mean, range;

    if (rule->unit == THRESHOLD_SECONDS)
        return rule->value;
    for (size_t i = 0; i < n; i++) {
        if (!is_measured(&c[i]))
            continue;
        sum += c[i].seconds;
        slowest = fmax(slowest, c[i].seconds / (double)c[i].units);
        m++;
    }
    mean = m > 0 ? sum / m : 0;
    if (rule->unit == THRESHOLD_PERCENT)
        return rule->value / 100 * mean;
    range = m > 1 ? 2 * sqrt(2 * log(1.35 * m)) : 0;
    return fmax(range * threshold_deviation(noise) * mean,
                slowest * (double)grain);
}
