/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/density.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BINS 96 /* finer than a node's pieces, where nodes are few */

/* Deviations of the walk over a whole frame, from flat to anything. */
#define RATE_LEAST 0.03
#define RATE_STEP  3
#define RATE_MOST  30
/* Of a unit to the mean one. */
#define CELL_LEAST 0.02

struct density {
    double cell[BINS], before[BINS + 1];
    double rate;
    /* what was seen */
    double seen[BINS][BINS], right[BINS], squares;
    /* workspace: the factor of Q, and a solution */
    double factor[BINS][BINS], found[BINS];
};

static void set_cells(struct density *d, const double cell[])
{
    double sum = 0;

    for (int b = 0; b < BINS; b++)
        sum += cell ? cell[b] : 1;
    d->before[0] = 0;
    for (int b = 0; b < BINS; b++) {
        d->cell[b] = (cell ? cell[b] : 1) / sum;
        d->before[b + 1] = d->before[b] + d->cell[b];
    }
}

struct density *density_create(void)
{
    struct density *d = calloc(1, sizeof *d);

    if (!d)
        return NULL;
    d->rate = RATE_LEAST;
    set_cells(d, NULL);
    return d;
}

void density_destroy(struct density *d)
{
    free(d);
}

double density_before(const struct density *d, double place)
{
    double at = place * BINS;
    int b = at < BINS ? (int)at : BINS - 1;

    return d->before[b] + (at - b) * d->cell[b];
}

/* --- what was seen -------------------------------------------------------- */

void density_forget(struct density *d)
{
    memset(d->seen, 0, sizeof d->seen);
    memset(d->right, 0, sizeof d->right);
    d->squares = 0;
}

void density_see(
    struct density *d, double begin, double end, double mean, double deviation)
{
    double weight = 1 / (deviation * deviation), part[BINS];
    int from = (int)(begin * BINS), to = (int)ceil(end * BINS);

    if (!(begin >= 0) || !(end > begin) || !(end <= 1) || !isfinite(mean)
        || !(weight > 0) || !isfinite(weight))
        return;
    for (int b = from; b < to; b++)
        part[b] = fmax(fmin(end * BINS, b + 1) - fmax(begin * BINS, b), 0)
                  / ((end - begin) * BINS);
    for (int b = from; b < to; b++) {
        for (int k = from; k <= b; k++)
            d->seen[b][k] += weight * part[b] * part[k];
        d->right[b] += weight * part[b] * mean;
    }
    d->squares += weight * mean * mean;
}

/* --- what follows --------------------------------------------------------- */

/* Cholesky's factor of Q, lower; its log determinant. */
static double factorise(struct density *d, double rate)
{
    double stiff = BINS / (rate * rate), log_det = 0;

    for (int i = 0; i < BINS; i++) {
        double ends = i == 0 || i == BINS - 1 ? 1 : 2, square;

        for (int j = 0; j < i; j++) {
            double sum = d->seen[i][j] - (j == i - 1 ? stiff : 0);

            for (int k = 0; k < j; k++)
                sum -= d->factor[i][k] * d->factor[j][k];
            d->factor[i][j] = sum / d->factor[j][j];
        }
        square = d->seen[i][i] + ends * stiff;
        for (int k = 0; k < i; k++)
            square -= d->factor[i][k] * d->factor[i][k];
        d->factor[i][i] = sqrt(fmax(square, 1e-12 * stiff));
        log_det += 2 * log(d->factor[i][i]);
    }
    return log_det;
}

/* found = Q^-1 right; returns found' Q found. */
static double solve(struct density *d)
{
    double *x = d->found, square = 0;

    for (int i = 0; i < BINS; i++) {
        x[i] = d->right[i];
        for (int k = 0; k < i; k++)
            x[i] -= d->factor[i][k] * x[k];
        x[i] /= d->factor[i][i];
        square += x[i] * x[i];
    }
    for (int i = BINS - 1; i >= 0; i--) {
        for (int k = i + 1; k < BINS; k++)
            x[i] -= d->factor[k][i] * x[k];
        x[i] /= d->factor[i][i];
    }
    return square;
}

/* -2 log likelihood of a rate, whose density is then in found. */
static double unlikeliness(struct density *d, double rate)
{
    double log_det = factorise(d, rate);

    return d->squares - solve(d) + log_det + 2 * (BINS - 1) * log(rate);
}

/* From the rate that was best so far up or down as long as it gets better. */
static void find_rate(struct density *d)
{
    double least = unlikeliness(d, d->rate);

    for (int up = 1; up >= 0; up--)
        for (;;) {
            double next = up ? d->rate * RATE_STEP : d->rate / RATE_STEP;
            double now;

            if (next < RATE_LEAST * 0.9 || next > RATE_MOST)
                break;
            now = unlikeliness(d, next);
            if (!(now < least))
                break;
            least = now;
            d->rate = next;
        }
    (void)unlikeliness(d, d->rate);
}

int density_is_flat(const struct density *d)
{
    return d->rate < RATE_LEAST * 1.1;
}

double density_fit(struct density *d)
{
    double mean = 0;

    if (!(d->squares > 0))
        return 1;
    find_rate(d);
    for (int b = 0; b < BINS; b++)
        mean += d->found[b] / BINS;
    if (!(mean > 0) || !isfinite(mean))
        return 1;
    for (int b = 0; b < BINS; b++)
        d->found[b] = fmax(d->found[b], CELL_LEAST * mean);
    set_cells(d, density_is_flat(d) ? NULL : d->found);
    return mean;
}
