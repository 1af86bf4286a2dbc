/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/level.h"

#include <math.h>

/* When it begins with units, if it gets any. */
static double ready(double free, double speed, const struct cost_terms *terms)
{
    return free + terms->wait + terms->burn / speed;
}

/* The time at which those that are ready before `level` would have done all, if
 * they all took part. */
static double end_of(const double free[],
                     const double speed[],
                     size_t n,
                     const struct cost_terms *terms,
                     double work,
                     double level)
{
    double begun = 0, speeds = 0;

    for (size_t i = 0; i < n; i++) {
        double at;

        if (!(speed[i] > 0))
            continue;
        at = ready(free[i], speed[i], terms);
        if (!(at < level))
            continue;
        begun += at * speed[i];
        speeds += speed[i];
    }
    return speeds > 0 ? (begun + work) / speeds : level;
}

/*
 * Newton's method on what is done by a time, which is convex: from above it
 * comes down to the level and never passes it.  From one pass to the next what
 * is done too much or the sum of the speeds at work is at least halved.
 */
double level_find(const double free[],
                  const double speed[],
                  size_t n,
                  const struct cost_terms *terms,
                  double units)
{
    double work = units * terms->each;
    double level = (double)INFINITY, next;

    while ((next = end_of(free, speed, n, terms, work, level)) < level)
        level = next;
    return level;
}

double level_part(double level,
                  double free,
                  double speed,
                  const struct cost_terms *terms)
{
    return fmax(0, ((level - free - terms->wait) * speed - terms->burn)
                       / terms->each);
}
