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

static void write_rest(struct writer *w, const struct msg_rank *m)
{
    write_double(w, m->io);
    write_double(w, m->polled);
    write_double(w, m->transfer);
    write_double(w, m->unsure);
    write_double(w, m->borrowed);
    write_double(w, m->lent);
    write_double(w, m->cpu);
    write_double(w, m->delay);
    write_double(w, m->throttled);
    write_double(w, m->io_wait);
    write_u64(w, m->switches);
    write_u64(w, m->rss);
    write_u32(w, m->state);
    write_u32(w, m->call);
    write_double(w, m->since);
    write_u32(w, (uint32_t)m->status);
}

static void read_rest(struct reader *r, struct msg_rank *m)
{
    m->io = read_time_to(r, ROOM_MAX);
    m->polled = read_time_to(r, ROOM_MAX);
    m->transfer = read_time_to(r, ROOM_MAX);
    m->unsure = read_time_to(r, ROOM_MAX);
    m->borrowed = read_time_to(r, ROOM_MAX);
    m->lent = read_time_to(r, ROOM_MAX);
    m->cpu = read_time_to(r, ROOM_MAX);
    m->delay = read_time_to(r, ROOM_MAX);
    m->throttled = read_time_to(r, ROOM_MAX);
    m->io_wait = read_time_to(r, ROOM_MAX);
    m->switches = read_u64(r);
    m->rss = read_u64(r);
    m->state = read_u32(r);
    m->call = read_u32(r);
    m->since = read_time(r);
    m->status = (int32_t)read_u32(r);
    if (m->state > RANK_DIED)
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
        write_rest(w, &m->rank[i]);
    }
    write_double(w, m->others_cpu);
    write_double(w, m->own_cpu);
    write_double(w, m->node_throttled);
    write_double(w, m->cpus);
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
        read_rest(r, &m->rank[i]);
        if (m->rank[i].rank >= m->size)
            r->bad = 1;
    }
    m->others_cpu = read_time_to(r, ROOM_MAX);
    m->own_cpu = read_time_to(r, ROOM_MAX);
    m->node_throttled = read_time_to(r, ROOM_MAX);
    m->cpus = read_time(r);
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

/* --- one rank, when its step is over -------------------------------------- */

void msg_write_rank_detail(struct writer *w, const struct msg_rank_detail *m)
{
    write_u32(w, m->rank);
    write_double(w, m->bin_ns);
    write_u32(w, m->bins);
    for (uint32_t i = 0; i < m->bins; i++)
        write_u32(w, (uint32_t)m->bin[i].useful << 24
                         | (uint32_t)m->bin[i].waiting << 16
                         | (uint32_t)m->bin[i].io << 8 | m->bin[i].no_cpu);
    write_u32(w, m->sites);
    for (uint32_t i = 0; i < m->sites; i++) {
        write_u32(w, m->site[i].call);
        write_double(w, m->site[i].waiting);
        write_u64(w, m->site[i].calls);
        write_text(w, m->site[i].where);
    }
}

static void read_bins(struct reader *r, struct msg_rank_detail *m)
{
    m->bin_ns = read_time(r);
    m->bins = read_u32(r);
    if (m->bins > RANK_BINS || (m->bins > 0 && !(m->bin_ns > 0)))
        r->bad = 1;
    for (uint32_t i = 0; !r->bad && i < m->bins; i++) {
        uint32_t parts = read_u32(r);

        m->bin[i].useful = (uint8_t)(parts >> 24);
        m->bin[i].waiting = (uint8_t)(parts >> 16);
        m->bin[i].io = (uint8_t)(parts >> 8);
        m->bin[i].no_cpu = (uint8_t)parts;
    }
}

static int is_printable(const char *text)
{
    while (*text >= ' ' && *text <= '~')
        text++;
    return *text == '\0';
}

static void read_sites(struct reader *r, struct msg_rank_detail *m)
{
    m->sites = read_u32(r);
    if (m->sites > RANK_SITES)
        r->bad = 1;
    for (uint32_t i = 0; !r->bad && i < m->sites; i++) {
        m->site[i].call = read_u32(r);
        m->site[i].waiting = read_time(r);
        m->site[i].calls = read_u64(r);
        read_text(r, m->site[i].where, sizeof m->site[i].where);
        if (!is_printable(m->site[i].where))
            r->bad = 1;
    }
}

int msg_read_rank_detail(struct msg_rank_detail *m,
                         const uint8_t *body,
                         size_t len)
{
    struct reader r = reader_of(body, len);

    memset(m, 0, sizeof *m);
    m->rank = read_u32(&r);
    read_bins(&r, m);
    if (!r.bad)
        read_sites(&r, m);
    return finish(&r, m, sizeof *m);
}
