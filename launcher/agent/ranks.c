/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/ranks.h"
#include "launcher/agent/gather.h"
#include "launcher/agent/rank_bins.h"
#include "launcher/agent/rank_use.h"
#include "launcher/base/mpi_names.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIME_MAX_NS 1e17               /* 3 years: the page may hold anything */
#define THREADS_MAX 4096u              /* of a rank, likewise */
#define DIED_NS     INT64_C(300000000) /* until it is known of what */
#define USE_WHOLE   8 /* looks at what ranks use, to one at all of the node */

/* An entry, whose program may have had others before it. */
struct seen {
    struct meter_time time; /* size 0: none yet */
    double useful, waiting; /* of the programs before */
    double busy, room;
    uint64_t calls, regions, iterations;
    double io, polled, transfer, unsure, borrowed, lent;
    /* Region and iteration of this one that are to be read. */
    uint64_t next, next_iteration;
    enum rank_state state;
    int64_t state_ns; /* it has left, or died */
    struct rank_use use;
    struct rank_bins *bins; /* NULL: none yet */
    struct rank_part did;   /* when they were filled last */
};

struct ranks {
    const struct meter_page *page;
    int64_t every_ns, told_ns;
    uint32_t use_looks;
    int64_t begun_ns,
        used_ns; /* the first rank was seen; the last look at use */
    ranks_fn fn;
    rank_detail_fn detail;
    void *arg;
    struct node_use *node;
    uint32_t n; /* entries that are used */
    int is_news;
    int64_t urgent_ns; /* tell at that time at the latest; 0: there is none */
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
    s->io += time_of(s->time.io_ns);
    s->polled += time_of(s->time.polled_ns);
    s->transfer += time_of(s->time.transfer_ns);
    s->unsure += time_of(s->time.unsure_ns);
    s->borrowed += time_of(s->time.borrowed_ns);
    s->lent += time_of(s->time.lent_ns);
    s->calls += s->time.calls;
    s->regions += s->time.regions;
    s->iterations += s->time.iterations;
    s->next = s->next_iteration = 0;
}

static pid_t owner_of(const struct ranks *r, uint32_t i)
{
    uint32_t pid =
        atomic_load_explicit(&r->page->slot[i].owner, memory_order_relaxed);

    return pid <= INT32_MAX ? (pid_t)pid : 0;
}

/* A process that has gone has died, unless it left MPI before. */
static void judge(struct ranks *r, uint32_t i, int64_t now)
{
    struct seen *s = &r->seen[i];
    enum rank_state was = s->state;

    if (s->time.ended)
        s->state = RANK_LEFT;
    else if (rank_use_has_died(&s->use))
        s->state = RANK_DIED;
    else
        s->state = s->time.is_waiting ? RANK_IN_CALL : RANK_USEFUL;
    if (s->state == was)
        return;
    s->state_ns = s->state == RANK_DIED ? s->use.seen_ns : now;
    if (s->state == RANK_DIED && r->urgent_ns == 0)
        r->urgent_ns = now + DIED_NS;
}

static void look_at(struct ranks *r, uint32_t i, int64_t now)
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
    judge(r, i, now);
    read_regions(r, i);
    read_iterations(r, i);
}

static void look_at_all(struct ranks *r, int64_t now)
{
    uint32_t slots = meter_page_slots(r->page);

    for (uint32_t i = 0; i < slots; i++)
        look_at(r, i, now);
    if (r->n > 0 && r->begun_ns == 0)
        r->begun_ns = now;
}

/* --- what they use -------------------------------------------------------- */

static double since(const struct ranks *r, uint32_t i, int64_t now);

/* Until now, a call that has not ended, too. */
static struct rank_part done_by(const struct ranks *r, uint32_t i, int64_t now)
{
    const struct seen *s = &r->seen[i];
    struct rank_part did = {
        .useful = s->useful + time_of(s->time.useful_ns),
        .waiting = s->waiting + time_of(s->time.waiting_ns),
        .io = s->io + time_of(s->time.io_ns),
    };
    double more = since(r, i, now);

    *(s->time.is_waiting ? &did.waiting : &did.useful) += more;
    if (s->time.is_waiting && s->time.call > 0
        && mpi_call_class(s->time.call - 1) == MPI_IO)
        did.io += more;
    return did;
}

static void fill_bins(struct ranks *r, uint32_t i, int64_t now)
{
    struct seen *s = &r->seen[i];
    struct rank_part is = done_by(r, i, now), was = s->did;
    double cpu = rank_use_step_ns(&s->use);

    s->did = is;
    if (!s->bins)
        s->bins = calloc(1, sizeof *s->bins);
    if (!s->bins)
        return;
    is.useful = fmax(is.useful - was.useful, 0);
    is.waiting = fmax(is.waiting - was.waiting, 0);
    is.io = fmax(is.io - was.io, 0);
    is.no_cpu = cpu < 0 ? 0 : fmax(is.useful - cpu, 0);
    rank_bins_add(s->bins, (double)(r->used_ns - r->begun_ns),
                  (double)(now - r->begun_ns), is);
}

static void look_at_use(struct ranks *r, int64_t now, int whole)
{
    double own_ns = 0;

    if (!r->node || r->n == 0)
        return;
    for (uint32_t i = 0; i < METER_SLOTS; i++) {
        struct seen *s = &r->seen[i];

        if (s->time.size == 0)
            continue;
        rank_use_look(r->node, &s->use, owner_of(r, i),
                      (pid_t)atomic_load_explicit(&r->page->slot[i].thread,
                                                  memory_order_relaxed),
                      now, whole);
        judge(r, i, now);
        fill_bins(r, i, now);
        own_ns += s->use.ended.cpu + (double)s->use.process.cpu_ns;
    }
    r->used_ns = now;
    whole |= r->use_looks++ % USE_WHOLE == 0;
    node_use_look(r->node, own_ns, whole);
}

/* --- messages ------------------------------------------------------------- */

/* What a rank does now is not counted yet; one that has ended does nothing, and
 * one that has died did it until then. */
static double since(const struct ranks *r, uint32_t i, int64_t now)
{
    const struct meter_time *t = &r->seen[i].time;

    if (r->seen[i].state == RANK_DIED)
        now = r->seen[i].state_ns;
    else if (owner_of(r, i) == 0)
        return 0;
    if (t->ended || t->since_ns == 0 || now < 0 || t->since_ns > (uint64_t)now)
        return 0;
    return time_of((uint64_t)now - t->since_ns);
}

static double state_since(const struct ranks *r, uint32_t i, int64_t now)
{
    const struct seen *s = &r->seen[i];

    if (s->state != RANK_LEFT && s->state != RANK_DIED)
        return since(r, i, now);
    return now > s->state_ns ? (double)(now - s->state_ns) : 0;
}

static void tell_rank(struct ranks *r, uint32_t i, int64_t now, int each)
{
    struct seen *s = &r->seen[i];
    struct msg_ranks *m = &r->told;
    struct rank_part did;
    struct msg_rank rank;

    if (s->state == RANK_DIED && r->node)
        s->state_ns = rank_use_ended_ns(r->node, &s->use, s->time.rank, now);
    did = done_by(r, i, now);
    rank = (struct msg_rank){
        .rank = s->time.rank,
        .useful = did.useful,
        .waiting = did.waiting,
        .calls = s->calls + s->time.calls,
        .threads = threads_of(&s->time),
        .busy = s->busy + busy_of(&s->time),
        .room = s->room + room_of(&s->time),
        .io = did.io,
        .polled = s->polled + time_of(s->time.polled_ns),
        .transfer = s->transfer + time_of(s->time.transfer_ns),
        .unsure = s->unsure + time_of(s->time.unsure_ns),
        .borrowed = s->borrowed + time_of(s->time.borrowed_ns),
        .lent = s->lent + time_of(s->time.lent_ns),
        .state = s->state,
        .call = s->time.is_waiting ? s->time.call : 0,
        .since = state_since(r, i, now),
        .status = -1,
    };

    if (r->node)
        rank_use_fill(r->node, &s->use, &rank);
    if (rank.state == RANK_DIED && rank.status == 0)
        rank.state = RANK_LEFT; /* without MPI_Finalize, but it meant to */
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
    if (r->node)
        node_use_fill(r->node, m);
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
    r->urgent_ns = 0;
    tell_ranks(r, now);
    tell_regions(r);
    r->fn(r->arg, &r->told);
}

/* Nothing may be news of its own: all wait for a rank that hangs. */
static int is_time(const struct ranks *r, int64_t now)
{
    if (r->n == 0)
        return 0;
    return (r->urgent_ns > 0 && now >= r->urgent_ns)
           || (r->is_news && now - r->told_ns >= r->every_ns)
           || (r->told_ns > 0 && now - r->told_ns >= RANKS_STILL_NS
               && now - r->told_ns >= r->every_ns);
}

void ranks_look(struct ranks *r, int64_t now)
{
    look_at_all(r, now);
    if (now - r->used_ns >= RANK_USE_NS)
        look_at_use(r, now, 0);
    if (is_time(r, now))
        tell(r, now);
}

static int by_waiting(const void *a, const void *b)
{
    const struct meter_site_view *p = a, *q = b;

    return (p->waiting_ns < q->waiting_ns) - (p->waiting_ns > q->waiting_ns);
}

static void fill_sites(const struct ranks *r,
                       uint32_t i,
                       struct msg_rank_detail *m)
{
    struct meter_site_view site[METER_SITES];
    size_t n = meter_rank_sites(&r->page->rank[i], site);

    qsort(site, n, sizeof *site, by_waiting);
    for (m->sites = 0; m->sites < RANK_SITES && m->sites < n; m->sites++) {
        const struct meter_site_view *from = &site[m->sites];
        struct msg_rank_site *to = &m->site[m->sites];

        to->call = from->call;
        to->waiting = time_of(from->waiting_ns);
        to->calls = from->calls;
        snprintf(to->where, sizeof to->where, "%s", from->name);
    }
}

/* Of ranks that are told one by one. */
static void tell_details(struct ranks *r)
{
    for (uint32_t i = 0; r->detail && r->told.n > 0 && i < METER_SLOTS; i++) {
        struct msg_rank_detail m = {.rank = r->seen[i].time.rank};

        if (r->seen[i].time.size == 0)
            continue;
        if (r->seen[i].bins)
            rank_bins_fill(r->seen[i].bins, &m);
        fill_sites(r, i, &m);
        r->detail(r->arg, &m);
    }
}

void ranks_end(struct ranks *r, int64_t now)
{
    look_at_all(r, now);
    look_at_use(r, now, 1);
    tell_ranks(r, now);
    tell_details(r);
    r->told.is_last = 1;
    tell(r, now);
}

/* --- start and end -------------------------------------------------------- */

struct ranks *ranks_create(const struct meter_page *page,
                           int64_t every_ns,
                           int exits,
                           ranks_fn fn,
                           rank_detail_fn detail,
                           void *arg)
{
    struct node_use *node = node_use_create(exits);
    struct ranks *r = calloc(1, sizeof *r);

    if (!r) {
        node_use_destroy(node);
        return NULL;
    }
    r->node = node; /* NULL: what ranks use is not known */
    r->detail = detail;
    r->page = page;
    r->every_ns = every_ns > RANKS_EVERY_NS ? every_ns : RANKS_EVERY_NS;
    r->fn = fn;
    r->arg = arg;
    r->regions.stride = r->iterations.stride = 1;
    return r;
}

void ranks_destroy(struct ranks *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < METER_SLOTS; i++) {
        rank_use_clear(&r->seen[i].use);
        free(r->seen[i].bins);
    }
    node_use_destroy(r->node);
    free(r);
}
