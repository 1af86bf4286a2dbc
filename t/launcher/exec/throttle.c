/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/exec/throttle.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include <event2/event.h>

#include "launcher/exec/execution.h"
#include "launcher/probe/probe_cpu.h"

#include "fault.h"
#include "own_entries.h"
#include "tap.h"

#define LIMIT_S 60

static struct event_base *base;
static char self[4096]; /* this program, which plays several commands */
static char name[64];   /* for a cgroup, of this run alone */

/* --- pure ---------------------------------------------------------------- */

#define DEBIAN_12                                                              \
    "24 30 0:22 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n"                  \
    "29 24 0:25 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 "        \
    "rw,nsdelegate,memory_recursiveprot\n"
#define HYBRID                                                                 \
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"               \
    "32 31 0:29 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"        \
    "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup "              \
    "rw,cpu,cpuacct\n"                                                         \
    "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
#define DOCKER_V1                                                              \
    "33 31 0:30 /docker/12ab /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n"

static const struct {
    const char *name, *mountinfo, *cgroup;
    int version; /* 0: none */
    const char *path;
} places[] = {
    {"no texts", "", "", 0, ""},
    {"no mount", "", "0::/a\n", 0, ""},
    {"no group", DEBIAN_12, "", 0, ""},
    {"nonsense", "a b - c\n- - -\n\n", "x\n1:cpu\n::\n", 0, ""},
    {"v1 without a cpu controller",
     "32 31 0:29 / /c rw - cgroup cgroup rw,cpuset,cpuacct\n", "1:cpuset:/\n",
     0, ""},
    {"a v1 group outside of what is mounted", DOCKER_V1, "4:cpu:/docker/12a\n",
     0, ""},
    {"a v1 group beyond our cgroup namespace", HYBRID, "4:cpu:/../x\n", 0, ""},
    {"a mount point with a space", "1 2 0:1 / /c\\040c rw - cgroup2 c rw\n",
     "0::/a\n", 0, ""},
    {"v2: the parent of our group", DEBIAN_12,
     "0::/user.slice/user-1000.slice/session-1.scope\n", 2,
     "/sys/fs/cgroup/user.slice/user-1000.slice"},
    {"v2: the root, from below it", DEBIAN_12, "0::/init.scope\n", 2,
     "/sys/fs/cgroup"},
    {"v2: the root, in it", DEBIAN_12, "0::/\n", 2, "/sys/fs/cgroup"},
    {"v1 before v2", HYBRID, "2:cpu,cpuacct:/slurm/n0\n1:cpuset:/x\n0::/y\n", 1,
     "/sys/fs/cgroup/cpu,cpuacct/slurm/n0"},
    {"v1: the root", HYBRID, "2:cpu,cpuacct:/\n", 1,
     "/sys/fs/cgroup/cpu,cpuacct"},
    {"v1: the root of what is mounted", DOCKER_V1, "4:cpu:/docker/12ab\n", 1,
     "/sys/fs/cgroup/cpu"},
    {"v1: below the root of what is mounted", DOCKER_V1,
     "4:cpu:/docker/12ab/c\n", 1, "/sys/fs/cgroup/cpu/c"},
};

static void test_find(void)
{
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct throttle_place place = {0, ""};
        int rc = throttle_find(places[i].mountinfo, places[i].cgroup, &place);

        ok(rc == (places[i].version ? 0 : -1)
               && place.version == places[i].version
               && strcmp(place.path, places[i].path) == 0,
           "%s: \"%s\"", places[i].name, places[i].path);
    }
}

/* The share that a group gets whose timers are late by up to late_ns. */
static double paced_share(double share, int64_t late_ns)
{
    const int64_t cycle = 20000000;
    double owed = 0, ran = 0, all = 0;

    for (int64_t i = 0; i < 3000; i++) {
        int64_t planned = throttle_run_ns(share, owed, cycle);
        int64_t run = planned > 0 ? planned + late_ns * (i % 3) / 2 : 0;
        int64_t rest = run < cycle ? cycle - run + late_ns * (i % 2) : 0;

        owed += share * (double)(run + rest) - (double)run;
        ran += (double)run;
        all += (double)(run + rest);
    }
    return ran / all;
}

static void test_run_ns(void)
{
    is_int(throttle_run_ns(0.25, 0, 20), 5, "a quarter runs a quarter");
    is_int(throttle_run_ns(0.25, -2, 20), 3, "what it had too much is taken");
    is_int(throttle_run_ns(0.25, 2, 20), 7, "what it had too little is given");
    is_int(throttle_run_ns(0.25, -1e18, 20), 0, "never less than nothing");
    is_int(throttle_run_ns(0.25, 1e18, 20), 20, "never more than all");
    is_int(throttle_run_ns(0.25, (double)NAN, 20), 0, "never for NaN");
    for (int percent = 5; percent < 100; percent += 30)
        for (int64_t late = 0; late <= 9000000; late += 3000000)
            ok(fabs(paced_share(percent / 100.0, late) - percent / 100.0)
                   < 0.002,
               "%d %% stay that with timers late by %d ms", percent,
               (int)(late / 1000000));
}

static void test_refusals(void)
{
    static const struct {
        const char *what, *name;
        int percent;
        const char *message;
    } bad[] = {
        {"a speed of 0", "x", 0, "out of range"},
        {"a negative speed", "x", -5, "out of range"},
        {"a speed of 100,000 cores", "x", 10000000, "out of range"},
        {"an empty name", "", 10, "cannot name"},
        {"a name that leads elsewhere", "../x", 10, "cannot name"},
        {"a hidden name", ".x", 10, "cannot name"},
        {"a name with a blank", "a b", 10, "cannot name"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct es_error err = {ES_OK, "", ""};
        struct throttle *t = NULL;

        ok(throttle_open(&t, base, bad[i].percent, bad[i].name, THROTTLE_ANY,
                         &err)
                   == -1
               && err.kind == ES_USAGE && strstr(err.what, bad[i].message)
               && !t,
           "%s is refused", bad[i].what);
    }
}

/* --- commands played by this program ------------------------------------- */

static double clock_s(clockid_t id)
{
    struct timespec ts;

    clock_gettime(id, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* Burn CPU for a second; print the share of a core that it got. */
static int play_burn(void)
{
    double cpu = clock_s(CLOCK_PROCESS_CPUTIME_ID);
    double begin = clock_s(CLOCK_MONOTONIC), now = begin;

    while (now < begin + 1)
        now = clock_s(CLOCK_MONOTONIC);
    cpu = clock_s(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    printf("%.4f\n", cpu / (now - begin));
    return 0;
}

static int play_probe(void)
{
    double rate, spread;

    if (probe_cpu(250, 0, &rate, &spread, NULL) < 0)
        return 1;
    printf("%.4f\n", rate);
    return 0;
}

/* A daemon that escapes from its process group. */
static int play_daemon(void)
{
    int ready[2];
    char byte;
    pid_t pid;

    if (pipe(ready) < 0)
        return 1;
    pid = fork();
    if (pid == 0) {
        setsid();
        if (write(ready[1], "x", 1) != 1)
            _exit(1);
        sleep(LIMIT_S);
        _exit(0);
    }
    if (read(ready[0], &byte, 1) != 1)
        return 1;
    printf("%d\n", (int)pid);
    return 0;
}

static int play(const char *what)
{
    if (strcmp(what, "burn") == 0)
        return play_burn();
    if (strcmp(what, "probe") == 0)
        return play_probe();
    return play_daemon();
}

/* --- running them -------------------------------------------------------- */

struct heard {
    char out[256];
    size_t len;
    int ended;
    struct execution_end end;
};

static void on_output(void *arg, const void *buf, size_t len)
{
    struct heard *heard = arg;

    if (len > sizeof heard->out - 1 - heard->len)
        bail("too much output");
    memcpy(heard->out + heard->len, buf, len);
    heard->len += len;
}

static void on_end(void *arg, const struct execution_end *end)
{
    struct heard *heard = arg;

    heard->end = *end;
    heard->ended = 1;
}

static struct execution *start(char *const *argv,
                               struct throttle *t,
                               struct heard *heard)
{
    struct execution_spec spec = {.argv = argv, .throttle = t};
    struct execution *x = NULL;
    struct es_error err;

    memset(heard, 0, sizeof *heard);
    if (execution_start(&x, base, &spec, on_output, on_end, heard, &err) < 0)
        bail("%s: %s", err.what, err.mend);
    return x;
}

static void wait_end(struct execution *x, const struct heard *heard)
{
    double limit = clock_s(CLOCK_MONOTONIC) + LIMIT_S;

    while (!heard->ended && event_base_loop(base, EVLOOP_ONCE) == 0)
        if (clock_s(CLOCK_MONOTONIC) > limit)
            bail("no end for %d s", LIMIT_S);
    execution_destroy(x);
}

/* Play a command; return the number that it prints. */
static double play_throttled(const char *what, struct throttle *t)
{
    struct heard heard;
    char *argv[] = {self, (char *)(intptr_t)what, NULL};

    wait_end(start(argv, t, &heard), &heard);
    return strtod(heard.out, NULL);
}

static struct throttle *open_throttle(int percent, enum throttle_how how)
{
    struct throttle *t = NULL;
    struct es_error err;

    if (throttle_open(&t, base, percent, name, how, &err) < 0)
        bail("%s: %s", err.what, err.mend);
    return t;
}

/* As in /proc/PID/stat: R, S, T, ...; X: there is none. */
static char state_of(long pid)
{
    char path[64], state = 'X';
    FILE *f;

    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    f = fopen(path, "re");
    if (!f)
        return 'X';
    if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
        state = 'X';
    fclose(f);
    return state;
}

static int is_gone(long pid)
{
    char state = state_of(pid);

    return state == 'Z' || state == 'X';
}

static int goes_away(long pid)
{
    const struct timespec pause_5ms = {0, 5000000};

    for (int i = 0; i < 2000; i++) {
        if (is_gone(pid))
            return 1;
        nanosleep(&pause_5ms, NULL);
    }
    return 0;
}

/* --- facts of both means ------------------------------------------------- */

/* Others use this machine, too, and take from what is measured. */
#define ATTEMPTS 5

static double play_paced(const char *what, int percent, enum throttle_how how)
{
    struct throttle *t = open_throttle(percent, how);
    double number = play_throttled(what, t);

    throttle_close(t);
    return number;
}

static void test_share(int percent, enum throttle_how how)
{
    double share = percent / 100.0, got = 0, full = 1, most = 0;

    for (int i = 0; i < ATTEMPTS && !(got > share * full * 0.6); i++) {
        full = play_throttled("burn", NULL);
        got = play_paced("burn", percent, how);
        most = fmax(got, most);
    }
    ok(most < share * 1.3 + 0.02, "%d %%: not much more than that", percent);
    ok(got > share * full * 0.6, "%d %%: not much less", percent);
    diag("  got %.1f %%, unpaced %.1f %%", 100 * got, 100 * full);
}

/* Of 20 % the multiple of what it is of 5 %. */
static double ratio_of(const char *what, enum throttle_how how)
{
    return play_paced(what, 20, how) / play_paced(what, 5, how);
}

static void test_paced(enum throttle_how how)
{
    double seen = 0, got = 1;

    test_share(5, how);
    test_share(20, how);
    test_share(60, how);
    /* 4, but of a busy machine nobody gets 20 %, whatever the limit. */
    for (int i = 0; i < ATTEMPTS && !(fabs(log(seen / got)) < log(1.6)); i++) {
        got = ratio_of("burn", how);
        seen = ratio_of("probe", how);
    }
    ok(fabs(log(seen / got)) < log(1.6),
       "a probe sees of 20 %% and of 5 %% what a command gets of them");
    diag("  a probe %.2f times as much, a command %.2f", seen, got);
}

/* --- the duty cycle ------------------------------------------------------ */

static void test_duty_full(void)
{
    struct throttle *t = open_throttle(100, THROTTLE_DUTY_CYCLE);
    double full = 1, got = 0;

    is_str(throttle_means(t), "duty cycle", "the duty cycle can be asked for");
    is_int(throttle_enter_fd(t), -1, "it has no group to enter");
    for (int i = 0; i < ATTEMPTS && !(got > full * 0.6); i++) {
        full = play_throttled("burn", NULL);
        got = play_throttled("burn", t);
    }
    ok(got > full * 0.6, "100 %% are no limit");
    throttle_close(t);
}

static void test_duty_stop(void)
{
    char *argv[] = {"sh", "-c",
                    "trap 'echo bye; exit 5' TERM; echo up;"
                    "while :; do :; done",
                    NULL};
    struct throttle *t = open_throttle(1, THROTTLE_DUTY_CYCLE);
    struct heard heard;
    struct execution *x = start(argv, t, &heard);

    while (heard.len == 0 && event_base_loop(base, EVLOOP_ONCE) == 0)
        ;
    execution_stop(x);
    wait_end(x, &heard);
    ok(heard.end.status == 5 && strcmp(heard.out, "up\nbye\n") == 0,
       "a frozen command hears that it is to stop");
    ok(heard.end.elapsed_ns < 20 * INT64_C(1000000000), "and does so soon");
    throttle_close(t);
}

/* Turn the loop until the process is seen (or, is no longer seen) stopped. */
static int becomes_stopped(pid_t pid, int stopped)
{
    for (int i = 0; i < 10000; i++) {
        const struct timespec pause_1ms = {0, 1000000};

        if ((state_of(pid) == 'T') == stopped)
            return 1;
        event_base_loop(base, EVLOOP_NONBLOCK);
        nanosleep(&pause_1ms, NULL);
    }
    return 0;
}

static void test_duty_watch(void)
{
    struct throttle *t = open_throttle(1, THROTTLE_DUTY_CYCLE);
    pid_t pid = fork();

    if (pid == 0) {
        setpgid(0, 0);
        for (;;)
            pause();
    }
    setpgid(pid, pid);
    throttle_watch(t, pid);
    ok(becomes_stopped(pid, 1), "a group that is watched is stopped");
    throttle_forget(t, pid);
    ok(becomes_stopped(pid, 0), "it runs when it is no longer watched");
    throttle_watch(t, pid);
    ok(becomes_stopped(pid, 1), "watched again it is stopped again");
    throttle_close(t);
    ok(becomes_stopped(pid, 0), "it runs when the throttle is closed");
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void test_duty_vanished(void)
{
    char *argv[] = {"sh", "-c", "echo $$; exec sleep 60", NULL};
    struct throttle *t = open_throttle(5, THROTTLE_DUTY_CYCLE);
    struct heard heard;
    struct execution *x = start(argv, t, &heard);

    while (heard.len == 0 && event_base_loop(base, EVLOOP_ONCE) == 0)
        ;
    kill((pid_t)strtol(heard.out, NULL, 10), SIGKILL);
    wait_end(x, &heard);
    is_int(heard.end.signal, SIGKILL, "a command killed while paced has ended");
    throttle_close(t);
    throttle_close(NULL);
    ok(1, "NULL may be closed");
}

/* The agent is killed: its frozen command does not stay. */
static void test_duty_agent_dies(void)
{
    int fd[2];
    char text[32] = "";
    pid_t agent;
    long pid = 0;

    if (pipe2(fd, O_CLOEXEC) < 0)
        bail("pipe");
    agent = fork();
    if (agent == 0) {
        char *argv[] = {"sh", "-c", "echo $$; while :; do :; done", NULL};
        struct heard heard;

        if (event_reinit(base) < 0)
            _exit(1);
        start(argv, open_throttle(1, THROTTLE_DUTY_CYCLE), &heard);
        while (heard.len == 0 && event_base_loop(base, EVLOOP_ONCE) == 0)
            ;
        if (write(fd[1], heard.out, heard.len) < 0)
            _exit(1);
        event_base_dispatch(base);
        _exit(1);
    }
    close(fd[1]);
    if (read(fd[0], text, sizeof text - 1) <= 0)
        bail("the agent said nothing");
    close(fd[0]);
    kill(agent, SIGKILL);
    waitpid(agent, NULL, 0);
    ok(sscanf(text, "%ld", &pid) == 1 && goes_away(pid),
       "a frozen command does not outlive a killed agent");
}

/* --- the cgroup ---------------------------------------------------------- */

static void read_proc(const char *path, char *text, size_t size)
{
    FILE *f = fopen(path, "re");

    text[f ? fread(text, 1, size - 1, f) : 0] = '\0';
    if (f)
        fclose(f);
}

/* Where our cgroup is, found by the function that was tested above. */
static int group_exists(void)
{
    static char mounts[1 << 20], groups[1 << 16];
    struct throttle_place place;
    char path[sizeof place.path + sizeof name + 1];
    struct stat st;

    read_proc("/proc/self/mountinfo", mounts, sizeof mounts);
    read_proc("/proc/self/cgroup", groups, sizeof groups);
    if (throttle_find(mounts, groups, &place) < 0)
        return 0;
    snprintf(path, sizeof path, "%s/%s", place.path, name);
    return stat(path, &st) == 0;
}

static void test_cgroup_life(void)
{
    struct throttle *t = open_throttle(20, THROTTLE_ANY), *again = NULL;
    long pid;

    ok(throttle_enter_fd(t) > 2, "a cgroup has a file to enter by");
    ok(group_exists(), "it is there while the throttle is open");
    again = open_throttle(20, THROTTLE_ANY);
    ok(again != NULL, "an empty one of the same name is taken over");
    throttle_close(again);
    throttle_close(t);
    ok(!group_exists(), "it is gone when it was closed");
    t = open_throttle(20, THROTTLE_ANY);
    pid = (long)play_throttled("daemon", t);
    ok(pid > 1 && !is_gone(pid), "a daemon lives on in it");
    throttle_close(t);
    ok(goes_away(pid), "until it is closed");
    ok(!group_exists(), "and then the cgroup is gone");
}

static void test_cgroup(void)
{
    struct throttle *t = open_throttle(20, THROTTLE_ANY);
    int is_cgroup = strncmp(throttle_means(t), "cgroup v", 8) == 0;

    diag("%s", throttle_means(t));
    throttle_close(t);
    if (!is_cgroup) {
        skip("a cgroup paces commands",
             geteuid() == 0 ? "no writable cpu cgroup here" : "needs root");
        return;
    }
    test_cgroup_life();
    test_paced(THROTTLE_ANY);
}

static void test_no_memory(enum throttle_how how)
{
    struct throttle *t = NULL;
    struct es_error err = {ES_OK, "", ""};
    long n;

    for (fault_at = n = 0; throttle_open(&t, base, 20, name, how, &err) < 0;
         fault_at = ++n)
        if (err.kind != ES_ENV || !strstr(err.what, "memory") || t)
            break;
    fault_at = -1;
    ok(t && n == 1, "an allocation that fails is told");
    throttle_close(t);
}

int main(int argc, char *argv[])
{
    int fds;

    if (argc > 1)
        return play(argv[1]);
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        bail("no /proc");
    snprintf(name, sizeof name, "evenstep-test-%d", (int)getpid());
    base = event_base_new();
    if (!base)
        bail("no event loop");
    fds = own_entries("/proc/self/fd");
    test_find();
    test_run_ns();
    test_refusals();
    test_no_memory(THROTTLE_DUTY_CYCLE);
    test_no_memory(THROTTLE_ANY);
    test_duty_full();
    test_paced(THROTTLE_DUTY_CYCLE);
    test_duty_watch();
    test_duty_stop();
    test_duty_vanished();
    test_duty_agent_dies();
    test_cgroup();
    is_int(own_entries("/proc/self/fd"), fds, "no descriptor is left open");
    event_base_free(base);
    return done();
}
