/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * posix_spawn(3) does between fork and exec what srun, with its threads,
 * must not be made to do, and tells "exec failed" from "the program failed".
 */
#include "spank_plugin/plugin_child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NAP_MS    5 /* between two looks at a child that is to end */
#define LISTEN_MS 2 /* between two looks for the answer of one that starts */

static int64_t now_ms(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t); /* cannot fail for this clock */
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd); /* a pipe; nothing was written */
    *fd = -1;
}

/* A pipe with both ends above 2, so that dup2 to 0 and 1 hits neither. */
static int make_pipe(int fd[2])
{
    int low[2], why = 0;

    if (pipe2(low, O_CLOEXEC) < 0)
        return errno;
    for (int i = 0; i < 2; i++) {
        fd[i] = fcntl(low[i], F_DUPFD_CLOEXEC, 3);
        if (fd[i] < 0)
            why = errno;
    }
    (void)close(low[0]);
    (void)close(low[1]);
    return why;
}

/* The environment with WAITS as its first entry; the caller frees the array, the
 * strings are not ours.  NULL if there is no memory. */
static char **make_environment(void)
{
    static char waits[] = CHILD_WAITS "=1";
    size_t n = 0;
    char **env;

    while (environ && environ[n])
        n++;
    env = calloc(n + 2, sizeof *env);
    if (!env)
        return NULL;
    env[0] = waits;
    if (n)
        memcpy(env + 1, environ, n * sizeof *env);
    return env;
}

static int set_attributes(posix_spawnattr_t *attr)
{
    sigset_t all, none;
    int why;

    (void)sigfillset(&all);
    (void)sigemptyset(&none);
    why = posix_spawnattr_setsigdefault(attr, &all);
    if (!why)
        why = posix_spawnattr_setsigmask(attr, &none);
    if (!why)
        why = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSID
                                                 | POSIX_SPAWN_SETSIGDEF
                                                 | POSIX_SPAWN_SETSIGMASK);
    return why;
}

/* glibc 2.34 can say "all above 2".  Before, each that is open now is named;
 * one that is closed by then is no error. */
#if __GLIBC_PREREQ(2, 34) && !defined(CLOSE_EACH)
static int close_others(posix_spawn_file_actions_t *act)
{
    return posix_spawn_file_actions_addclosefrom_np(act, 3);
}
#else
static int close_others(posix_spawn_file_actions_t *act)
{
    DIR *list = opendir("/proc/self/fd");
    const struct dirent *d;
    int why = list ? 0 : errno;

    while (!why && (d = readdir(list)) != NULL) {
        int fd = atoi(d->d_name); /* of "." and "..": 0 */

        if (fd > 2)
            why = posix_spawn_file_actions_addclose(act, fd);
    }
    if (list)
        (void)closedir(list);
    return why;
}
#endif

static int set_actions(posix_spawn_file_actions_t *act, int in, int out)
{
    int why = posix_spawn_file_actions_adddup2(act, in, 0);

    if (!why)
        why = posix_spawn_file_actions_adddup2(act, out, 1);
    if (!why)
        why = close_others(act);
    return why;
}

static int spawn(
    pid_t *pid, char *const argv[], char *const env[], int in, int out)
{
    posix_spawnattr_t attr;
    posix_spawn_file_actions_t act;
    int why = posix_spawnattr_init(&attr);

    if (why)
        return why;
    why = posix_spawn_file_actions_init(&act);
    if (!why) {
        why = set_attributes(&attr);
        if (!why)
            why = set_actions(&act, in, out);
        if (!why)
            why = posix_spawn(pid, argv[0], &act, &attr, argv, env);
        (void)posix_spawn_file_actions_destroy(&act);
    }
    (void)posix_spawnattr_destroy(&attr);
    return why;
}

int plugin_child_start(struct plugin_child *c, char *const argv[])
{
    int in[2] = {-1, -1}, out[2] = {-1, -1};
    char **env = make_environment();
    int why = env ? make_pipe(in) : ENOMEM;
    pid_t pid;

    if (!why)
        why = make_pipe(out);
    if (!why)
        why = spawn(&pid, argv, env, in[0], out[1]);
    if (!why)
        *c = (struct plugin_child){
            .pid = pid, .stdin_fd = in[1], .stdout_fd = out[0]};
    if (why) {
        close_fd(&in[1]);
        close_fd(&out[0]);
    }
    close_fd(&in[0]);
    close_fd(&out[1]);
    free(env);
    return why;
}

/* What a whole line, without its newline, says; TEXT goes to text. */
static enum child_answer parse_line(const char *line, size_t len, char *text)
{
    static const struct {
        const char *word;
        enum child_answer answer;
    } known[] = {{"continue: ", ANSWER_CONTINUE}, {"fail: ", ANSWER_FAIL}};

    if (len == 5 && memcmp(line, "ready", 5) == 0)
        return ANSWER_READY;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t n = strlen(known[i].word);

        if (len <= n || memcmp(line, known[i].word, n) != 0)
            continue;
        for (size_t j = n; j < len; j++)
            text[j - n] =
                (unsigned char)line[j] < 32 || line[j] == 127 ? '?' : line[j];
        text[len - n] = '\0';
        return known[i].answer;
    }
    return ANSWER_GARBLED;
}

/* "wait N": the seconds, 0 if it is no such line. */
static long wait_of(const char *line, size_t len)
{
    static const char word[] = "wait ";
    char number[8] = "";
    size_t n = strlen(word);

    if (len <= n || len - n >= sizeof number || memcmp(line, word, n) != 0)
        return 0;
    memcpy(number, line + n, len - n);
    return strspn(number, "0123456789") == len - n ? strtol(number, NULL, 10)
                                                   : 0;
}

enum wait { WAIT_READABLE, WAIT_LATE, WAIT_INTERRUPTED };

/*
 * srun's signal thread, in sigwait(3), only takes note of a Ctrl-C that comes
 * before the step is launched; the step would then run all the same.  The
 * kernel offers a process's signal to its main thread first, so we take those
 * that come while we wait, in steps too short to be felt, without a handler.
 * One that comes between two steps (microseconds) is srun's, as ever.
 */
static int take_signal(const sigset_t *set)
{
    static const struct timespec step = {.tv_nsec = LISTEN_MS * 1000000L};

    return sigtimedwait(set, NULL, &step) > 0;
}

/* But for those that srun ignores, as nohup(1) has it do. */
static void listen_for(sigset_t *set)
{
    static const int number[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction now;

    (void)sigemptyset(set);
    for (size_t i = 0; i < sizeof number / sizeof number[0]; i++)
        if (sigaction(number[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            (void)sigaddset(set, number[i]);
}

static enum wait wait_readable(int fd, int64_t deadline_ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    sigset_t set;

    listen_for(&set);
    while (now_ms() < deadline_ms) {
        int rc = poll(&p, 1, 0);

        if (rc > 0 || (rc < 0 && errno != EINTR))
            return WAIT_READABLE; /* or read() will say what is wrong */
        if (take_signal(&set))
            return WAIT_INTERRUPTED;
    }
    return WAIT_LATE;
}

enum child_answer plugin_child_receive(const struct plugin_child *c,
                                       int timeout_s,
                                       int may_add_s,
                                       char *text)
{
    int64_t deadline = now_ms() + (int64_t)timeout_s * 1000;
    char line[CHILD_LINE_MAX];
    size_t len = 0;

    text[0] = '\0';
    while (len < sizeof line) {
        const char *end;
        size_t whole;
        long wait_s;
        ssize_t n;

        switch (wait_readable(c->stdout_fd, deadline)) {
        case WAIT_LATE:
            return ANSWER_LATE;
        case WAIT_INTERRUPTED:
            return ANSWER_INTERRUPTED;
        case WAIT_READABLE:
        default:
            break;
        }
        n = read(c->stdout_fd, line + len, sizeof line - len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return len ? ANSWER_GARBLED : ANSWER_NONE;
        len += (size_t)n;
        while ((end = memchr(line, '\n', len)) != NULL) {
            whole = (size_t)(end - line);
            wait_s = wait_of(line, whole);
            if (wait_s == 0)
                return parse_line(line, whole, text);
            if (may_add_s >= 0)
                deadline = now_ms() + (wait_s + may_add_s) * INT64_C(1000);
            len -= whole + 1;
            memmove(line, end + 1, len);
        }
    }
    return ANSWER_GARBLED;
}

int plugin_child_stop(struct plugin_child *c, int grace_ms)
{
    static const struct timespec nap = {.tv_nsec = NAP_MS * 1000000L};
    int64_t deadline = now_ms() + grace_ms;

    close_fd(&c->stdin_fd);
    close_fd(&c->stdout_fd);
    for (;;) {
        pid_t got = waitpid(c->pid, NULL, WNOHANG);

        if (got == c->pid || (got < 0 && errno != EINTR))
            return 1; /* ECHILD: srun was started with SIGCHLD ignored */
        if (now_ms() >= deadline)
            return 0;
        (void)nanosleep(&nap, NULL); /* cut short or not: we look again */
    }
}

void plugin_child_kill(const struct plugin_child *c)
{
    (void)kill(-c->pid, SIGTERM); /* its session's group; gone is fine */
}
