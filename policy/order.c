/* SPDX-License-Identifier: BSD-2-Clause */
/* Merge sort from the bottom up, as in Knuth, TAOCP 3, section 5.2.4, of runs
 * that are sorted by insertion, section 5.2.1. */
#include "policy/order.h"

#include <string.h>

#define RUN 32

static void insert_sorted(uint32_t index[], size_t n, const int64_t key[])
{
    for (size_t i = 1; i < n; i++) {
        uint32_t at = index[i];
        size_t j = i;

        for (; j > 0 && key[index[j - 1]] < key[at]; j--)
            index[j] = index[j - 1];
        index[j] = at;
    }
}

static void merge(uint32_t out[],
                  const uint32_t a[],
                  size_t na,
                  const uint32_t b[],
                  size_t nb,
                  const int64_t key[])
{
    size_t i = 0, j = 0;

    while (i < na && j < nb) { /* without a branch that nobody can predict */
        uint32_t left = a[i], right = b[j];
        int is_left = key[left] >= key[right];

        out[i + j] = is_left ? left : right;
        i += (size_t)is_left;
        j += (size_t)!is_left;
    }
    memcpy(out + i + j, a + i, (na - i) * sizeof *out);
    memcpy(out + na + j, b + j, (nb - j) * sizeof *out);
}

void order_descending(uint32_t index[],
                      uint32_t scratch[],
                      size_t n,
                      const int64_t key[])
{
    for (size_t i = 0; i < n; i += RUN)
        insert_sorted(index + i, n - i < RUN ? n - i : RUN, key);
    for (size_t run = RUN; run < n; run *= 2) {
        for (size_t i = 0; i < n; i += 2 * run) {
            size_t na = n - i < run ? n - i : run;
            size_t nb = n - i - na < run ? n - i - na : run;

            merge(scratch + i, index + i, na, index + i + na, nb, key);
        }
        memcpy(index, scratch, n * sizeof *index);
    }
}
