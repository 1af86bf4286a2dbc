/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pack_choice.h - is it worth while to compress what is sent?  Pure.
 *
 * A byte takes 1 / wire seconds as it is, and seconds + left / wire compressed:
 * the sum, as one thread compresses and sends.
 */
#ifndef PMIX_BCAST_PACK_CHOICE_H
#define PMIX_BCAST_PACK_CHOICE_H

enum pack { PACK_NONE, PACK_LZ4, PACK_ZSTD, PACK_AUTO };
#define PACK_METHODS 3 /* those that a chunk may have: all but AUTO */

/* What a method has cost, as measured; both 0: not yet. */
struct pack_cost {
    double seconds; /* to compress a byte */
    double left;    /* of a byte, 1 or more: nothing was gained */
};

/* wire: bytes a second, 0: not known yet, then nothing is compressed.  cost of
 * PACK_NONE is not looked at. */
enum pack pack_choose(const struct pack_cost cost[PACK_METHODS], double wire);
/* "none", "lz4", "zstd" or "auto"; pack_find(): -1 if it is none of them. */
const char *pack_name(enum pack pack);
int pack_find(const char *name);

#endif
