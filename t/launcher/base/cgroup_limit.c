/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/cgroup_limit.h"
#include "tree.h"

static struct cgroup_limit limit;

static void look(void)
{
    cgroup_limit_read(&limit, tree_root, tree_root);
}

static int unlimited(void)
{
    return limit.cpus == 0 && limit.memory_bytes == UINT64_MAX
           && limit.free_bytes == UINT64_MAX;
}

static void test_none(void)
{
    tree_make();
    look();
    ok(unlimited(), "without /proc there is no limit");
    tree_put("self/cgroup", "rubbish\n0::/gone\n");
    look();
    ok(unlimited(), "a group that is not there does not limit");
    tree_put("self/cgroup", "0::/a\n");
    tree_put("fs/cgroup/a/cpu.max", "max 100000\n");
    tree_put("fs/cgroup/a/memory.max", "max\n");
    look();
    ok(unlimited(), "\"max\" does not limit");
    tree_put("fs/cgroup/a/cpu.max", "nan nan\n");
    tree_put("fs/cgroup/a/memory.max", "-7\n");
    look();
    ok(unlimited(), "nor does what is no number");
    tree_put("fs/cgroup/a/cpu.max", "inf 100000\n");
    look();
    ok(unlimited(), "nor what is no whole one");
    tree_put("fs/cgroup/a/cpu.max", "-1 100000\n");
    look();
    ok(unlimited(), "nor a negative one");
    tree_remove();
}

static void test_v2(void)
{
    tree_make();
    tree_put("self/cgroup", "0::/job/step/task\n");
    tree_put("fs/cgroup/job/cpu.max", "400000 100000\n");
    tree_put("fs/cgroup/job/step/cpu.max", "80000 100000\n");
    tree_put("fs/cgroup/job/step/task/cpu.max", "max 100000\n");
    tree_put("fs/cgroup/job/memory.max", "1000\n");
    tree_put("fs/cgroup/job/memory.current", "700\n");
    tree_put("fs/cgroup/job/memory.stat", "anon 5\ninactive_file 300\n");
    tree_put("fs/cgroup/job/step/memory.max", "900\n");
    look();
    is_near(limit.cpus, 0.8, 1e-12, "the narrowest of the groups above counts");
    is_int((long)limit.memory_bytes, 900, "also for memory");
    is_int((long)limit.free_bytes, 600,
           "what is left is the limit less what cannot be given up");
    tree_put("fs/cgroup/job/memory.current", "5000\n");
    look();
    is_int((long)limit.free_bytes, 0, "nothing is left of a limit overrun");
    tree_remove();
}

static void test_v1(void)
{
    tree_make();
    tree_put("self/cgroup",
             "4:memory:/m\n2:cpu,cpuacct:/c/d\n1:name=systemd:/\n"
             "0::/\n");
    tree_put("fs/cgroup/cpu/c/cpu.cfs_quota_us", "2000\n");
    tree_put("fs/cgroup/cpu/c/cpu.cfs_period_us", "10000\n");
    tree_put("fs/cgroup/cpu/c/d/cpu.cfs_quota_us", "-1\n");
    tree_put("fs/cgroup/cpu/c/d/cpu.cfs_period_us", "100000\n");
    tree_put("fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    look();
    is_near(limit.cpus, 0.2, 1e-12, "a quota of version 1 counts, -1 does not");
    ok(limit.memory_bytes == UINT64_MAX, "the largest number is no limit");
    tree_put("fs/cgroup/memory/m/memory.limit_in_bytes", "4000\n");
    tree_put("fs/cgroup/memory/m/memory.usage_in_bytes", "1500\n");
    tree_put("fs/cgroup/memory/m/memory.stat", "total_inactive_file 500\n");
    look();
    is_int((long)limit.memory_bytes, 4000, "a memory limit of version 1");
    is_int((long)limit.free_bytes, 3000, "and what is left of it");
    tree_remove();
}

static void test_both(void)
{
    tree_make();
    tree_put("self/cgroup", "1:memory:/\n0::/x\n");
    tree_put("fs/cgroup/unified/x/cpu.max", "150000 100000\n");
    look();
    is_near(limit.cpus, 1.5, 1e-12, "version 2 beside version 1 is found");
    tree_remove();
}

int main(void)
{
    test_none();
    test_v2();
    test_v1();
    test_both();
    return done();
}
