/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bcast_home.h - home's side of a broadcast: reads the source, gives its
 * chunks away (feed.h), and ends when every node has said DONE or is lost.
 */
#ifndef PMIX_BCAST_BCAST_HOME_H
#define PMIX_BCAST_BCAST_HOME_H

#include "pmix_bcast/bcast_message.h"
#include "pmix_bcast/channel.h"
#include "pmix_bcast/pack_choice.h"
#include "pmix_bcast/pull.h"
#include "pmix_bcast/transport.h"

struct bcast_home;

struct bcast_wish {           /* which file, and how */
    const char *source;       /* a regular file */
    struct tree_source *tree; /* or, if not NULL, a tree: the flags say what of
                                 it, its INDEX or the content (TREE) */
    const char *destination;  /* absolute, on every node */
    uint32_t flags;           /* enum order_flag */
    const char *cache;        /* with ORDER_CACHE: the nodes' folder */
    uint64_t cache_bytes;     /* that it may have */
    enum pull_way way;
    uint32_t chunk, branches; /* 0: as it is best */
    uint32_t small;           /* up to so many bytes go with the order */
    int is_whole; /* all of what a source is in is in the copy: it may be replaced */
    uint32_t begun;           /* id of the broadcast that has begun it, or 0 */
    double timeout_s;         /* a node without progress is given up; 0: 10 */
    const char *interfaces;   /* meant for data (network.h); NULL: none */
    enum pack pack;           /* how chunks travel */
    enum transport transport; /* by what */
};

struct bcast_home_setup {
    struct event_base *base;
    const struct secret *secret;
    struct port_range ports;
    enum loopback loopback;     /* all nodes are on this machine */
    const struct listen_at *at; /* else where they call by Slurm's network; used
                                   during the call */
    uint32_t id;                /* unlike any other of this secret */
    uint32_t nodes;
    struct bcast_wish wish;
    /* Send a message to all nodes that are there, in the order of the calls;
     * clears w. */
    void (*send)(void *arg, enum bcast_kind kind, struct writer *w);
    /* May a node without progress be given up?  0: not yet, it has been asked.
     * NULL: always. */
    int (*is_late)(void *arg, uint32_t node);
    /* It is over: see bcast_home_result(); called once, from the loop. */
    void (*ended)(void *arg);
    void *arg;
};

struct bcast_node_result {
    double seconds;           /* until its DONE; negative: never */
    char why[BCAST_TEXT_MAX]; /* what failed, or "" */
    int error;                /* the errno value of that, if the node told it */
    char note[BCAST_TEXT_MAX]; /* what is not quite as was asked, or "" */
};

struct bcast_result {
    struct plan plan;
    double seconds; /* from the order to the last DONE */
    uint64_t home_bytes, pulls, refused, duplicates;
    uint32_t threads; /* that received at a time, of the node that had most */
    uint32_t failed;  /* nodes */
    uint64_t fabric;  /* bytes that went by libfabric, from home and nodes */
    const char *note; /* what is not quite as was asked at home, or "" */
    double left;      /* what compression has left of a byte; 1: all */
    const struct bcast_node_result *node;
    const struct es_error *err; /* kind is ES_OK, or why all of it failed */
};

/* How far a node is. */
struct bcast_standing {
    uint64_t bytes; /* that it has, as it said last */
    double rate;    /* bytes a second, between the last two times; 0: none */
    int ended;      /* it has all, or gets no more */
    int failed;     /* the latter */
};

/* Open the source and send the order; setup's pointers must outlive it. */
int bcast_home_start(struct bcast_home **h,
                     const struct bcast_home_setup *setup,
                     struct es_error *err);
/* A DONE or HELD has come.  Returns 0, or -1 if it is neither. */
int bcast_home_receive(struct bcast_home *h,
                       uint32_t node,
                       enum bcast_kind kind,
                       const uint8_t *body,
                       size_t len);
/* A node is lost, why in words; and the errno value that it told, or 0. */
void bcast_home_lost(struct bcast_home *h,
                     uint32_t node,
                     const char *why,
                     int error);
/* A node was stopped for so long; that is no lack of progress. */
void bcast_home_move(struct bcast_home *h, uint32_t node, double seconds);
struct bcast_standing bcast_home_standing(const struct bcast_home *h,
                                          uint32_t node);
/* Valid until bcast_home_destroy(); before the end, too: how it stands. */
struct bcast_result bcast_home_result(const struct bcast_home *h);
void bcast_home_destroy(struct bcast_home *h);

#endif
