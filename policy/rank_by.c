/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/rank_by.h"

#include <string.h>

static const char *const names[RANK_BYS] = {
    [RANK_BY_DIFFERENT] = "different",
    [RANK_BY_ALL] = "all",
};

const char *rank_by_name(enum rank_by by)
{
    return names[by];
}

enum rank_by rank_by_find(const char *name)
{
    enum rank_by by = RANK_BY_DIFFERENT;

    while (by < RANK_BYS && strcmp(name, names[by]) != 0)
        by++;
    return by;
}

int rank_by_rank(enum rank_by by,
                 double measured[][ELEMENTS],
                 const struct profile *p,
                 struct metric m[],
                 size_t n)
{
    if (by == RANK_BY_DIFFERENT && n > 0)
        metric_leave_out_alike(measured, p, n);
    return metric_rank((const double(*)[ELEMENTS])measured, p, m, n);
}

void rank_by_elements(char letters[ELEMENTS + 1],
                      const struct metric m[],
                      const struct profile *p,
                      size_t n)
{
    size_t len = 0;

    for (int e = 0; e < ELEMENTS; e++) {
        double load = 0;

        for (size_t i = 0; i < n; i++)
            load += m[i].CU[e] * m[i].X[e] * p->influence[e];
        if (load > 0)
            letters[len++] = element_letter((enum element)e);
    }
    letters[len] = '\0';
}
