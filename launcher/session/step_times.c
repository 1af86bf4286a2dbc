/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/step_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    t->skew += weight * skew;
    t->skew_most = fmax(t->skew_most, skew);
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

/* Room for those that the message tells one by one; they may become more. */
static int make_room(struct step_times *t, struct step_node *node)
{
    struct step_rank *rank;
    uint32_t n = t->in.n;

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

static void take_ranks(struct step_times *t, struct step_node *node)
{
    if (t->in.n == 0 || make_room(t, node) < 0)
        return;
    for (uint32_t i = 0; i < t->in.n; i++) {
        struct step_rank *r = &node->rank[i];

        *r = (struct step_rank){.rank = t->in.rank[i].rank,
                                .useful = t->in.rank[i].useful,
                                .waiting = t->in.rank[i].waiting,
                                .calls = (double)t->in.rank[i].calls,
                                .threads = t->in.rank[i].threads,
                                .busy = t->in.rank[i].busy,
                                .room = t->in.rank[i].room,
                                .last = r->last};
    }
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

    if (type != MSG_RANKS || msg_read_ranks(&t->in, body, len) < 0)
        return 0;
    if (t->in.is_last)
        end_node(t, node);
    if (t->in.sum.ranks == 0)
        return 1;
    node->sum = t->in.sum;
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

double step_times_scale(const struct step_times *t,
                        const struct efficiency_sum *all)
{
    return t->weight > 0 ? fmax(all->regions / t->weight, 1) : 0;
}

/* Without a region that all have told there is what they waited in all. */
static void find_worst_of_sums(const struct step_times *t,
                               struct step_summary *s)
{
    struct efficiency_lost lost = efficiency_lost_in(&s->all);

    s->lost_ranks_ns = lost.ranks;
    s->lost_nodes_ns = lost.nodes;
    for (size_t i = 0; i < t->n; i++) {
        const struct efficiency_sum *sum = &t->node[i].sum;

        if (sum->ranks > 0 && step_times_counts(t, i)
            && (lost.by_work ? sum->most == s->all.most
                             : sum->least == s->all.least)) {
            s->worst = i;
            return;
        }
    }
}

/* A node that is lost, too, by the regions until then. */
static void find_worst(const struct step_times *t, struct step_summary *s)
{
    double scale = step_times_scale(t, &s->all);
    const struct step_node *worst;

    while (s->worst + 1 < t->n && !step_times_counts(t, s->worst))
        s->worst++;
    for (size_t i = 0; i < t->n; i++)
        if (t->node[i].lost.ranks > t->node[s->worst].lost.ranks)
            s->worst = i;
    worst = &t->node[s->worst];
    s->last = scale * worst->last;
    s->lost_ranks_ns = scale * worst->lost.ranks;
    s->lost_nodes_ns = scale * worst->lost.nodes;
}

/* What a lost node would have told by now, had it gone on as it was. */
static struct efficiency_sum gone_on(const struct efficiency_sum *node,
                                     const struct efficiency_sum *all)
{
    double scale = node->elapsed > 0 ? all->elapsed / node->elapsed : 1;
    struct efficiency_sum sum = *node;

    sum.useful *= scale;
    sum.most *= scale;
    return sum;
}

int step_times_sum(const struct step_times *t,
                   const double speed[],
                   struct step_summary *s)
{
    struct efficiency_sum *sum = calloc(t->n, sizeof *sum);

    memset(s, 0, sizeof *s);
    if (!sum)
        return -1;
    for (size_t i = 0; i < t->n; i++) {
        if (step_times_counts(t, i)) /* else it is that of none */
            sum[i] = t->node[i].sum;
        efficiency_add_node(&s->all, &sum[i]);
    }
    s->efficiency = efficiency_of(&s->all);
    s->iterations = step_loops_sum(&t->loops);
    if (t->weight > 0) {
        s->skew_ns = t->skew / t->weight;
        s->skew_most_ns = t->skew_most;
        find_worst(t, s);
    } else {
        find_worst_of_sums(t, s);
    }
    if (s->all.regions > 0)
        s->region_ns = s->all.elapsed / s->all.regions;
    if (!step_times_counts(t, s->worst))
        sum[s->worst] = gone_on(&t->node[s->worst].sum, &s->all);
    s->rank = sum[s->worst].busiest;
    s->reason = efficiency_judge(sum, speed, t->n, s->worst);
    free(sum);
    return 0;
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
    for (size_t i = 0; i < t->n; i++)
        free(t->node[i].rank);
    free(t->node);
    free(t);
}
