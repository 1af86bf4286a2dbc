/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/exec/execution.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include <event2/event.h>

#include "fault.h"
#include "own_entries.h"
#include "pmix_bcast/clock.h"
#include "tap.h"

#define OUT_MAX (2 << 20)
#define LIMIT_S 30

/* --- a run and what was heard of it -------------------------------------- */

struct run {
    struct execution *x;
    char out[OUT_MAX + 1];
    size_t len;
    int calls, ends;
    struct execution_end end;
    char tail[EXECUTION_ERR_MAX + 1];
    /* what the callbacks do */
    int hold_every, hold_ms; /* hold at every n-th output */
    int late;                /* outputs that came while held, or after end */
    int held;
    size_t destroy_at; /* destroy in out, when so much has come; 0: never */
    int destroy_in_end;
    struct event *release;
};

static struct event_base *base;
static struct run run;
static char self[4096]; /* this program, which plays several commands */

static void on_release(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    run.held = 0;
    execution_hold(run.x, 0);
}

static void on_output(void *arg, const void *buf, size_t len)
{
    struct timeval wait = {0, run.hold_ms * 1000};

    (void)arg;
    run.late += run.held || run.ends > 0;
    if (len > OUT_MAX - run.len)
        bail("too much output");
    memcpy(run.out + run.len, buf, len);
    run.len += len;
    run.out[run.len] = '\0';
    run.calls++;
    if (run.destroy_at && run.len >= run.destroy_at) {
        execution_destroy(run.x);
        run.x = NULL;
        event_base_loopbreak(base);
    } else if (run.hold_every && run.calls % run.hold_every == 0) {
        run.held = 1;
        execution_hold(run.x, 1);
        event_add(run.release, &wait);
    }
}

static void on_end(void *arg, const struct execution_end *end)
{
    (void)arg;
    run.late += run.held;
    run.ends++;
    run.end = *end;
    memcpy(run.tail, end->err_tail, end->err_len);
    run.tail[end->err_len] = '\0';
    if (run.destroy_in_end) {
        execution_destroy(run.x);
        run.x = NULL;
    }
    event_base_loopbreak(base);
}

/* Let the loop run until a callback breaks it. */
static void loop(void)
{
    struct timeval limit = {LIMIT_S, 0};

    event_base_loopexit(base, &limit);
    event_base_dispatch(base);
    if (event_base_got_exit(base))
        bail("nothing happened for %d s", LIMIT_S);
}

static void fresh(void)
{
    struct event *release = run.release;

    memset(&run, 0, sizeof run);
    run.release = release;
}

static int start(const struct execution_spec *spec, struct es_error *err)
{
    return execution_start(&run.x, base, spec, on_output, on_end, NULL, err);
}

static void run_spec(const struct execution_spec *spec)
{
    struct es_error err;

    if (start(spec, &err) < 0)
        bail("%s: %s", err.what, err.mend);
    loop();
    execution_destroy(run.x);
    run.x = NULL;
}

static void run_argv(char *const *argv)
{
    run_spec(
        &(struct execution_spec){argv, NULL, NULL, NULL, 0, 0, NULL, 0, 0});
}

#define ARGV(...) ((char *[]){__VA_ARGS__, NULL})
#define SH(text)  ARGV("sh", "-c", text)

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

/* Gone, or dead and waiting for a parent that is not us. */
static int is_gone(long pid)
{
    char state = state_of(pid);

    return state == 'Z' || state == 'X';
}

static int goes_away(long pid)
{
    const struct timespec pause = {0, 5000000};

    for (int i = 0; i < 2000; i++) {
        if (is_gone(pid))
            return 1;
        nanosleep(&pause, NULL);
    }
    return 0;
}

/* --- commands played by this program ------------------------------------- */

/* A daemon that escapes from its group and holds the output. */
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
        sleep(60);
        _exit(0);
    }
    if (read(ready[0], &byte, 1) != 1)
        return 1;
    printf("%d\n", (int)pid);
    return 0;
}

static int play_numbers(int fd, uint32_t n)
{
    FILE *f = fdopen(fd, "w");

    if (!f)
        return 1;
    for (uint32_t i = 0; i < n; i++)
        if (fwrite(&i, sizeof i, 1, f) != 1)
            return 1;
    return fclose(f) == 0 ? 0 : 1;
}

static int play(char *argv[])
{
    if (strcmp(argv[1], "daemon") == 0)
        return play_daemon();
    if (strcmp(argv[1], "numbers") == 0)
        return play_numbers(1, (uint32_t)strtoul(argv[2], NULL, 10));
    if (strcmp(argv[1], "complain") == 0)
        return play_numbers(2, (uint32_t)strtoul(argv[2], NULL, 10)) + 3;
    return 1;
}

static int are_numbers(const char *buf, size_t len, uint32_t first)
{
    uint32_t value;

    for (size_t i = 0; i + sizeof value <= len; i += sizeof value) {
        memcpy(&value, buf + i, sizeof value);
        if (value != first++)
            return 0;
    }
    return len % sizeof value == 0;
}

/* --- facts --------------------------------------------------------------- */

static void test_not_started(void)
{
    static const struct {
        const char *name;
        char *argv[2];
        int error, status;
    } bad[] = {
        {"a name that is nowhere in PATH", {"evenstep-no-such"}, ENOENT, 127},
        {"a path that does not exist", {"/no/such/command"}, ENOENT, 127},
        {"a file that is not executable", {"/etc/passwd"}, EACCES, 126},
        {"a folder", {"/etc"}, EACCES, 126},
        {"a path through a file", {"/etc/passwd/x"}, ENOENT, 127},
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        fresh();
        run_argv(bad[i].argv);
        ok(run.ends == 1 && run.end.exec_errno == bad[i].error
               && run.end.status == bad[i].status && run.end.signal == 0,
           "%s: end says %s and %d", bad[i].name, strerror(bad[i].error),
           bad[i].status);
    }
}

static void test_refusals(void)
{
    struct es_error err = {ES_OK, "", ""};
    char *none[] = {NULL};

    fresh();
    is_int(start(&(struct execution_spec){none, NULL, NULL, NULL, 0, 0, NULL, 0,
                                          0},
                 &err),
           -1, "an empty command is refused");
    ok(err.kind == ES_USAGE && strstr(err.what, "no command"),
       "and the message says so");
    is_int(start(&(struct execution_spec){ARGV("true"), NULL, "/no/such", NULL,
                                          0, 0, NULL, 0, 0},
                 &err),
           -1, "a folder that does not exist is refused");
    ok(err.kind == ES_WORK && strstr(err.what, "/no/such: No such file"),
       "and the message names it");
    ok(run.x == NULL && run.ends == 0, "a refusal has no execution and no end");
}

static void test_ends(void)
{
    fresh();
    run_argv(ARGV("true"));
    ok(run.ends == 1 && run.end.status == 0 && run.end.signal == 0
           && run.end.exec_errno == 0 && run.len == 0,
       "true ends with 0 and says nothing");
    ok(run.end.elapsed_ns > 0, "and takes some time");
    fresh();
    run_argv(SH("echo to the right >&2; exit 3"));
    ok(run.end.status == 3 && run.end.signal == 0 && run.end.exec_errno == 0,
       "exit 3 is 3");
    is_str(run.tail, "to the right\n", "its stderr is kept");
    ok(run.end.err_len == 13 && run.end.err_dropped == 0, "whole, if short");
    fresh();
    run_argv(SH("kill -9 $$"));
    ok(run.end.signal == 9 && run.end.status == 137, "killed by 9 is 137");
    fresh();
    run_argv(SH("exit 127"));
    ok(run.end.status == 127 && run.end.exec_errno == 0,
       "a command that exits with 127 is told from one not found");
}

static void test_tail(void)
{
    uint32_t first = (20000 - EXECUTION_ERR_MAX) / 4;

    fresh();
    run_argv(ARGV(self, "complain", "5000"));
    is_int(run.end.status, 3, "a command that complains at length ends");
    ok(run.end.err_len == EXECUTION_ERR_MAX
           && run.end.err_dropped == 20000 - EXECUTION_ERR_MAX,
       "the last 8 KiB are kept, the others counted");
    ok(are_numbers(run.tail, run.end.err_len, first), "they are the last ones");
}

static void test_output(void)
{
    fresh();
    run.hold_every = 5;
    run.hold_ms = 2;
    run_argv(ARGV(self, "numbers", "262144"));
    ok(run.len == 1 << 20 && are_numbers(run.out, run.len, 0),
       "1 MiB arrives whole and in order, with holds in between");
    ok(run.calls >= 16 && run.late == 0, "nothing comes while it is held");
    is_int(run.end.status, 0, "and it ends well");
    fresh();
    run.hold_every = 1;
    run.hold_ms = 2 * EXECUTION_DRAIN_MS;
    run_argv(ARGV(self, "numbers", "25000"));
    ok(run.len == 100000 && are_numbers(run.out, run.len, 0),
       "what is in the pipe when a held command exits still arrives");
    ok(run.late == 0 && run.ends == 1, "and then, once, its end");
}

static void test_surroundings(void)
{
    struct execution_spec spec = {SH("pwd"), NULL, "/usr", NULL, 0,
                                  0,         NULL, 0,      0};
    char *bare[] = {"PATH=/no/such", "A=b", NULL};
    char *here[] = {"PATH=:/no/such", NULL};
    long pid, group;

    fresh();
    run_spec(&spec);
    is_str(run.out, "/usr\n", "a command runs in the folder given");
    spec = (struct execution_spec){
        ARGV("/usr/bin/env"), bare, NULL, NULL, 0, 0, NULL, 0, 0};
    fresh();
    run_spec(&spec);
    is_str(run.out, "PATH=/no/such\nA=b\n", "and has the environment given");
    spec.argv = ARGV("env");
    fresh();
    run_spec(&spec);
    is_int(run.end.exec_errno, ENOENT, "in whose PATH it is looked for");
    spec = (struct execution_spec){ARGV("env"), here, "/usr/bin", NULL, 0,
                                   0,           NULL, 0,          0};
    fresh();
    run_spec(&spec);
    is_str(run.out, "PATH=:/no/such\n", "an empty part of it is the folder");
    fresh();
    run_argv(SH("read pid name state parent group rest < /proc/self/stat;"
                "echo $$ $group"));
    ok(sscanf(run.out, "%ld %ld", &pid, &group) == 2 && pid == group,
       "it leads a process group of its own");
    fresh();
    run_argv(ARGV("cat"));
    ok(run.len == 0 && run.end.status == 0, "its stdin is empty");
    fresh();
    run_argv(ARGV("ls", "/proc/self/fd"));
    is_str(run.out, "0\n1\n2\n3\n", "it inherits no descriptor of ours");
}

/* Tells something where we are not root, who may look into every folder. */
/* The kernel's word for the CPUs that a command may run on. */
static long cpu_told(const cpu_set_t *cpus)
{
    struct execution_spec spec = {
        .argv = ARGV("sed", "-n", "s/^Cpus_allowed_list:[[:space:]]*//p",
                     "/proc/self/status"),
        .cpus = cpus,
        .cpus_bytes = sizeof *cpus};

    run_spec(&spec);
    run.out[run.len] = '\0';
    return run.len > 0 && !strpbrk(run.out, "-,") ? strtol(run.out, NULL, 10)
                                                  : -1;
}

static void test_cpus(void)
{
    cpu_set_t ours, one, none;
    size_t cpu = 0;

    if (sched_getaffinity(0, sizeof ours, &ours) < 0)
        bail("no affinity");
    while (!CPU_ISSET(cpu, &ours))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    is_int(cpu_told(&one), (long)cpu,
           "a command may run on the CPUs that it is given");
    CPU_ZERO(&none);
    CPU_SET(CPU_SETSIZE - 1, &none);
    (void)cpu_told(&none);
    is_int(run.end.status, 0,
           "where there is none of them it runs all the same");
}

static void test_denied_folder(void)
{
    char folder[] = "/tmp/evenstep-test.XXXXXX", path[64];
    char *envp[] = {path, NULL};
    struct execution_spec spec = {ARGV("env"), envp, NULL, NULL, 0,
                                  0,           NULL, 0,    0};

    if (!mkdtemp(folder) || chmod(folder, 0) < 0)
        bail("%s: %s", folder, strerror(errno));
    snprintf(path, sizeof path, "PATH=%s:/usr/bin", folder);
    fresh();
    run_spec(&spec);
    ok(run.end.status == 0 && strncmp(run.out, path, strlen(path)) == 0,
       "a folder of PATH that is closed to us is passed over");
    spec.argv = ARGV("evenstep-no-such");
    fresh();
    run_spec(&spec);
    ok(run.end.exec_errno == ENOENT && run.end.status == 127,
       "and what is in no other one is not found");
    rmdir(folder);
}

/* Signals 32 and 33 are glibc's own: it lets nobody set them, so they are in a
 * command what they were in whoever started us. */
#define NOT_OURS 0x180000000u

static void test_signals(void)
{
    unsigned long long blocked = 1, ignored = 1;
    sigset_t block;

    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&block);
    sigaddset(&block, SIGUSR1);
    sigprocmask(SIG_BLOCK, &block, NULL);
    fresh();
    run_argv(ARGV("grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"));
    ok(sscanf(run.out, "SigBlk: %llx SigIgn: %llx", &blocked, &ignored) == 2
           && blocked == 0 && (ignored & ~(unsigned long long)NOT_OURS) == 0,
       "signals that we block or ignore are at their defaults in it");
    sigprocmask(SIG_BLOCK, NULL, &block);
    ok(sigismember(&block, SIGUSR1) && !sigismember(&block, SIGTERM),
       "and as they were with us");
    sigprocmask(SIG_UNBLOCK, &block, NULL);
}

static void test_left_behind(void)
{
    long pid = 0;

    fresh();
    run_argv(SH("sleep 60 & echo $!"));
    ok(run.ends == 1 && run.end.status == 0,
       "a background process that holds the output does not delay the end");
    ok(sscanf(run.out, "%ld", &pid) == 1 && goes_away(pid), "it is killed");
    fresh();
    run_argv(ARGV(self, "daemon"));
    ok(run.ends == 1 && run.end.status == 0,
       "a daemon that holds the output does not either");
    ok(sscanf(run.out, "%ld", &pid) == 1 && !is_gone(pid), "it is let go");
    kill((pid_t)pid, SIGKILL);
    fresh();
    run.hold_every = 1;
    run.hold_ms = 2 * EXECUTION_DRAIN_MS;
    run_argv(ARGV(self, "daemon"));
    ok(run.ends == 1 && run.late == 0 && run.len > 0,
       "nor if the output was held meanwhile");
    kill((pid_t)strtol(run.out, NULL, 10), SIGKILL);
}

/* Start, and wait for its first output. */
static void start_and_hear(char *const *argv)
{
    struct es_error err;
    struct execution_spec spec = {argv, NULL, NULL, NULL, 0, 0, NULL, 0, 0};

    fresh();
    if (start(&spec, &err) < 0)
        bail("%s: %s", err.what, err.mend);
    while (run.len == 0 && run.ends == 0)
        event_base_loop(base, EVLOOP_ONCE);
}

static void test_stop(void)
{
    const struct timespec pause_5ms = {0, 5000000};

    start_and_hear(SH("echo $$; exec sleep 60"));
    execution_stop(run.x);
    loop();
    ok(run.ends == 1 && run.end.signal == SIGTERM && run.end.status == 143,
       "stop ends a command by SIGTERM");
    execution_stop(run.x);
    execution_hold(run.x, 1);
    execution_hold(run.x, 0);
    event_base_loop(base, EVLOOP_NONBLOCK);
    is_int(run.ends, 1, "stop and hold after the end do nothing");
    execution_destroy(run.x);
    start_and_hear(SH("trap '' TERM; echo up; while :; do sleep 1; done"));
    execution_stop(run.x);
    loop();
    ok(run.end.signal == SIGKILL && run.end.status == 137,
       "one that ignores it is killed");
    ok(run.end.elapsed_ns > EXECUTION_STOP_MS * INT64_C(1000000)
           && run.end.elapsed_ns < 10 * INT64_C(1000000000),
       "after the grace");
    execution_destroy(run.x);
    start_and_hear(SH("trap 'echo bye; exit 5' TERM; echo $$;"
                      "while :; do kill -STOP $$; done"));
    while (state_of(strtol(run.out, NULL, 10)) != 'T')
        nanosleep(&pause_5ms, NULL);
    execution_stop(run.x);
    loop();
    ok(run.end.status == 5 && strstr(run.out, "bye"),
       "one that has stopped itself hears of it, and may have a last word");
    execution_destroy(run.x);
    run.x = NULL;
}

/* Another's SIGTERM: is it ours as well?  All that is compared is the order of
 * timers, so that a slow machine changes nothing. */
static void on_marker(evutil_socket_t fd, short what, void *arg)
{
    int *ends = arg;

    (void)fd;
    (void)what;
    *ends = run.ends;
    if (run.x)
        execution_stop(run.x);
}

static void test_doubt(void)
{
    const struct timespec grace = {0, EXECUTION_DOUBT_MS * 1000000L};
    const struct timeval soon = {0, 1000};
    int before = -1, after = -1;
    struct event *marker = evtimer_new(base, on_marker, &before);
    int64_t begun = clock_ns();

    if (!marker)
        bail("no timer");
    fresh();
    run_argv(SH("kill $$"));
    ok(run.ends == 1 && run.end.signal == SIGTERM
           && clock_ns() - begun >= EXECUTION_DOUBT_MS * INT64_C(900000),
       "one that has died of another's SIGTERM is told later");
    fresh();
    begun = clock_ns();
    run_argv(SH("kill -9 $$"));
    ok(run.ends == 1 && run.end.signal == SIGKILL
           && clock_ns() - begun >= EXECUTION_DOUBT_MS * INT64_C(900000),
       "and of another's SIGKILL, by which Slurm ends a step");
    run_argv(SH("exit 143"));
    is_int(run.end.status, 143, "so is one that says that what it ran has");
    start_and_hear(SH("echo; kill $$"));
    while (execution_group(run.x) != 0)
        event_base_loop(base, EVLOOP_ONCE);
    event_add(marker, &soon);
    while (before < 0)
        event_base_loop(base, EVLOOP_ONCE);
    event_assign(marker, base, -1, 0, on_marker, &after);
    event_add(marker, &(struct timeval){0, EXECUTION_DOUBT_MS * 900});
    loop();
    ok(before == 0 && run.ends == 1 && after < 0,
       "unless it is to stop, as we do");
    execution_destroy(run.x);
    start_and_hear(SH("echo; sleep 60"));
    execution_leave(run.x);
    while (execution_group(run.x) != 0)
        event_base_loop(base, EVLOOP_ONCE);
    nanosleep(&grace, NULL);
    execution_hold(run.x, 1);
    event_base_loop(base, EVLOOP_NONBLOCK);
    before = run.ends;
    execution_hold(run.x, 0);
    loop();
    ok(before == 0 && run.ends == 1, "it ends when it is not held any more");
    execution_destroy(run.x);
    run.x = NULL;
    event_free(marker);
}

static void test_destroy(void)
{
    long leader = 0, other = 0;

    execution_destroy(NULL);
    ok(1, "NULL may be destroyed");
    start_and_hear(SH("sleep 60 & echo $$ $!; wait"));
    errno = EXDEV;
    execution_destroy(run.x);
    is_int(errno, EXDEV, "destroy leaves errno as it was");
    ok(sscanf(run.out, "%ld %ld", &leader, &other) == 2 && goes_away(leader)
           && goes_away(other),
       "and no process");
    ok(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "and no zombie");
    is_int(run.ends, 0, "and calls no end");
    fresh();
    run.destroy_at = 70000;
    run_argv(ARGV(self, "numbers", "262144"));
    ok(run.x == NULL && run.ends == 0 && run.len < 200000,
       "it may be destroyed while its output is told");
    fresh();
    run.destroy_in_end = 1;
    run_argv(ARGV("true"));
    ok(run.x == NULL && run.ends == 1, "and while its end is told");
}

/* In a process without descriptors 0, 1 and 2. */
static void test_no_standard_fds(void)
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0) {
        struct execution_spec spec = {SH("echo out; echo err >&2; cat"),
                                      NULL,
                                      NULL,
                                      NULL,
                                      0,
                                      0,
                                      NULL,
                                      0,
                                      0};
        base = event_base_new(); /* the other one is our parent's */
        for (int fd = 0; fd < 3; fd++)
            close(fd);
        fresh();
        if (!base || start(&spec, NULL) < 0)
            _exit(2);
        alarm(LIMIT_S);
        event_base_dispatch(base);
        _exit(run.end.status == 0 && strcmp(run.out, "out\n") == 0
                      && strcmp(run.tail, "err\n") == 0
                  ? 0
                  : 1);
    }
    waitpid(pid, &status, 0);
    is_int(status, 0, "an agent without stdin, stdout and stderr can run one");
}

/* The thread that started it is killed: so is the command. */
static void test_agent_dies(void)
{
    int fd[2];
    char text[32] = "";
    pid_t agent;
    long pid = 0;

    if (pipe2(fd, O_CLOEXEC) < 0)
        bail("pipe");
    agent = fork();
    if (agent == 0) {
        start_and_hear(SH("echo $$; exec sleep 60"));
        if (write(fd[1], run.out, run.len) < 0)
            _exit(1);
        raise(SIGKILL);
    }
    close(fd[1]);
    if (read(fd[0], text, sizeof text - 1) <= 0)
        bail("the agent said nothing");
    close(fd[0]);
    waitpid(agent, NULL, 0);
    ok(sscanf(text, "%ld", &pid) == 1 && goes_away(pid),
       "a command does not outlive a killed agent");
}

static void test_no_memory(void)
{
    struct execution_spec spec = {ARGV("true"), NULL, NULL, NULL, 0, 0,
                                  NULL,         0,    0};
    struct es_error err = {ES_OK, "", ""};
    long n;

    fresh();
    for (fault_at = n = 0; start(&spec, &err) < 0; fault_at = ++n)
        if (err.kind != ES_ENV || !strstr(err.what, "memory") || run.x)
            break;
    fault_at = -1;
    is_int(n, 2, "each allocation that fails is told, and nothing started");
    loop();
    execution_destroy(run.x);
    is_int(run.end.status, 0, "and then all goes well");
}

/* Played by a process that may have few descriptors. */
static void play_few_fds(int limit)
{
    struct execution_spec spec = {ARGV("true"), NULL, "/", NULL, 0, 0,
                                  NULL,         0,    0};
    struct es_error err = {ES_OK, "", ""};
    int spare[64], n = 0, told = 1, rc = -1;

    /* Leave 0, 1, 2, ... descriptors free until it is enough. */
    while (n < limit && (spare[n] = open("/dev/null", O_CLOEXEC)) >= 0)
        n++;
    fresh();
    while (n > 0 && rc < 0) {
        rc = start(&spec, &err);
        told &= rc == 0 || (err.what[0] && !run.x);
        if (rc < 0)
            close(spare[--n]);
    }
    while (n > 0)
        close(spare[--n]);
    ok(rc == 0 && told, "each descriptor that cannot be had is told");
    if (rc == 0)
        loop();
    execution_destroy(run.x);
    ok(run.ends == 1 && run.end.status == 0, "and then all goes well");
}

static void test_no_fds(void)
{
    int status = -1;
    pid_t pid = fork();

    /* In a child, as the limit is for the whole process. */
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", "ulimit -n 40; exec \"$0\" few-fds", self,
              (char *)NULL);
        _exit(1);
    }
    waitpid(pid, &status, 0);
    is_int(status, 0,
           "an agent that is out of descriptors says so and recovers");
}

/* More than a pipe holds: else it would wait for a reader. */
static void test_unheard(void)
{
    char sh[] = "/bin/sh", c[] = "-c", script[] = "head -c 300000 /dev/zero";
    char *argv[] = {sh, c, script, NULL};
    const struct execution_spec spec = {.argv = argv};
    struct es_error err = {0};

    fresh();
    if (execution_start(&run.x, base, &spec, NULL, on_end, NULL, &err) < 0)
        bail("%s", err.what);
    loop();
    ok(run.ends == 1 && run.end.status == 0 && run.calls == 0,
       "output that nobody wants holds up no command");
    execution_destroy(run.x);
    run.x = NULL;
}

static void test_all(void)
{
    int fds = own_entries("/proc/self/fd");

    test_refusals();
    test_not_started();
    test_ends();
    test_tail();
    test_output();
    test_surroundings();
    test_cpus();
    test_denied_folder();
    test_signals();
    test_left_behind();
    test_stop();
    test_doubt();
    test_destroy();
    test_no_memory();
    is_int(own_entries("/proc/self/fd"), fds, "no descriptor is left open");
    ok(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD,
       "no child is left unwaited for");
    test_no_standard_fds();
    test_agent_dies();
    test_no_fds();
    test_unheard();
}

int main(int argc, char *argv[])
{
    int few = argc > 1 && strcmp(argv[1], "few-fds") == 0;

    if (argc > 1 && !few)
        return play(argv);
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        bail("no /proc");
    base = event_base_new();
    if (base)
        run.release = evtimer_new(base, on_release, NULL);
    if (!base || !run.release)
        bail("no event loop");
    if (few) {
        if (!freopen("/dev/null", "w", stdout))
            return 1;
        play_few_fds(64);
        return tap_bad;
    }
    test_all();
    event_free(run.release);
    event_base_free(base);
    return done();
}
