/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/density.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* As fine as what was seen can tell, from the least to the most. */
#define BINS_LEAST     16
#define BINS           96
#define BINS_PER_PIECE 2

/* Deviations of the walk over a whole frame, from flat to anything. */
#define RATE_LEAST 0.03
#define RATE_STEP  3
#define RATE_MOST  30
/* Of a unit to the mean one. */
#define CELL_LEAST 0.02
/* Deviations that are told are as sure as from so many pieces; and those that are
 * found are half of them at least. */
#define SURE       4
#define LEFT_LEAST 0.25

struct density {
    int bins;
    double cell[BINS], before[BINS + 1];
    /* sums of the covariance of cells, of those before both */
    double shared[BINS + 1][BINS + 1];
    double rate;
    /* what was seen, in bins of its own */
    int n;
    double seen[BINS][BINS], right[BINS], squares, weights, means, pieces;
    /* workspace: the factor of Q, and a solution */
    double factor[BINS][BINS], found[BINS];
};

static void set_cells(struct density *d, int bins, const double cell[])
{
    double sum = 0;

    d->bins = bins;
    for (int b = 0; b < bins; b++)
        sum += cell ? cell[b] : 1;
    d->before[0] = 0;
    for (int b = 0; b < bins; b++) {
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
    set_cells(d, 1, NULL);
    density_forget(d, 0);
    return d;
}

void density_destroy(struct density *d)
{
    free(d);
}

double density_before(const struct density *d, double place)
{
    double at = place * d->bins;
    int b = at < d->bins ? (int)at : d->bins - 1;

    return d->before[b] + (at - b) * d->cell[b];
}

/* --- what was seen -------------------------------------------------------- */

void density_forget(struct density *d, size_t pieces)
{
    d->n = BINS;
    if (pieces < BINS / BINS_PER_PIECE)
        d->n = (int)pieces * BINS_PER_PIECE;
    if (d->n < BINS_LEAST)
        d->n = BINS_LEAST;
    for (int b = 0; b < d->n; b++)
        memset(d->seen[b], 0, (size_t)d->n * sizeof d->seen[b][0]);
    memset(d->right, 0, sizeof d->right);
    d->squares = d->weights = d->means = d->pieces = 0;
}

void density_see(struct density *d, const struct density_seen *seen)
{
    double weight = 1 / (seen->deviation * seen->deviation), part[BINS];
    double begin = seen->begin, end = seen->end, mean = seen->mean;
    int from = (int)(begin * d->n), to = (int)ceil(end * d->n);

    if (!(begin >= 0) || !(end > begin) || !(end <= 1) || !isfinite(mean)
        || !(weight > 0) || !isfinite(weight))
        return;
    for (int b = from; b < to; b++)
        part[b] = fmax(fmin(end * d->n, b + 1) - fmax(begin * d->n, b), 0)
                  / ((end - begin) * d->n);
    for (int b = from; b < to; b++) {
        for (int k = from; k <= b; k++)
            d->seen[b][k] += weight * part[b] * part[k];
        d->right[b] += weight * part[b] * mean;
    }
    d->squares += weight * mean * mean;
    d->weights += weight;
    d->means += weight * mean;
    d->pieces++;
}

/* --- what follows --------------------------------------------------------- */

/* Cholesky's factor of Q, lower; its log determinant. */
static double factorise(struct density *d, double rate)
{
    int n = d->n;
    double stiff = n / (rate * rate), log_det = 0;

    for (int i = 0; i < n; i++) {
        double ends = i == 0 || i == n - 1 ? 1 : 2, square;

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

/* x = Q^-1 right; returns x' Q x. */
static double solve(const struct density *d, const double right[], double x[])
{
    double square = 0;
    int n = d->n;

    for (int i = 0; i < n; i++) {
        x[i] = right[i];
        for (int k = 0; k < i; k++)
            x[i] -= d->factor[i][k] * x[k];
        x[i] /= d->factor[i][i];
        square += x[i] * x[i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            x[i] -= d->factor[k][i] * x[k];
        x[i] /= d->factor[i][i];
    }
    return square;
}

/* -2 log likelihood of a rate, whose density is then in found. */
static double unlikeliness(struct density *d, double rate)
{
    double log_det = factorise(d, rate);
    double left = d->squares - solve(d, d->right, d->found);

    return (d->pieces + SURE) * log(fmax(left, LEFT_LEAST * d->pieces) + SURE)
           + log_det + 2 * (d->n - 1) * log(rate);
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
}

/* The sums of Q^-1 without what is known of the mean, which is divided out. */
static void set_shared(struct density *d, double mean)
{
    int n = d->n;
    double one[BINS] = {0}, column[BINS], row[BINS], all = 0;

    for (int b = 0; b < n; b++)
        one[b] = 1;
    (void)solve(d, one, row);
    for (int b = 0; b < n; b++)
        all += row[b];
    memset(one, 0, sizeof one);
    for (int k = 0; k < n; k++) {
        double sum = 0;

        one[k] = 1;
        (void)solve(d, one, column);
        one[k] = 0;
        for (int b = 0; b < n; b++) {
            sum += (column[b] - row[b] * row[k] / all) / (mean * mean);
            d->shared[k + 1][b + 1] = d->shared[k][b + 1] + sum;
        }
    }
}

double density_deviation(const struct density *d, double begin, double end)
{
    int n = d->bins, from = (int)(begin * n), to = (int)ceil(end * n);
    double work, square;

    if (n == 1)
        return 0;
    work = (d->before[to] - d->before[from]) * n;
    square =
        d->shared[to][to] - 2 * d->shared[from][to] + d->shared[from][from];
    return sqrt(fmax(square, 0)) / work;
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
    if (density_is_flat(d)) {
        mean = d->means / d->weights;
        set_cells(d, 1, NULL);
        return mean > 0 && isfinite(mean) ? mean : 1;
    }
    (void)unlikeliness(d, d->rate);
    for (int b = 0; b < d->n; b++)
        mean += d->found[b] / d->n;
    if (!(mean > 0) || !isfinite(mean))
        return 1;
    for (int b = 0; b < d->n; b++)
        d->found[b] = fmax(d->found[b], CELL_LEAST * mean);
    set_shared(d, mean);
    set_cells(d, d->n, d->found);
    return mean;
}
