/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/ranks.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define PENDING     256u  /* regions that are gathered at once */
#define TIME_MAX_NS 1e17  /* 3 years: the page may hold anything */
#define THREADS_MAX 4096u /* of a rank, likewise */
#define FEW         4     /* parts of RANKS_REGIONS that are too few */

/* An entry, whose program may have had others before it. */
struct seen {
    struct meter_time time; /* size 0: none yet */
    double useful, waiting; /* of the programs before */
    double busy, room;
    uint64_t calls, regions;
    uint64_t next; /* region of this one that is to be read */
};

struct ranks {
    const struct meter_page *page;
    int64_t every_ns, told_ns;
    ranks_fn fn;
    void *arg;
    uint32_t n;            /* entries that are used */
    uint64_t stride;       /* of the numbers of regions that are gathered */
    uint64_t begun, ended; /* regions, at the last message and now */
    int is_news;
    struct seen seen[METER_SLOTS];
    struct msg_region pending[PENDING], kept[PENDING];
    struct msg_ranks told;
};

/* --- regions -------------------------------------------------------------- */

static struct msg_region *place_of(struct ranks *r, uint64_t number)
{
    return &r->pending[number / r->stride % PENDING];
}

static double time_of(uint64_t ns)
{
    return fmin((double)ns, TIME_MAX_NS);
}

static void add_region(struct ranks *r,
                       uint64_t number,
                       uint32_t rank,
                       const struct meter_region *region)
{
    struct msg_region *at = place_of(r, number);

    if (number % r->stride
        || (at->sum.ranks > 0 && at->number > number)) /* it has gone by */
        return;
    if (at->number != number)
        *at = (struct msg_region){.number = number};
    efficiency_add_rank(&at->sum, rank, time_of(region->useful_ns),
                        time_of(region->waiting_ns));
    if (number >= r->ended)
        r->ended = number + 1;
}

static void set_stride(struct ranks *r, uint64_t stride)
{
    if (stride == r->stride)
        return;
    memcpy(r->kept, r->pending, sizeof r->kept);
    memset(r->pending, 0, sizeof r->pending);
    r->stride = stride;
    for (size_t i = 0; i < PENDING; i++)
        if (r->kept[i].sum.ranks > 0 && r->kept[i].number % stride == 0
            && r->kept[i].number >= place_of(r, r->kept[i].number)->number)
            *place_of(r, r->kept[i].number) = r->kept[i];
}

/* So that those since the last message fit into one, and not too few are
 * told. */
static void choose_stride(struct ranks *r)
{
    uint64_t n = r->ended - r->begun, stride = r->stride;

    while (n / stride >= RANKS_REGIONS && stride < UINT64_MAX / 2)
        stride *= 2;
    while (stride > 1 && n / stride < RANKS_REGIONS / FEW)
        stride /= 2;
    set_stride(r, stride);
    r->begun = r->ended;
}

/* --- entries -------------------------------------------------------------- */

static void read_regions(struct ranks *r, uint32_t i)
{
    struct meter_region region[METER_RING];
    struct seen *s = &r->seen[i];
    size_t n;

    if (s->time.regions == s->next)
        return;
    n = meter_rank_regions(&r->page->rank[i], s->next, region);
    for (size_t k = 0; k < n; k++)
        add_region(r, s->regions + region[k].number, s->time.rank, &region[k]);
    s->next = n > 0 ? region[n - 1].number + 1 : s->time.regions;
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
    s->next = 0;
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
    if (each)
        m->rank[m->n++] = rank;
}

static void tell_ranks(struct ranks *r, int64_t now)
{
    struct msg_ranks *m = &r->told;
    int each;

    m->n = m->size = 0;
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

    choose_stride(r);
    m->stride = r->stride;
    m->k = 0;
    for (size_t i = 0; i < PENDING && m->k < RANKS_REGIONS; i++)
        if (r->pending[i].sum.ranks == r->n) {
            m->region[m->k++] = r->pending[i];
            r->pending[i] = (struct msg_region){0};
        }
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
    r->stride = 1;
    return r;
}

void ranks_destroy(struct ranks *r)
{
    free(r);
}
