/* SPDX-License-Identifier: BSD-2-Clause */
/* A piece whose units are tasks, run by real processes: what it sends of each. */
#include "launcher/agent/task_runner.h"
#include "launcher/wire/task_stream.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#define TASKS      8
#define WAIT       60000 /* ms for what is to come, and costs nothing else */
#define WORDS(...) ((char *[]){__VA_ARGS__, NULL})
#define BY_SHELL   "--records", "--shell=/bin/sh"

static char dir[] = "/tmp/evenstep-task-runner.XXXXXX";
static char path[100];

struct task {
    char out[400], err[1000]; /* the first bytes */
    size_t out_len, err_len;
    struct task_end end;
};

static struct task task[TASKS + 1]; /* the last may not have ended */
static size_t n;                    /* that have ended */
static char said[2000];             /* by the runner on stderr */
static int status;                  /* of it; 1000 and more: of a signal */
static long rss_mib;                /* of it, or of a task that is more */

static struct {
    pid_t pid;
    int out, err;
    struct task_stream stream;
    int is_broken;
} runner;

static void on_text(void *arg,
                    enum task_part kind,
                    const void *bytes,
                    size_t len)
{
    struct task *t = &task[n];
    char *text = kind == TASK_OUT ? t->out : t->err;
    size_t *have = kind == TASK_OUT ? &t->out_len : &t->err_len;
    size_t most = (kind == TASK_OUT ? sizeof t->out : sizeof t->err) - 1;

    (void)arg;
    if (*have < most)
        memcpy(text + *have, bytes, most - *have < len ? most - *have : len);
    *have += len;
}

static void on_end(void *arg, const struct task_end *e)
{
    (void)arg;
    if (n == TASKS)
        bail("more tasks than there are");
    task[n++].end = *e;
}

static void on_again(void *arg)
{
    (void)arg;
    task[n].out_len = 0;
}

static const struct task_events events = {
    .text = on_text, .again = on_again, .end = on_end};

/* --- a runner ------------------------------------------------------------- */

static void set_number(const char *name, uint64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "%ju", (uintmax_t)value);
    setenv(name, text, 1);
}

__attribute__((noreturn)) static void be_runner(char **words,
                                                int in,
                                                int out,
                                                int err)
{
    struct es_error why = {0};
    int argc = 0, rc;

    setpgid(0, 0);
    if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0
        || dup2(err, STDERR_FILENO) < 0)
        _exit(99);
    while (words[argc])
        argc++;
    rc = task_runner_main(argc, words, &why);
    if (rc < 0)
        dprintf(STDERR_FILENO, "%s (%s)", why.what, why.mend);
    _exit(rc < 0 ? (int)why.kind : rc);
}

/* Of the units [begin, end); input: their records, or NULL. */
static void start(uint64_t begin, uint64_t end, const char *input, char **words)
{
    int in = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int out[2], err[2];
    size_t len = input ? strlen(input) : 0;

    memset(task, 0, sizeof task);
    n = 0;
    memset(&runner, 0, sizeof runner);
    set_number("EVENSTEP_BEGIN", begin);
    set_number("EVENSTEP_END", end);
    if (in < 0 || write(in, input, len) != (ssize_t)len
        || lseek(in, 0, SEEK_SET) < 0 || pipe2(out, O_CLOEXEC) < 0
        || pipe2(err, O_CLOEXEC) < 0)
        bail("no pipes");
    runner.pid = fork();
    if (runner.pid < 0)
        bail("no process");
    if (runner.pid == 0)
        be_runner(words, in, out[1], err[1]);
    setpgid(runner.pid, runner.pid);
    close(in);
    close(out[1]);
    close(err[1]);
    runner.out = out[0];
    runner.err = err[0];
}

/* What comes next of its stdout; 0: no more. */
static int hear(void)
{
    static uint8_t bytes[65536];
    struct pollfd fd = {.fd = runner.out, .events = POLLIN};
    ssize_t len;

    if (poll(&fd, 1, WAIT) <= 0)
        bail("the runner says nothing");
    len = read(runner.out, bytes, sizeof bytes);
    if (len > 0
        && task_stream_read(&runner.stream, bytes, (size_t)len, &events, NULL)
               < 0)
        runner.is_broken = 1;
    return len > 0;
}

static void end(void)
{
    struct rusage use;
    int how;
    ssize_t len;

    while (hear())
        ;
    len = read(runner.err, said, sizeof said - 1);
    said[len > 0 ? len : 0] = '\0';
    close(runner.out);
    close(runner.err);
    if (wait4(runner.pid, &how, 0, &use) != runner.pid)
        bail("no runner");
    if (runner.is_broken)
        bail("it sends what is no stream of tasks");
    status = WIFSIGNALED(how) ? 1000 + WTERMSIG(how) : WEXITSTATUS(how);
    rss_mib = use.ru_maxrss / 1024;
}

static void run(uint64_t begin, uint64_t to, const char *input, char **words)
{
    start(begin, to, input, words);
    end();
}

/* Of so many tasks by a shell, from the first unit on. */
static void run_lines(uint64_t tasks, const char *input)
{
    run(0, tasks, input, WORDS(BY_SHELL, "--"));
}

static int has_ended(size_t i, uint32_t with, uint32_t signal)
{
    const struct task_end *e = &task[i].end;

    if (i < n && e->status == with && e->signal == signal)
        return 1;
    diag("task %zu of %zu: status %u, signal %u", i, n, e->status, e->signal);
    return 0;
}

/* --- files that tasks write ----------------------------------------------- */

static const char *file(const char *name)
{
    static char text[2][200];
    static int i;

    i = !i;
    snprintf(text[i], sizeof text[i], "%s/%s", dir, name);
    return text[i];
}

static int is_there(const char *name)
{
    return access(file(name), F_OK) == 0;
}

static void wait_for_file(const char *name)
{
    for (int ms = 0; !is_there(name); ms += 10) {
        if (ms > WAIT)
            bail("%s does not come", name);
        usleep(10000);
    }
}

static pid_t pid_in(const char *name)
{
    FILE *fp = fopen(file(name), "r");
    int pid = 0;

    if (!fp || fscanf(fp, "%d", &pid) != 1)
        bail("no number in %s", name);
    fclose(fp);
    return (pid_t)pid;
}

/* A process that is being killed is there for a moment. */
static int is_gone(pid_t pid)
{
    for (int ms = 0; kill(pid, 0) == 0; ms += 10) {
        if (ms > WAIT)
            return 0;
        usleep(10000);
    }
    return 1;
}

/* --- what is run ---------------------------------------------------------- */

static void test_numbers(void)
{
    run(3, 6, NULL, WORDS("--", "echo", "{}", "of {#}"));
    ok(status == 0 && n == 3,
       "of three units without a record there are three tasks");
    ok(strcmp(task[0].out, "3 of 4\n") == 0
           && strcmp(task[1].out, "4 of 5\n") == 0
           && strcmp(task[2].out, "5 of 6\n") == 0,
       "each with its number, in their order");
    run(7, 9, NULL,
        WORDS("--", "sh", "-c",
              "cat; echo $EVENSTEP_BEGIN $EVENSTEP_END $EVENSTEP_COUNT"));
    ok(strcmp(task[0].out, "7 8 1\n") == 0
           && strcmp(task[1].out, "8 9 1\n") == 0,
       "whose environment is of it alone, and whose stdin is empty");
    run(5, 5, NULL, WORDS("--", "echo"));
    ok(status == 0 && n == 0, "of no units there are no tasks");
}

static void test_records(void)
{
    static const char two[] = "1\ta b\t'\n2\t\\n\t$HOME\n";

    run(0, 2, two, WORDS("--records", "--", "printf", "<%s>", "{2}", "{1}"));
    ok(status == 0 && n == 2 && strcmp(task[0].out, "<'><a b>") == 0
           && strcmp(task[1].out, "<$HOME><\n>") == 0,
       "values of records are words, whatever is in them");
    run(0, 2, two, WORDS(BY_SHELL, "--", "printf '<%s>' {2} {1}; echo done"));
    ok(n == 2 && strcmp(task[0].out, "<'><a b>done\n") == 0
           && strcmp(task[1].out, "<$HOME><\n>done\n") == 0,
       "also in a text for a shell");
    run(0, 1, "1\ta b\tc\n",
        WORDS("--records", "--repeat", "--", "printf", "<%s>", "-{}"));
    is_str(task[0].out, "<-a b><-c>",
           "a word comes once for each value, if so asked for");
    run_lines(3, "1\techo a | tr a b\n3\techo 'x  y'\\t\"z\" >&2\n4\t\n");
    ok(status == 0 && n == 3, "and a record may be the text");
    is_str(task[0].out, "b\n", "with a pipe");
    ok(strcmp(task[1].out, "") == 0 && strcmp(task[1].err, "x  y z\n") == 0,
       "with quotes and stderr");
    ok(has_ended(2, 0, 0), "or with nothing");
    run_lines(2, "1\tcd /; X=1; exit 0; echo no\n2\tpwd; echo ${X-none}\n");
    ok(n == 2 && strstr(task[1].out, "none\n")
           && strcmp(task[1].out, "/\nnone\n") != 0,
       "nothing of one leaks into the next");
}

static void test_ends(void)
{
    struct timespec now;

    run_lines(
        5,
        "1\texit 3\n2\tkill -9 $$\n3\tkill -TERM $$\n4\tno-such-program\n5\ttrue\n");
    ok(status == 0 && n == 5, "tasks that fail are told as such");
    ok(has_ended(0, 3, 0) && has_ended(1, 137, 9) && has_ended(2, 143, 15)
           && has_ended(3, 127, 0) && has_ended(4, 0, 0),
       "each with its status or signal");
    ok(strstr(task[3].err, "no-such-program"), "and with the shell's word");
    run_lines(
        1,
        "1\tx=0; while test $x -lt 40000; do x=$((x + 1)); done; sleep 0.1\n");
    clock_gettime(CLOCK_REALTIME, &now);
    ok(task[0].end.tries == 1 && task[0].end.why == TASK_BY_ITSELF
           && task[0].end.exec_errno == 0,
       "of one that is run once");
    ok(task[0].end.elapsed_ns >= 100000000u && task[0].end.cpu_ns > 1000000u
           && task[0].end.cpu_ns < task[0].end.elapsed_ns
           && task[0].end.rss_mib > 0
           && task[0].end.begun_ns / 1000000000u + 600 > (uint64_t)now.tv_sec,
       "its times and memory are known");
}

static void test_programs(void)
{
    run(0, 3, NULL, WORDS("--", "/no/such/program", "{}"));
    ok(status == 127 && n == 0,
       "a program that is not there is no task's fault");
    ok(strstr(said, "/no/such/program: No such file"), "and named: %s", said);
    run(0, 3, NULL, WORDS("--", dir));
    ok(status == 126 && n == 0 && strstr(said, dir),
       "nor is one that is a folder");
    run(0, 1, "1\ttrue\n", WORDS("--records", "--shell=/no/such/sh", "--"));
    ok(status == 127 && n == 0, "nor a shell that is not there");
    run(0, 2, "1\t/no/such/program\n2\ttrue\n", WORDS("--records", "--", "{}"));
    ok(status == 0 && n == 2 && has_ended(0, 127, 0)
           && task[0].end.exec_errno == ENOENT && has_ended(1, 0, 0),
       "one that is a value is");
    ok(strstr(task[0].err, "/no/such/program: No such file"),
       "and named on its stderr");
}

static void test_long_words(void)
{
    enum { LONG = 200000 };
    char *input = malloc(LONG + 100);

    if (!input)
        bail("no memory");
    memset(input, 'x', LONG);
    memcpy(input, "1\t", 2);
    strcpy(input + LONG, "\n2\tshort\n");
    run(0, 2, input, WORDS("--records", "--", "printf", "%.3s", "{}"));
    ok(status == 0 && n == 2 && task[0].end.exec_errno == E2BIG
           && has_ended(0, 126, 0),
       "a value that no program can get is its task's fault");
    ok(strstr(task[0].err, "too long") && strcmp(task[1].out, "sho") == 0,
       "which is named, and the next one is run: %.100s", task[0].err);
    free(input);
}

/* --- limits --------------------------------------------------------------- */

static void test_patience(void)
{
    run(0, 3, "1\techo quick\n2\tsleep 0.4\n3\ttouch no\n",
        WORDS(BY_SHELL, "--patience=50", "--"));
    ok(status == 0 && n == 2 && has_ended(1, 0, 0) && !is_there("no"),
       "what is behind one that proves long is not begun");
    run(0, 2, "1\techo quick\n2\tsleep 0.4\n",
        WORDS(BY_SHELL, "--patience=50", "--"));
    ok(status == 0 && n == 2, "the last one may be");
}

static void test_timeout(void)
{
    run(0, 3,
        "1\techo on; sleep 1000; echo off\n"
        "2\ttrap '' TERM; echo $$ >ignores; while :; do sleep 0.05; done\n"
        "3\techo quick\n",
        WORDS(BY_SHELL, "--timeout=300", "--"));
    ok(status == 0 && n == 3, "tasks that run for too long are ended");
    ok(task[0].end.why == TASK_LATE && has_ended(0, 143, 15), "by SIGTERM");
    is_str(task[0].out, "on\n", "and what they have printed is kept");
    ok(task[1].end.why == TASK_LATE && has_ended(1, 137, 9),
       "who ignores it, by SIGKILL");
    ok(task[1].end.elapsed_ns >= 2300000000u, "2 s later");
    ok(task[2].end.why == TASK_BY_ITSELF && has_ended(2, 0, 0),
       "the next has its own time");
    ok(is_gone(pid_in("ignores")), "and none is left");
}

static void test_what_is_left(void)
{
    run_lines(
        2,
        "1\tsleep 1000 & echo $! >left; (sleep 1000 & echo $! >deep; sleep 1000) & "
        "until test -s deep; do sleep 0.01; done; echo ends\n"
        "2\tkill -0 $(cat left) && echo there; kill -0 $(cat deep) && echo deep; true\n");
    ok(status == 0 && n == 2 && strcmp(task[0].out, "ends\n") == 0,
       "a task may end before what it has started");
    is_str(task[1].out, "", "which is not there when the next begins");
    ok(is_gone(pid_in("left")) && is_gone(pid_in("deep")), "nor later");
}

static void test_daemons(void)
{
    run_lines(
        2,
        "1\tsetsid sh -c 'echo $$ >daemon; exec sleep 1000' & "
        "until test -s daemon; do sleep 0.01; done; echo ends\n2\techo next\n");
    ok(status == 0 && n == 2 && strcmp(task[0].out, "ends\n") == 0
           && strcmp(task[1].out, "next\n") == 0,
       "a daemon that holds a task's stdout holds nobody else");
    ok(kill(pid_in("daemon"), SIGKILL) == 0, "and it lives on");
    run_lines(
        2,
        "1\tsetsid sh -c 'echo $$ >noisy; exec yes' & "
        "until test -s noisy; do sleep 0.01; done; sleep 0.1\n2\techo next\n");
    ok(status == 0 && n == 2 && strcmp(task[1].out, "next\n") == 0,
       "nor one that prints on and on");
    ok(is_gone(pid_in("noisy")), "which dies of it");
}

static void test_much(void)
{
    const size_t bytes = 300u << 20;
    char line[100];

    snprintf(line, sizeof line, "1\thead -c %zu /dev/zero\n2\techo next\n",
             bytes);
    run_lines(2, line);
    ok(status == 0 && n == 2 && task[0].out_len == bytes
           && strcmp(task[1].out, "next\n") == 0,
       "a task may print %zu MiB", bytes >> 20);
    ok(rss_mib < 100, "of which none is kept: %ld MiB", rss_mib);
}

static void test_tries(void)
{
    run(0, 2,
        "1\techo x >>tried; wc -l <tried; test $(wc -l <tried) = 3\n2\techo x >>failed; exit 3\n",
        WORDS(BY_SHELL, "--retries=3", "--"));
    ok(n == 2 && has_ended(0, 0, 0) && task[0].end.tries == 3,
       "a task that fails is tried again until it does not");
    ok(task[0].out_len == 2 && strncmp(task[0].out, "3\n", 2) == 0,
       "and only what its last try prints counts");
    ok(has_ended(1, 3, 0) && task[1].end.tries == 4, "or so often");
    run(0, 3, "1\texit 3\n2\texit 0\n3\texit 4\n",
        WORDS(BY_SHELL, "--retries=1", "--ok=3,4", "--"));
    ok(task[0].end.tries == 1 && task[1].end.tries == 2
           && task[2].end.tries == 1,
       "what is no failure is as was said");
}

static void test_delay(void)
{
    run(0, 3, NULL, WORDS("--delay=200", "--", "true"));
    ok(n == 3 && task[1].end.begun_ns - task[0].end.begun_ns >= 200000000u
           && task[2].end.begun_ns - task[1].end.begun_ns >= 200000000u,
       "so long is between the starts of two tasks");
}

/* --- signals -------------------------------------------------------------- */

/* Waits for that many ends. */
static void wait_for_ends(size_t want)
{
    while (n < want)
        if (!hear())
            bail("it has ended");
}

static void test_stop(void)
{
    start(
        0, 4,
        "1\techo one\n2\techo two\n"
        "3\ttouch begun; while :; do echo .; sleep 0.001; done\n4\ttouch no\n",
        WORDS(BY_SHELL, "--"));
    wait_for_ends(2);
    ok(1, "ends are told while a task is at work that prints all the time");
    wait_for_file("begun");
    kill(-runner.pid, SIGTERM);
    end();
    ok(status == 143 && n == 2 && !is_there("no"),
       "a SIGTERM ends the task at hand, of which nothing is said, and all");
    start(
        0, 3,
        "1\ttrap '' TERM; touch slow; until test -e go; do sleep 0.01; done; echo all\n2\ttouch no\n",
        WORDS(BY_SHELL, "--"));
    wait_for_file("slow");
    kill(-runner.pid, SIGTERM);
    close(open(file("go"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    end();
    ok(status == 143 && n == 1 && has_ended(0, 0, 0)
           && strcmp(task[0].out, "all\n") == 0 && !is_there("no"),
       "who ends well all the same is done, and no other begins");
    start(0, 2, "1\ttouch first\n2\ttouch no\n",
          WORDS(BY_SHELL, "--delay=3600000", "--"));
    wait_for_ends(1);
    kill(-runner.pid, SIGTERM);
    end();
    ok(status == 143 && n == 1 && !is_there("no"),
       "nor where one waits for its start");
}

/* Of one that goes on until the file "on" is there. */
static void tell_last_in(const char *input, char **words)
{
    unlink(file("at"));
    unlink(file("on"));
    start(0, 2, input, words);
    wait_for_file("at");
    sigqueue(runner.pid, SIGTERM,
             (union sigval){.sival_int = TASK_RUNNER_LAST});
    usleep(20000);
    close(open(file("on"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    end();
}

static void test_last(void)
{
    tell_last_in("1\ttouch at; until test -e on; do sleep 0.01; done; exit 3\n"
                 "2\ttouch no\n",
                 WORDS(BY_SHELL, "--"));
    ok(status == 143 && n == 1 && has_ended(0, 3, 0) && !is_there("no"),
       "the task at hand may be the last, and counts also if it has failed");
    tell_last_in("1\ttouch at; until test -e on; do sleep 0.01; done; exit 3\n"
                 "2\ttouch no\n",
                 WORDS(BY_SHELL, "--retries=1", "--"));
    ok(status == 143 && n == 0 && !is_there("no"),
       "but not where it would be tried again");
}

/* What people write: trap "kill 0" EXIT. */
static void test_own_signals(void)
{
    run_lines(
        4,
        "1\ttrap 'kill 0' EXIT; echo a\n2\tkill -INT 0\n3\tkill -HUP 0; kill -USR1 0\n4\techo d\n");
    ok(status == 0 && n == 4,
       "a task that signals its whole group ends nobody else");
    ok(has_ended(0, 143, 15) && has_ended(1, 130, 2) && has_ended(2, 129, 1),
       "and has failed by that signal");
    is_str(task[3].out, "d\n", "the next is run");
    start(
        0, 2,
        "1\ttrap '' USR1; touch waits; until test -e on; do sleep 0.01; done; echo a\n2\techo b\n",
        WORDS(BY_SHELL, "--"));
    wait_for_file("waits");
    kill(-runner.pid, SIGUSR1);
    close(open(file("on"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    end();
    ok(status == 0 && n == 2 && strcmp(task[1].out, "b\n") == 0,
       "a signal for the tasks is theirs alone");
}

/* --- what is no piece ----------------------------------------------------- */

static void test_refused(void)
{
    run(0, 1, NULL, WORDS("--nonsense", "--", "true"));
    ok(status == ES_USAGE && strstr(said, "by hand"),
       "other options are refused");
    run(0, 1, NULL, WORDS("--ok=256", "--", "true"));
    is_int(status, ES_USAGE, "a status that is none, too");
    run(0, 1, NULL, WORDS("--retries=1", "true"));
    is_int(status, ES_USAGE, "and a command without --");
    run(0, 1, NULL, WORDS("--"));
    is_int(status, ES_USAGE, "or none");
    run(0, 3, "1\techo a\n", WORDS(BY_SHELL, "--"));
    ok(status == ES_WORK && n == 1 && strstr(said, "before unit 1"),
       "of records that end too early those are done that there are");
    run(0, 2, "1\techo a\nno record\n", WORDS(BY_SHELL, "--"));
    ok(status == ES_WORK && n == 1 && strstr(said, "unit 1: no record"),
       "and up to what is none");
    unsetenv("EVENSTEP_SLOT");
    run(0, 1, NULL, WORDS("--", "true"));
    is_int(status, ES_USAGE, "outside of a piece nothing is run");
}

int main(void)
{
    if (!mkdtemp(dir) || chdir(dir) < 0)
        bail("no folder");
    snprintf(path, sizeof path, "%s/records", dir);
    setenv("EVENSTEP_SLOT", "0", 1);
    setenv("EVENSTEP_FRAME", "0", 1);
    setenv("EVENSTEP_NODE", "here", 1);
    test_numbers();
    test_records();
    test_ends();
    test_programs();
    test_long_words();
    test_patience();
    test_timeout();
    test_what_is_left();
    test_daemons();
    test_much();
    test_tries();
    test_delay();
    test_stop();
    test_last();
    test_own_signals();
    test_refused();
    return done();
}
