/* SPDX-License-Identifier: BSD-2-Clause */
/* Actuators that are divided over the ranks, their threads or the packages of a
 * node, on trees of our own. */
#include "launcher/power/actuator.h"
#include "launcher/power/actuator_cgroup.h"
#include "launcher/power/actuator_cpufreq.h"
#include "launcher/power/actuator_rapl.h"
#include "tap.h"

#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static char root[] = "/tmp/divided.XXXXXX";
static struct actuator_place place = {.sysfs = root, .job = 7, .step = 1};
static struct actuator a;
static int cpu[2]; /* two CPUs that we may use */
static pid_t task[3];
static pid_t team, thread[2]; /* a task, and its threads, each on a CPU */

/* --- the node ------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void put(const char *text,
                                                      const char *fmt,
                                                      ...)
{
    char path[SYSFS_PATH];
    FILE *file;
    va_list ap;
    int n;

    n = snprintf(path, sizeof path, "%s/", root);
    va_start(ap, fmt);
    vsnprintf(path + n, sizeof path - (size_t)n, fmt, ap);
    va_end(ap);
    for (char *slash = strchr(path + n, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0755);
        *slash = '/';
    }
    file = fopen(path, "w");
    if (!file || fprintf(file, "%s\n", text) < 0 || fclose(file) != 0)
        bail("%s: %s", path, strerror(errno));
}

__attribute__((format(printf, 2, 3))) static void is_text(const char *want,
                                                          const char *fmt,
                                                          ...)
{
    char path[SYSFS_PATH], text[SYSFS_LINE];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(path, sizeof path, fmt, ap);
    va_end(ap);
    (void)sysfs_read(text, "%s/%s", root, path);
    ok(strcmp(text, want) == 0, "%s is %s: %s", path, want, text);
}

static void find_cpus(void)
{
    cpu_set_t set;
    int n = 0;

    if (sched_getaffinity(0, sizeof set, &set) < 0)
        bail("no CPUs");
    for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
        if (CPU_ISSET((size_t)i, &set))
            cpu[n++] = i;
    if (n < 2)
        skip_all("two ranks on CPUs of their own need two CPUs");
}

/* A task that may run on one of the CPUs, or for number 2 on both. */
static pid_t start_task(int number)
{
    pid_t pid = fork();
    cpu_set_t set;

    if (pid == 0) {
        for (;;)
            pause();
    }
    CPU_ZERO(&set);
    for (int i = 0; i < 2; i++)
        if (number == 2 || number == i)
            CPU_SET((size_t)cpu[i], &set);
    if (pid < 0 || sched_setaffinity(pid, sizeof set, &set) < 0)
        bail("no task");
    return pid;
}

static void pin(int number)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((size_t)cpu[number], &set);
    if (sched_setaffinity(0, sizeof set, &set) < 0)
        _exit(1);
}

static void *run_thread(void *arg)
{
    pid_t tid = (pid_t)syscall(SYS_gettid);

    pin(1);
    if (write(*(int *)arg, &tid, sizeof tid) != sizeof tid)
        _exit(1);
    for (;;)
        pause();
}

/* A task of two threads, of which each may run on one of the CPUs. */
static void start_team(void)
{
    int tell[2];
    pthread_t other;

    if (pipe(tell) < 0)
        bail("no pipe");
    team = fork();
    if (team == 0) {
        pin(0);
        if (pthread_create(&other, NULL, run_thread, &tell[1]) != 0)
            _exit(1);
        for (;;)
            pause();
    }
    thread[0] = team;
    if (team < 0 || read(tell[0], &thread[1], sizeof *thread) != sizeof *thread)
        bail("no team");
    close(tell[0]);
    close(tell[1]);
}

static int divide(size_t n, const pid_t pid[])
{
    const struct actuator_runs runs = {.task = pid, .tasks = n};

    return actuator_divide(&a, &place, &runs, NULL);
}

static int divide_threads(pid_t of, size_t n, const pid_t tid[])
{
    const struct actuator_runs runs = {
        .task = &of, .tasks = 1, .thread = tid, .threads = n};

    return actuator_divide(&a, &place, &runs, NULL);
}

/* Are the parts those of the two threads? */
static int is_of_threads(void)
{
    return a.parts.n == 2 && a.parts.tasks == 2
           && a.parts.task[0].pid == thread[0] && a.parts.task[0].part == 0
           && a.parts.task[1].pid == thread[1] && a.parts.task[1].part == 1;
}

/* --- kinds ---------------------------------------------------------------- */

#define ZONE  "class/powercap/intel-rapl:%d"
#define POWER ZONE "/constraint_0_power_limit_uw"

static void test_rapl(void)
{
    static const uint64_t part[] = {30000000, 50000000};

    for (int i = 0; i < 2; i++) {
        put("100000000", ZONE "/constraint_0_max_power_uw", i);
        put("100000000", POWER, i);
        put(i == 0 ? "package-1" : "package-0", ZONE "/name", i);
        put(i == 0 ? "0" : "1",
            "devices/system/cpu/cpu%d/topology/physical_package_id", cpu[i]);
    }
    is_int(actuator_open(&a, &rapl_kind, &place, 100, 0.1, NULL), 0, "rapl");
    is_int(divide(3, task), 1, "packages are parts");
    ok(a.parts.n == 2 && a.parts.tasks == 2 && a.parts.task[0].pid == task[0]
           && a.parts.task[0].part == 1 && a.parts.task[1].part == 0,
       "of the tasks that are bound to them, by the names of the zones");
    is_int(actuator_set_parts(&a, 80000000, part, NULL), 0, "each is set");
    is_text("30000000", POWER, 0);
    is_text("50000000", POWER, 1);
    ok(actuator_set_parts(&a, 79999999, part, NULL) < 0,
       "more than the limit is refused");
    is_int(actuator_set(&a, 80000000, NULL), 0, "the node again");
    is_text("40000000", POWER, 0);
    is_int(actuator_set_parts(&a, 80000000, part, NULL), 0, "and parts");
    is_int(divide_threads(team, 2, thread), 1, "threads on packages");
    ok(a.parts.task[0].pid == thread[0] && a.parts.task[0].part == 1
           && a.parts.task[1].pid == thread[1] && a.parts.task[1].part == 0,
       "are told by themselves");
    actuator_close(&a);
    is_text("100000000", POWER, 0);
    is_text("100000000", POWER, 1);
}

#define POLICY "devices/system/cpu/cpufreq/policy%d"
#define FREQ   POLICY "/scaling_max_freq"

static void test_cpufreq(void)
{
    static const uint64_t part[] = {1000000, 3000000};
    char text[32];

    for (int i = 0; i < 3; i++) { /* the third is nobody's */
        int number = i < 2 ? cpu[i] : cpu[1] + 7;

        put("800000", POLICY "/cpuinfo_min_freq", number);
        put("3000000", FREQ, number);
        snprintf(text, sizeof text, "%d", number);
        put(text, POLICY "/affected_cpus", number);
    }
    is_int(actuator_open(&a, &cpufreq_kind, &place, 2400, 0.3, NULL), 0,
           "cpufreq");
    is_int(actuator_set(&a, 2000000, NULL), 0, "every core has the limit");
    is_int(divide(2, task), 1, "tasks on cores of their own are parts");
    ok(a.parts.n == 2 && a.parts.task[1].part == 1 && a.parts.part[1].count == 1
           && a.parts.part[0].least == 800000,
       "with the bounds of these");
    is_int(actuator_set_parts(&a, 2000000, part, NULL), 0, "each is set");
    is_text("1000000", FREQ, cpu[0]);
    is_text("3000000", FREQ, cpu[1]);
    is_text("2000000", FREQ, cpu[1] + 7);
    ok(actuator_set_parts(&a, 1900000, part, NULL) < 0,
       "more than the cores may have together is refused");
    is_int(divide(3, task), 0, "a task on both cores: they are no parts");
    is_text("2000000", FREQ, cpu[0]);
    is_text("2000000", FREQ, cpu[1]);
    ok(actuator_set_parts(&a, 2000000, part, NULL) < 0,
       "and have no limits of their own");
    is_int(divide_threads(team, 2, thread), 1,
           "threads of one task on cores of their own are parts");
    ok(is_of_threads(), "and it is none besides");
    is_int(actuator_set_parts(&a, 2000000, part, NULL), 0, "each is set");
    is_text("1000000", FREQ, cpu[0]);
    is_text("3000000", FREQ, cpu[1]);
    is_int(divide_threads(task[2], 2, thread), 1,
           "of a shell that started them likewise");
    ok(is_of_threads(), "which has nothing to itself");
    is_int(divide_threads(team, 2, (pid_t[]){thread[0], task[2]}), 0,
           "one that may run on both cores, or no thread: no parts");
    is_text("2000000", FREQ, cpu[1]);
    actuator_close(&a);
    is_text("3000000", FREQ, cpu[0]);
}

#define STEP_GROUP "cg/slurm/job_7/step_1"
#define TASK_GROUP STEP_GROUP "/user/task_%d"

/* A machine with cgroup v2 only, and a task of the step in that group. */
static void put_task(pid_t pid, int number)
{
    char line[SYSFS_PATH];

    put("max 100000", TASK_GROUP "/cpu.max", number);
    snprintf(line, sizeof line, "0::/slurm/job_7/step_1/user/task_%d", number);
    put(line, "proc/%d/cgroup", (int)pid);
}

static void test_cgroup(void)
{
    static const uint64_t part[] = {300000, 500000}, other[] = {550000, 250000};
    static char proc[SYSFS_PATH];
    char line[SYSFS_PATH + 100];

    snprintf(line, sizeof line, "30 24 0:26 / %s/cg rw - cgroup2 cgroup2 rw",
             root);
    put(line, "proc/self/mountinfo");
    put("max 100000", STEP_GROUP "/cpu.max");
    put_task(task[0], 0);
    put_task(task[1], 1);
    snprintf(proc, sizeof proc, "%s/proc", root);
    place.proc = proc;
    place.task = task[0];
    is_int(actuator_open(&a, &cgroup_kind, &place, 0.5, 0.1, NULL), 0,
           "cgroup: of a step as Slurm has made it");
    is_int(actuator_set(&a, 800000, NULL), 0, "the step is limited");
    is_int(divide(2, task), 1, "its tasks are parts");
    ok(a.parts.n == 2 && a.parts.part[0].least == 100000
           && a.parts.part[0].most >= 800000,
       "of a tenth of a CPU and more");
    is_text("max 100000", TASK_GROUP "/cpu.max", 0);
    is_int(actuator_set_parts(&a, 800000, part, NULL), 0, "each is limited");
    is_text("3000 10000", TASK_GROUP "/cpu.max", 0);
    is_text("5000 10000", TASK_GROUP "/cpu.max", 1);
    is_text("max 100000", STEP_GROUP "/cpu.max");
    is_int(actuator_set_parts(&a, 800000, other, NULL), 0, "the other way");
    is_text("5500 10000", TASK_GROUP "/cpu.max", 0);
    is_text("2500 10000", TASK_GROUP "/cpu.max", 1);
    is_int(actuator_set(&a, 400000, NULL), 0, "the step again");
    is_text("4000 10000", STEP_GROUP "/cpu.max");
    is_text("max 100000", TASK_GROUP "/cpu.max", 0);
    put("0::/slurm/job_7/step_1/user/task_1", "proc/%d/cgroup", (int)task[0]);
    is_int(divide(2, task), -1, "two tasks in one group: no parts");
    put("0::/slurm/job_7/step_11/user/task_0", "proc/%d/cgroup", (int)task[0]);
    is_int(divide(2, task), -1, "nor with one that is elsewhere");
    put_task(task[0], 0);
    is_int(divide(2, task), 1, "as before");
    is_int(actuator_set_parts(&a, 400000, (uint64_t[]){100000, 300000}, NULL),
           0, "limited");
    actuator_close(&a);
    is_text("max 100000", STEP_GROUP "/cpu.max");
    is_text("max 100000", TASK_GROUP "/cpu.max", 0);
    is_text("max 100000", TASK_GROUP "/cpu.max", 1);
}

#define THREAD_GROUP TASK_GROUP "/evenstep-thread-%d"

/* The kernel makes these files with a group; ours have them before. */
static void put_thread(int number, pid_t tid)
{
    put("", THREAD_GROUP "/cgroup.type", number, (int)tid);
    put("", THREAD_GROUP "/cgroup.threads", number, (int)tid);
    put("max 100000", THREAD_GROUP "/cpu.max", number, (int)tid);
    put("0::/slurm/job_7/step_1/user/task_2", "proc/%d/cgroup", (int)tid);
}

static void test_threaded(void)
{
    static const uint64_t part[] = {300000, 500000};
    int own = (int)thread[0], other = (int)thread[1];

    put("max 100000", TASK_GROUP "/cpu.max", 2);
    put("", TASK_GROUP "/cgroup.subtree_control", 2);
    put("", TASK_GROUP "/cgroup.threads", 2);
    put_thread(2, thread[0]);
    put_thread(2, thread[1]);
    place.task = team;
    is_int(actuator_open(&a, &cgroup_kind, &place, 0.5, 0.1, NULL), 0,
           "cgroup: of a task with threads");
    is_int(actuator_set(&a, 800000, NULL), 0, "the step is limited");
    is_int(divide_threads(team, 2, thread), 1, "its threads are parts");
    ok(is_of_threads() && a.parts.part[0].most <= 1000000,
       "of a CPU at most, as each is pinned to one");
    is_text("threaded", THREAD_GROUP "/cgroup.type", 2, own);
    is_text("+cpu", TASK_GROUP "/cgroup.subtree_control", 2);
    is_int(actuator_set_parts(&a, 800000, part, NULL), 0, "each is limited");
    is_text("3000 10000", THREAD_GROUP "/cpu.max", 2, own);
    is_text("5000 10000", THREAD_GROUP "/cpu.max", 2, other);
    is_text("max 100000", TASK_GROUP "/cpu.max", 2);
    is_text("max 100000", STEP_GROUP "/cpu.max");
    is_int(divide_threads(team, 2, (pid_t[]){thread[0], task[0]}), 0,
           "one of another task is not moved, and one thread is no part");
    is_text("8000 10000", STEP_GROUP "/cpu.max");
    is_text("max 100000", THREAD_GROUP "/cpu.max", 2, own);
    actuator_close(&a);
    is_text("-cpu", TASK_GROUP "/cgroup.subtree_control", 2);
    is_text("max 100000", STEP_GROUP "/cpu.max");
}

static int remove_one(const char *path,
                      const struct stat *st,
                      int type,
                      struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

int main(void)
{
    find_cpus();
    if (!mkdtemp(root))
        bail("mkdtemp");
    for (int i = 0; i < 3; i++)
        task[i] = start_task(i);
    start_team();
    test_rapl();
    test_cpufreq();
    test_cgroup();
    test_threaded();
    (void)kill(team, SIGKILL);
    (void)waitpid(team, NULL, 0);
    for (int i = 0; i < 3; i++) {
        (void)kill(task[i], SIGKILL);
        (void)waitpid(task[i], NULL, 0);
    }
    (void)nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    done();
}
