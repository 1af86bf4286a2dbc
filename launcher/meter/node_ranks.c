/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/meter/node_ranks.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

/* A region is long that lasts for this, see the header. */
#define REGION_LONG_NS 1000000000.0
#define CPU_NS         INT64_C(100000000) /* between two looks at CPU time */
#define CPU_RANKS      128u               /* more of them are looked at rarer */
#define REGION_CPU_NS  50000000.0         /* from here on its CPU time counts */
#define WAITING_NS     200000000.0
/* While a first long region lasts, it is told that there is progress. */
#define ALIVE_NS      INT64_C(1000000000)
#define ALIVE_MOST_NS 60000000000.0
#define PART_MOST     0.999

int64_t node_ranks_cpu_ns(uint32_t pid)
{
    struct timespec t;
    clockid_t clock;

    if (pid == 0 || pid > INT32_MAX
        || clock_getcpuclockid((pid_t)pid, &clock) != 0
        || clock_gettime(clock, &t) < 0)
        return -1;
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

int node_ranks_has(const struct node_ranks *node, uint32_t slot)
{
    return node->rank[slot].owner != 0;
}

/* Over all ranks there are: values where much is slow. */
static double slowest(struct node_ranks *node,
                      uint32_t slots,
                      double (*value)(const struct node_rank *, uint64_t),
                      uint64_t arg)
{
    size_t n = 0;
    double most = 0;

    for (uint32_t i = 0; i < slots; i++)
        if (node_ranks_has(node, i)) {
            node->value[n] = value(&node->rank[i], arg);
            most = fmax(most, node->value[n++]);
        }
    return node->how == AGGREGATE_MIN ? most
                                      : aggregate_of(node->how, node->value, n);
}

/* --- reading -------------------------------------------------------------- */

/* Useful time until now.  No more than there was, whatever stands there. */
static double useful_now(const struct node_rank *r, int64_t now, double elapsed)
{
    double useful = (double)r->time.useful_ns;

    if (!r->time.is_waiting && (double)now > (double)r->time.since_ns)
        useful += (double)now - (double)r->time.since_ns;
    return fmin(fmax(useful, r->useful_ns), r->useful_ns + elapsed);
}

static void begin_rank(struct node_rank *r, uint32_t owner)
{
    struct meter_time time = r->time;

    *r = (struct node_rank){
        .owner = owner, .time = time, .useful_ns = (double)time.useful_ns};
    r->cpu_ns = -1;
}

/* An entry is a rank's once it has called MPI.  Returns whether it is another
 * one than before. */
static int read_rank(struct node_rank *r,
                     const struct meter_page *page,
                     uint32_t slot)
{
    uint32_t owner = atomic_load(&page->slot[slot].owner), was = r->owner;
    uint64_t regions = r->time.regions;
    int rc = owner ? meter_rank_read(&page->rank[slot], &r->time) : 0;

    if (rc < 0) /* what was read before is as good, of the same rank */
        rc = owner == was;
    if (rc == 0 || r->time.calls == 0) {
        r->owner = 0;
        return was != 0;
    }
    if (owner == was && r->time.regions >= regions)
        return 0;
    begin_rank(r, owner);
    return 1;
}

static int read_all(struct node_ranks *node,
                    const struct meter_page *page,
                    uint32_t slots,
                    int64_t now)
{
    double elapsed = (double)(now - node->seen_ns);
    int changed = 0;

    node->n = 0;
    for (uint32_t i = 0; i < slots; i++) {
        struct node_rank *r = &node->rank[i];

        changed |= read_rank(r, page, i);
        if (!node_ranks_has(node, i))
            continue;
        node->n++;
        r->useful_ns = useful_now(r, now, elapsed);
    }
    return changed;
}

/* Regions that all ranks have ended; *most: that any has. */
static uint64_t regions_ended(const struct node_ranks *node,
                              uint32_t slots,
                              uint64_t *most)
{
    uint64_t least = UINT64_MAX;

    *most = 0;
    for (uint32_t i = 0; i < slots; i++) {
        uint64_t regions = node->rank[i].time.regions;

        if (!node_ranks_has(node, i))
            continue;
        least = regions < least ? regions : least;
        *most = regions > *most ? regions : *most;
    }
    return node->n > 0 ? least : 0;
}

/* The ranks are others: what they have done is counted from their next end of a
 * region on. */
static void start_over(struct node_ranks *node, uint32_t slots, int64_t now)
{
    uint64_t most;

    (void)regions_ended(node, slots, &most);
    node->ends = most;
    node->is_begun = node->is_part_known = node->is_waiting = 0;
    node->done_ns = node->work_ns = node->part = node->part_ns = 0;
    node->long_ns = 0;
    node->end_ns = node->alive_ns = now;
    for (uint32_t i = 0; i < slots; i++) {
        node->rank[i].mark_ns = node->rank[i].useful_ns;
        node->rank[i].total_ns = 0;
        node->rank[i].region_cpu_ns = node->rank[i].long_cpu_ns = 0;
    }
}

/* --- CPU time ------------------------------------------------------------- */

static void add_cpu(struct node_rank *r, int64_t cpu, double elapsed)
{
    double useful = r->useful_ns - r->cpu_useful_ns;

    if (cpu >= 0 && r->cpu_ns >= 0 && cpu > r->cpu_ns && elapsed > 0)
        r->region_cpu_ns +=
            (double)(cpu - r->cpu_ns) * fmin(1, useful / elapsed);
    r->cpu_ns = cpu;
    r->cpu_useful_ns = r->useful_ns;
}

/* Libraries spin while they wait: of what a rank has had since the last look,
 * the part counts that it was useful. */
static void look_at_cpu(struct node_ranks *node, uint32_t slots, int64_t now)
{
    double elapsed = (double)(now - node->cpu_seen_ns);

    for (uint32_t i = 0; i < slots; i++)
        if (node_ranks_has(node, i))
            add_cpu(&node->rank[i], node->cpu(node->rank[i].owner), elapsed);
    node->cpu_seen_ns = now;
}

static int is_time_for_cpu(const struct node_ranks *node, int64_t now)
{
    int64_t pace = CPU_NS * (1 + node->n / CPU_RANKS);

    return now - node->cpu_seen_ns >= pace;
}

/* --- regions that end ----------------------------------------------------- */

static double useful_since_end(const struct node_rank *r, uint64_t none)
{
    (void)none;
    return r->useful_ns - r->mark_ns;
}

/* The work of the regions up to that one, from the ring while all of them are
 * in it; else of all together, with what has begun since. */
static double add_work(struct node_ranks *node,
                       const struct meter_page *page,
                       uint32_t slots,
                       uint64_t to,
                       uint64_t most)
{
    double work = 0;

    if (most - node->ends >= METER_RING) {
        work = slowest(node, slots, useful_since_end, 0);
        for (uint32_t i = 0; i < slots; i++) {
            struct node_rank *r = &node->rank[i];

            r->total_ns += r->useful_ns - r->mark_ns;
            r->mark_ns = r->useful_ns;
        }
        return work;
    }
    for (uint64_t region = node->ends; region < to; region++) {
        size_t n = 0;
        double longest = 0;

        for (uint32_t i = 0; i < slots; i++) {
            double useful = (double)atomic_load_explicit(
                &page->rank[i].ring[region % METER_RING].useful_ns,
                memory_order_relaxed);

            if (!node_ranks_has(node, i))
                continue;
            node->value[n++] = useful;
            node->rank[i].mark_ns += useful;
            node->rank[i].total_ns += useful;
            longest = fmax(longest, useful);
        }
        work += node->how == AGGREGATE_MIN
                    ? longest
                    : aggregate_of(node->how, node->value, n);
    }
    return work;
}

/* When the last region ended: a rank that has not waited since has been useful
 * for so long.  It was after the last sample in any case. */
static int64_t end_of(struct node_rank *r, int64_t before, int64_t now)
{
    double since = r->time.is_waiting ? (double)r->time.since_ns : (double)now;
    double end = since - (r->useful_ns - r->mark_ns);

    end = fmin(fmax(end, (double)before), (double)now);
    r->mark_ns = fmin(r->mark_ns, r->useful_ns);
    r->mark_ns = fmax(r->mark_ns, r->useful_ns - (double)(now - before));
    return (int64_t)end;
}

static int64_t last_end(struct node_ranks *node, uint32_t slots, int64_t now)
{
    int64_t last = node->seen_ns;

    for (uint32_t i = 0; i < slots; i++)
        if (node_ranks_has(node, i)) {
            int64_t end = end_of(&node->rank[i], node->seen_ns, now);

            last = end > last ? end : last;
        }
    return last;
}

/* At the end of a long region; of a short one nobody will ask. */
static void close_cpu(struct node_ranks *node, uint32_t slots, int was_long)
{
    node->is_cpu_counted = 0;
    for (uint32_t i = 0; i < slots; i++) {
        struct node_rank *r = &node->rank[i];

        if (was_long)
            r->long_cpu_ns = r->region_cpu_ns;
        r->region_cpu_ns = 0;
    }
}

static void close_regions(struct node_ranks *node,
                          const struct meter_page *page,
                          uint32_t slots,
                          uint64_t to,
                          uint64_t most,
                          int64_t now)
{
    double work = add_work(node, page, slots, to, most), took;
    int64_t end = last_end(node, slots, now);
    int was_long;

    took = (double)(end - node->end_ns);
    was_long = took >= REGION_LONG_NS;
    if (was_long)
        look_at_cpu(node, slots, now);
    close_cpu(node, slots, was_long && node->is_begun);
    if (node->is_begun) {
        node->work_ns += work;
        node->done_ns += was_long && node->long_ns > 0 ? node->long_ns : took;
        if (was_long)
            node->long_ns = took;
    } else {
        node->is_begun = 1;
        node->first = to;
        node->done_ns = 1;
        for (uint32_t i = 0; i < slots; i++)
            node->rank[i].total_ns = 0;
    }
    node->ends = to;
    node->end_ns = node->alive_ns = end;
    node->part = node->part_ns = 0;
    node->is_part_known = node->is_waiting = 0;
}

/* --- within a long region ------------------------------------------------- */

/* What is not done yet, as the slowest has most of it. */
static double part_left(const struct node_rank *r, uint64_t none)
{
    (void)none;
    return 1 - fmin(r->region_cpu_ns / r->long_cpu_ns, PART_MOST);
}

static int all_had_long(const struct node_ranks *node, uint32_t slots)
{
    for (uint32_t i = 0; i < slots; i++)
        if (node_ranks_has(node, i) && !(node->rank[i].long_cpu_ns > 0))
            return 0;
    return node->long_ns > 0;
}

static int all_wait(const struct node_ranks *node, uint32_t slots, int64_t now)
{
    for (uint32_t i = 0; i < slots; i++) {
        const struct meter_time *t = &node->rank[i].time;

        if (node_ranks_has(node, i)
            && (!t->is_waiting
                || (double)now - (double)t->since_ns < WAITING_NS))
            return 0;
    }
    return 1;
}

/* Of each region that is not very short, from the same time on. */
static void begin_cpu(struct node_ranks *node, uint32_t slots, int64_t now)
{
    look_at_cpu(node, slots, now);
    for (uint32_t i = 0; i < slots; i++)
        node->rank[i].region_cpu_ns = 0;
    node->is_cpu_counted = 1;
}

static enum meter_change look_within(struct node_ranks *node,
                                     uint32_t slots,
                                     int64_t now)
{
    double lasts = (double)(now - node->end_ns);
    int was_waiting = node->is_waiting, is_time = is_time_for_cpu(node, now);

    if (!node->is_cpu_counted && lasts >= REGION_CPU_NS)
        begin_cpu(node, slots, now);
    else if (is_time)
        look_at_cpu(node, slots, now);
    if (lasts < REGION_LONG_NS)
        return METER_STILL;
    node->is_waiting = all_wait(node, slots, now);
    if (node->is_begun && is_time && all_had_long(node, slots)) {
        node->is_part_known = 1;
        node->part = 1 - slowest(node, slots, part_left, 0);
        node->part_ns = slowest(node, slots, useful_since_end, 0);
        return METER_MOVED;
    }
    if (node->is_waiting != was_waiting)
        return METER_MOVED;
    if (lasts > ALIVE_MOST_NS || now - node->alive_ns < ALIVE_NS)
        return METER_STILL;
    node->alive_ns = now;
    return METER_MOVED;
}

enum meter_change node_ranks_update(struct node_ranks *node,
                                    const struct meter_page *page,
                                    int64_t now)
{
    uint32_t slots = meter_page_slots(page);
    enum meter_change change = METER_STILL;
    uint64_t least, most;

    if (read_all(node, page, slots, now)) {
        start_over(node, slots, now);
        look_at_cpu(node, slots, now);
        node->seen_ns = now;
        return METER_ANOTHER;
    }
    least = regions_ended(node, slots, &most);
    if (node->n > 0 && least > node->ends) {
        close_regions(node, page, slots, least, most, now);
        change = METER_MOVED;
    } else if (node->n > 0) {
        change = look_within(node, slots, now);
    }
    node->seen_ns = now;
    return change;
}

/* --- as one --------------------------------------------------------------- */

double node_ranks_progress(const struct node_ranks *node)
{
    return node->is_begun ? (double)(node->ends - node->first) + node->part : 0;
}

double node_ranks_work_ns(const struct node_ranks *node)
{
    return node->work_ns + node->part_ns;
}

double node_ranks_done_ns(const struct node_ranks *node)
{
    return node->done_ns + node->part * node->long_ns;
}

double node_ranks_left_ns(const struct node_ranks *node)
{
    return node->is_part_known ? (1 - node->part) * node->long_ns : 0;
}

double node_ranks_skew(struct node_ranks *node)
{
    double least = INFINITY;
    size_t n = 0;

    for (uint32_t i = 0; i < METER_SLOTS && n < node->n; i++)
        if (node_ranks_has(node, i)) {
            node->value[n] = node->rank[i].total_ns;
            if (!(node->value[n] > 0))
                return 0;
            least = fmin(least, node->value[n++]);
        }
    for (size_t i = 0; i < n; i++)
        node->value[i] = least / node->value[i];
    return aggregate_of(AGGREGATE_SKEW, node->value, n);
}
