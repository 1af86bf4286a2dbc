/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/cpu_meter.h"
#include "launcher/meter/task_cpu.h"
#include "pmix_bcast/clock.h"

#include <event2/event.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LOOK_MS 250 /* between two looks; Linux counts CPU time in 10 ms */

_Static_assert(TASK_CPU_TASKS <= METER_SLOTS, "each task has an entry");

struct cpu_meter {
    struct meter_page *page;
    struct task_cpus *tasks;
    struct event *timer;
};

static uint64_t boot_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_BOOTTIME, &t); /* cannot fail for this clock */
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The writer's side of the sequence lock of meter_page.h: what is released is
 * seen after the odd number. */
static void write_entry(struct meter_rank *entry,
                        const struct task_cpu *task,
                        uint64_t useful_ns,
                        uint64_t waiting_ns)
{
    uint32_t sequence =
        atomic_load_explicit(&entry->sequence, memory_order_relaxed);

    atomic_store_explicit(&entry->sequence, sequence | 1, memory_order_relaxed);
    atomic_store_explicit(&entry->size, task->size, memory_order_release);
    atomic_store_explicit(&entry->rank, task->rank, memory_order_release);
    atomic_store_explicit(&entry->since_ns, (uint64_t)clock_ns(),
                          memory_order_release);
    atomic_store_explicit(&entry->useful_ns, useful_ns, memory_order_release);
    atomic_store_explicit(&entry->waiting_ns, waiting_ns, memory_order_release);
    atomic_store_explicit(&entry->sequence, (sequence | 1) + 1,
                          memory_order_release);
}

/* CPU times come in ticks: what is ahead of the clock is useful later, so that
 * neither of the two ever falls. */
static void tell(struct meter_rank *entry,
                 const struct task_cpu *task,
                 uint64_t now)
{
    uint64_t useful =
        atomic_load_explicit(&entry->useful_ns, memory_order_relaxed);
    uint64_t waiting =
        atomic_load_explicit(&entry->waiting_ns, memory_order_relaxed);
    uint64_t elapsed = now > task->begun_ns ? now - task->begun_ns : 0;
    uint64_t cpu = task->cpu_ns / task->cpus, more;

    if (elapsed <= useful + waiting)
        return;
    more = elapsed - useful - waiting;
    if (cpu < useful + more) {
        waiting += cpu > useful ? useful + more - cpu : more;
        useful = cpu > useful ? cpu : useful;
    } else {
        useful += more;
    }
    write_entry(entry, task, useful, waiting);
}

static void look(struct cpu_meter *m)
{
    uint64_t now = boot_ns();
    uint32_t n, high;

    task_cpus_look(m->tasks);
    n = (uint32_t)task_cpus_count(m->tasks);
    for (uint32_t i = 0; i < n; i++)
        if (task_cpus_at(m->tasks, i)->is_alive)
            tell(&m->page->rank[i], task_cpus_at(m->tasks, i), now);
    high = atomic_load(&m->page->high);
    while (high < n && !atomic_compare_exchange_weak(&m->page->high, &high, n))
        ;
}

static void on_time(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    look(arg);
}

struct cpu_meter *cpu_meter_start(struct event_base *base,
                                  struct meter_page *page,
                                  const char *step)
{
    struct timeval tv = {LOOK_MS / 1000, LOOK_MS % 1000 * 1000};
    struct cpu_meter *m;
    uint32_t job, id;

    if (sscanf(step, "%" SCNu32 ".%" SCNu32, &job, &id) != 2)
        return NULL;
    m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->page = page;
    m->tasks = task_cpus_open("/proc", getenv("SLURMD_NODENAME"), job, id);
    m->timer = event_new(base, -1, EV_PERSIST, on_time, m);
    if (m->tasks && m->timer && event_add(m->timer, &tv) == 0)
        return m;
    cpu_meter_stop(m);
    return NULL;
}

void cpu_meter_stop(struct cpu_meter *m)
{
    if (!m)
        return;
    if (m->timer)
        event_free(m->timer);
    task_cpus_close(m->tasks);
    free(m);
}
