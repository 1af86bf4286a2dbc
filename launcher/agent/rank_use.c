/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/rank_use.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define WHOLE_EVERY 4  /* looks */
#define PLACE_EVERY 16 /* it may be given another cgroup */

struct node_use {
    struct group_events *groups; /* NULL: nothing is known of them */
    int exits;
    cpu_set_t cpus; /* of the ranks */
    uint64_t busy_first;
    double busy_ns, others_ns, own_ns;
    int has_busy;
};

/* --- ranks ---------------------------------------------------------------- */

static void keep(struct rank_use *r)
{
    r->ended.cpu += (double)r->process.cpu_ns;
    r->ended.delay += (double)r->process.delay_ns;
    r->ended.io_wait += (double)r->process.io_wait_ns;
    r->ended.switches += r->process.switches;
    if (r->process.rss > r->ended.rss)
        r->ended.rss = r->process.rss;
    process_use_close(&r->process);
    r->process = (struct process_use){.pid = 0};
    r->thread_cpu = 0;
}

/* Its groups are looked for now and then: steering makes new ones. */
static void find_place(struct node_use *n, struct rank_use *r)
{
    if (!n->groups)
        return;
    r->throttled +=
        (double)(group_events_throttled(n->groups, &r->place) - r->place_ns);
    group_events_place(n->groups, r->pid, &r->place);
    r->place_ns = group_events_throttled(n->groups, &r->place);
}

static void begin(struct node_use *n, struct rank_use *r, pid_t pid, pid_t tid)
{
    keep(r);
    r->has_died = 0;
    r->pid = pid;
    r->looks = 0;
    if (process_use_open(&r->process, "/proc", pid, tid) < 0)
        return;
    process_use_cpus(&r->process, &n->cpus);
    find_place(n, r);
    if (n->groups)
        r->killed = group_events_killed(n->groups, &r->place);
}

void rank_use_look(struct node_use *n,
                   struct rank_use *r,
                   pid_t pid,
                   pid_t thread,
                   int64_t now,
                   int whole)
{
    if (pid > 0 && pid != r->pid)
        begin(n, r, pid, thread);
    if (r->process.pid == 0)
        return; /* it cannot be seen, or has ended */
    r->looks++;
    r->thread_cpu = r->process.thread_cpu_ns;
    if ((whole || r->looks % WHOLE_EVERY == 1
             ? process_use_look_whole(&r->process)
             : process_use_look(&r->process))
        < 0) {
        r->has_died = 1;
        process_use_close(&r->process);
        return;
    }
    r->seen_ns = now;
    if (r->looks % PLACE_EVERY == 0)
        find_place(n, r);
}

int rank_use_has_died(const struct rank_use *r)
{
    return r->has_died;
}

double rank_use_step_ns(const struct rank_use *r)
{
    return r->process.pid > 0 && r->process.thread_fd >= 0
               ? (double)(r->process.thread_cpu_ns - r->thread_cpu)
               : -1;
}

/* What the plugin has told of it last; 0, or -1: nothing. */
static int find_exit(const struct node_use *n,
                     uint32_t rank,
                     struct rank_exit *found)
{
    struct rank_exit exits[RANK_EXITS_MAX];
    ssize_t len = n->exits < 0 ? 0 : pread(n->exits, exits, sizeof exits, 0);
    int rc = -1;

    for (size_t i = 0; len > 0 && i < (size_t)len / sizeof *exits; i++)
        if (exits[i].rank == rank) {
            *found = exits[i];
            rc = 0;
        }
    return rc;
}

int64_t rank_use_ended_ns(const struct node_use *n,
                          const struct rank_use *r,
                          uint32_t rank,
                          int64_t now)
{
    struct rank_exit exit;

    return find_exit(n, rank, &exit) == 0 && exit.ns > r->seen_ns
                   && exit.ns <= now
               ? exit.ns
               : r->seen_ns;
}

static int32_t fate(const struct node_use *n,
                    const struct rank_use *r,
                    uint32_t rank)
{
    struct rank_exit exit;
    int32_t status =
        find_exit(n, rank, &exit) == 0 ? (int32_t)(exit.status & 0xffff) : -1;
    int is_kill =
        status < 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

    if (is_kill && n->groups
        && group_events_killed(n->groups, &r->place) > r->killed)
        return SIGKILL | RANK_NO_MEMORY;
    return status;
}

void rank_use_fill(const struct node_use *n,
                   const struct rank_use *r,
                   struct msg_rank *m)
{
    const struct process_use *p = &r->process;

    m->cpu = r->ended.cpu + (double)p->cpu_ns;
    m->delay = r->ended.delay + (double)p->delay_ns;
    m->io_wait = r->ended.io_wait + (double)p->io_wait_ns;
    m->switches = r->ended.switches + p->switches;
    m->rss = r->ended.rss > p->rss ? r->ended.rss : p->rss;
    m->throttled = r->throttled;
    if (n->groups)
        m->throttled += (double)(group_events_throttled(n->groups, &r->place)
                                 - r->place_ns);
    m->status = -1;
    if (m->state == RANK_DIED)
        m->status = fate(n, r, m->rank);
}

void rank_use_clear(struct rank_use *r)
{
    process_use_close(&r->process);
}

/* --- the node ------------------------------------------------------------- */

/* Ticks that the ranks' CPUs were busy: "cpuN USER NICE SYSTEM IDLE IOWAIT IRQ
 * SOFTIRQ ..." of proc(5), whose lines come first. */
static int read_busy(const struct node_use *n, uint64_t *busy)
{
    FILE *f = fopen("/proc/stat", "re");
    uint64_t t[7];
    char line[256];
    unsigned cpu;

    *busy = 0;
    while (f && fgets(line, sizeof line, f) && strncmp(line, "cpu", 3) == 0)
        if (sscanf(line,
                   "cpu%u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                   " %" SCNu64 " %" SCNu64 " %" SCNu64,
                   &cpu, &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6])
                == 8
            && cpu < CPU_SETSIZE && CPU_ISSET(cpu, &n->cpus))
            *busy += t[0] + t[1] + t[2] + t[5] + t[6];
    if (f)
        (void)fclose(f); /* only read */
    return f ? 0 : -1;
}

static double agent_ns(void)
{
    struct rusage u;

    return getrusage(RUSAGE_SELF, &u) < 0
               ? 0
               : 1e9 * (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec)
                     + 1e3 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Its own time is no other's. */
static void look_at_others(struct node_use *n, double own_ns)
{
    uint64_t busy;
    long hz = sysconf(_SC_CLK_TCK);

    if (hz <= 0 || read_busy(n, &busy) < 0)
        return;
    own_ns += agent_ns();
    if (!n->has_busy) {
        n->has_busy = 1;
        n->busy_first = busy;
        n->own_ns = own_ns;
        return;
    }
    if (busy < n->busy_first)
        return;
    n->busy_ns = (double)(busy - n->busy_first) * (1e9 / (double)hz);
    n->others_ns = fmax(n->others_ns, n->busy_ns - (own_ns - n->own_ns));
}

void node_use_look(struct node_use *n, double own_ns, int whole)
{
    if (n->groups)
        group_events_look(n->groups);
    if (whole && CPU_COUNT(&n->cpus) > 0)
        look_at_others(n, own_ns);
}

void node_use_fill(const struct node_use *n, struct msg_ranks *m)
{
    m->others_cpu = n->others_ns;
    m->own_cpu = 0;
    for (uint32_t i = 0; i < m->n; i++)
        m->own_cpu += m->rank[i].cpu;
    m->node_throttled =
        n->groups ? (double)group_events_throttled(n->groups, NULL) : 0;
    m->cpus = CPU_COUNT(&n->cpus);
}

struct node_use *node_use_create(int exits)
{
    struct node_use *n = calloc(1, sizeof *n);

    if (!n) {
        if (exits >= 0)
            (void)close(exits);
        return NULL;
    }
    n->exits = exits;
    n->groups = group_events_open("/proc", "/sys");
    return n;
}

void node_use_destroy(struct node_use *n)
{
    if (!n)
        return;
    if (n->exits >= 0)
        (void)close(n->exits);
    group_events_close(n->groups);
    free(n);
}
