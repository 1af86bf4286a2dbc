/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A child writes its result to a page shared with us, and then that it has; what
 * it has said earlier counts if it ends before.  It also holds the only writing
 * end of a pipe: poll() tells when that is closed, and so the child has ended, in
 * whatever way.  Its status may come much later: a driver may need a second to
 * take a GPU's memory from a process.
 */
#include "launcher/probe/probe.h"
#include "launcher/probe/probe_bus.h"
#include "launcher/probe/probe_cpu.h"
#include "launcher/probe/probe_crew.h"
#include "launcher/probe/probe_gpu.h"
#include "launcher/probe/probe_link.h"
#include "launcher/probe/probe_memory.h"
#include "launcher/probe/probe_site.h"
#include "launcher/probe/probe_storage.h"
#include "launcher/probe/topology.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The part of the budget that probes plan with.  The rest is for probes that
 * end late, such as one that a CPU limit has stopped for a while. */
#define PLANNED 0.80

/* Nanoseconds within which poll() wakes a process that is allowed to run. */
#define STANDSTILL_NS 5000000

/* Elements of one round run together.  Parts of the planned time: C must see
 * two periods of 100 ms; M fills its memory first; G starts a driver. */
static const struct kind {
    probe_measure_fn measure;
    int round;
    double part;
} kinds[ELEMENT_SITE] = {
    [ELEMENT_C] = {probe_cpu_measure, 0, 0.30},
    [ELEMENT_M] = {probe_memory_measure, 1, 0.20},
    [ELEMENT_I] = {probe_link_measure, 2, 0.35},
    [ELEMENT_B] = {probe_bus_measure, 3, 0.15},
    [ELEMENT_S] = {probe_storage_measure, 2, 0.35},
    [ELEMENT_G] = {probe_gpu_measure, 2, 0.35},
};

#define ROUNDS 4

/* The site's own come after them, all at once, as they mostly wait.  Each ends
 * its command in time; one that hangs gets this much more. */
#define SITE_SLACK_NS 300000000

/* A large machine's takes a while. */
#define NEED_TOPOLOGY (PROBE_BIT(ELEMENT_M) | PROBE_BIT(ELEMENT_B))

void probe_setup_init(struct probe_setup *setup)
{
    const char *scratch = getenv("TMPDIR");

    *setup = (struct probe_setup){
        .budget_ms = PROBE_NODE_BUDGET_MS,
        .elements = PROBE_CORE,
        .sysfs = "/sys",
        .proc = "/proc",
        .scratch = scratch && *scratch ? scratch : "/tmp",
    };
}

/* --- children ------------------------------------------------------------- */

/* The page of a child. */
struct shared {
    struct probe_result result;
    atomic_int whole; /* result is there */
    struct probe_early early;
};

struct child {
    pid_t pid; /* 0: none */
    int fd;    /* of the pipe */
    enum element element;
    int64_t begin_ns;
};

/* Never returns.  It ends by _exit(), as the parent's stdio may hold output. */
static void child_main(const struct probe_setup *setup,
                       enum element e,
                       int budget_ms,
                       struct shared *shared)
{
    struct probe_setup own = *setup;
    struct probe_result r = {0};

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* fails for a bad signal only */
    own.early = &shared->early;
    if (e < ELEMENT_SITE)
        kinds[e].measure(&own, budget_ms, &r);
    else
        probe_site_measure(&setup->site[e - ELEMENT_SITE], &r);
    shared->result = r;
    atomic_store(&shared->whole, 1);
    _exit(0);
}

static void child_start(struct child *c,
                        const struct probe_setup *setup,
                        enum element e,
                        int budget_ms,
                        struct shared *shared,
                        struct probe_result *r)
{
    int ends[2];

    *c = (struct child){.element = e, .begin_ns = probe_now_ns()};
    if (pipe2(ends, O_CLOEXEC) < 0) {
        probe_not_measured(r, "no pipe: %s", strerror(errno));
        return;
    }
    c->pid = fork();
    if (c->pid == 0)
        child_main(setup, e, budget_ms, shared);
    if (c->pid < 0) {
        probe_not_measured(r, "no process: %s", strerror(errno));
        close(ends[0]);
        c->pid = 0;
    }
    c->fd = ends[0];
    close(ends[1]);
}

/* Wait for a child whose pipe is closed, or that was killed.  A process that
 * hangs in the kernel does not die: it is left to init.  Returns its status, or
 * -1. */
static int child_reap(pid_t pid)
{
    const struct timespec pause_1ms = {0, 1000000};

    for (int i = 0; i < 20; i++) {
        int status;
        pid_t got = waitpid(pid, &status, WNOHANG);

        if (got == pid)
            return status;
        if (got < 0 && errno != EINTR)
            return -1;
        (void)nanosleep(&pause_1ms, NULL);
    }
    return -1;
}

/* What a child has said before it was ended: what it has measured, or how much
 * there is of what it has not.  1 if it is a result. */
static int take_early(struct shared *shared, struct probe_result *r)
{
    if (!atomic_load(&shared->early.known)
        || shared->early.result.state == PROBE_LEFT_OUT
        || !probe_result_holds(&shared->early.result))
        return 0;
    *r = shared->early.result;
    return r->state == PROBE_MEASURED;
}

static void child_end(struct child *c,
                      int in_time,
                      struct shared *shared,
                      struct probe_result *r)
{
    double seconds = (double)(probe_now_ns() - c->begin_ns) / 1e9;
    int status;

    if (!in_time)
        (void)kill(c->pid, SIGKILL); /* not reaped yet, so the pid is ours */
    status = child_reap(c->pid);
    close(c->fd);
    c->pid = 0;
    if (atomic_load(&shared->whole) && shared->result.state != PROBE_LEFT_OUT
        && probe_result_holds(&shared->result))
        *r = shared->result;
    else if (take_early(shared, r))
        ; /* it has said itself what it could not measure any more */
    else if (!in_time)
        probe_not_measured(r, "no result after %.2f s", seconds);
    else if (status >= 0 && WIFSIGNALED(status))
        probe_not_measured(r, "the probe was ended by signal %d (%s)",
                           WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        probe_not_measured(r, "the probe failed");
    r->seconds = seconds;
}

/* Take the results of those that have ended; if it is late, kill the others. */
static size_t end_children(struct child child[],
                           size_t n,
                           const struct pollfd waiting[],
                           int late,
                           struct shared shared[],
                           struct probe_result result[])
{
    size_t ended = 0;

    for (size_t i = 0; i < n; i++) {
        enum element e = child[i].element;

        if (!child[i].pid || (!waiting[i].revents && !late))
            continue;
        child_end(&child[i], waiting[i].revents != 0, &shared[e], &result[e]);
        ended++;
    }
    return ended;
}

/* Collect the results of n children as they come, until deadline_ns.  If we are
 * late ourselves, a CPU limit has stopped us and the children: once, they get
 * as much time again. */
static void collect(struct child child[],
                    size_t n,
                    int64_t deadline_ns,
                    struct shared shared[],
                    struct probe_result result[])
{
    struct pollfd waiting[ELEMENTS];
    size_t left = 0;
    int again = 1;

    for (size_t i = 0; i < n; i++)
        left += child[i].pid != 0;
    while (left > 0) {
        int64_t overdue = probe_now_ns() - deadline_ns;

        if (again && overdue > STANDSTILL_NS) {
            deadline_ns += 2 * overdue;
            overdue = -overdue;
            again = 0;
        }
        for (size_t i = 0; i < n; i++)
            waiting[i] =
                (struct pollfd){child[i].pid ? child[i].fd : -1, POLLIN, 0};
        if (poll(waiting, (nfds_t)n,
                 overdue < 0 ? (int)(-overdue / 1000000) + 1 : 0)
            < 0)
            continue; /* a signal, or no memory: try until it is late */
        left -= end_children(child, n, waiting, overdue >= 0, shared, result);
    }
}

/* --- the runner ----------------------------------------------------------- */

/* The part of the planned time that a round gets, 0 if it has no element. */
static double part_of(int round, unsigned elements)
{
    double part = 0;

    for (int e = 0; e < ELEMENT_SITE; e++)
        if (kinds[e].round == round && (elements & PROBE_BIT(e)))
            part = kinds[e].part;
    return part;
}

static void run_round(const struct probe_setup *setup,
                      int round,
                      int budget_ms,
                      int64_t deadline_ns,
                      struct shared shared[ELEMENTS],
                      struct probe_result result[ELEMENTS])
{
    struct child child[ELEMENT_SITE];
    size_t n = 0;

    for (int e = 0; e < ELEMENT_SITE; e++)
        if (kinds[e].round == round && (setup->elements & PROBE_BIT(e)))
            child_start(&child[n++], setup, (enum element)e, budget_ms,
                        &shared[e], &result[e]);
    collect(child, n, deadline_ns, shared, result);
}

/* A round plans with its part of the time, however few the elements, or, when
 * the rounds before took longer than planned, with its part of what is left.
 * When they took less, it may end that much later. */
static void run_rounds(const struct probe_setup *setup,
                       int64_t end_ns,
                       struct shared shared[ELEMENTS],
                       struct probe_result result[ELEMENTS])
{
    double budget = setup->budget_ms * 1e6, slack = (1 - PLANNED) * budget;
    double ahead = 0;

    for (int round = 0; round < ROUNDS; round++)
        ahead += part_of(round, setup->elements);
    for (int round = 0; round < ROUNDS; round++) {
        double part = part_of(round, setup->elements);
        int64_t now = probe_now_ns(), deadline_ns;
        double planned = PLANNED * budget * part;
        double left = ((double)(end_ns - now) - slack) * part / ahead;

        if (!(part > 0))
            continue;
        left = left > 0 ? left : 0;
        planned = left < planned ? left : planned;
        deadline_ns = now + (int64_t)(left + slack);
        run_round(setup, round, (int)(planned / 1e6),
                  deadline_ns < end_ns ? deadline_ns : end_ns, shared, result);
        ahead -= part;
    }
}

static void run_site(const struct probe_setup *setup,
                     struct shared shared[ELEMENTS],
                     struct probe_result result[ELEMENTS])
{
    struct child child[SITE_ELEMENTS];
    int budget_ms = 0;
    size_t n = 0;

    for (int i = 0; i < SITE_ELEMENTS; i++) {
        enum element e = (enum element)(ELEMENT_SITE + i);
        const struct probe_site *site = &setup->site[i];

        if (!(setup->elements & PROBE_BIT(e)))
            continue;
        probe_site_label(site, &result[e]);
        child_start(&child[n++], setup, e, 0, &shared[e], &result[e]);
        budget_ms = site->budget_ms > budget_ms ? site->budget_ms : budget_ms;
    }
    collect(child, n,
            probe_now_ns() + (int64_t)budget_ms * 1000000 + SITE_SLACK_NS,
            shared, result);
}

int probe_node(const struct probe_setup *setup,
               struct probe_result result[ELEMENTS],
               struct es_error *err)
{
    size_t size = ELEMENTS * sizeof(struct shared);
    int64_t end_ns = probe_now_ns() + (int64_t)setup->budget_ms * 1000000;
    struct probe_setup full = *setup;
    struct shared *shared;
    struct topology *own = NULL;

    if (setup->budget_ms < PROBE_NODE_BUDGET_MIN_MS
        || setup->budget_ms > PROBE_NODE_BUDGET_MAX_MS)
        return es_fail(err, ES_USAGE, "give 200 to 10000",
                       "probe: a budget of %d ms is out of range",
                       setup->budget_ms);
    shared = mmap(NULL, size, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return es_fail(err, ES_ENV, "free some memory",
                       "probe: no memory to share: %s", strerror(errno));
    if (!setup->topology && (setup->elements & NEED_TOPOLOGY))
        full.topology = own = topology_load(NULL); /* they say if not */
    memset(result, 0, ELEMENTS * sizeof *result);
    run_rounds(&full, end_ns, shared, result);
    if ((setup->elements & PROBE_BIT(ELEMENT_M))
        && result[ELEMENT_M].capacity_bytes == 0) /* its child was ended */
        result[ELEMENT_M].capacity_bytes = probe_memory_capacity(setup);
    if (setup->elements & ~PROBE_CORE)
        run_site(setup, shared, result);
    topology_destroy(own);
    (void)munmap(shared, size); /* our own mapping */
    return 0;
}
