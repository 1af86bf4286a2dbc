/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process has had, in a /proc that we have made and in the real one. */
#include "launcher/meter/process_use.h"
#include "tap.h"
#include "tree.h"

#include <signal.h>
#include <sys/wait.h>

static void put(unsigned thread_ms, unsigned user, unsigned io, unsigned peak)
{
    char text[400];

    snprintf(text, sizeof text, "%u000000 7000000 12\n", thread_ms);
    tree_put("77/task/77/schedstat", text);
    tree_put("77/task/78/schedstat", "900000000 5000000 3\n");
    snprintf(text, sizeof text,
             "77 (a) b) R 1 77 7 0 -1 4194304 1 2 3 4 %u 0 9 9 20 0 2 0 5 6 7 "
             "8 9 10 11 12 13 14 15 16 17 18 19 20 17 3 0 0 %u 0 0\n",
             user, io);
    tree_put("77/stat", text);
    snprintf(text, sizeof text,
             "Name:\ta\nVmHWM:\t    %u kB\nThreads:\t2\n"
             "voluntary_ctxt_switches:\t9\nnonvoluntary_ctxt_switches:\t4\n",
             peak);
    tree_put("77/status", text);
}

static void test_made(void)
{
    struct process_use u;

    put(500, 50, 3, 100);
    is_int(process_use_open(&u, tree_root, 77, 77), 0, "a process is there");
    ok(u.thread_cpu_ns == 500000000 && u.cpu_ns == 500000000
           && u.delay_ns == 7000000 && u.rss == 100 << 10 && u.switches == 4
           && u.io_wait_ns == 30000000,
       "CPU time, waiting for that and for disks, and memory");
    put(600, 150, 3, 50);
    is_int(process_use_look(&u), 0, "it is still there");
    is_int((int)(u.thread_cpu_ns / 1000000), 600, "its thread went on");
    is_int(process_use_look_whole(&u), 0, "all of it");
    ok(u.cpu_ns == 1500000000 && u.rss == 100 << 10
           && u.others_cpu_ns == 900000000,
       "another thread works, too; the peak of memory stays");
    is_int(process_use_look(&u), 0, "and once more");
    is_int((int)(u.delay_ns / 1000000), 12, "that waits for CPUs as well");
    process_use_close(&u);
    ok(process_use_open(&u, tree_root, 78, 78) < 0 && process_use_look(&u) < 0,
       "one that is not there");
}

static void test_real(void)
{
    struct process_use u;
    pid_t pid = fork();
    cpu_set_t cpus;

    if (pid == 0)
        for (;;)
            pause();
    is_int(process_use_open(&u, "/proc", pid, pid), 0, "a child");
    CPU_ZERO(&cpus);
    process_use_cpus(&u, &cpus);
    ok(CPU_COUNT(&cpus) > 0, "has CPUs");
    is_int(process_use_look(&u), 0, "it lives");
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
    ok(process_use_look(&u) < 0 && process_use_look_whole(&u) < 0,
       "and has ended");
    ok(u.rss > 0, "what it had is still known");
    process_use_close(&u);
}

int main(void)
{
    tree_make();
    test_made();
    test_real();
    tree_remove();
    return done();
}
