/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tree_progress.h - of work on a tree that may take long: that something is done,
 * and that it is not wanted any more.  For several threads.
 */
#ifndef PMIX_BCAST_TREE_PROGRESS_H
#define PMIX_BCAST_TREE_PROGRESS_H

#include <stdatomic.h>

struct tree_progress { /* all zero: nothing was done */
    atomic_uint steps; /* grows as long as something is done */
    atomic_int cancel; /* it is not wanted any more */
    const atomic_int
        *stop; /* likewise, of all that this process does; NULL: none */
};

/* To be looked at between two things that may be waited for. */
static inline int tree_progress_is_over(const struct tree_progress *p)
{
    return atomic_load(&p->cancel) || (p->stop && atomic_load(p->stop));
}

#endif
