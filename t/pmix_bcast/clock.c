/* SPDX-License-Identifier: BSD-2-Clause */
/* The clock that stands still while the process does, over time of our own. */
#include "pmix_bcast/clock.h"
#include "tap.h"

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define S INT64_C(1000000000)

static int64_t time_ns = 1000 * S;

/* Instead of the C library's. */
int clock_gettime(clockid_t id, struct timespec *t)
{
    (void)id;
    t->tv_sec = (time_t)(time_ns / S);
    t->tv_nsec = time_ns % S;
    return 0;
}

static void test_plain(void)
{
    is_int(clock_ns(), 1000 * S, "without beats it is the plain time");
    time_ns += 100 * S + 5;
    is_int(clock_ns(), 1100 * S + 5, "and stays it, whatever comes");
    is_near(clock_s(), 1100.000000005, 1e-7, "also in seconds");
    is_int(clock_stopped_ns(), 0, "nothing was stopped");
}

static void test_beats(void)
{
    int64_t before;

    clock_beat();
    time_ns += 1 * S;
    clock_beat();
    time_ns += 3 * S; /* two late */
    is_int(clock_stopped_ns(), 0, "a beat that is late is that of a busy loop");
    clock_beat();
    before = clock_ns();
    time_ns += 3 * S + 1;
    is_int(clock_ns(), before + 1 * S,
           "one that is later was stopped: the time has one beat more");
    is_int(clock_stopped_ns(), 2 * S + 1, "and the rest was the stop");
    is_int(clock_ns(), before + 1 * S, "which counts once");
    time_ns += 1 * S;
    clock_beat();
    time_ns += 101 * S;
    is_int(clock_stopped_ns(), 102 * S + 1, "stops add up");
    is_int(clock_ns(), before + 3 * S, "and none of them passes");
    time_ns += 1 * S;
    clock_beat();
    is_int(clock_ns(), before + 4 * S, "between them the time goes on");
    time_ns += 50 * S;
    clock_beat();
    is_int(clock_stopped_ns(), 151 * S + 1,
           "the late beat itself notices, too");
}

static void test_child(void)
{
    int status = -1;
    pid_t pid;

    clock_beat();
    pid = fork();
    if (pid == 0) {
        int64_t stopped = clock_stopped_ns();

        time_ns += 10 * S;
        _exit(clock_stopped_ns() == stopped ? 0 : 1);
    }
    ok(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0,
       "a child has no beat, and is never late");
}

static void test_end(void)
{
    int64_t stopped = clock_stopped_ns();

    clock_end_beats();
    time_ns += 100 * S;
    is_int(clock_stopped_ns(), stopped,
           "without beats nothing is late any more");
}

int main(void)
{
    test_plain();
    test_beats();
    test_child();
    test_end();
    return done();
}
