/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wireup.h - the agents of a companion step find each other.
 *
 * Over PMIx each puts its endpoint, one fence over the whole namespace collects
 * them all, and PMIx is left again at once.  All of it blocks, and the
 * exchange until the last agent is in it.
 * Begin it when all are known to run: the PMIx of Slurm 22.05 sends again after
 * half a second what it has sent to a node whose step was not there yet, which
 * happened in one start of five on 8 nodes.
 *
 * Without PMIx, or with more agents than should fetch from it, whoever knows
 * all endpoints sends them as a table of bytes: count u32, and for each agent
 * by rank its endpoint_write().
 */
#ifndef PMIX_BCAST_WIREUP_H
#define PMIX_BCAST_WIREUP_H

#include "pmix_bcast/bytes.h"
#include "pmix_bcast/error.h"
#include "pmix_bcast/network.h"

#include <stddef.h>
#include <stdint.h>

/* With its NUL: HOST_NAME_MAX is 64, a name in the DNS has up to 255. */
#define NODE_NAME_MAX 256

/* PMIX_MAX_NSLEN with its NUL. */
#define NSPACE_MAX 256

/* Agents of a step: Slurm's nodes of a job are at most 64k. */
#define AGENTS_MAX 65536u

struct endpoint {
    char node[NODE_NAME_MAX];
    char address[ADDRESS_MAX]; /* numeric */
    uint16_t port;
    uint16_t door; /* where it waits for its parent in a tree; 0: not at all */
    struct networks networks; /* meant for data */
};

struct wireup {
    uint32_t rank, size;     /* of this agent; size is the number of agents */
    char nspace[NSPACE_MAX]; /* their name in PMIx; "": it was not joined */
    struct endpoint *agent;  /* size of them, by rank; NULL until exchanged */
};

/* Join PMIx with an endpoint: *w gets our rank and how many we are, and no
 * endpoints yet; the caller ends it with wireup_clear().  On failure *w is
 * zeroed and err says what PMIx said. */
int wireup_join(struct wireup *w,
                const struct endpoint *mine,
                struct es_error *err);
/* Then, once: *w gets everybody's endpoint, and PMIx is left.  On failure *w
 * has none, and err says whether PMIx is missing or a peer is. */
int wireup_exchange(struct wireup *w, struct es_error *err);
/* Or: *w, of which rank and size are known, gets everybody's endpoint from a
 * table; PMIx is left if it was joined.  Returns 0, or -1 if this is no table
 * of that size or memory ran out (nothing changed). */
int wireup_take(struct wireup *w, const uint8_t *table, size_t len);
/* The table of n agents. */
void wireup_write(struct writer *w, const struct endpoint *agent, uint32_t n);
void wireup_clear(struct wireup *w);

/* An endpoint as bytes: a text as below.  Reading anything else sets bad, with
 * *e zeroed. */
void endpoint_write(struct writer *w, const struct endpoint *e);
void endpoint_read(struct reader *r, struct endpoint *e);
/*
 * An endpoint as the text "node address port/door", without "/door" if it has
 * none, behind it its networks (networks_format()), and back.
 * endpoint_parse() returns 0, or -1 if text is no such thing (*e zeroed).
 */
void endpoint_format(const struct endpoint *e, char *text, size_t size);
int endpoint_parse(struct endpoint *e, const char *text);
#define ENDPOINT_TEXT_MAX (NODE_NAME_MAX + ADDRESS_MAX + 14 + NETWORKS_TEXT_MAX)

#endif
