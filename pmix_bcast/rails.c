/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/rails.h"
#include "pmix_bcast/clock.h"

#include <string.h>

#define LOOK_S      0.01 /* over which a rate is measured, at least */
#define LOOK_LATE_S 0.1  /* and at most: it may have been idle */
#define SLOWER      0.25 /* the share of a rate that is less than before */
#define RATE_MIN    1.0  /* bytes a second, of one that takes nothing */
#define STUCK_S     0.1  /* without an acknowledgement of what waits */

/* What is known of all that are open: 2: how fast they were, 1: what the system
 * says, 0: nothing. */
static int known_of(const struct rail_load *rail, unsigned n)
{
    int seen = 1, said = 1;

    for (unsigned i = 0; i < n; i++)
        if (rail[i].is_open) {
            seen &= rail[i].seen > 0;
            said &= rail[i].mbps > 0;
        }
    return seen ? 2 : said;
}

unsigned rails_best(const struct rail_load *rail, unsigned n, uint32_t size)
{
    int known = known_of(rail, n);
    unsigned best = n;
    double least = 0;

    for (unsigned i = 0; i < n; i++) {
        double rate = known == 2 ? rail[i].seen : known ? rail[i].mbps : 1;
        double takes = ((double)rail[i].waits + size) / (rate > 0 ? rate : 1);

        if (!rail[i].is_open || (best < n && takes >= least))
            continue;
        best = i;
        least = takes;
    }
    return best;
}

void rails_init(struct rails *all, const struct networks *mine)
{
    *all = (struct rails){.mine = mine};
    LIST_INIT(&all->first);
}

void rail_begin(struct rails *all, struct rail *r, struct link *l)
{
    uint8_t ip[16];

    r->link = l;
    r->moved = clock_s();
    r->gone = 0;
    r->network = NETWORKS_MAX;
    for (uint32_t i = all->mine->n; i > 0 && link_here(l, ip) == 0; i--)
        if (memcmp(all->mine->at[i - 1].ip, ip, sizeof ip) == 0)
            r->network = i - 1;
    LIST_INSERT_HEAD(&all->first, r, next);
}

void rail_end(struct rails *all, struct rail *r)
{
    if (!r->link)
        return;
    all->network[r->network].ended += link_bytes_sent(r->link);
    LIST_REMOVE(r, next);
    r->link = NULL;
}

static int is_open(const struct rail *r)
{
    return r->link && link_is_open(r->link);
}

int rails_open(const struct rail *of_peer)
{
    int n = 0;

    for (unsigned i = 0; i < RAILS_MAX; i++)
        n += is_open(&of_peer[i]);
    return n;
}

void rails_wake(const struct rail *of_peer)
{
    for (unsigned i = 0; i < RAILS_MAX; i++)
        if (of_peer[i].link)
            link_wake(of_peer[i].link);
}

/* How fast it took what waited there: less counts slowly, as it may have had
 * nothing to do in between. */
static void see_rate(struct rail_rate *r,
                     uint64_t sent,
                     uint64_t waits,
                     double s)
{
    uint64_t gone = sent > waits ? sent - waits : 0;
    double rate = gone > r->gone ? (double)(gone - r->gone) / s : RATE_MIN;

    if (r->was_busy && waits > 0 && s < LOOK_LATE_S)
        r->seen = rate > r->seen ? rate : r->seen + SLOWER * (rate - r->seen);
    r->was_busy = waits > 0;
    r->gone = gone;
}

static void see_move(struct rail *r, uint64_t sent, uint64_t waits, double now)
{
    uint64_t gone = sent > waits ? sent - waits : 0;

    if (gone != r->gone || waits == 0)
        r->moved = now;
    r->gone = gone;
}

static int is_stuck(const struct rail *r, double now)
{
    return now - r->moved >= STUCK_S;
}

/* What waits at each of our networks. */
static void look(struct rails *all,
                 uint64_t waits[NETWORKS_MAX + 1],
                 double now)
{
    uint64_t sent[NETWORKS_MAX + 1];
    double passed = now - all->looked;
    struct rail *r;

    for (unsigned i = 0; i <= NETWORKS_MAX; i++) {
        waits[i] = 0;
        sent[i] = all->network[i].ended;
    }
    for (r = LIST_FIRST(&all->first); r; r = LIST_NEXT(r, next)) {
        uint64_t queued = link_queued(r->link), out = link_bytes_sent(r->link);

        see_move(r, out, queued, now);
        if (!is_stuck(r, now))
            waits[r->network] += queued;
        sent[r->network] += out;
    }
    if (passed < LOOK_S)
        return;
    all->looked = now;
    for (unsigned i = 0; i <= NETWORKS_MAX; i++)
        see_rate(&all->network[i], sent[i], waits[i], passed);
}

static void measure(struct rail_load load[RAILS_MAX],
                    struct rails *all,
                    const struct rail *of_peer)
{
    uint64_t waits[NETWORKS_MAX + 1];
    double now = clock_s();

    look(all, waits, now);
    memset(load, 0, RAILS_MAX * sizeof *load);
    for (unsigned i = 0; i < RAILS_MAX; i++) {
        uint32_t at = of_peer[i].network;

        load[i].is_open = is_open(&of_peer[i]) && !is_stuck(&of_peer[i], now);
        if (!load[i].is_open)
            continue;
        load[i].waits = waits[at];
        load[i].seen = all->network[at].seen;
        load[i].mbps = at < all->mine->n ? all->mine->at[at].mbps : 0;
    }
}

void rails_tick(struct rails *all)
{
    const struct rail *r;
    double now = clock_s();

    if (now - all->woken < STUCK_S / 2)
        return;
    all->woken = now;
    for (r = LIST_FIRST(&all->first); r; r = LIST_NEXT(r, next))
        link_wake(r->link);
}

int rails_turn(struct rails *all,
               const struct rail *of_peer,
               const struct rail *asks,
               uint32_t size)
{
    struct rail_load load[RAILS_MAX];
    unsigned best;

    if (rails_open(of_peer) < 2)
        return 1;
    measure(load, all, of_peer);
    best = rails_best(load, RAILS_MAX, size);
    if (best == RAILS_MAX || &of_peer[best] == asks)
        return 1;
    link_wake(of_peer[best].link); /* or it is busy, and asks then */
    return 0;
}
