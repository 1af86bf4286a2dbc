/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/step_times.h"
#include "pmix_bcast/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOVED_NS   20e6 /* CPU time, and part of the time, */
#define MOVED_PART 0.01 /* above which a rank does something */

/* --- regions -------------------------------------------------------------- */

/* Numbers are multiples of strides that change. */
static struct step_region *place_of(struct step_times *t, uint64_t number)
{
    uint64_t hash = number * UINT64_C(0x9e3779b97f4a7c15);

    return &t->pending[(hash >> 32) % STEP_TIMES_PENDING];
}

static void blame(struct step_node *node, uint32_t rank, double regions)
{
    node->last += regions;
    for (uint32_t i = 0; i < node->n; i++)
        if (node->rank[i].rank == rank) {
            node->rank[i].last += regions;
            return;
        }
}

static void end_region(struct step_times *t, const struct step_region *r)
{
    struct efficiency_lost lost = efficiency_lost_in(&r->sum);
    struct step_node *node = &t->node[lost.by_work ? r->busiest : r->last];
    double weight = (double)r->stride, skew = r->sum.longest - r->sum.least;

    blame(node, lost.by_work ? r->sum.busiest : r->sum.last, weight);
    node->lost.ranks += weight * lost.ranks;
    node->lost.nodes += weight * lost.nodes;
    t->seen++;
    t->weight += weight;
    step_sample_add(&t->skew, skew);
    t->skew_most = fmax(t->skew_most, skew);
    t->transfer += weight * r->sum.least * r->sum.ranks;
}

static void add_region(struct step_times *t,
                       size_t node,
                       const struct msg_region *m)
{
    struct step_region *r = place_of(t, m->number);

    if (r->sum.ranks > 0 && r->number > m->number)
        return; /* it is too late */
    if (r->sum.ranks == 0 || r->number != m->number)
        *r = (struct step_region){.number = m->number};
    efficiency_add_node(&r->sum, &m->sum);
    if (r->sum.least == m->sum.least && r->sum.last == m->sum.last)
        r->last = node;
    if (r->sum.most == m->sum.most && r->sum.busiest == m->sum.busiest)
        r->busiest = node;
    if (t->in.stride > r->stride)
        r->stride = t->in.stride;
    if (r->sum.ranks + t->lost_ranks < t->in.size)
        return;
    end_region(t, r);
    r->sum.ranks = 0;
}

/* --- ranks ---------------------------------------------------------------- */

/* Room for so many of a node, which may become more. */
static int make_room(struct step_times *t, struct step_node *node, uint32_t n)
{
    struct step_rank *rank;

    if (n <= node->n)
        return 0;
    if (t->each - node->n + n > RANKS_EACH_MAX)
        return -1;
    rank = realloc(node->rank, n * sizeof *rank);
    if (!rank)
        return -1;
    memset(rank + node->n, 0, (n - node->n) * sizeof *rank);
    t->each += n - node->n;
    node->rank = rank;
    node->n = n;
    return 0;
}

/* Of who waits for something a little CPU time is no sign of life. */
static void see_move(struct step_rank *r, int64_t now)
{
    double least = MOVED_NS + MOVED_PART * (double)(now - r->moved_ns);

    if (r->moved_ns > 0 && r->cpu > 0 && r->cpu - r->moved_cpu < least)
        return;
    r->moved_ns = now;
    r->moved_cpu = r->cpu;
}

/* A message that came late makes it look later than it was: the earliest of
 * what they say is the nearest. */
static int64_t died_at(const struct step_rank *r,
                       const struct msg_rank *in,
                       int64_t now)
{
    int64_t at = now - (int64_t)in->since;

    if (in->state != RANK_DIED)
        return 0;
    return r->died_ns > 0 && r->rank == in->rank && r->died_ns < at ? r->died_ns
                                                                    : at;
}

static void take_rank(struct step_rank *r,
                      const struct msg_rank *in,
                      int64_t now)
{
    struct step_rank taken = {.rank = in->rank,
                              .useful = in->useful,
                              .waiting = in->waiting,
                              .calls = (double)in->calls,
                              .threads = in->threads,
                              .busy = in->busy,
                              .room = in->room,
                              .last = r->last,
                              .io = in->io,
                              .polled = in->polled,
                              .transfer = in->transfer,
                              .unsure = in->unsure,
                              .borrowed = in->borrowed,
                              .lent = in->lent,
                              .cpu = in->cpu,
                              .delay = in->delay,
                              .throttled = in->throttled,
                              .io_wait = in->io_wait,
                              .switches = in->switches,
                              .rss = in->rss,
                              .state = in->state,
                              .call = in->call,
                              .since = in->since,
                              .died_ns = died_at(r, in, now),
                              .status = in->status,
                              .detail = r->detail,
                              .moved_cpu = r->moved_cpu,
                              .moved_ns = r->moved_ns};

    if (taken.detail && taken.detail->rank != taken.rank) {
        free(taken.detail);
        taken.detail = NULL;
    }
    *r = taken;
    see_move(r, now);
}

static void take_ranks(struct step_times *t, struct step_node *node)
{
    if (t->in.n == 0 || make_room(t, node, t->in.n) < 0)
        return;
    for (uint32_t i = 0; i < t->in.n; i++)
        take_rank(&node->rank[i], &t->in.rank[i], node->heard_ns);
}

/* It may come before anything else is known of the rank. */
static struct step_rank *rank_of(struct step_times *t,
                                 struct step_node *node,
                                 uint32_t rank)
{
    uint32_t i = 0;

    while (i < node->n && node->rank[i].rank != rank)
        i++;
    if (i == RANKS_MAX || make_room(t, node, i + 1) < 0)
        return NULL;
    node->rank[i].rank = rank;
    return &node->rank[i];
}

static void take_detail(struct step_times *t,
                        struct step_node *node,
                        const struct msg_rank_detail *m)
{
    struct step_rank *r = rank_of(t, node, m->rank);

    if (r && !r->detail)
        r->detail = malloc(sizeof *r->detail);
    if (r && r->detail)
        *r->detail = *m;
}

static void end_node(struct step_times *t, struct step_node *node)
{
    t->ended += !node->has_ended;
    node->has_ended = 1;
}

int step_times_message(struct step_times *t,
                       size_t i,
                       uint16_t type,
                       const uint8_t *body,
                       size_t len)
{
    struct step_node *node = &t->node[i];
    struct msg_rank_detail detail;

    if (type == MSG_RANK_DETAIL) {
        if (msg_read_rank_detail(&detail, body, len) == 0)
            take_detail(t, node, &detail);
        return 1;
    }
    if (type != MSG_RANKS || msg_read_ranks(&t->in, body, len) < 0)
        return 0;
    if (t->in.is_last)
        end_node(t, node);
    if (t->in.sum.ranks == 0)
        return 1;
    node->heard_ns = clock_ns();
    t->size = t->in.size;
    node->sum = t->in.sum;
    node->others_cpu = t->in.others_cpu;
    node->own_cpu = t->in.own_cpu;
    node->node_throttled = t->in.node_throttled;
    node->cpus = t->in.cpus;
    take_ranks(t, node);
    for (uint32_t k = 0; k < t->in.k; k++)
        add_region(t, i, &t->in.region[k]);
    t->in.size -= t->lost_ranks < t->in.size ? t->lost_ranks : 0;
    step_loops_add(&t->loops, &t->in);
    return 1;
}

/* --- all of it ------------------------------------------------------------ */

int step_times_is_alive(const struct step_times *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->node[i].sum.ranks > 0)
            return 1;
    return 0;
}

void step_times_ask(struct step_times *t)
{
    struct writer *w = calloc(t->n, sizeof *w);
    char *to = calloc(t->n, 1);

    for (size_t i = 0; i < t->n; i++)
        if (!w || !to || !session_node(t->session, i)->present)
            end_node(t, &t->node[i]); /* it is not waited for */
        else
            to[i] = (char)!t->node[i].has_ended;
    if (w && to)
        session_send_each(t->session, MSG_RANKS, w, to);
    free(w);
    free(to);
}

void step_times_ended(struct step_times *t, size_t node)
{
    end_node(t, &t->node[node]);
}

/* Of regions that are not whole yet it may have told: they are forgotten, as
 * they would seem to be whole with one of the others missing. */
static void count_lost(struct step_times *t)
{
    t->lost = t->lost_ranks = 0;
    for (size_t i = 0; i < t->n; i++)
        if (t->node[i].is_lost) {
            t->lost++;
            t->lost_ranks += t->node[i].sum.ranks;
        }
    memset(t->pending, 0, sizeof t->pending);
    step_loops_forget(&t->loops);
}

void step_times_lost(struct step_times *t, size_t node)
{
    end_node(t, &t->node[node]);
    t->node[node].is_lost = 1;
    count_lost(t);
}

void step_times_returned(struct step_times *t, size_t i)
{
    struct step_node *node = &t->node[i];

    t->ended -= (size_t)(node->has_ended != 0);
    node->has_ended = 0;
    if (!node->is_lost)
        return;
    node->is_lost = 0;
    count_lost(t);
}

int step_times_counts(const struct step_times *t, size_t node)
{
    return !t->node[node].is_lost || t->lost == t->n;
}

int step_times_is_whole(const struct step_times *t)
{
    return t->ended == t->n;
}

/* --- start and end -------------------------------------------------------- */

struct step_times *step_times_create(struct session *session)
{
    struct step_times *t = calloc(1, sizeof *t);

    if (!t)
        return NULL;
    t->session = session;
    t->n = session_size(session);
    t->node = calloc(t->n, sizeof *t->node);
    if (t->node)
        return t;
    free(t);
    return NULL;
}

void step_times_destroy(struct step_times *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->n; i++) {
        for (uint32_t k = 0; k < t->node[i].n; k++)
            free(t->node[i].rank[k].detail);
        free(t->node[i].rank);
    }
    free(t->node);
    free(t);
}
