/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/metric.h"
#include "policy/select.h"

#include <math.h>

static int is_measured_amount(double x)
{
    return isfinite(x) && x >= 0;
}

static int profile_holds(const struct profile *p)
{
    for (int j = 0; j < ELEMENTS; j++)
        if (!is_measured_amount(p->influence[j]))
            return 0;
    return 1;
}

/* 7. before it is scaled to 100 over the nodes. */
static double raw_load(const struct metric *m, const struct profile *p)
{
    double load = 0;

    for (int j = 0; j < ELEMENTS; j++)
        load += m->CU[j] * m->X[j] * p->influence[j];
    return load;
}

/* 4. to 6. for one node; sum[] is what all nodes measured. */
static struct metric rank_node(const double measured[ELEMENTS],
                               const double sum[ELEMENTS],
                               const struct profile *p)
{
    struct metric m;

    for (int j = 0; j < ELEMENTS; j++) {
        m.X[j] = sum[j] > 0 ? 100 * (measured[j] / sum[j]) : 0;
        m.CM[j] = m.X[j] * p->influence[j];
        /* CM / X is I, also by rule where X is 0; not divided, so that
           rounding does not tell the nodes apart */
        m.CU[j] = 100 * p->influence[j];
    }
    m.JL = raw_load(&m, p);
    return m;
}

int metric_rank(const double measured[][ELEMENTS],
                const struct profile *p,
                struct metric m[],
                size_t n)
{
    double sum[ELEMENTS] = {0}, total = 0;

    if (n == 0 || !profile_holds(p))
        return -1;
    for (size_t i = 0; i < n; i++) {
        for (int j = 0; j < ELEMENTS; j++) {
            if (!is_measured_amount(measured[i][j]))
                return -1;
            sum[j] += measured[i][j];
        }
    }
    for (int j = 0; j < ELEMENTS; j++)
        if (!isfinite(sum[j]))
            return -1;
    for (size_t i = 0; i < n; i++)
        total += rank_node(measured[i], sum, p).JL;
    if (!isfinite(total) || total <= 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        m[i] = rank_node(measured[i], sum, p);
        m[i].JL = 100 * (m[i].JL / total);
    }
    return 0;
}

static void complete_element(
    double measured[][ELEMENTS], int j, double value, int for_all, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (for_all || isnan(measured[i][j]))
            measured[i][j] = value;
}

void metric_complete(double measured[][ELEMENTS],
                     double scratch[],
                     int left_out[ELEMENTS],
                     size_t n)
{
    for (int j = 0; j < ELEMENTS; j++) {
        size_t known = 0;

        for (size_t i = 0; i < n; i++)
            if (!isnan(measured[i][j]))
                scratch[known++] = measured[i][j];
        left_out[j] =
            known > 0 && (double)(n - known) > METRIC_UNKNOWN_MOST * (double)n;
        if (known == 0 || left_out[j])
            complete_element(measured, j, 0, 1, n);
        else
            complete_element(measured, j, select_median(scratch, known), 0, n);
    }
}

struct range {
    double least, most;
};

static struct range range_of(const double measured[][ELEMENTS], int j, size_t n)
{
    struct range r = {measured[0][j], measured[0][j]};

    for (size_t i = 1; i < n; i++) {
        r.least = fmin(r.least, measured[i][j]);
        r.most = fmax(r.most, measured[i][j]);
    }
    return r;
}

void metric_leave_out_alike(double measured[][ELEMENTS],
                            const struct profile *p,
                            size_t n)
{
    const double(*rows)[ELEMENTS] = (const double(*)[ELEMENTS])measured;
    double highest = 0;
    int first = 0;

    for (int j = 0; j < ELEMENTS; j++)
        if (p->influence[j] > highest && range_of(rows, j, n).most > 0) {
            highest = p->influence[j];
            first = j;
        }
    for (int j = 0; j < ELEMENTS; j++) {
        struct range r = range_of(rows, j, n);

        if (j != first && p->influence[j] > 0
            && r.most <= METRIC_ALIKE * r.least)
            complete_element(measured, j, 0, 1, n);
    }
}

int metric_load(struct metric m[], const struct profile *p, size_t n)
{
    double total = 0;

    for (size_t i = 0; i < n; i++) {
        double load = raw_load(&m[i], p);

        if (!is_measured_amount(load))
            return -1;
        total += load;
    }
    if (!isfinite(total) || total <= 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        m[i].JL = 100 * (raw_load(&m[i], p) / total);
    return 0;
}

enum element element_of(char letter)
{
    enum element e = ELEMENT_C;

    while (e < ELEMENTS && ELEMENT_LETTERS[e] != letter)
        e++;
    return e;
}

char element_letter(enum element e)
{
    return ELEMENT_LETTERS[e];
}
