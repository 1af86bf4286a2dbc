/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/thread_division.h"

#include <math.h>

static int is_known(const struct thread_rank *r)
{
    return isfinite(r->work) && r->work > 0;
}

/* 1 where none is known: all are alike. */
static double mean_work(const struct thread_rank rank[], size_t n)
{
    double sum = 0, known = 0;

    for (size_t i = 0; i < n; i++)
        if (is_known(&rank[i])) {
            sum += rank[i].work;
            known++;
        }
    return known > 0 ? sum / known : 1;
}

static double seconds_of(const struct thread_rank *r, double mean)
{
    return (is_known(r) ? r->work : mean) / r->threads;
}

/* Who takes longest and may have one more; n: nobody. */
static size_t neediest(const struct thread_rank rank[], size_t n, double mean)
{
    size_t best = n;

    for (size_t i = 0; i < n; i++)
        if (rank[i].threads < rank[i].most
            && (best == n
                || seconds_of(&rank[i], mean) > seconds_of(&rank[best], mean)))
            best = i;
    return best;
}

/* To give each further thread to who takes longest then is best: whatever is
 * given to another leaves that one as it is. */
void thread_division(struct thread_rank rank[], size_t n, uint32_t all)
{
    double mean = mean_work(rank, n);

    for (size_t i = 0; i < n; i++)
        rank[i].threads = 1;
    for (size_t given = n; given < all; given++) {
        size_t i = neediest(rank, n, mean);

        if (i == n)
            return;
        rank[i].threads++;
    }
}

double thread_division_longest(const struct thread_rank rank[], size_t n)
{
    double longest = 0;

    for (size_t i = 0; i < n; i++)
        if (is_known(&rank[i]) && rank[i].threads > 0)
            longest = fmax(longest, rank[i].work / rank[i].threads);
    return longest;
}
