/* SPDX-License-Identifier: BSD-2-Clause */
/* Actuators on a sysfs tree of our own: what is found is set and put back. */
#include "launcher/power/actuator.h"
#include "launcher/power/actuator_cgroup.h"
#include "launcher/power/actuator_cpufreq.h"
#include "launcher/power/actuator_rapl.h"
#include "launcher/power/power_state.h"
#include "tap.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char root[] = "/tmp/actuator.XXXXXX";
static struct actuator_place place = {.sysfs = root, .job = 7, .step = 1};

static void put(const char *text, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void put(const char *text, const char *fmt, ...)
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

static uint64_t get(const char *path)
{
    uint64_t v = UINT64_MAX;

    (void)sysfs_read_u64(&v, "%s/%s", root, path);
    return v;
}

#define ZONE(n)   "class/powercap/intel-rapl:" #n
#define LIMIT(n)  ZONE(n) "/constraint_0_power_limit_uw"
#define POLICY(n) "devices/system/cpu/cpufreq/policy" #n
#define FREQ(n)   POLICY(n) "/scaling_max_freq"

/* Two packages, of 100 W and of 50 W, found at 90 W and 45 W. */
static void make_rapl(void)
{
    put("120000000", ZONE(0) "/constraint_0_max_power_uw");
    put("100000000", LIMIT(0));
    put("60000000", ZONE(1) "/constraint_0_max_power_uw");
    put("50000000", LIMIT(1));
}

static void test_rapl(void)
{
    struct es_error err = {0};
    struct actuator a;

    ok(actuator_open(&a, &rapl_kind, &place, 120, 0.2, &err) < 0
           && strstr(err.what, "no intel-rapl"),
       "rapl: a node without it says so");
    make_rapl();
    is_int(actuator_open(&a, &rapl_kind, &place, 120, 0.2, NULL), 0,
           "rapl: two packages are found");
    ok(a.limit == 120000000 && a.floor == 30000000 && a.ceiling == 150000000,
       "start and floor are parts of what both may have");
    is_int((int)get(LIMIT(0)), 100000000, "nothing is set by looking");
    is_int(actuator_set(&a, 120000000, NULL), 0, "a limit is set");
    ok(get(LIMIT(0)) == 80000000 && get(LIMIT(1)) == 40000000,
       "divided as the packages are large");
    is_int(actuator_set(&a, 100000001, NULL), 0, "an odd one, too");
    ok(get(LIMIT(0)) + get(LIMIT(1)) <= 100000001, "and never rounded up");
    ok(actuator_set(&a, 29999999, &err) < 0
           && strstr(err.what, "not between 30000000 and 150000000"),
       "less than the floor is refused");
    ok(actuator_set(&a, 150000001, NULL) < 0, "so is more than the ceiling");
    actuator_close(&a);
    ok(get(LIMIT(0)) == 100000000 && get(LIMIT(1)) == 50000000,
       "what was found is put back");
}

static void test_no_maximum(void)
{
    struct actuator a;

    put("0", LIMIT(1));
    is_int(actuator_open(&a, &rapl_kind, &place, 0, 0.2, NULL), 0,
           "rapl: a package without a limit");
    is_int((int)a.ceiling, 160000000, "may have its maximum");
    actuator_close(&a);
    make_rapl();
}

static void test_cpufreq(void)
{
    struct es_error err = {0};
    struct actuator a;

    ok(actuator_open(&a, &cpufreq_kind, &place, 2320, 0.2, &err) < 0
           && strstr(err.what, "has no policy"),
       "cpufreq: a node without it says so");
    put("800000", POLICY(0) "/cpuinfo_min_freq");
    put("3000000", POLICY(0) "/cpuinfo_max_freq");
    put("2900000", FREQ(0));
    put("600000", POLICY(8) "/cpuinfo_min_freq");
    put("2000000", POLICY(8) "/cpuinfo_max_freq");
    put("2000000", FREQ(8));
    is_int(actuator_open(&a, &cpufreq_kind, &place, 2320, 0.1, NULL), 0,
           "cpufreq: numbers may have gaps");
    ok(a.limit == 2320000 && a.floor == 600000 && a.ceiling == 2900000,
       "no more than the site has set, and no less than the cores can");
    is_int(actuator_set(&a, 2400000, NULL), 0, "a limit is set");
    ok(get(FREQ(0)) == 2400000 && get(FREQ(8)) == 2000000,
       "on each core as far as it goes");
    is_int(actuator_set(&a, 700000, NULL), 0, "a low one, too");
    ok(get(FREQ(0)) == 800000 && get(FREQ(8)) == 700000, "likewise");
    actuator_close(&a);
    ok(get(FREQ(0)) == 2900000 && get(FREQ(8)) == 2000000,
       "what was found is put back");
}

#define STEP_GROUP "cg/slurm/job_7/step_1"

/* A machine with cgroup v2 only, and a task of the step in that group. */
static void put_task(const char *group)
{
    char line[SYSFS_PATH + 100];

    snprintf(line, sizeof line, "30 24 0:26 / %s/cg rw - cgroup2 cgroup2 rw",
             root);
    put(line, "proc/self/mountinfo");
    snprintf(line, sizeof line, "0::%s", group);
    put(line, "proc/%d/cgroup", (int)getpid());
}

#define SCOPE "/system.slice/slurmstepd.scope"
#define SLUID "sEKNKTV3WPV500" /* of Slurm's manual, cgroup.conf(5) */

/* Where Slurm has put a task, and its step's group there; NULL: not known. */
static const struct {
    const char *name, *task, *step;
} paths[] = {
    {"cgroup/v2", SCOPE "/job_7/step_1/user/task_0", SCOPE "/job_7/step_1"},
    {"of 26.05", SCOPE "/" SLUID "/step_1/user/task_0",
     SCOPE "/" SLUID "/step_1"},
    {"of several slurmd", "/a/n0_slurmstepd.scope/" SLUID "/step_1/user/task_0",
     "/a/n0_slurmstepd.scope/" SLUID "/step_1"},
    {"before it is in its task's group", SCOPE "/" SLUID "/step_1/slurm",
     SCOPE "/" SLUID "/step_1"},
    {"below one of a like name", "/step_1" SCOPE "/job_7/step_1/user/task_0",
     "/step_1" SCOPE "/job_7/step_1"},
    {"of another job", SCOPE "/job_8/step_1/user/task_0", NULL},
    {"of another step", SCOPE "/" SLUID "/step_11/user/task_0", NULL},
    {"another name of a job", SCOPE "/sEKNKTV3WPV50/step_1/user/task_0", NULL},
    {"small letters", SCOPE "/seknktv3wpv500/step_1/user/task_0", NULL},
    {"outside of Slurm's scope", "/user.slice/" SLUID "/step_1/user/task_0",
     NULL},
};

static void test_paths(const struct actuator_place *at)
{
    char text[SYSFS_LINE];

    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        struct es_error err = {0};
        struct actuator a;
        int rc;

        put_task(paths[i].task);
        if (paths[i].step)
            put("max 100000", "cg%s/cpu.max", paths[i].step);
        rc = actuator_open(&a, &cgroup_kind, at, 0, 0.1, &err);
        if (rc == 0 && paths[i].step) {
            rc = actuator_set(&a, 400000, NULL);
            sysfs_read(text, "%s/cg%s/cpu.max", root, paths[i].step);
            ok(rc == 0 && strcmp(text, "4000 10000") == 0,
               "a path is known: %s", paths[i].name);
        } else {
            ok(rc < 0 && !paths[i].step
                   && (!strstr(paths[i].task, SCOPE)
                       || strcmp(err.mend, "set CgroupJobIdPaths=yes in "
                                           "cgroup.conf")
                              == 0),
               "a path is refused: %s: %s", paths[i].name, err.what);
        }
        if (rc == 0)
            actuator_close(&a);
    }
}

static void test_cgroup2(void)
{
    char proc[SYSFS_PATH], text[SYSFS_LINE];
    struct actuator_place at = place;
    struct es_error err = {0};
    struct actuator a;

    snprintf(proc, sizeof proc, "%s/proc", root);
    at.proc = proc;
    at.task = getpid();
    put("max 100000", STEP_GROUP "/cpu.max");
    put_task("/slurm/job_7/step_1/user/task_0");
    is_int(actuator_open(&a, &cgroup_kind, &at, 0, 0.1, NULL), 0,
           "cgroup v2: the group that Slurm has made for the step");
    ok(a.n == 1 && !a.group[0], "is limited, and no other made");
    is_int(actuator_set(&a, 400000, NULL), 0, "a limit is set");
    sysfs_read(text, "%s/" STEP_GROUP "/cpu.max", root);
    is_str(text, "4000 10000", "as the kernel wants it");
    actuator_close(&a);
    sysfs_read(text, "%s/" STEP_GROUP "/cpu.max", root);
    is_str(text, "max 100000", "what was found is put back");
    put_task("/slurm/job_7/step_11/user/task_0");
    ok(actuator_open(&a, &cgroup_kind, &at, 0, 0.1, &err) < 0
           && strstr(err.what, "Slurm has made no group for the step"),
       "without one nothing is done: %s", err.what);
    test_paths(&at);
    put_task("/slurmd.service");
    ok(actuator_open(&a, &cgroup_kind, &at, 0, 0.1, &err) < 0,
       "and no task is taken out of where it is");
}

static void test_unwritable(void)
{
    char path[SYSFS_PATH], aside[SYSFS_PATH + 8];
    struct es_error err = {0};
    struct actuator a;

    make_rapl();
    is_int(actuator_open(&a, &rapl_kind, &place, 120, 0.2, NULL), 0, "rapl");
    is_int(actuator_set(&a, 120000000, NULL), 0, "is set");
    snprintf(path, sizeof path, "%s/" LIMIT(1), root);
    snprintf(aside, sizeof aside, "%s.aside", path);
    rename(path, aside);
    mkdir(path, 0755); /* root cannot write to it either */
    ok(actuator_set(&a, 100000000, &err) < 0
           && strstr(err.what, "constraint_0_power_limit_uw: "),
       "a knob that cannot be written is named");
    is_int((int)get(LIMIT(0)), 80000000, "the other is set back");
    is_int((int)a.limit, 120000000, "the limit is as before");
    rmdir(path);
    rename(aside, path);
    actuator_close(&a);
    is_int((int)get(LIMIT(1)), 50000000, "and put back in the end");
}

static void test_kinds(void)
{
    ok(actuator_find("rapl") == &rapl_kind
           && actuator_find("cpufreq") == &cpufreq_kind
           && actuator_find("cgroup") == &cgroup_kind,
       "kinds are found by name");
    ok(!actuator_find("off") && !actuator_find(""), "others are none");
}

/* --- a guard that is killed ----------------------------------------------- */

static char state_dir[64];

/* A process that sets a limit and dies; it closes nothing. */
static void die_with_limit(const char *name)
{
    pid_t pid = fork();

    if (pid == 0) {
        struct power_state s;
        struct actuator a;

        power_state_init(&s);
        if (actuator_open(&a, &rapl_kind, &place, 120, 0.2, NULL) < 0
            || power_state_save(&s, state_dir, name, &a, NULL) < 0
            || actuator_set(&a, 60000000, NULL) < 0)
            _exit(1);
        kill(getpid(), SIGKILL);
    }
    waitpid(pid, NULL, 0);
}

/* A state as a guard leaves it that dies in the middle of it. */
static void put_state(const char *knob, const char *rest)
{
    char path[SYSFS_PATH];
    FILE *file;

    snprintf(path, sizeof path, "%s/n0.7.1", state_dir);
    file = fopen(path, "w");
    if (!file || fprintf(file, "knob %s\t%s", knob, rest) < 0
        || fclose(file) != 0)
        bail("%s: %s", path, strerror(errno));
}

static void test_torn_state(void)
{
    char knob[SYSFS_PATH];

    snprintf(state_dir, sizeof state_dir, "%s/torn", root);
    snprintf(knob, sizeof knob, "%s/knob", root);
    if (mkdir(state_dir, 0700) < 0)
        bail("mkdir");
    put("400000", "knob");
    put_state(knob, "40"); /* of 400000 */
    is_int((int)power_state_restore(state_dir), 1, "a torn state is taken");
    is_int((int)get("knob"), 400000, "what is torn of it sets nothing");
    put_state(knob, "80\ngroup /nos");
    is_int((int)power_state_restore(state_dir), 1, "one torn behind a line");
    is_int((int)get("knob"), 80, "that line is done");
}

static void test_state(void)
{
    struct es_error err = {0};
    struct power_state s, twin;
    struct actuator a;

    power_state_init(&s);
    power_state_init(&twin);
    snprintf(state_dir, sizeof state_dir, "%s/state", root);
    is_int((int)power_state_restore(state_dir), 0, "no state is fine");
    make_rapl();
    die_with_limit("n0.7.1");
    is_int((int)get(LIMIT(0)), 40000000, "a guard that was killed left this");
    is_int(actuator_open(&a, &rapl_kind, &place, 120, 0.2, NULL), 0, "rapl");
    is_int(power_state_save(&s, state_dir, "n0.7.2", &a, NULL), 0,
           "one that lives has a state, too");
    ok(power_state_save(&twin, state_dir, "n0.7.2", &a, &err) < 0
           && strstr(err.what, "n0.7.2: File exists"),
       "a second one of its name is refused");
    is_int((int)power_state_restore(state_dir), 1,
           "of the two, the dead one's is put back");
    ok(get(LIMIT(0)) == 100000000 && get(LIMIT(1)) == 50000000,
       "to what it had found");
    is_int((int)power_state_restore(state_dir), 0, "once");
    power_state_remove(&s);
    is_int((int)power_state_restore(state_dir), 0, "an end leaves none");
    actuator_close(&a);
    if (chmod(state_dir, 0777) < 0)
        bail("chmod");
    ok(power_state_save(&s, state_dir, "x", &a, &err) < 0,
       "a directory that others can write to is not believed");
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
    if (!mkdtemp(root))
        bail("no directory");
    test_kinds();
    test_rapl();
    test_no_maximum();
    test_cpufreq();
    test_cgroup2();
    test_unwritable();
    test_torn_state();
    test_state();
    (void)nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return done();
}
