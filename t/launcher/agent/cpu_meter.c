/* SPDX-License-Identifier: BSD-2-Clause */
/* What the agent writes for a task that is there. */
#include "launcher/agent/cpu_meter.h"
#include "pmix_bcast/clock.h"
#include "tap.h"

#include <event2/event.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#define JOB    "3900000001"
#define WAIT_S 60

static struct meter_page *page;

/* A task of the step: one that works, or one that sleeps. */
static pid_t begin(const char *rank, const char *script)
{
    char procid[32];
    char *const argv[] = {"sh", "-c", (char *)script, NULL};
    char *const env[] = {"SLURM_JOB_ID=" JOB, "SLURM_STEP_ID=3",
                         "SLURM_STEP_NUM_TASKS=2", procid, NULL};
    pid_t pid;

    snprintf(procid, sizeof procid, "SLURM_PROCID=%s", rank);
    pid = fork();
    if (pid == 0) {
        (void)execve("/bin/sh", argv, env);
        _exit(127);
    }
    if (pid < 0)
        bail("no child");
    return pid;
}

static struct meter_time time_of(uint32_t rank)
{
    struct meter_time t = {.size = 0};

    for (uint32_t i = 0; i < meter_page_slots(page); i++)
        if (meter_rank_read(&page->rank[i], &t) == 1 && t.rank == rank)
            return t;
    return (struct meter_time){.size = 0};
}

/* Of two ranks, of which one has worked for a while. */
static int is_told(void)
{
    struct meter_time busy = time_of(0), idle = time_of(1);

    return busy.size == 2 && idle.size == 2 && busy.useful_ns > 300000000
           && idle.waiting_ns > 300000000;
}

int main(void)
{
    struct event_base *base = event_base_new();
    int64_t limit = clock_ns() + WAIT_S * INT64_C(1000000000);
    uint64_t useful = 0, waiting = 0;
    pid_t busy = begin("0", "while :; do :; done"),
          idle = begin("1", "exec sleep 99");
    struct cpu_meter *m;
    int fd = -1, fell = 0;

    page = meter_page_create(&fd);
    if (!base || !page)
        bail("no page");
    ok(!cpu_meter_start(base, page, "no step"), "a name that is no step's");
    m = cpu_meter_start(base, page, JOB ".3");
    ok(m != NULL, "the tasks of a step are metered");
    while (m && !is_told() && clock_ns() < limit) {
        struct meter_time t = time_of(0);

        fell |= t.useful_ns < useful || t.waiting_ns < waiting;
        useful = t.useful_ns;
        waiting = t.waiting_ns;
        if (event_base_loop(base, EVLOOP_ONCE) < 0)
            break;
    }
    ok(is_told(), "one works, one waits");
    ok(!fell, "no time ever falls");
    ok(time_of(1).useful_ns < time_of(0).useful_ns, "who works is known");
    ok(time_of(0).calls == 0 && time_of(0).regions == 0
           && atomic_load(&page->slot[0].owner) == 0,
       "nothing is there that could be steered by");
    cpu_meter_stop(m);
    cpu_meter_stop(NULL);
    (void)kill(busy, SIGKILL);
    (void)kill(idle, SIGKILL);
    (void)waitpid(busy, NULL, 0);
    (void)waitpid(idle, NULL, 0);
    close(fd);
    meter_page_destroy(page);
    event_base_free(base);
    return done();
}
