/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/wire/protocol_body.h"

#define TIME_MAX   1e21 /* 3 years of all ranks of a node; so many can be added */
#define PERIOD_MAX 65536u
#define ROOM_MAX   1e26 /* likewise, of all their threads */

static void write_sum(struct writer *w, const struct efficiency_sum *s)
{
    write_u32(w, s->ranks);
    write_u32(w, s->busiest);
    write_u32(w, s->last);
    write_double(w, s->useful);
    write_double(w, s->waiting);
    write_double(w, s->most);
    write_double(w, s->least);
    write_double(w, s->longest);
    write_double(w, s->elapsed);
}

static double read_time_to(struct reader *r, double most)
{
    double ns = read_double(r);

    if (ns < 0 || ns > most)
        r->bad = 1;
    return ns;
}

static double read_time(struct reader *r)
{
    return read_time_to(r, TIME_MAX);
}

/* Of one node. */
static void read_sum(struct reader *r, struct efficiency_sum *s)
{
    *s = (struct efficiency_sum){.ranks = read_u32(r)};
    s->busiest = read_u32(r);
    s->last = read_u32(r);
    s->useful = read_time(r);
    s->waiting = read_time(r);
    s->most = read_time(r);
    s->least = read_time(r);
    s->longest = read_time(r);
    s->elapsed = read_time(r);
    if (s->ranks > NODE_TASKS_MAX)
        r->bad = 1;
    if (s->ranks == 0)
        return;
    s->nodes = 1;
    s->n_useful = s->useful / s->ranks;
    s->n_wait = s->waiting / s->ranks;
}

static void write_threads(struct writer *w,
                          uint32_t threads,
                          double busy,
                          double room)
{
    write_u32(w, threads);
    write_double(w, busy);
    write_double(w, room);
}

static void read_threads(struct reader *r,
                         uint32_t *threads,
                         double *busy,
                         double *room)
{
    *threads = read_u32(r);
    *busy = read_time_to(r, ROOM_MAX);
    *room = read_time_to(r, ROOM_MAX);
    if (*busy > *room)
        r->bad = 1;
}

void msg_write_ranks(struct writer *w, const struct msg_ranks *m)
{
    write_u32(w, m->is_last);
    write_u32(w, m->size);
    write_u64(w, m->stride);
    write_u64(w, (uint64_t)m->sum.calls);
    write_u64(w, (uint64_t)m->sum.regions);
    write_threads(w, m->sum.threads, m->sum.busy, m->sum.room);
    write_sum(w, &m->sum);
    write_u32(w, m->n);
    for (uint32_t i = 0; i < m->n; i++) {
        write_u32(w, m->rank[i].rank);
        write_double(w, m->rank[i].useful);
        write_double(w, m->rank[i].waiting);
        write_u64(w, m->rank[i].calls);
        write_threads(w, m->rank[i].threads, m->rank[i].busy, m->rank[i].room);
    }
    write_u32(w, m->k);
    for (uint32_t i = 0; i < m->k; i++) {
        write_u64(w, m->region[i].number);
        write_sum(w, &m->region[i].sum);
    }
    write_u64(w, m->iterations);
    write_u64(w, m->iteration_stride);
    write_u32(w, m->l);
    for (uint32_t i = 0; i < m->l; i++) {
        write_u64(w, m->iteration[i].number);
        write_u32(w, m->iteration[i].loop);
        write_u32(w, m->iteration[i].period);
        write_sum(w, &m->iteration[i].sum);
    }
}

static void read_each(struct reader *r, struct msg_ranks *m)
{
    m->n = read_u32(r);
    if (m->n > RANKS_MAX || m->n > m->sum.ranks)
        r->bad = 1;
    for (uint32_t i = 0; !r->bad && i < m->n; i++) {
        m->rank[i].rank = read_u32(r);
        m->rank[i].useful = read_time(r);
        m->rank[i].waiting = read_time(r);
        m->rank[i].calls = read_u64(r);
        read_threads(r, &m->rank[i].threads, &m->rank[i].busy,
                     &m->rank[i].room);
        if (m->rank[i].rank >= m->size)
            r->bad = 1;
    }
}

static void read_regions(struct reader *r, struct msg_ranks *m)
{
    m->k = read_u32(r);
    if (m->k > RANKS_REGIONS)
        r->bad = 1;
    for (uint32_t i = 0; !r->bad && i < m->k; i++) {
        m->region[i].number = read_u64(r);
        read_sum(r, &m->region[i].sum);
        if (m->region[i].number % m->stride || m->region[i].sum.ranks == 0)
            r->bad = 1;
    }
}

static int is_stride(uint64_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

static void read_iterations(struct reader *r, struct msg_ranks *m)
{
    m->iterations = read_u64(r);
    m->iteration_stride = read_u64(r);
    m->l = read_u32(r);
    if (m->l > RANKS_REGIONS || !is_stride(m->iteration_stride))
        r->bad = 1;
    for (uint32_t i = 0; !r->bad && i < m->l; i++) {
        struct msg_region *at = &m->iteration[i];

        at->number = read_u64(r);
        at->loop = read_u32(r);
        at->period = read_u32(r);
        read_sum(r, &at->sum);
        if (at->number % m->iteration_stride || at->sum.ranks == 0
            || at->loop >= RANKS_LOOPS || at->period > PERIOD_MAX)
            r->bad = 1;
    }
}

int msg_read_ranks(struct msg_ranks *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);
    struct efficiency_sum threads = {0};
    uint64_t calls, regions;

    m->is_last = read_u32(&r);
    m->size = read_u32(&r);
    m->stride = read_u64(&r);
    calls = read_u64(&r);
    regions = read_u64(&r);
    read_threads(&r, &threads.threads, &threads.busy, &threads.room);
    read_sum(&r, &m->sum);
    m->sum.threads = threads.threads;
    m->sum.busy = threads.busy;
    m->sum.room = threads.room;
    m->sum.calls = (double)calls;
    m->sum.regions = (double)regions;
    if (m->is_last > 1 || !is_stride(m->stride))
        r.bad = 1;
    if (!r.bad)
        read_each(&r, m);
    if (!r.bad)
        read_regions(&r, m);
    if (!r.bad)
        read_iterations(&r, m);
    return finish(&r, m, sizeof *m);
}
