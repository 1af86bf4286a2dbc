/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/task_runner.h"
#include "launcher/agent/alone.h"
#include "launcher/agent/job_memory.h"
#include "launcher/base/number.h"
#include "launcher/base/spool.h"
#include "launcher/exec/exec_fault.h"
#include "launcher/exec/spawn.h"
#include "launcher/exec/task_words.h"
#include "launcher/exec/template.h"
#include "launcher/wire/task_stream.h"
#include "pmix_bcast/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OUT_MAX    65536u /* bytes of parts that wait to be written together */
#define FLUSH_MS   50     /* they wait no longer, if a task goes on */
#define KILL_MS    2000   /* from SIGTERM to SIGKILL, as of other commands */
#define DOUBT_MS   500    /* from a death by SIGTERM until ours has come */
#define ROOM_MS    20     /* until it is asked again whether a task may run */
#define STATUS_MAX 256

struct runner {
    /* As the arguments have it: */
    int has_records;
    const char *shell; /* NULL: none */
    int64_t retries, timeout_ms, delay_ms, patience_ms;
    char ok[STATUS_MAX];
    char **command;
    unsigned how; /* of task_words() */
    /* The piece: */
    struct task_place place;
    uint64_t begin, end; /* of its units */
    int gives_back;      /* TASK_LAST was said of it */
    struct task_record record;
    char number[32];
    char *line; /* of the record, room bytes */
    size_t room;
    char **environ;
    int signal_fd;
    int stopped;     /* by SIGTERM */
    int is_last;     /* the task at hand is */
    int cannot_exec; /* CMD could not be started: 127 or 126 */
    int64_t last_start_ns;
    uint64_t memory_kills; /* of our control groups so far */
    int alone_fd;          /* of alone.h; 0: none */
    uint8_t out[OUT_MAX];
    size_t len;       /* of out */
    int64_t since_ns; /* when the first of these came */
};

struct task {
    struct spawned process;
    struct task_end end;
    int has_ended;
    int64_t term_ns; /* when it got a SIGTERM of ours; 0: it did not */
    int was_killed;
};

/* --- what goes out -------------------------------------------------------- */

static int flush(struct runner *r)
{
    int rc = write_all(STDOUT_FILENO, r->out, r->len);

    r->len = 0;
    return rc;
}

static int put_part(struct runner *r,
                    enum task_part kind,
                    const void *bytes,
                    size_t len)
{
    if (r->len + TASK_PART_HEAD + len > sizeof r->out && flush(r) < 0)
        return -1;
    if (r->len == 0)
        r->since_ns = clock_ns();
    task_part_head(r->out + r->len, kind, len);
    memcpy(r->out + r->len + TASK_PART_HEAD, bytes, len);
    r->len += TASK_PART_HEAD + len;
    return 0;
}

static int put_end(struct runner *r, const struct task_end *e)
{
    uint8_t bytes[TASK_END_BYTES];

    task_end_write(bytes, e);
    if (put_part(r, TASK_END, bytes, sizeof bytes) < 0)
        return -1;
    return flush(r);
}

/* --- a task --------------------------------------------------------------- */

/* What it has written so far.  0, or -1: it cannot be passed on. */
static int read_some(struct runner *r, int *fd, enum task_part kind)
{
    uint8_t bytes[OUT_MAX - TASK_PART_HEAD];

    for (;;) {
        ssize_t n = read(*fd, bytes, sizeof bytes);

        if (n > 0 && put_part(r, kind, bytes, (size_t)n) < 0)
            return -1;
        if (n == 0)
            spawn_close(fd);
        if (n <= 0)
            return 0;
        if ((size_t)n < sizeof bytes)
            return 0; /* poll() tells of more */
    }
}

static void take_end(struct task *t, int status, const struct rusage *use)
{
    struct task_end *e = &t->end;

    t->has_ended = 1;
    e->elapsed_ns = (uint64_t)(clock_ns() - t->process.begin_ns);
    e->signal = WIFSIGNALED(status) ? (uint32_t)WTERMSIG(status) : 0;
    e->status = e->signal ? 128 + e->signal : (uint32_t)WEXITSTATUS(status);
    e->cpu_ns =
        (uint64_t)(use->ru_utime.tv_sec + use->ru_stime.tv_sec) * 1000000000u
        + (uint64_t)(use->ru_utime.tv_usec + use->ru_stime.tv_usec) * 1000u;
    e->rss_mib = (uint32_t)((uint64_t)use->ru_maxrss / 1024);
}

/* The children that there are, of which the task's own may have ended: those that
 * it has left are ours, as we are a subreaper. */
static void reap(struct task *t)
{
    struct rusage use;
    int status;
    pid_t pid;

    while ((pid = wait4(-1, &status, WNOHANG, &use)) > 0)
        if (pid == t->process.pid)
            take_end(t, status, &use);
}

/* A task's `kill 0` is of our group, and says nothing to us: whoever has sent it is
 * there until it is reaped. */
static void hear_stop(struct runner *r)
{
    struct signalfd_siginfo info;

    while (read(r->signal_fd, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo != SIGTERM
            || getpgid((pid_t)info.ssi_pid) == getpgrp())
            continue;
        if (info.ssi_code == SI_QUEUE && info.ssi_int == TASK_RUNNER_LAST)
            r->is_last = 1;
        else
            r->stopped = 1;
    }
}

static int begins_no_more(const struct runner *r)
{
    return r->stopped || r->is_last;
}

static void hear_signals(struct runner *r, struct task *t)
{
    hear_stop(r);
    reap(t);
}

/* What it has left in our group: of each round those that have become ours. */
static void kill_left(struct task *t)
{
    char path[64], line[32];
    int found = 1;

    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    while (found
           && waitid(P_ALL, 0, &(siginfo_t){0}, WEXITED | WNOHANG | WNOWAIT)
                  == 0) {
        FILE *file = fopen(path, "re");

        found = 0;
        while (file && fscanf(file, "%31s", line) == 1) {
            pid_t pid = (pid_t)atol(line);

            if (pid > 0 && getpgid(pid) == getpgrp()) {
                (void)kill(pid, SIGKILL);
                (void)waitpid(pid, NULL, 0);
                found = 1;
            }
        }
        if (file)
            (void)fclose(file); /* only read */
        reap(t);
    }
}

static int left_ms(int64_t since_ns, int64_t ms)
{
    int64_t left = ms - (clock_ns() - since_ns) / 1000000;

    return left > 0 ? (int)(left < FLUSH_MS ? left : FLUSH_MS) : 0;
}

/* It runs for too long. */
static void press(struct runner *r, struct task *t)
{
    if (r->timeout_ms == 0 || t->has_ended)
        return;
    if (!t->term_ns && left_ms(t->process.begin_ns, r->timeout_ms) == 0) {
        t->end.why = TASK_LATE;
        t->term_ns = clock_ns();
        (void)kill(t->process.pid, SIGTERM);
        (void)kill(t->process.pid, SIGCONT);
    } else if (t->term_ns && !t->was_killed
               && left_ms(t->term_ns, KILL_MS) == 0) {
        t->was_killed = 1;
        (void)kill(t->process.pid, SIGKILL);
    }
}

static int may_give_back(const struct runner *r)
{
    return r->patience_ms > 0 && !r->gives_back
           && (r->place.unit > r->begin || r->place.unit + 1 < r->end);
}

/* It runs for so long that those before it count now, and those behind it are for
 * others. */
static int give_back(struct runner *r, const struct task *t)
{
    if (!may_give_back(r) || t->has_ended
        || left_ms(t->process.begin_ns, r->patience_ms) > 0)
        return 0;
    r->gives_back = 1;
    return put_part(r, TASK_LAST, "", 0) < 0 ? -1 : flush(r);
}

static int follow(struct runner *r, struct task *t)
{
    while (!t->has_ended) {
        struct pollfd fd[] = {{.fd = r->signal_fd, .events = POLLIN},
                              {.fd = t->process.out_fd, .events = POLLIN},
                              {.fd = t->process.err_fd, .events = POLLIN}};
        int waits = r->len > 0 || r->timeout_ms > 0 || may_give_back(r);
        int n = poll(fd, 3, waits ? FLUSH_MS : -1);

        if (n < 0 && errno != EINTR)
            return -1;
        if (r->len > 0 && left_ms(r->since_ns, FLUSH_MS) == 0 && flush(r) < 0)
            return -1;
        if (n > 0 && fd[0].revents)
            hear_signals(r, t);
        if ((n > 0 && fd[1].revents
             && read_some(r, &t->process.out_fd, TASK_OUT) < 0)
            || (n > 0 && fd[2].revents
                && read_some(r, &t->process.err_fd, TASK_ERR) < 0))
            return -1;
        press(r, t);
        if (give_back(r, t) < 0)
            return -1;
    }
    return 0;
}

/* All that is in a pipe now: somebody may be left who writes on and on. */
static int drain(struct runner *r, int *fd, enum task_part kind)
{
    uint8_t bytes[OUT_MAX - TASK_PART_HEAD];
    int left = 0;

    if (*fd >= 0 && ioctl(*fd, FIONREAD, &left) < 0)
        return -1;
    while (left > 0) {
        size_t most = (size_t)left < sizeof bytes ? (size_t)left : sizeof bytes;
        ssize_t n = read(*fd, bytes, most);

        if (n <= 0)
            break;
        if (put_part(r, kind, bytes, (size_t)n) < 0)
            return -1;
        left -= (int)n;
    }
    spawn_close(fd);
    return 0;
}

static uint64_t now_ns(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Why its program was not started: 0 if it was. */
static int exec_fault(struct task *t, struct exec_fault *fault)
{
    ssize_t n;

    do
        n = read(t->process.exec_fd, fault, sizeof *fault);
    while (n < 0 && errno == EINTR);
    if (n == sizeof *fault)
        t->end.exec_errno = (uint32_t)fault->error;
    spawn_close(&t->process.exec_fd);
    return (int)t->end.exec_errno;
}

/* Is the program the same for all tasks? */
static int is_one_program(const struct runner *r)
{
    return r->shell || !strchr(r->command[0], '{');
}

/* Say why on stderr: of the task, or of us, as whoever gave us the piece can give
 * it to another node. */
static int tell_fault(struct runner *r,
                      const struct exec_fault *fault,
                      const char *program)
{
    char text[EXEC_FAULT_MAX], line[EXEC_FAULT_MAX + 400];
    size_t n = exec_fault_say(fault, text);
    int len = snprintf(line, sizeof line, "evenstep: %.300s: %s\n%.*s", program,
                       strerror(fault->error), (int)n, text);

    if (!is_one_program(r) || fault->error == E2BIG)
        return put_part(r, TASK_ERR, line, (size_t)len);
    r->cannot_exec = fault->error == ENOENT ? 127 : 126;
    return write_all(STDERR_FILENO, line, (size_t)len);
}

/* It has died of SIGTERM or SIGKILL, or says so: is that of a signal that we get,
 * too? */
static void doubt(struct runner *r, struct task *t)
{
    struct pollfd fd = {.fd = r->signal_fd, .events = POLLIN};
    int64_t since = clock_ns();

    if (t->end.why != TASK_BY_ITSELF
        || (t->end.status != 128 + SIGTERM && t->end.status != 128 + SIGKILL))
        return;
    while (!r->stopped && left_ms(since, DOUBT_MS) > 0)
        if (poll(&fd, 1, left_ms(since, DOUBT_MS)) > 0)
            hear_signals(r, t);
}

/* Something of it was killed by SIGKILL, and not by us: for want of memory? */
static void note_memory(struct runner *r, struct task *t)
{
    uint64_t kills;

    if (t->end.why != TASK_BY_ITSELF || t->end.status != 128 + SIGKILL)
        return;
    kills = job_memory_kills("/proc", "/sys");
    if (kills > r->memory_kills)
        t->end.why = TASK_NO_MEMORY;
    r->memory_kills = kills;
}

/* One try.  0, or -1: this process is to end. */
static int run_once(struct runner *r,
                    struct task *t,
                    char *const argv[],
                    struct es_error *err)
{
    const struct execution_spec spec = {
        .argv = argv, .envp = r->environ, .stays = 1};
    struct exec_fault fault;
    int rc;

    t->end.begun_ns = now_ns();
    r->last_start_ns = clock_ns();
    if (spawn(&t->process, &spec, err) < 0)
        return -1;
    if (exec_fault(t, &fault) != 0 && tell_fault(r, &fault, argv[0]) < 0)
        return -1;
    rc = follow(r, t);
    if (rc == 0) {
        kill_left(t);
        doubt(r, t);
        note_memory(r, t);
    }
    if (rc == 0
        && (drain(r, &t->process.out_fd, TASK_OUT) < 0
            || drain(r, &t->process.err_fd, TASK_ERR) < 0))
        rc = -1;
    spawn_close(&t->process.out_fd);
    spawn_close(&t->process.err_fd);
    return rc;
}

static int is_done(const struct runner *r, const struct task_end *e)
{
    return e->signal == 0 && e->why == TASK_BY_ITSELF && e->exec_errno == 0
           && r->ok[e->status & 0xff];
}

/* Until the next task may begin, or never is to. */
static void keep_delay(struct runner *r)
{
    struct pollfd fd = {.fd = r->signal_fd, .events = POLLIN};

    hear_stop(r);
    while (!begins_no_more(r) && r->last_start_ns > 0
           && left_ms(r->last_start_ns, r->delay_ms) > 0)
        if (poll(&fd, 1, left_ms(r->last_start_ns, r->delay_ms)) > 0)
            hear_stop(r);
}

/* Beside those of other slots, or alone; if that cannot be known it runs. */
static void enter(struct runner *r, int alone)
{
    struct pollfd fd = {.fd = r->signal_fd, .events = POLLIN};

    while (r->alone_fd > 0 && !begins_no_more(r)
           && alone_enter(r->alone_fd, alone) == 0)
        if (poll(&fd, 1, ROOM_MS) > 0)
            hear_stop(r);
}

static void leave(struct runner *r)
{
    if (r->alone_fd > 0)
        alone_leave(r->alone_fd);
}

/* Is a task that has failed to be run again?  *alone is set where that is for want of
 * memory. */
static int is_again(struct runner *r, struct task *t, int *alone, int64_t *left)
{
    static const char line[] =
        "evenstep: killed for want of memory: run again, alone on this node (--mem "
        "BYTES counts memory)\n";

    if (t->end.why == TASK_NO_MEMORY && *alone)
        t->end.why = TASK_NO_MEMORY_ALONE;
    if (t->end.why == TASK_NO_MEMORY && r->alone_fd > 0) {
        *alone = 1;
        return put_part(r, TASK_ERR, line, sizeof line - 1) < 0 ? -1 : 1;
    }
    return (*left)-- > 0;
}

static int run_task(struct runner *r, char *const argv[], struct es_error *err)
{
    struct task t;
    uint32_t tries = 0;
    int64_t left = r->retries;
    int alone = 0, again;

    for (;;) {
        tries++;
        t = (struct task){.end = {.tries = tries}};
        keep_delay(r);
        enter(r, alone);
        again = begins_no_more(r) ? 0 : run_once(r, &t, argv, err);
        leave(r);
        if (again < 0)
            return -1;
        if (begins_no_more(r) && !t.has_ended)
            return 0;
        if (r->stopped || r->cannot_exec || is_done(r, &t.end))
            break;
        again = is_again(r, &t, &alone, &left);
        if (r->is_last && (again > 0 || t.end.status == 128 + SIGTERM))
            return 0; /* nor has one that is to be tried again, or was ended */
        if (again < 0 || (again && put_part(r, TASK_AGAIN, "", 0) < 0))
            return -1;
        if (!again)
            break;
    }
    if (r->cannot_exec || (r->stopped && !is_done(r, &t.end)))
        return 0; /* it has not been done */
    return put_end(r, &t.end);
}

/* --- the piece ------------------------------------------------------------ */

/* 1, 0: there are no more, or -1 with err. */
static int next_record(struct runner *r, struct es_error *err)
{
    ssize_t n;

    if (r->has_records) {
        n = getline(&r->line, &r->room, stdin);
        if (n > 0 && r->line[n - 1] == '\n')
            n--;
    } else {
        n = snprintf(r->number, sizeof r->number, "\t%ju",
                     (uintmax_t)r->place.unit);
    }
    if (n <= 0)
        return 0;
    return task_record_parse(&r->record, r->has_records ? r->line : r->number,
                             (size_t)n)
                   == 0
               ? 1
               : es_fail(err, ES_WORK, "report it as a fault of evenstep",
                         "unit %ju: no record of a task",
                         (uintmax_t)r->place.unit);
}

static int set_number(struct runner *r, const char *name, uint64_t n)
{
    char entry[64];

    snprintf(entry, sizeof entry, "%s=%ju", name, (uintmax_t)n);
    return template_put(&r->environ, entry);
}

/* Its words are more than a program can get. */
static int refuse(struct runner *r)
{
    static const char line[] =
        "evenstep: a word of the command is too long (most: 128 KiB): put it into a "
        "file\n";
    const struct task_end e = {
        .status = 126, .exec_errno = E2BIG, .tries = 1, .begun_ns = now_ns()};

    return put_part(r, TASK_ERR, line, sizeof line - 1) < 0 ? -1
                                                            : put_end(r, &e);
}

static int run_unit(struct runner *r, struct es_error *err)
{
    char **words, *by_shell[4] = {NULL};
    int rc;

    if (set_number(r, "EVENSTEP_BEGIN", r->place.unit) < 0
        || set_number(r, "EVENSTEP_END", r->place.unit + 1) < 0)
        return es_no_memory(err);
    words = task_words(r->command, &r->record, &r->place, r->how);
    if (!words)
        return errno == E2BIG ? refuse(r) : es_no_memory(err);
    if (r->shell) {
        by_shell[0] = (char *)r->shell;
        by_shell[1] = (char *)"-c";
        by_shell[2] = words[0];
    }
    rc = run_task(r, r->shell ? by_shell : words, err);
    free(words);
    return rc;
}

static int run_all(struct runner *r, struct es_error *err)
{
    int rc = set_number(r, "EVENSTEP_COUNT", 1);

    for (; rc == 0 && r->place.unit < r->end && !begins_no_more(r)
           && !r->cannot_exec && !r->gives_back;
         r->place.unit++) {
        int there = next_record(r, err);

        if (there == 0)
            rc = es_fail(err, ES_WORK, "report it as a fault of evenstep",
                         "the records end before unit %ju",
                         (uintmax_t)r->place.unit);
        else
            rc = there < 0 ? -1 : run_unit(r, err);
    }
    if (flush(r) < 0 && rc == 0)
        rc = es_fail(err, ES_WORK, "see the agent's words",
                     "standard output: %s", strerror(errno));
    return rc;
}

/* --- arguments ------------------------------------------------------------ */

static int take_ok(struct runner *r, const char *text)
{
    memset(r->ok, 0, sizeof r->ok);
    while (*text) {
        char *end;
        unsigned long n = strtoul(text, &end, 10);

        if (end == text || n >= STATUS_MAX || (*end && *end != ','))
            return -1;
        r->ok[n] = 1;
        text = *end ? end + 1 : end;
    }
    return 0;
}

static int take_option(struct runner *r, const char *word)
{
    const char *value = strchr(word, '=');

    value = value ? value + 1 : "";
    if (strcmp(word, "--records") == 0)
        r->has_records = 1;
    else if (strcmp(word, "--repeat") == 0)
        r->how |= TASK_REPEAT;
    else if (strncmp(word, "--shell=", 8) == 0)
        r->shell = value;
    else if (strncmp(word, "--alone=", 8) == 0)
        r->alone_fd = open(value, O_RDWR | O_CLOEXEC);
    else if (strncmp(word, "--retries=", 10) == 0)
        return number_parse_int(value, 0, INT32_MAX, &r->retries);
    else if (strncmp(word, "--timeout=", 10) == 0)
        return number_parse_int(value, 1, INT64_MAX / 2000000, &r->timeout_ms);
    else if (strncmp(word, "--patience=", 11) == 0)
        return number_parse_int(value, 1, INT64_MAX / 2000000, &r->patience_ms);
    else if (strncmp(word, "--delay=", 8) == 0)
        return number_parse_int(value, 0, INT64_MAX / 2000000, &r->delay_ms);
    else if (strncmp(word, "--ok=", 5) == 0)
        return take_ok(r, value);
    else
        return -1;
    return 0;
}

static const char *env_text(const char *name)
{
    const char *text = getenv(name);

    return text ? text : "";
}

static int take_piece(struct runner *r)
{
    uint64_t slot, frame;

    if (number_parse_u64(env_text("EVENSTEP_BEGIN"), &r->begin) < 0
        || number_parse_u64(env_text("EVENSTEP_END"), &r->end) < 0
        || number_parse_u64(env_text("EVENSTEP_SLOT"), &slot) < 0
        || number_parse_u64(env_text("EVENSTEP_FRAME"), &frame) < 0)
        return -1;
    r->place.unit = r->begin;
    r->place.slot = slot;
    r->place.frame = frame;
    r->place.node = env_text("EVENSTEP_NODE");
    r->place.label = env_text("EVENSTEP_LABEL");
    return 0;
}

static int take_arguments(struct runner *r, int argc, char **argv)
{
    int i = 0;

    r->ok[0] = 1;
    while (i < argc && strcmp(argv[i], "--") != 0)
        if (take_option(r, argv[i++]) < 0)
            return -1;
    if (i == argc)
        return -1;
    r->command = argv + i + 1;
    r->how |= r->shell ? TASK_SHELL : 0;
    return r->command[0] || r->shell ? 0 : -1;
}

/* Those of the group that mean nothing to us. */
static int listen_to_signals(struct runner *r)
{
    static const int for_tasks[] = {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2};
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGCHLD);
    (void)sigaddset(&set, SIGTERM);
    r->signal_fd = -1;
    if (sigprocmask(SIG_BLOCK, &set, NULL) == 0)
        r->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    for (size_t i = 0; i < sizeof for_tasks / sizeof *for_tasks; i++)
        (void)signal(for_tasks[i], SIG_IGN);
    return r->signal_fd < 0 ? -1 : prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

int task_runner_main(int argc, char **argv, struct es_error *err)
{
    static struct runner r;
    int rc;

    if (take_arguments(&r, argc, argv) < 0 || take_piece(&r) < 0)
        return es_fail(
            err, ES_USAGE,
            "evenstep-agent is started by `evenstep run`, not by hand",
            "--tasks: no piece of a run, or no command");
    r.environ = template_copy(environ);
    if (!r.environ)
        return es_no_memory(err);
    if (listen_to_signals(&r) < 0)
        return es_fail(err, ES_ENV, "see signalfd(2)", "signals: %s",
                       strerror(errno));
    r.memory_kills = job_memory_kills("/proc", "/sys");
    rc = run_all(&r, err);
    template_free(r.environ);
    task_record_free(&r.record);
    free(r.line);
    if (rc < 0)
        return -1;
    return begins_no_more(&r) ? 128 + SIGTERM : r.cannot_exec;
}
