/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tree_want.h - which segments of a tree's files a node has not got, one bit for
 * each; and of several nodes, which at least one has not.
 */
#ifndef PMIX_BCAST_TREE_WANT_H
#define PMIX_BCAST_TREE_WANT_H

#include <stddef.h>
#include <stdint.h>

struct tree_want { /* all zero: nothing is said, so all is wanted */
    uint8_t *bits; /* owned */
    uint32_t n;    /* segments */
};

/* Nothing is wanted yet; 0, or ENOMEM. */
int tree_want_init(struct tree_want *w, uint32_t n);
/* How many bytes so many segments take. */
size_t tree_want_bytes(uint32_t n);
void tree_want_add(struct tree_want *w, uint32_t segment);
int tree_want_has(const struct tree_want *w, uint32_t segment);
/* What another wants, too.  0, or -1 if those are not bits of so many
 * segments. */
int tree_want_unite(struct tree_want *w, const uint8_t *bits, size_t len);
void tree_want_clear(struct tree_want *w);

#endif
