/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/monitor.h"
#include "launcher/agent/cpu_meter.h"
#include "launcher/agent/rank_threads.h"
#include "launcher/agent/rank_use.h"
#include "launcher/base/step_dir.h"
#include "launcher/base/step_meter.h"
#include "launcher/meter/meter_track.h"
#include "launcher/meter/node_ranks.h"
#include "pmix_bcast/clock.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ALIVE_NS INT64_C(1000000000) /* between two looks who has died */
#define IDLE_MS  250 /* between two samples while no thread has a meter */

struct meter_sums {
    double progress, work_ns;
};

struct monitor {
    struct meter_page *page;
    int page_fd;
    struct event *timer;
    uint32_t interval_ms;
    enum aggregate how;
    monitor_fn fn;
    void *arg;
    int64_t record_ns; /* between two records, at least */
    int64_t last_ns, looked_ns, told_ns;
    int is_news; /* since the last record */
    uint32_t epoch;
    int is_succession;        /* threads that come go on where others ended */
    struct meter_sums before; /* theirs */
    int exits;                /* how ranks ended, see rank_use.h; -1: none */
    struct ranks *ranks;      /* NULL: nobody wants to know */
    struct cpu_meter *cpu;    /* NULL: programs do it */
    struct rank_threads *threads;          /* NULL: there is no advice yet */
    uint32_t expected;                     /* ranks; 0: not known */
    struct meter_track track[METER_SLOTS]; /* of threads that tick */
    struct node_ranks outside;             /* metered from outside */
    double value[METER_SLOTS];             /* to aggregate */
};

/* --- from slots to the node ----------------------------------------------- */

static double progress_of(const struct meter_track *t)
{
    return t->progress;
}

static double work_of(const struct meter_track *t)
{
    return (double)t->work_ns;
}

/* The most is the least of the other sign. */
static double minus_work_of(const struct meter_track *t)
{
    return -work_of(t);
}

static double speed_of(const struct meter_track *t)
{
    return t->work_ns > 0 ? t->progress / (double)t->work_ns : 0;
}

static double over_slots(struct monitor *m,
                         enum aggregate how,
                         double (*value)(const struct meter_track *t))
{
    uint32_t slots = meter_page_slots(m->page);
    size_t n = 0;

    for (uint32_t i = 0; i < slots; i++)
        if (meter_track_is_used(&m->track[i]))
            m->value[n++] = value(&m->track[i]);
    return aggregate_of(how, m->value, n);
}

/* The slowest thread has done least, in the longest time. */
static double node_work(struct monitor *m)
{
    if (m->how == AGGREGATE_MIN)
        return -over_slots(m, AGGREGATE_MIN, minus_work_of);
    return over_slots(m, m->how, work_of);
}

/* Of fractions: what each has done when the fastest has done all. */
static double node_skew(struct monitor *m)
{
    uint32_t slots = meter_page_slots(m->page);
    double most = 0;

    for (uint32_t i = 0; i < slots; i++)
        if (meter_track_is_used(&m->track[i]))
            most = fmax(most, speed_of(&m->track[i]));
    return most > 0 ? over_slots(m, AGGREGATE_SKEW, speed_of) / most : 0;
}

static uint64_t whole_ns(double ns)
{
    return (uint64_t)fmin(ns, (double)INT64_MAX / 2);
}

/* Since the last slot came or went. */
static struct meter_sums node_sums(struct monitor *m)
{
    return (struct meter_sums){over_slots(m, m->how, progress_of),
                               node_work(m)};
}

static void tell_threads(struct monitor *m, struct msg_progress *record)
{
    struct meter_sums sums = node_sums(m);

    record->progress = m->before.progress + sums.progress;
    record->work_ns = whole_ns(m->before.work_ns + sums.work_ns);
    record->skew = node_skew(m);
}

static void tell_ranks(struct monitor *m, struct msg_progress *record)
{
    record->slots = m->outside.n;
    record->progress = node_ranks_progress(&m->outside);
    record->work_ns = whole_ns(node_ranks_work_ns(&m->outside));
    record->done_ns = whole_ns(node_ranks_done_ns(&m->outside));
    record->left_ns = whole_ns(node_ranks_left_ns(&m->outside));
    record->is_waiting = m->outside.is_waiting != 0;
    record->skew = node_ranks_skew(&m->outside);
}

/* What a program tells itself is nearer to it than what is seen from outside. */
static void report_progress(struct monitor *m)
{
    uint32_t slots = meter_page_slots(m->page);
    struct msg_progress record = {.epoch = m->epoch};

    for (uint32_t i = 0; i < slots; i++) {
        record.slots += (uint32_t)meter_track_is_used(&m->track[i]);
        record.misuse += m->track[i].misuse;
    }
    if (record.slots == 0 && m->outside.n > 0)
        tell_ranks(m, &record);
    else
        tell_threads(m, &record);
    m->fn(m->arg, &record);
}

/* --- sampling ------------------------------------------------------------- */

/* A thread that ended without a word leaves its slot taken. */
static void free_dead(struct monitor *m)
{
    uint32_t slots = meter_page_slots(m->page);

    for (uint32_t i = 0; i < slots; i++) {
        _Atomic uint32_t *owner = &m->page->slot[i].owner;
        uint32_t pid = atomic_load(owner);

        if (pid > 1 && pid <= INT32_MAX && kill((pid_t)pid, 0) < 0
            && errno == ESRCH)
            (void)atomic_compare_exchange_strong(owner, &pid, 0);
    }
}

/* The sums must be of the same time for all. */
static void begin_epoch(struct monitor *m, const struct meter_sums *before)
{
    if (m->is_succession) {
        m->before.progress += before->progress;
        m->before.work_ns += before->work_ns;
    } else {
        m->epoch++;
    }
    for (uint32_t i = 0; i < METER_SLOTS; i++)
        meter_track_start(&m->track[i]);
}

static enum meter_change sample_all(struct monitor *m, int64_t now)
{
    uint64_t elapsed_ns = (uint64_t)(now - m->last_ns);
    uint32_t slots = meter_page_slots(m->page);
    enum meter_change most = node_ranks_update(&m->outside, m->page, now);

    for (uint32_t i = 0; i < slots; i++) {
        struct meter_sample sample = {.owner = 0};
        enum meter_change change;

        if (!node_ranks_has(&m->outside, i)
            && meter_slot_read(&m->page->slot[i], &sample) < 0)
            continue; /* the next time; its work is then counted by ends */
        change = meter_track_update(&m->track[i], &sample, elapsed_ns);
        if (change > most)
            most = change;
    }
    return most;
}

/* A node on which nothing is metered is left in peace. */
static int sleep_on(struct monitor *m)
{
    uint32_t ms = m->interval_ms;
    struct timeval tv;

    if (meter_page_slots(m->page) == 0 && ms < IDLE_MS)
        ms = IDLE_MS;
    tv = (struct timeval){ms / 1000, ms % 1000 * 1000};
    return evtimer_add(m->timer, &tv);
}

/* Samples come as often as they are asked for, and records with each of them
 * unless so many nodes have to be heard that they must be rarer. */
static int is_time(const struct monitor *m, int64_t now)
{
    return m->record_ns <= m->interval_ms * INT64_C(1000000)
           || now - m->told_ns >= m->record_ns;
}

static void take_sample(struct monitor *m, int64_t now)
{
    struct meter_sums before = {0, 0};
    enum meter_change change;

    if (m->is_succession)
        before = node_sums(m);
    change = sample_all(m, now);
    m->last_ns = now;
    if (change == METER_ANOTHER)
        begin_epoch(m, &before);
    m->is_news |= change != METER_STILL;
}

static void on_monitor_time(evutil_socket_t fd, short what, void *arg)
{
    struct monitor *m = arg;
    int64_t now = clock_ns();

    (void)fd;
    (void)what;
    take_sample(m, now);
    if (m->ranks)
        ranks_look(m->ranks, now);
    if (m->threads)
        rank_threads_look(m->threads, now);
    if (m->is_news && is_time(m, now)) {
        m->told_ns = now;
        m->is_news = 0;
        report_progress(m);
    }
    if (now - m->looked_ns >= ALIVE_NS) {
        m->looked_ns = now;
        free_dead(m);
    }
    (void)sleep_on(m); /* cannot fail for an event that was added before */
}

/* --- start and end -------------------------------------------------------- */

static int start_timer(struct monitor *m, struct event_base *base)
{
    m->last_ns = m->looked_ns = clock_ns();
    m->timer = evtimer_new(base, on_monitor_time, m);
    return m->timer ? sleep_on(m) : -1;
}

static int link_page(const struct monitor *m, const char *dir)
{
    char target[64];

    snprintf(target, sizeof target, "/proc/%d/fd/%d", (int)getpid(),
             m->page_fd);
    return step_dir_link(dir, METER_FILE, target);
}

/* The plugin writes there what it is not to create.  -1: it cannot be. */
static int make_exits(const char *dir)
{
    char path[STEP_PATH_MAX];

    if (step_dir_put(dir, RANK_EXITS, "", 0) != 0
        || step_dir_path(path, dir, RANK_EXITS) < 0)
        return -1;
    return open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
}

struct monitor *monitor_start(struct event_base *base,
                              const struct msg_monitor *order,
                              monitor_fn fn,
                              void *arg,
                              struct es_error *err)
{
    struct monitor *m = calloc(1, sizeof *m);
    int why = ENOMEM;

    if (m) {
        m->how = (enum aggregate)order->aggregate;
        m->interval_ms = order->interval_ms;
        m->record_ns = order->record_ms * INT64_C(1000000);
        m->fn = fn;
        m->arg = arg;
        m->outside.how = m->how;
        m->outside.cpu = node_ranks_cpu_ns;
        m->page_fd = m->exits = -1;
        m->page = meter_page_create(&m->page_fd);
        why = m->page ? link_page(m, order->dir) : errno;
        if (!why)
            m->exits = make_exits(order->dir);
        if (!why && start_timer(m, base) < 0)
            why = ENOMEM;
        if (!why && order->meter == STEP_METER_CPU)
            m->cpu = cpu_meter_start(base, m->page, order->dir);
    }
    if (!why)
        return m;
    es_fail(err, ES_ENV, "see that /dev/shm can be written",
            "no progress meters: %s", strerror(why));
    monitor_stop(m);
    return NULL;
}

const struct meter_page *monitor_page(const struct monitor *m)
{
    return m->page;
}

/* Without memory no rank is advised. */
void monitor_advise_threads(struct monitor *m, uint32_t threads)
{
    if (!m->threads) {
        m->threads = rank_threads_create(m->page, rank_threads_cpus);
        if (m->threads)
            rank_threads_expect(m->threads, m->expected);
    }
    if (m->threads)
        rank_threads_set(m->threads, threads, clock_ns());
}

void monitor_expect_ranks(struct monitor *m, uint32_t ranks)
{
    m->expected = ranks;
    if (m->threads)
        rank_threads_expect(m->threads, ranks);
}

int monitor_watch_ranks(struct monitor *m,
                        ranks_fn fn,
                        rank_detail_fn detail,
                        void *arg)
{
    m->ranks = ranks_create(m->page, m->record_ns, m->exits, fn, detail, arg);
    m->exits = -1; /* is theirs */
    return m->ranks ? 0 : -1;
}

void monitor_end_ranks(struct monitor *m)
{
    if (!m->ranks)
        return;
    free_dead(m);
    ranks_end(m->ranks, clock_ns());
}

/* Its slots are free at once, so that who comes next takes them; and the last
 * that it did is seen while they are still its. */
void monitor_succession(struct monitor *m)
{
    m->is_succession = 1;
    take_sample(m, clock_ns());
    free_dead(m);
    take_sample(m, m->last_ns);
}

void monitor_stop(struct monitor *m)
{
    if (!m)
        return;
    if (m->timer)
        event_free(m->timer);
    ranks_destroy(m->ranks);
    rank_threads_destroy(m->threads);
    cpu_meter_stop(m->cpu);
    meter_page_destroy(m->page);
    if (m->page_fd >= 0)
        close(m->page_fd);
    if (m->exits >= 0)
        close(m->exits);
    free(m);
}
