/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/node_balance.h"
#include "launcher/base/sysfs.h"
#include "launcher/meter/rank_speed.h"
#include "launcher/power/allowed_cpus.h"
#include "pmix_bcast/clock.h"
#include "policy/power_need.h"
#include "policy/steering_worth.h"

#include <event2/event.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A speed is known to a percent after half a second's work in samples of 10 ms,
 * if it was a whole region; of a long one a part must do. */
#define ENOUGH_NS 500000000.0
#define LONG_NS   5000000000.0
#define IDLE_PART 0.01 /* of the time: a thread that has no more to do */
/* After that those that are still not known keep what they have. */
#define PATIENCE_NS   INT64_C(20000000000)
#define ANCESTORS_MAX 32 /* between a rank and the task that it runs in */
#define FAILURES_MAX  3  /* of orders in a row, then it is left alone */
/* Between two times that the guard is told of threads: if it makes no parts of
 * them, ever longer. */
#define ASK_NS     INT64_C(1000000000)
#define ASK_MAX_NS INT64_C(64000000000)

struct watched_slot {
    struct rank_speed speed;
    uint32_t owner, thread; /* whose part this is: */
    uint32_t part;          /* or PART_NONE */
    int has_team;           /* it is a rank whose threads have slots; */
    int is_led;             /* and parts */
};

struct node_balance {
    const struct meter_page *page;
    struct event *timer; /* pending while there is something to divide */
    struct timeval interval;
    node_balance_fn fn;
    node_balance_threads_fn threads; /* NULL: nobody wants to know */
    void *arg;
    double lowest;
    uint64_t limit; /* of the node; 0: none */
    struct node_parts parts;
    struct power_node node[PARTS_MAX]; /* the parts, as power.h has them */
    struct power_need need[PARTS_MAX];
    void *room;
    int is_divided; /* the parts have limits, node[].limit */
    int is_own;     /* the oldest order was ours */
    struct steering_worth worth;
    uint64_t tried[PARTS_MAX]; /* the limits that are to be tried again */
    unsigned asked, failures;
    int64_t last_ns, began_ns;
    int64_t ask_ns, ask_wait_ns; /* when to tell of threads again */
    pid_t told[PART_TASKS_MAX];  /* of these n_told, the last time */
    size_t n_told;
    struct watched_slot slot[METER_SLOTS];
};

/* --- which slot is of which part ------------------------------------------ */

static uint32_t part_of_task(const struct node_balance *b, uint32_t pid)
{
    for (size_t i = 0; i < b->parts.tasks; i++)
        if ((uint32_t)b->parts.task[i].pid == pid)
            return b->parts.task[i].part;
    return PART_NONE;
}

/* The program may be below the task: started by a shell, or another program. */
static uint32_t parent_of(uint32_t pid)
{
    char line[SYSFS_LINE];
    const char *name_end;
    unsigned parent = 0;

    if (sysfs_read(line, "/proc/%u/stat", pid) < 0)
        return 0;
    name_end = strrchr(line, ')');
    if (!name_end || sscanf(name_end, ") %*c %10u", &parent) != 1)
        return 0;
    return parent;
}

static uint32_t part_of(const struct node_balance *b, uint32_t pid)
{
    for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
        uint32_t part = part_of_task(b, pid);

        if (part != PART_NONE)
            return part;
        pid = parent_of(pid);
    }
    return PART_NONE;
}

static uint32_t thread_of(const struct node_balance *b, uint32_t i)
{
    uint32_t thread =
        atomic_load_explicit(&b->page->slot[i].thread, memory_order_relaxed);

    return thread > 1 && thread <= INT32_MAX ? thread : 0;
}

/* A thread that ticks and has no part goes along with its task; for one of a team
 * its rank speaks then. */
static void find_part(struct node_balance *b, uint32_t i)
{
    struct watched_slot *slot = &b->slot[i];
    uint32_t owner = slot->speed.track.owner, thread = thread_of(b, i);

    if (slot->owner == owner && slot->thread == thread)
        return;
    slot->owner = owner;
    slot->thread = thread;
    slot->part = thread ? part_of_task(b, thread) : PART_NONE;
    if (slot->part == PART_NONE && !slot->speed.is_thread)
        slot->part = part_of(b, owner);
}

/* --- teams ---------------------------------------------------------------- */

/* The first thread of a process has the number that its task has, so it is the
 * others by which one knows whether threads are parts. */
static void find_teams(struct node_balance *b)
{
    uint32_t slots = meter_page_slots(b->page);

    for (uint32_t i = 0; i < slots; i++)
        b->slot[i].has_team = b->slot[i].is_led = 0;
    for (uint32_t i = 0; i < slots; i++) {
        const struct watched_slot *s = &b->slot[i];

        if (!rank_speed_is_used(&s->speed) || !s->speed.is_thread)
            continue;
        b->slot[s->speed.leader].has_team = 1;
        if (s->part != PART_NONE && s->thread != s->owner)
            b->slot[s->speed.leader].is_led = 1;
    }
}

/* Either a rank speaks, or each of its threads. */
static int speaks(const struct node_balance *b, uint32_t i)
{
    const struct watched_slot *s = &b->slot[i];

    if (!rank_speed_is_used(&s->speed) || s->part == PART_NONE)
        return 0;
    return s->speed.is_thread ? b->slot[s->speed.leader].is_led : !s->is_led;
}

/* --- threads -------------------------------------------------------------- */

static int is_thread(const struct node_balance *b, uint32_t i)
{
    const struct watched_slot *s = &b->slot[i];

    if (!s->owner || !s->thread || !rank_speed_is_used(&s->speed))
        return 0;
    return s->speed.is_thread ? b->slot[s->speed.leader].has_team
                              : !s->has_team;
}

/* The slots of the threads of a process, from one on.  Returns how many. */
static size_t find_others(const struct node_balance *b,
                          uint32_t from,
                          pid_t thread[PART_TASKS_MAX])
{
    uint32_t slots = meter_page_slots(b->page);
    size_t n = 0;

    for (uint32_t i = from; i < slots && n < PART_TASKS_MAX; i++)
        if (b->slot[i].owner == b->slot[from].owner && is_thread(b, i))
            thread[n++] = (pid_t)b->slot[i].thread;
    return n;
}

static int is_first(const struct node_balance *b, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (b->slot[k].owner == b->slot[i].owner && is_thread(b, k))
            return 0;
    return is_thread(b, i);
}

/* Those of processes of which several tell how they get on.  Threads of a team
 * know nothing of this, and most are not pinned: those are not told of.  All, or
 * none if there are too many. */
static size_t find_threads(const struct node_balance *b,
                           pid_t thread[PART_TASKS_MAX])
{
    uint32_t slots = meter_page_slots(b->page);
    pid_t own[PART_TASKS_MAX];
    size_t n = 0;

    for (uint32_t i = 0; i < slots; i++) {
        size_t more = is_first(b, i) ? find_others(b, i, own) : 0;

        if (more < 2
            || (b->slot[i].speed.is_thread && !allowed_cpus_apart(own, more)))
            continue;
        if (n + more >= PART_TASKS_MAX)
            return 0;
        memcpy(thread + n, own, more * sizeof *own);
        n += more;
    }
    return n;
}

static int is_among(pid_t one, const pid_t thread[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (thread[i] == one)
            return 1;
    return 0;
}

/* Has one of them no part, or one a part that is none of them any more? */
static int is_news(const struct node_balance *b, const pid_t thread[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (part_of_task(b, (uint32_t)thread[i]) == PART_NONE)
            return 1;
    for (size_t i = 0; i < b->n_told; i++)
        if (part_of_task(b, (uint32_t)b->told[i]) != PART_NONE
            && !is_among(b->told[i], thread, n))
            return 1;
    return 0;
}

static void tell_threads(struct node_balance *b, int64_t now)
{
    pid_t thread[PART_TASKS_MAX];
    size_t n;

    if (!b->threads || now < b->ask_ns)
        return;
    b->ask_ns = now + ASK_NS;
    n = find_threads(b, thread);
    if (!is_news(b, thread, n))
        return;
    memcpy(b->told, thread, n * sizeof *thread);
    b->n_told = n;
    b->ask_ns = now + b->ask_wait_ns;
    b->ask_wait_ns *= b->ask_wait_ns < ASK_MAX_NS ? 2 : 1;
    b->threads(b->arg, thread, n);
}

/* --- rounds --------------------------------------------------------------- */

static void begin_round(struct node_balance *b)
{
    uint32_t slots = meter_page_slots(b->page);

    for (uint32_t i = 0; i < slots; i++)
        rank_speed_start(&b->slot[i].speed);
    b->began_ns = clock_ns();
}

static int is_enough(double done, double work_ns)
{
    return done > 0 && work_ns >= ENOUGH_NS
           && (done >= 1 || work_ns >= LONG_NS);
}

/* Regions for each nanosecond of work; 0: not known yet.  That a thread of a team
 * has next to nothing to do is known as soon as it is of the others. */
static double speed_of(const struct node_balance *b, const struct rank_speed *s)
{
    double done = rank_speed_done(s), work_ns = rank_speed_work_ns(s);

    if (s->is_thread && done >= 1)
        work_ns = fmax(work_ns, IDLE_PART * (double)(b->last_ns - b->began_ns));
    return is_enough(done, s->is_thread ? (double)(b->last_ns - b->began_ns)
                                        : work_ns)
               ? done / work_ns
               : 0;
}

/* The slowest rank stands for a part.  Returns how many parts are known;
 * *missing is how many are not that have a rank. */
static size_t measure_parts(struct node_balance *b, size_t *missing)
{
    uint32_t slots = meter_page_slots(b->page);
    size_t known = 0;

    *missing = 0;
    for (size_t i = 0; i < b->parts.n; i++)
        b->node[i].progress = 0;
    for (uint32_t i = 0; i < slots; i++) {
        const struct watched_slot *s = &b->slot[i];
        struct power_node *node;
        double speed;

        if (!speaks(b, i))
            continue;
        node = &b->node[s->part];
        speed = speed_of(b, &s->speed);
        if (speed <= 0)
            node->progress = -1;
        else if (node->progress == 0 || node->progress > speed)
            node->progress = speed;
    }
    for (size_t i = 0; i < b->parts.n; i++) {
        known += b->node[i].progress > 0;
        *missing += b->node[i].progress < 0;
    }
    return known;
}

static void copy_limits(const struct node_balance *b, uint64_t part[])
{
    for (size_t i = 0; i < b->parts.n; i++)
        part[i] = b->node[i].limit;
}

/* All have as much as the others, or what they have had of another limit. */
static int divide(struct node_balance *b)
{
    uint64_t budget = power_parts_budget(b->parts.part, b->parts.n, b->limit);

    if (power_parts_bounds(b->parts.part, b->parts.n, budget, b->lowest,
                           b->node)
        < 0)
        return -1;
    power_parts_divide(b->node, b->parts.n, budget);
    return 0;
}

static void forget_limits(struct node_balance *b)
{
    b->is_divided = 0;
    for (size_t i = 0; i < PARTS_MAX; i++)
        b->node[i].limit = 0;
}

static double region_seconds(const struct node_balance *b)
{
    uint32_t slots = meter_page_slots(b->page);
    double longest = 0;

    for (uint32_t i = 0; i < slots; i++)
        if (speaks(b, i))
            longest = fmax(longest, rank_speed_region_ns(&b->slot[i].speed));
    return longest / 1e9;
}

/* Of all that the parts have when they are alike, what others have now. */
static double part_moved(const struct node_balance *b)
{
    double moved = 0, all = 0, most = 0;

    for (size_t i = 0; i < b->parts.n; i++) {
        all += (double)b->node[i].limit;
        most += (double)b->node[i].ceiling;
    }
    for (size_t i = 0; i < b->parts.n; i++)
        moved += fabs((double)b->node[i].limit / all
                      - (double)b->node[i].ceiling / most);
    return moved / 2;
}

/* n is 0: the parts have no limits of their own. */
static void order(struct node_balance *b, const uint64_t part[], size_t n)
{
    b->is_divided = n > 0;
    b->is_own = 1;
    b->asked++;
    b->fn(b->arg, b->limit, part, n);
}

static void take_step(struct node_balance *b)
{
    uint64_t part[PARTS_MAX];

    if (!b->is_divided && divide(b) < 0)
        return;
    if (b->parts.rule.variant != POWER_SAVE)
        power_need_steady(b->need, b->node, b->parts.n);
    if (power_step(&b->parts.rule, b->node, b->parts.n, b->room) == 0)
        return;
    steering_worth_stepped(&b->worth, part_moved(b));
    copy_limits(b, part);
    order(b, part, b->parts.n);
}

static void put_back(struct node_balance *b)
{
    copy_limits(b, b->tried);
    forget_limits(b);
    order(b, NULL, 0);
}

static void resume(struct node_balance *b)
{
    uint64_t part[PARTS_MAX];

    for (size_t i = 0; i < b->parts.n; i++)
        b->node[i].limit = b->tried[i];
    if (divide(b) < 0)
        return;
    copy_limits(b, part);
    order(b, part, b->parts.n);
}

static void end_round(struct node_balance *b)
{
    struct worth_round round = {
        .seconds = region_seconds(b),
        .skew = power_skew(b->node, b->parts.n, b->room),
        .elapsed = (double)(b->last_ns - b->began_ns) / 1e9};

    switch (steering_worth_next(&b->worth, &round)) {
    case WORTH_STEER:
        take_step(b);
        break;
    case WORTH_PUT_BACK:
        put_back(b);
        break;
    case WORTH_RESUME:
        resume(b);
        break;
    case WORTH_HOLD:
    case WORTH_STOP:
        break;
    }
    begin_round(b);
}

static void sample_all(struct node_balance *b, int64_t now)
{
    uint64_t elapsed_ns = (uint64_t)(now - b->last_ns);
    uint32_t slots = meter_page_slots(b->page);

    for (uint32_t i = 0; i < slots; i++) {
        (void)rank_speed_update(&b->slot[i].speed, b->page, i, now, elapsed_ns);
        find_part(b, i);
    }
    find_teams(b);
}

static void on_time(evutil_socket_t fd, short what, void *arg)
{
    struct node_balance *b = arg;
    int64_t now = clock_ns();
    size_t known, missing;

    (void)fd;
    (void)what;
    sample_all(b, now);
    b->last_ns = now;
    if (b->asked > 0)
        return;
    tell_threads(b, now);
    known = measure_parts(b, &missing);
    if (known >= 2 && (missing == 0 || now - b->began_ns > PATIENCE_NS))
        end_round(b);
}

/* --- what the guard and the front end say --------------------------------- */

/* A node without a limit, or parts, is left in peace; but one rank, too, may have
 * threads. */
static void watch_or_rest(struct node_balance *b)
{
    int is_watched = b->limit > 0 && (b->parts.n > 1 || b->threads);

    if (is_watched == (evtimer_pending(b->timer, NULL) != 0))
        return;
    b->last_ns = clock_ns();
    begin_round(b);
    if (!is_watched || event_add(b->timer, &b->interval) < 0)
        (void)event_del(b->timer); /* fails for a broken base only */
}

void node_balance_threads(struct node_balance *b, node_balance_threads_fn fn)
{
    b->threads = fn;
    b->ask_wait_ns = ASK_NS;
}

void node_balance_lowest(struct node_balance *b, double lowest)
{
    b->lowest = lowest;
}

void node_balance_parts(struct node_balance *b, const struct node_parts *p)
{
    b->parts = *p;
    b->failures = 0;
    steering_worth_again(&b->worth);
    memset(b->need, 0, sizeof b->need);
    forget_limits(b);
    for (size_t i = 0; i < METER_SLOTS; i++)
        b->slot[i].owner = 0;
    b->last_ns = clock_ns();
    begin_round(b);
    watch_or_rest(b);
}

size_t node_balance_limit(struct node_balance *b,
                          uint64_t limit,
                          uint64_t part[PARTS_MAX])
{
    b->asked++;
    b->limit = limit;
    if (limit == 0)
        steering_worth_again(&b->worth);
    if (limit == 0 || (b->is_divided && divide(b) < 0))
        forget_limits(b);
    watch_or_rest(b);
    if (!b->is_divided)
        return 0;
    copy_limits(b, part);
    return b->parts.n;
}

int node_balance_answered(struct node_balance *b, int is_set)
{
    int was_own = b->is_own;

    if (b->asked > 0)
        b->asked--;
    b->is_own = 0;
    if (was_own && is_set) {
        b->failures = 0;
    } else if (was_own && ++b->failures == FAILURES_MAX) {
        b->parts.n = 0;
        b->threads = NULL;
    }
    watch_or_rest(b);
    if (b->asked == 0)
        begin_round(b);
    return was_own;
}

/* --- start and end -------------------------------------------------------- */

struct node_balance *node_balance_start(struct event_base *base,
                                        const struct meter_page *page,
                                        uint32_t interval_ms,
                                        node_balance_fn fn,
                                        void *arg)
{
    struct node_balance *b = calloc(1, sizeof *b);

    if (!b)
        return NULL;
    b->page = page;
    b->fn = fn;
    b->arg = arg;
    b->interval =
        (struct timeval){interval_ms / 1000, interval_ms % 1000 * 1000};
    b->room = malloc(power_bytes(PARTS_MAX));
    b->timer = event_new(base, -1, EV_PERSIST, on_time, b);
    if (b->room && b->timer)
        return b;
    node_balance_stop(b);
    return NULL;
}

void node_balance_stop(struct node_balance *b)
{
    if (!b)
        return;
    if (b->timer)
        event_free(b->timer);
    free(b->room);
    free(b);
}
