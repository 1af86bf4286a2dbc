/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rank_by.h - which core elements the nodes are ranked by.  Pure.
 */
#ifndef POLICY_RANK_BY_H
#define POLICY_RANK_BY_H

#include "policy/metric.h"

enum rank_by {
    RANK_BY_DIFFERENT, /* those that metric_leave_out_alike() leaves */
    RANK_BY_ALL,       /* all that have influence, as published */
    RANK_BYS
};

/* "different", "all". */
const char *rank_by_name(enum rank_by by);
/* RANK_BYS if there is none of that name. */
enum rank_by rank_by_find(const char *name);

/*
 * metric_rank() by those elements; in measured[][] the others become 0.  Where
 * it returns -1, m is untouched.
 */
int rank_by_rank(enum rank_by by,
                 double measured[][ELEMENTS],
                 const struct profile *p,
                 struct metric m[],
                 size_t n);

/* The letters of the elements that n ranked nodes have any load by, in the
 * order of ELEMENT_LETTERS. */
void rank_by_elements(char letters[ELEMENTS + 1],
                      const struct metric m[],
                      const struct profile *p,
                      size_t n);

#endif
