/* SPDX-License-Identifier: BSD-2-Clause */
/* What cgroups have met, in a /proc and a /sys that we have made. */
#include "launcher/meter/group_events.h"
#include "tap.h"
#include "tree.h"

static char proc[600], sys[600];

static void test_v2(void)
{
    struct group_events *e;
    struct group_place place;

    tree_put("proc/self/cgroup", "0::/job/agent\n");
    tree_put("proc/77/cgroup", "0::/job/step/task\n");
    tree_put("sys/fs/cgroup/job/cpu.stat",
             "nr_throttled 1\nthrottled_usec 100\n");
    tree_put("sys/fs/cgroup/job/memory.events", "oom 2\noom_kill 1\n");
    tree_put("sys/fs/cgroup/job/step/task/cpu.stat", "throttled_usec 50\n");
    e = group_events_open(proc, sys);
    if (!e)
        bail("no memory");
    group_events_place(e, 77, &place);
    ok(place.cpu_n == 1 && place.memory_n == 1,
       "a group of its own, and one of all that counts kills");
    is_int((int)group_events_killed(e, &place), 1, "one was killed");
    tree_put("sys/fs/cgroup/job/cpu.stat",
             "nr_throttled 1\nthrottled_usec 130\n");
    tree_put("sys/fs/cgroup/job/step/task/cpu.stat", "throttled_usec 57\n");
    tree_put("sys/fs/cgroup/job/memory.events", "oom 2\noom_kill 2\n");
    group_events_look(e);
    is_int((int)group_events_throttled(e, &place), 7000, "throttled by itself");
    is_int((int)group_events_throttled(e, NULL), 30000, "and with all others");
    is_int((int)group_events_killed(e, &place), 2, "another was killed");
    group_events_place(e, 78, &place);
    ok(place.cpu_n == 0 && group_events_throttled(e, &place) == 0,
       "of a process that is not there nothing is known");
    group_events_close(e);
    group_events_close(NULL);
}

static void test_v1(void)
{
    struct group_events *e;
    struct group_place place;

    tree_put("proc/self/cgroup", "2:cpu:/\n1:memory:/a\n");
    tree_put("proc/77/cgroup", "2:cpu:/b\n1:memory:/a\n");
    tree_put("sys/fs/cgroup/cpu/cpu.stat", "throttled_time 5\n");
    tree_put("sys/fs/cgroup/cpu/b/cpu.stat", "throttled_time 10\n");
    tree_put("sys/fs/cgroup/memory/a/memory.oom_control",
             "under_oom 0\noom_kill 3\n");
    e = group_events_open(proc, sys);
    if (!e)
        bail("no memory");
    group_events_place(e, 77, &place);
    tree_put("sys/fs/cgroup/cpu/cpu.stat", "throttled_time 6\n");
    tree_put("sys/fs/cgroup/cpu/b/cpu.stat", "throttled_time 12\n");
    group_events_look(e);
    ok(group_events_throttled(e, &place) == 2
           && group_events_throttled(e, NULL) == 1
           && group_events_killed(e, &place) == 3,
       "version 1 likewise, a root once");
    group_events_close(e);
}

int main(void)
{
    tree_make();
    snprintf(proc, sizeof proc, "%s", tree_path("proc"));
    snprintf(sys, sizeof sys, "%s", tree_path("sys"));
    test_v2();
    test_v1();
    tree_remove();
    return done();
}
