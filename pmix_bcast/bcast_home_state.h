/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bcast_home_state.h - what the files of home share; for them alone.
 *
 *   bcast_home_begin.c  its begin, what nodes report, time, the result
 *   bcast_home_links.c  chunks, and the connections that they go by
 *   bcast_home_end.c    a node has ended, or all have
 */
#ifndef PMIX_BCAST_BCAST_HOME_STATE_H
#define PMIX_BCAST_BCAST_HOME_STATE_H

#include "pmix_bcast/bcast_home.h"
#include "pmix_bcast/bcast_source.h"
#include "pmix_bcast/fabric.h"
#include "pmix_bcast/feed.h"
#include "pmix_bcast/pending.h"
#include "pmix_bcast/rails.h"

#include <event2/event.h>

struct receiver {
    struct bcast_home *home;
    uint32_t rank;
    struct rail rail[RAILS_MAX]; /* more than one only with ORDER_RAILS */
    struct feed_give *queue;     /* what it is to be sent, in turn */
    size_t n, cap;
    uint64_t queued;
    int ended; /* DONE, or lost */
    uint32_t held;
    double told;  /* when it said so */
    double rate;  /* chunks a second that it got in the time before */
    double moved; /* when it last got on */
};

struct bcast_home {
    struct bcast_home_setup s;
    struct plan plan;
    struct bcast_source source;
    struct feed *feed;
    struct packing *packing; /* NULL: chunks travel as they are */
    struct listener *listener;
    struct pending_list pending;
    struct receiver *node;
    struct networks networks; /* of ours, those meant for data */
    struct rails rails;       /* of all of them */
    struct bcast_node_result *result;
    uint32_t left, failed; /* nodes: not ended yet; without the file */
    struct event *tick;
    unsigned ticks;
    double start, seconds;
    double got_on; /* when home itself last did: a chunk's tag was made, or one
                      was sent */
    uint64_t home_bytes, pulls, refused, duplicates, fabric_bytes;
    uint64_t given;            /* chunks, by home itself */
    uint32_t threads;          /* of the node that had most */
    struct fabric *fabric;     /* NULL: all goes by TCP */
    char note[BCAST_TEXT_MAX]; /* what is not quite as was asked, or "" */
    struct es_error err;
    int over;
};
/* Once; no callback of ours follows.  With h->err filled nobody has got it. */
void bcast_home_end(struct bcast_home *h);
/* A node has it, with why "", or does not get it. */
void bcast_home_node_ends(struct bcast_home *h, uint32_t v, const char *why);
/* What libfabric has carried, as far as is known. */
uint64_t bcast_home_fabric_bytes(const struct bcast_home *h);
/* The others are told that a node does not get it. */
void bcast_home_give_up(struct bcast_home *h, uint32_t v, const char *why);

/* Nodes say first what they had (LINK_HAVE). */
int bcast_home_is_told(const struct bcast_home *h);
/* Chunks that there is room for, to who is to have them. */
void bcast_home_give(struct bcast_home *h);
/* As of listener.h: somebody calls. */
void bcast_home_called(void *arg, struct listener *l, int fd);

#endif
