/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/fit.h"

#include <math.h>

/* Coordinate descent ends when no weight changes by more than this part of
 * the largest; alike elements may take many rounds, each of 36 products. */
#define FIT_CLOSE  1e-9
#define FIT_ROUNDS 20000

/* A weight below this part of the largest is rounding. */
#define FIT_NOTHING 1e-6

static int sum_columns(const double measured[][ELEMENTS],
                       const double rate[],
                       size_t n,
                       double sum[ELEMENTS],
                       double *rates)
{
    size_t working = 0;
    double all = 0;

    *rates = 0;
    for (int j = 0; j < ELEMENTS; j++)
        sum[j] = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(rate[i]) || rate[i] < 0)
            return -1;
        *rates += rate[i];
        working += rate[i] > 0;
        for (int j = 0; j < ELEMENTS; j++) {
            if (!isfinite(measured[i][j]) || measured[i][j] < 0)
                return -1;
            sum[j] += measured[i][j];
        }
    }
    for (int j = 0; j < ELEMENTS; j++)
        all += sum[j];
    return working >= 2 && isfinite(all) && all > 0 && isfinite(*rates) ? 0
                                                                        : -1;
}

int fit_add(struct fit *f,
            const double measured[][ELEMENTS],
            const double rate[],
            size_t n)
{
    double sum[ELEMENTS], rates;

    if (sum_columns(measured, rate, n, sum, &rates) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        double x[ELEMENTS], y = 100 * (rate[i] / rates);

        if (!(rate[i] > 0)) /* it had no slice: that says nothing of it */
            continue;
        for (int j = 0; j < ELEMENTS; j++)
            x[j] = sum[j] > 0 ? 100 * (measured[i][j] / sum[j]) : 0;
        for (int j = 0; j < ELEMENTS; j++) {
            for (int k = 0; k < ELEMENTS; k++)
                f->xx[j][k] += x[j] * x[k];
            f->xy[j] += x[j] * y;
        }
    }
    f->runs++;
    return 0;
}

/* The best w[j] with all others as they are. */
static double best_weight(const struct fit *f, const double w[ELEMENTS], int j)
{
    double left = f->xy[j]; /* not above 0 where nobody has the element */

    for (int k = 0; k < ELEMENTS; k++)
        if (k != j)
            left -= f->xx[j][k] * w[k];
    return left > 0 ? left / f->xx[j][j] : 0;
}

static double largest(const double w[ELEMENTS])
{
    double most = 0;

    for (int j = 0; j < ELEMENTS; j++)
        most = fmax(most, w[j]);
    return most;
}

int fit_profile(const struct fit *f, struct profile *p)
{
    double w[ELEMENTS] = {0}, most, change = 1;

    for (int round = 0; round < FIT_ROUNDS && change > 0; round++) {
        change = 0;
        for (int j = 0; j < ELEMENTS; j++) {
            double best = best_weight(f, w, j);

            if (fabs(best - w[j]) > FIT_CLOSE * largest(w))
                change = 1;
            w[j] = best;
        }
    }
    most = largest(w);
    if (!(most > 0) || !isfinite(most))
        return -1;
    for (int j = 0; j < ELEMENTS; j++)
        p->influence[j] = w[j] > FIT_NOTHING * most ? sqrt(w[j] / most) : 0;
    return 0;
}
