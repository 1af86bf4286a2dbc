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

/* Before others have their turn. */
#define BYTES_AT_ONCE (1u << 20)
#define WAIT_US       1000
/* Without home to set the pace all who have it would send at once, and who has
 * not would be sent more than its link takes: in a testbed of 100 Mbit/s that
 * cost a tenth.  So about half a chunk is on its way to each peer, of this node's;
 * but one that takes nothing does not stop the others. */
#define WAITS_MOST 16u

/* Runs, at most n of them in run[]; how many there are. */
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

/* Of what was passed on so much has not arrived that no more should be. */
static int is_enough(struct bcast_node *b)
{
    const struct plan *p = &b->order.plan;
    uint64_t on_way = 0, most = 0;
    const struct rail *r;

    for (r = LIST_FIRST(&b->rails.first); r; r = LIST_NEXT(r, next)) {
        uint64_t queued = link_queued(r->link);

        on_way += queued < 2 * p->chunk ? queued : 2 * p->chunk;
        most += p->chunk / 2;
    }
    return (on_way >= most || relay_waiting(b->relay) > 2 * p->nodes)
           && ++b->waits % WAITS_MOST > 0;
}

static int take_one(struct bcast_node *b, uint32_t chunk)
{
    int why;

    if (!relay_wants(b->relay, chunk))
        return 0; /* it has come meanwhile */
    if (bcast_copy_is_lent(&b->copy, chunk))
        bcast_node_forget_places(b, chunk);
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

void bcast_node_begin_own(struct bcast_node *b)
{
    uint32_t n = b->tells ? find_runs(b, NULL, 0) : 0;

    b->own = n > 0 ? calloc(n, sizeof *b->own) : NULL;
    b->take = b->own ? evtimer_new(b->s.base, on_take, b) : NULL;
    if (!b->take || go_on(b, 0) < 0)
        return;
    b->n_own = find_runs(b, b->own, n);
    for (uint32_t i = 0; i < n; i++)
        relay_expects(b->relay, b->own[i].first, b->own[i].n);
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
    if (!b->tells || p->told > b->n_own)
        return 0;
    h->type = LINK_HAVE;
    if (p->told < b->n_own) {
        h->chunk = b->own[p->told].first;
        h->bytes = b->own[p->told].n;
    }
    p->told++;
    return 1;
}

int bcast_node_heard_have(struct peer *p, const struct link_head *h)
{
    const struct bcast_node *b = p->node;

    if (p->rank == PLAN_NOBODY || h->bytes > b->order.plan.chunks - h->chunk)
        return -1;
    relay_peer_has(b->relay, p->rank, h->chunk, (uint32_t)h->bytes);
    if (h->bytes == 0) {
        p->has_told = 1;
        rails_wake(p->rail);
    }
    return 0;
}
