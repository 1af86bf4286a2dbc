/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/rank_threads.h"
#include "launcher/base/sysfs.h"
#include "launcher/meter/rank_speed.h"
#include "launcher/power/allowed_cpus.h"
#include "policy/thread_division.h"

#include <fcntl.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define ENOUGH_NS     300000000.0          /* of work that was seen */
#define PATIENCE_NS   INT64_C(20000000000) /* then it goes without the others */
#define WORTH         0.95                 /* of the longest region before */
#define ENVIRON_BYTES (256u << 10)

struct watched {
    struct rank_speed speed;
    uint32_t owner; /* 0: nobody's */
    size_t rank;
};

struct rank {
    uint32_t pid;
    double slots, region_ns, work_ns; /* of this look */
    int is_known;
};

struct rank_threads {
    struct meter_page *page;
    rank_threads_cpus_fn cpus;
    uint32_t all, expected;
    size_t n; /* ranks */
    int64_t last_ns, began_ns;
    struct watched slot[METER_SLOTS];
    struct rank rank[METER_SLOTS];
    struct thread_rank division[METER_SLOTS], next[METER_SLOTS];
};

/* --- what a rank is pinned to --------------------------------------------- */

static int is_word(const char *variable, const char *name)
{
    size_t len = strlen(name);

    return strncmp(variable, name, len) == 0 && variable[len] == '=';
}

/* See "OpenMP Application Programming Interface", 5.0, section 6.4, and the
 * manuals of GCC's and LLVM's runtimes. */
static int pins_threads(const char *variable)
{
    if (is_word(variable, "OMP_PROC_BIND"))
        return strcasecmp(variable + sizeof "OMP_PROC_BIND", "false") != 0;
    return is_word(variable, "OMP_PLACES")
           || is_word(variable, "GOMP_CPU_AFFINITY")
           || is_word(variable, "KMP_AFFINITY");
}

/* 1 also if its environment cannot be read. */
static int is_pinned_by_runtime(pid_t pid)
{
    char path[SYSFS_PATH], *all = malloc(ENVIRON_BYTES + 1);
    ssize_t n = -1, len = 0;
    int fd = -1, found = 1;

    if (all && sysfs_path(path, "/proc/%d/environ", (int)pid) == 0)
        fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && len < (ssize_t)ENVIRON_BYTES
           && (n = read(fd, all + len, ENVIRON_BYTES - (size_t)len)) > 0)
        len += n;
    if (fd >= 0)
        (void)close(fd);
    if (all && n == 0) {
        all[len] = '\0';
        found = 0;
        for (const char *at = all; at < all + len && !found;
             at += strlen(at) + 1)
            found = pins_threads(at);
    }
    free(all);
    return found;
}

unsigned rank_threads_cpus(pid_t pid)
{
    struct allowed_cpus cpus;

    if (allowed_cpus_read(&cpus, pid) < 0 || is_pinned_by_runtime(pid))
        return 0;
    return allowed_cpus_count(&cpus);
}

/* --- advice --------------------------------------------------------------- */

static void advise(struct rank_threads *t)
{
    uint32_t slots = meter_page_slots(t->page);

    for (uint32_t i = 0; i < slots; i++)
        atomic_store_explicit(&t->page->slot[i].threads,
                              t->slot[i].owner && t->all > 0
                                  ? t->division[t->slot[i].rank].threads
                                  : 0,
                              memory_order_relaxed);
}

/* For those that have no slot yet: their even part. */
static void advise_others(struct rank_threads *t)
{
    uint32_t ranks = t->n > t->expected ? (uint32_t)t->n : t->expected;
    uint32_t part = ranks > 0 ? t->all / ranks : t->all;

    atomic_store_explicit(&t->page->threads, part > 0 || t->all == 0 ? part : 1,
                          memory_order_relaxed);
}

/* What those leave that have not come yet. */
static uint32_t to_divide(const struct rank_threads *t)
{
    uint32_t missing = t->expected > t->n ? t->expected - (uint32_t)t->n : 0;
    uint32_t part = t->expected > 0 ? t->all / t->expected : 0;

    return missing < t->all && missing * part < t->all ? t->all - missing * part
                                                       : 1;
}

static void begin_round(struct rank_threads *t, int64_t now)
{
    uint32_t slots = meter_page_slots(t->page);

    for (uint32_t i = 0; i < slots; i++)
        rank_speed_start(&t->slot[i].speed);
    t->began_ns = now;
}

/* With what is known of their work, which is nothing of ranks that are new. */
static void divide(struct rank_threads *t, int64_t now)
{
    thread_division(t->division, t->n, to_divide(t));
    advise(t);
    advise_others(t);
    begin_round(t, now);
}

/* --- ranks ---------------------------------------------------------------- */

static size_t find_rank(const struct rank_threads *t, uint32_t pid)
{
    size_t i = 0;

    while (i < t->n && t->rank[i].pid != pid)
        i++;
    return i;
}

static void add_rank(struct rank_threads *t, uint32_t pid)
{
    unsigned cpus = t->cpus((pid_t)pid);

    t->rank[t->n] = (struct rank){.pid = pid};
    t->division[t->n] =
        (struct thread_rank){.most = cpus > 0 ? cpus : UINT32_MAX};
    t->n++;
}

/* 0: nobody.  A thread of a rank's OpenMP team comes and goes as it is advised,
 * and its rank tells of it. */
static uint32_t owner_of(const struct rank_speed *s)
{
    return s->is_thread ? 0 : s->track.owner;
}

static void group_slots(struct rank_threads *t)
{
    uint32_t slots = meter_page_slots(t->page);

    t->n = 0;
    for (uint32_t i = 0; i < slots; i++) {
        struct watched *s = &t->slot[i];

        s->owner = owner_of(&s->speed);
        if (!s->owner)
            continue;
        s->rank = find_rank(t, s->owner);
        if (s->rank == t->n)
            add_rank(t, s->owner);
    }
}

/* 1: ranks, or threads of them, have come or gone. */
static int sample_all(struct rank_threads *t, int64_t now)
{
    uint64_t elapsed_ns = (uint64_t)(now - t->last_ns);
    uint32_t slots = meter_page_slots(t->page);
    int others = 0;

    t->last_ns = now;
    for (uint32_t i = 0; i < slots; i++) {
        struct watched *s = &t->slot[i];

        (void)rank_speed_update(&s->speed, t->page, i, now, elapsed_ns);
        others |= s->owner != owner_of(&s->speed);
    }
    return others;
}

/* --- work ----------------------------------------------------------------- */

static void add_slot(struct rank *r, const struct rank_speed *s)
{
    double done = rank_speed_done(s), work_ns = rank_speed_work_ns(s);

    if (!meter_track_is_used(&s->track))
        return; /* of a meter that tells nothing of this rank */
    if (done < 1 || work_ns < ENOUGH_NS) {
        r->is_known = 0;
        return;
    }
    r->slots++;
    r->region_ns = fmax(r->region_ns, work_ns / done);
    r->work_ns += work_ns / done;
}

/* Of a rank whose threads each tell how they get on it is their sum; else one
 * tells of all that it was advised to have.  0: not known. */
static double work_of(const struct rank *r, uint32_t threads)
{
    if (!r->is_known || r->slots < 1)
        return 0;
    return (r->slots > 1 ? r->work_ns : r->region_ns * threads) / 1e9;
}

/* Into next, as what is known of before holds until all are known anew.  Returns
 * how many are not. */
static size_t measure(struct rank_threads *t)
{
    uint32_t slots = meter_page_slots(t->page);
    size_t missing = 0;

    for (size_t i = 0; i < t->n; i++)
        t->rank[i] = (struct rank){.pid = t->rank[i].pid, .is_known = 1};
    for (uint32_t i = 0; i < slots; i++)
        if (t->slot[i].owner)
            add_slot(&t->rank[t->slot[i].rank], &t->slot[i].speed);
    for (size_t i = 0; i < t->n; i++) {
        t->next[i] = t->division[i];
        t->next[i].work = work_of(&t->rank[i], t->division[i].threads);
        missing += t->next[i].work <= 0;
    }
    return missing;
}

/* Another division only if it is clearly better, as times are never alike. */
static void end_round(struct rank_threads *t, int64_t now)
{
    double before = thread_division_longest(t->next, t->n);

    memcpy(t->division, t->next, t->n * sizeof *t->next);
    thread_division(t->next, t->n, to_divide(t));
    if (thread_division_longest(t->next, t->n) < WORTH * before)
        divide(t, now);
    else
        begin_round(t, now);
}

/* --- public --------------------------------------------------------------- */

void rank_threads_expect(struct rank_threads *t, uint32_t ranks)
{
    t->expected = ranks < METER_SLOTS ? ranks : METER_SLOTS;
    advise_others(t);
}

void rank_threads_set(struct rank_threads *t, uint32_t threads, int64_t now_ns)
{
    if (t->all == 0)
        t->last_ns = now_ns;
    t->all = threads;
    divide(t, now_ns);
}

void rank_threads_look(struct rank_threads *t, int64_t now_ns)
{
    size_t missing;

    if (t->all == 0)
        return;
    if (sample_all(t, now_ns)) {
        group_slots(t);
        divide(t, now_ns);
        return;
    }
    if (t->n < 2)
        return;
    missing = measure(t);
    if (missing == 0 || (missing < t->n && now_ns - t->began_ns > PATIENCE_NS))
        end_round(t, now_ns);
}

struct rank_threads *rank_threads_create(struct meter_page *page,
                                         rank_threads_cpus_fn cpus)
{
    struct rank_threads *t = calloc(1, sizeof *t);

    if (!t)
        return NULL;
    t->page = page;
    t->cpus = cpus;
    return t;
}

void rank_threads_destroy(struct rank_threads *t)
{
    free(t);
}
