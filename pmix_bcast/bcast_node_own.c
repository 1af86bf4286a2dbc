/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What was on this node before the broadcast, in the old tree or the cache, and
 * others lack: home and the peers are told, so that none of it is sent here; and
 * it is taken as if our parent had sent it, so that our children get it.
 */
#include "pmix_bcast/bcast_node_state.h"
#include "pmix_bcast/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/time.h>

/* Peers call, and say first what they had. */
#define BEGIN_US 10000
/* At once, before others have their turn. */
#define BYTES_AT_ONCE (1u << 20)
/* Home does not set the pace, and if all who have it sent as much as they can, who
 * lacks it would be sent more than its link takes: in a testbed of 100 Mbit/s that
 * cost a tenth.  So half a chunk is to be on its way to each peer that lacks some,
 * and more is taken if there is less for one of them.  But now and then a chunk is
 * taken anyway: at the end all must be. */
#define WAIT_US    1000
#define WAITS_MOST 16u

/* Fill run[] with n runs at most; returns how many there are. */
static uint32_t find_runs(const struct bcast_node *b,
                          struct chunk_run run[],
                          uint32_t n)
{
    uint32_t runs = 0;
    int was_here = 0;

    for (uint32_t j = 0; j < b->order.plan.chunks; j++) {
        int is_here = bcast_copy_was_here(&b->copy, j);

        if (is_here && !was_here && runs++ < n)
            run[runs - 1] = (struct chunk_run){j, 0};
        if (is_here && runs <= n)
            run[runs - 1].n++;
        was_here = is_here;
    }
    return runs;
}

static int go_on(struct bcast_node *b, suseconds_t us)
{
    struct timeval tv = {0, us};

    return event_add(b->take, &tv);
}

/* It lacks some of what we had, and nothing of it waits or is on its way. */
static int is_hungry(const struct bcast_node *b, const struct peer *p)
{
    uint64_t queued = 0;

    if (!p->lacks || !relay_is_idle(b->relay, p->rank))
        return 0;
    for (unsigned i = 0; i < RAILS_MAX; i++)
        if (p->rail[i].link)
            queued += link_queued(p->rail[i].link);
    return rails_open(p->rail) > 0 && queued < b->order.plan.chunk / 2;
}

/* Is so much on its way that no more should be taken? */
static int is_enough(struct bcast_node *b)
{
    int lacking = 0;

    for (uint32_t v = 0; v < b->order.plan.nodes; v++) {
        const struct peer *p = b->peer[v];

        if (p && is_hungry(b, p))
            return 0;
        lacking |= p && p->lacks && rails_open(p->rail) > 0;
    }
    return lacking && ++b->waits % WAITS_MOST > 0;
}

static int take_one(struct bcast_node *b, uint32_t chunk)
{
    int why;

    if (!relay_wants(b->relay, chunk))
        return 0; /* it has come meanwhile */
    why = bcast_copy_take(&b->copy, chunk);
    if (why)
        bcast_node_fail(b, why, "");
    else
        relay_has(b->relay, chunk, clock_s());
    return why;
}

static void on_take(evutil_socket_t fd, short what, void *arg)
{
    struct bcast_node *b = arg;
    uint64_t bytes = 0;

    (void)fd;
    (void)what;
    while (b->state == RECEIVING && b->taking < b->n_own
           && bytes < BYTES_AT_ONCE && !is_enough(b)) {
        const struct chunk_run *run = &b->own[b->taking];
        uint32_t chunk = run->first + b->taken;

        if (take_one(b, chunk) != 0)
            return;
        bytes += bcast_copy_size(&b->copy, chunk);
        if (++b->taken == run->n) {
            b->taking++;
            b->taken = 0;
        }
    }
    bcast_node_check(b);
    if (b->state == RECEIVING && b->taking < b->n_own
        && go_on(b, bytes < BYTES_AT_ONCE ? WAIT_US : 0) < 0)
        bcast_node_fail(b, ENOMEM, "");
}

void bcast_node_find_own(struct bcast_node *b)
{
    uint32_t n = b->tells ? find_runs(b, NULL, 0) : 0;

    b->own = n > 0 ? calloc(n, sizeof *b->own) : NULL;
    b->take = b->own ? evtimer_new(b->s.base, on_take, b) : NULL;
    if (!b->take)
        return;
    b->n_own = find_runs(b, b->own, n);
    for (uint32_t i = 0; i < n; i++)
        relay_expects(b->relay, b->own[i].first, b->own[i].n);
}

void bcast_node_take_own(struct bcast_node *b)
{
    if (b->n_own > 0 && go_on(b, BEGIN_US) < 0)
        bcast_node_fail(b, ENOMEM, "");
}

void bcast_node_want_own(struct bcast_node *b, const struct peer *p)
{
    if (p->lacks && b->taking < b->n_own)
        event_active(b->take, EV_TIMEOUT, 0);
}

void bcast_node_end_own(struct bcast_node *b)
{
    if (b->take)
        event_free(b->take);
    free(b->own);
}

int bcast_node_next_have(const struct bcast_node *b,
                         struct peer *p,
                         struct link_head *h)
{
    if (!b->tells || b->state == FAILED || p->told > b->n_own)
        return 0;
    h->type = LINK_HAVE;
    if (p->told < b->n_own) {
        h->chunk = b->own[p->told].first;
        h->bytes = b->own[p->told].n;
    }
    p->told++;
    return 1;
}

static int lacks_some(const struct bcast_node *b, uint32_t peer)
{
    for (uint32_t i = 0; i < b->n_own; i++)
        for (uint32_t j = 0; j < b->own[i].n; j++)
            if (relay_serves(b->relay, peer, b->own[i].first + j))
                return 1;
    return 0;
}

int bcast_node_heard_have(struct peer *p, const struct link_head *h)
{
    const struct bcast_node *b = p->node;

    if (p->rank == PLAN_NOBODY || h->bytes > b->order.plan.chunks - h->chunk)
        return -1;
    relay_peer_has(b->relay, p->rank, h->chunk, (uint32_t)h->bytes);
    if (h->bytes == 0) {
        p->has_told = 1;
        p->lacks = lacks_some(b, p->rank);
        rails_wake(p->rail);
    }
    return 0;
}
