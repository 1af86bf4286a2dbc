/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/watts.h"

#include <math.h>

static int is_amount(double x)
{
    return isfinite(x) && x >= 0;
}

int watts_add(struct watts *w, double joules, double busy_s, double idle_s)
{
    double time = busy_s + idle_s, b, i, j;

    if (!is_amount(joules) || !is_amount(busy_s) || !is_amount(idle_s)
        || !(time > 0) || w->points == UINT32_MAX)
        return -1;
    b = busy_s / time;
    i = idle_s / time;
    j = joules / time;
    if (!isfinite(j * j))
        return -1;
    w->points++;
    w->bb += b * b;
    w->bi += b * i;
    w->ii += i * i;
    w->bj += b * j;
    w->ij += i * j;
    return 0;
}

int watts_hold(const struct watts *w)
{
    return is_amount(w->bb) && is_amount(w->bi) && is_amount(w->ii)
           && is_amount(w->bj) && is_amount(w->ij)
           && w->bb + 2 * w->bi + w->ii <= w->points * (1 + 1e-6);
}

int watts_fit(const struct watts *w, double *busy, double *idle)
{
    double apart = w->bb * w->ii - w->bi * w->bi, b, i;

    if (w->points < WATTS_POINTS_MIN || !watts_hold(w)
        || !(apart > WATTS_APART_MIN * w->bb * w->ii))
        return -1;
    b = (w->bj * w->ii - w->ij * w->bi) / apart;
    i = (w->ij * w->bb - w->bj * w->bi) / apart;
    if (i < 0) { /* the least with idle at its bound */
        i = 0;
        b = w->bj / w->bb;
    }
    if (!isfinite(b) || !isfinite(i) || !(b > 0) || i > b)
        return -1;
    *busy = b;
    *idle = i;
    return 0;
}
