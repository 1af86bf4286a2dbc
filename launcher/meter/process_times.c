/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/meter/process_times.h"

#include <stdlib.h>

#define ANCESTORS_MAX 32 /* that have ended between two looks */

int process_times_by_pid(const void *a, const void *b)
{
    const struct process_times *p = a, *q = b;

    return (p->pid > q->pid) - (p->pid < q->pid);
}

int process_times_by_start(const void *a, const void *b)
{
    const struct process_times *p = a, *q = b;

    if (p->start != q->start)
        return p->start > q->start ? 1 : -1;
    return process_times_by_pid(a, b);
}

/* Of any start. */
static size_t place_of(const struct process_times at[], size_t n, pid_t pid)
{
    const struct process_times key = {.pid = pid}, *found;

    found =
        n > 0 ? bsearch(&key, at, n, sizeof key, process_times_by_pid) : NULL;
    return found ? (size_t)(found - at) : SIZE_MAX;
}

const struct process_times *process_times_find(const struct process_times at[],
                                               size_t n,
                                               pid_t pid,
                                               uint64_t start)
{
    size_t i = place_of(at, n, pid);

    return i < n && at[i].start == start ? &at[i] : NULL;
}

/* Whoever waits for this one, or for one that has done so and ended, too.  A
 * number that was given to another process since is none of them. */
static struct process_times *heir(struct process_times now[],
                                  size_t n,
                                  const struct process_times before[],
                                  size_t m,
                                  const struct process_times *gone)
{
    for (int i = 0; i < ANCESTORS_MAX; i++) {
        size_t was = place_of(before, m, gone->parent);
        size_t is = place_of(now, n, gone->parent);

        if (is < n && now[is].start <= gone->start)
            return now[is].task == gone->task ? &now[is] : NULL;
        if (was >= m || before[was].start > gone->start)
            return NULL;
        gone = &before[was];
    }
    return NULL;
}

/* Its time is in its parent's, or will be at the next look. */
static void bequeath(struct process_times now[],
                     size_t n,
                     const struct process_times before[],
                     size_t m,
                     const struct process_times *gone)
{
    struct process_times *to = heir(now, n, before, m, gone);

    if (to)
        to->counted += gone->own + gone->waited + gone->counted;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* last->counted was expected at this look at the latest: what has not come will
 * not, as nobody has waited. */
static void add_up(struct process_times *p, const struct process_times *last)
{
    uint64_t waited = p->waited > last->waited ? p->waited - last->waited : 0;

    waited -= smaller(waited, last->counted);
    p->more = p->own > last->own ? p->own - last->own : 0;
    p->more += waited - smaller(waited, p->counted);
    p->counted -= smaller(waited, p->counted);
}

void process_times_count(struct process_times now[],
                         size_t n,
                         const struct process_times before[],
                         size_t m)
{
    static const struct process_times none;

    for (size_t i = 0; i < n; i++)
        now[i].counted = now[i].more = 0;
    for (size_t i = 0; i < m; i++)
        if (before[i].task != PROCESS_OTHER
            && !process_times_find(now, n, before[i].pid, before[i].start))
            bequeath(now, n, before, m, &before[i]);
    for (size_t i = 0; i < n; i++) {
        const struct process_times *last =
            process_times_find(before, m, now[i].pid, now[i].start);

        if (now[i].task != PROCESS_OTHER)
            add_up(&now[i], last && last->task != PROCESS_OTHER ? last : &none);
    }
}
