/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/ranks.h"
#include "launcher/agent/gather.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define TIME_MAX_NS 1e17  /* 3 years: the page may hold anything */
#define THREADS_MAX 4096u /* of a rank, likewise */

/* An entry, whose program may have had others before it. */
struct seen {
    struct meter_time time; /* size 0: none yet */
    double useful, waiting; /* of the programs before */
    double busy, room;
    uint64_t calls, regions, iterations;
    /* Region and iteration of this one that are to be read. */
    uint64_t next, next_iteration;
};

struct ranks {
    const struct meter_page *page;
    int64_t every_ns, told_ns;
    ranks_fn fn;
    void *arg;
    uint32_t n; /* entries that are used */
    int is_news;
    struct seen seen[METER_SLOTS];
    struct gather regions, iterations;
    struct msg_ranks told;
};

/* --- entries -------------------------------------------------------------- */

static double time_of(uint64_t ns)
{
    return fmin((double)ns, TIME_MAX_NS);
}

static void read_regions(struct ranks *r, uint32_t i)
{
    struct meter_region region[METER_RING];
    struct seen *s = &r->seen[i];
    size_t n;

    if (s->time.regions == s->next)
        return;
    n = meter_rank_regions(&r->page->rank[i], s->next, region);
    for (size_t k = 0; k < n; k++)
        gather_add(&r->regions, s->regions + region[k].number, s->time.rank,
                   &region[k]);
    s->next = n > 0 ? region[n - 1].number + 1 : s->time.regions;
}

static void read_iterations(struct ranks *r, uint32_t i)
{
    struct meter_region iteration[METER_RING];
    struct seen *s = &r->seen[i];
    size_t n;

    if (s->time.iterations == s->next_iteration)
        return;
    n = meter_rank_iterations(&r->page->rank[i], s->next_iteration, iteration);
    for (size_t k = 0; k < n; k++)
        gather_add(&r->iterations, s->iterations + iteration[k].number,
                   s->time.rank, &iteration[k]);
    s->next_iteration =
        n > 0 ? iteration[n - 1].number + 1 : s->time.iterations;
}

/* --- threads -------------------------------------------------------------- */

static uint32_t threads_of(const struct meter_time *t)
{
    return t->threads < THREADS_MAX ? t->threads : THREADS_MAX;
}

/* Until the last call that waited.  A thread that is busy meanwhile, as the
 * rank waits in MPI, counts, but no rank has more than its room. */
static double room_of(const struct meter_time *t)
{
    return threads_of(t) * time_of(t->useful_ns);
}

static double busy_of(const struct meter_time *t)
{
    double busy = time_of(t->useful_ns) - time_of(t->idle_ns);

    return fmin(fmax(busy, 0) + time_of(t->others_ns), room_of(t));
}

/* --- programs ------------------------------------------------------------- */

/* Another program has begun in this entry. */
static void keep_program(struct seen *s)
{
    s->useful += time_of(s->time.useful_ns);
    s->waiting += time_of(s->time.waiting_ns);
    s->busy += busy_of(&s->time);
    s->room += room_of(&s->time);
    s->calls += s->time.calls;
    s->regions += s->time.regions;
    s->iterations += s->time.iterations;
    s->next = s->next_iteration = 0;
}

static void look_at(struct ranks *r, uint32_t i)
{
    struct seen *s = &r->seen[i];
    struct meter_time t;

    if (meter_rank_read(&r->page->rank[i], &t) != 1)
        return;
    if (s->time.size == 0)
        r->n++;
    else if (t.regions < s->time.regions || t.useful_ns < s->time.useful_ns
             || t.waiting_ns < s->time.waiting_ns)
        keep_program(s);
    r->is_news |= t.calls != s->time.calls || t.since_ns != s->time.since_ns;
    s->time = t;
    read_regions(r, i);
    read_iterations(r, i);
}

static void look_at_all(struct ranks *r)
{
    uint32_t slots = meter_page_slots(r->page);

    for (uint32_t i = 0; i < slots; i++)
        look_at(r, i);
}

/* --- messages ------------------------------------------------------------- */

/* What a rank does now is not counted yet; one that has ended does nothing. */
static double since(const struct ranks *r, uint32_t i, int64_t now)
{
    const struct meter_time *t = &r->seen[i].time;

    if (atomic_load_explicit(&r->page->slot[i].owner, memory_order_relaxed) == 0
        || t->since_ns == 0 || now < 0 || t->since_ns > (uint64_t)now)
        return 0;
    return time_of((uint64_t)now - t->since_ns);
}

static void tell_rank(struct ranks *r, uint32_t i, int64_t now, int each)
{
    const struct seen *s = &r->seen[i];
    struct msg_ranks *m = &r->told;
    double more = since(r, i, now);
    struct msg_rank rank = {.rank = s->time.rank,
                            .useful = s->useful + time_of(s->time.useful_ns),
                            .waiting = s->waiting + time_of(s->time.waiting_ns),
                            .calls = s->calls + s->time.calls,
                            .threads = threads_of(&s->time),
                            .busy = s->busy + busy_of(&s->time),
                            .room = s->room + room_of(&s->time)};

    *(s->time.is_waiting ? &rank.waiting : &rank.useful) += more;
    efficiency_add_rank(&m->sum, rank.rank, rank.useful, rank.waiting);
    efficiency_add_threads(&m->sum, rank.threads, rank.busy, rank.room);
    m->sum.calls += (double)rank.calls;
    m->sum.regions =
        fmax(m->sum.regions, (double)(s->regions + s->time.regions));
    if (s->iterations + s->time.iterations > m->iterations)
        m->iterations = s->iterations + s->time.iterations;
    if (each)
        m->rank[m->n++] = rank;
}

static void tell_ranks(struct ranks *r, int64_t now)
{
    struct msg_ranks *m = &r->told;
    int each;

    m->n = m->size = 0;
    m->iterations = 0;
    m->sum = (struct efficiency_sum){0};
    for (uint32_t i = 0; i < METER_SLOTS; i++)
        if (r->seen[i].time.size > m->size)
            m->size = r->seen[i].time.size;
    each = r->n <= RANKS_MAX && m->size <= RANKS_EACH_MAX;
    for (uint32_t i = 0; i < METER_SLOTS; i++)
        if (r->seen[i].time.size > 0)
            tell_rank(r, i, now, each);
    m->sum.calls = fmin(m->sum.calls, 0x1p63);
    m->sum.regions = fmin(m->sum.regions, 0x1p63);
}

/* Those that all ranks of the node have ended. */
static void tell_regions(struct ranks *r)
{
    struct msg_ranks *m = &r->told;

    m->k = gather_take(&r->regions, r->n, m->region);
    m->stride = r->regions.stride;
    m->l = gather_take(&r->iterations, r->n, m->iteration);
    m->iteration_stride = r->iterations.stride;
}

static void tell(struct ranks *r, int64_t now)
{
    r->told_ns = now;
    r->is_news = 0;
    tell_ranks(r, now);
    tell_regions(r);
    r->fn(r->arg, &r->told);
}

void ranks_look(struct ranks *r, int64_t now)
{
    look_at_all(r);
    if (r->n > 0 && r->is_news && now - r->told_ns >= r->every_ns)
        tell(r, now);
}

void ranks_end(struct ranks *r, int64_t now)
{
    look_at_all(r);
    r->told.is_last = 1;
    tell(r, now);
}

/* --- start and end -------------------------------------------------------- */

struct ranks *ranks_create(const struct meter_page *page,
                           int64_t every_ns,
                           ranks_fn fn,
                           void *arg)
{
    struct ranks *r = calloc(1, sizeof *r);

    if (!r)
        return NULL;
    r->page = page;
    r->every_ns = every_ns > RANKS_EVERY_NS ? every_ns : RANKS_EVERY_NS;
    r->fn = fn;
    r->arg = arg;
    r->regions.stride = r->iterations.stride = 1;
    return r;
}

void ranks_destroy(struct ranks *r)
{
    free(r);
}
