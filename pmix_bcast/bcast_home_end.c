/* SPDX-License-Identifier: BSD-2-Clause */
/* Home of a broadcast: a node has ended, or all have. */
#include "pmix_bcast/bcast_home_state.h"
#include "pmix_bcast/clock.h"

#include <stdio.h>

static void send_all(struct bcast_home *h,
                     enum bcast_kind kind,
                     uint32_t number)
{
    struct writer w = {0};

    bcast_write_number(&w, h->s.id, number);
    h->s.send(h->s.arg, kind, &w);
}

/* It was asked for by name, and carried nothing of what was sent. */
static int is_fabric_late(const struct bcast_home *h)
{
    return h->fabric && h->s.wish.transport == TRANSPORT_OFI && h->given > 0
           && bcast_home_fabric_bytes(h) == 0;
}

/* What is not quite as was asked. */
static void note_fabric(struct bcast_home *h)
{
    if (h->fabric && fabric_why(h->fabric)[0])
        snprintf(h->note, sizeof h->note, "data goes by TCP: %.300s",
                 fabric_why(h->fabric));
    else if (is_fabric_late(h))
        snprintf(h->note, sizeof h->note, "data goes by TCP: %s", FABRIC_LATE);
    else if (h->s.wish.flags & ORDER_RAILS && bcast_home_fabric_bytes(h) > 0)
        snprintf(h->note, sizeof h->note, "%s",
                 "rails: libfabric carried the data, by one network of its own "
                 "choice: for several give transport tcp");
}

void bcast_home_end(struct bcast_home *h)
{
    if (h->over)
        return;
    h->over = 1;
    note_fabric(h);
    h->seconds = clock_s() - h->start;
    event_del(h->tick);
    send_all(h, BCAST_END, 0);
    h->s.ended(h->s.arg);
}

uint64_t bcast_home_fabric_bytes(const struct bcast_home *h)
{
    return h->fabric_bytes + (h->fabric ? fabric_bytes(h->fabric) : 0);
}

void bcast_home_node_ends(struct bcast_home *h, uint32_t v, const char *why)
{
    struct receiver *r = &h->node[v];

    if (r->ended)
        return;
    r->ended = 1;
    h->result[v].seconds = why[0] ? -1 : clock_s() - h->start;
    snprintf(h->result[v].why, sizeof h->result[v].why, "%s", why);
    h->left--;
    h->failed += why[0] != '\0';
}

void bcast_home_give_up(struct bcast_home *h, uint32_t v, const char *why)
{
    if (h->node[v].ended)
        return;
    bcast_home_node_ends(h, v, why);
    if (h->feed)
        feed_lost(h->feed, v);
    send_all(h, BCAST_LOST, v);
    if (h->left == 0)
        bcast_home_end(h);
}
