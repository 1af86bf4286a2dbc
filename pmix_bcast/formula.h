/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * formula.h - how long other ways to bring data to all nodes take, by their
 * own formulas.  Pure.  Seconds; bytes; rate in bytes per second and link;
 * latency in seconds; nodes are receivers, without home.
 */
#ifndef PMIX_BCAST_FORMULA_H
#define PMIX_BCAST_FORMULA_H

#include <stdint.h>

/* Nobody is faster: each link must carry the data once. */
double formula_limit(double bytes, double rate);

/*
 * One tree with pulls (CN 102486739): the last child of the last first-layer
 * node has the chunk of its branch after (branches + children) × chunk / rate,
 * and then pulls the others.
 */
double formula_strict(double bytes,
                      double rate,
                      uint32_t nodes,
                      uint32_t branches);

/*
 * An order of so many bytes down a tree in which each has so many children, to
 * whom it is passed on in turn: until the last node has it.  per_message: seconds
 * at each end.
 */
double formula_orders(double bytes,
                      double rate,
                      double latency,
                      double per_message,
                      uint32_t nodes,
                      uint32_t branches);

/*
 * Slurm's sbcast: block after block, each acknowledged before the next; home
 * sends a block to `fanout` nodes in turn, and so does every node with those
 * below it, when it has the whole block.  (Slurm 22.05, file_bcast.c.)
 */
double formula_sbcast(double bytes,
                      double rate,
                      double latency,
                      uint32_t nodes,
                      uint32_t fanout,
                      double block);

/*
 * A binomial scatter and a ring allgather, what MPI_Bcast does with much data:
 * log2(P) latency + S/rate (P-1)/P, then P-1 steps of a P-th, with home as
 * one of P ranks.  (Thakur, Rabenseifner, Gropp, IJHPCA 19, 2005, section 4.)
 */
double formula_scatter_allgather(double bytes,
                                 double rate,
                                 double latency,
                                 uint32_t nodes);

#endif
