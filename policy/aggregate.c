/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/aggregate.h"
#include "policy/select.h"

#include <math.h>
#include <string.h>

static const char *const names[AGGREGATES] = {
    [AGGREGATE_MIN] = "min",
    [AGGREGATE_MEAN] = "mean",
    [AGGREGATE_MEDIAN] = "median",
    [AGGREGATE_VARIANCE] = "variance",
    [AGGREGATE_DEVIATION] = "deviation",
    [AGGREGATE_SKEW] = "skew",
};

const char *aggregate_name(enum aggregate how)
{
    return names[how];
}

enum aggregate aggregate_find(const char *name)
{
    enum aggregate how = AGGREGATE_MIN;

    while (how < AGGREGATES && strcmp(name, names[how]) != 0)
        how++;
    return how;
}

static double least(const double value[], size_t n)
{
    double min = value[0];

    for (size_t i = 1; i < n; i++)
        min = fmin(min, value[i]);
    return min;
}

static double mean(const double value[], size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += value[i];
    return sum / (double)n;
}

/* From the deviations, as the difference of squares would lose all digits
 * where the values are nearly alike. */
static double variance(const double value[], size_t n)
{
    double middle = mean(value, n), sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (value[i] - middle) * (value[i] - middle);
    return sum / (double)n;
}

static double skew(const double value[], size_t n)
{
    double middle = mean(value, n);

    return middle > 0 ? variance(value, n) / middle : 0;
}

double aggregate_of(enum aggregate how, double value[], size_t n)
{
    if (n == 0)
        return 0;
    switch (how) {
    case AGGREGATE_MIN:
        return least(value, n);
    case AGGREGATE_MEAN:
        return mean(value, n);
    case AGGREGATE_MEDIAN:
        return select_median(value, n);
    case AGGREGATE_VARIANCE:
        return variance(value, n);
    case AGGREGATE_DEVIATION:
        return sqrt(variance(value, n));
    case AGGREGATE_SKEW:
        return skew(value, n);
    case AGGREGATES:
    default:
        return 0;
    }
}
