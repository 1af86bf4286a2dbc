/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_loops.h - finds a program's iterations: the loop in which the collectives
 * repeat that end its regions.
 *
 * Pure.  A collective is known by its signature, from where it is called.  The
 * period of a sequence of them is the least p for which each of the last 2p is
 * the same as the one p before it, so that three times the same was seen.  An
 * iteration then ends with one of them, the anchor, which comes least often in
 * a period; others between, as of what is printed now and then, break nothing.
 * Where the period does not hold any more a longer one is looked for, of which
 * it is a part; and any, where the anchor does not come again.
 *
 * All ranks find the same, as all of them call the same collectives in the same
 * order.  The idea is that of DynAIS in EAR (Corbalan, Brochard, "EAR: Energy
 * management framework for supercomputers", 2019).
 */
#ifndef LAUNCHER_LIBEVENSTEP_MPI_LOOPS_H
#define LAUNCHER_LIBEVENSTEP_MPI_LOOPS_H

#include <stdint.h>

#define MPI_LOOPS_PERIOD 64u  /* regions of an iteration, at most */
#define MPI_LOOPS_LAST   256u /* remembered: more than three periods */
#define MPI_LOOPS_MOST   32u  /* loops of a program; the last is all others' */
#define MPI_LOOPS_ENDS   2u   /* iterations that one region may end */

struct mpi_iteration {
    uint32_t loop, period;          /* period: regions, as of the loop */
    uint64_t useful_ns, waiting_ns; /* together what it took */
};

struct mpi_loops { /* all zero: nothing was seen */
    uint64_t n;    /* regions */
    struct {
        uint64_t signature, useful_ns, waiting_ns; /* until its end */
    } last[MPI_LOOPS_LAST];                        /* region r at r % LAST */
    struct {
        uint64_t anchor;
        uint32_t often, period; /* often: anchors in a period */
    } loop[MPI_LOOPS_MOST];
    uint32_t loops, now; /* now: the loop that it is in, from 1; 0: none */
    uint32_t since;      /* regions since the anchor */
    uint32_t passed;     /* anchors in this iteration */
    int has_begun;       /* this iteration, and with these: */
    uint64_t began_useful_ns, began_waiting_ns;
};

/* A region has ended, until which there were so much useful and waiting time.
 * Returns how many iterations are now known to have ended, oldest first. */
unsigned mpi_loops_add(struct mpi_loops *l,
                       uint64_t signature,
                       uint64_t useful_ns,
                       uint64_t waiting_ns,
                       struct mpi_iteration ended[MPI_LOOPS_ENDS]);

#endif
