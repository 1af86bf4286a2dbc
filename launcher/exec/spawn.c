/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/exec/spawn.h"
#include "launcher/base/file_limit.h"
#include "launcher/exec/exec_fault.h"
#include "launcher/exec/throttle.h"
#include "pmix_bcast/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEFAULT_PATH "/bin:/usr/bin" /* execvp(3), when PATH is not set */

/* Newer than the headers and perhaps the kernel of Enterprise Linux 8: what
 * the kernel does not know has a substitute here. */
#ifndef SYS_pidfd_open
#    define SYS_pidfd_open 434 /* on every machine */
#endif
#ifndef SYS_close_range
#    define SYS_close_range 436
#endif
#ifndef CLOSE_RANGE_CLOEXEC
#    define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

void spawn_close(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd); /* only read from, or handed to the child */
    *fd = -1;
}

/* --- what the child needs, made ready before fork ------------------------ */

struct plan {
    char *const *argv;
    char *const *envp;
    char *paths;  /* to be tried in turn, each with its NUL; ends with "" */
    int dir_fd;   /* -1: stay */
    int enter_fd; /* of the throttle; -1: none */
    int stdin_fd;
    int out_fd, err_fd, exec_fd; /* write ends */
    pid_t parent;
    int orphan_signal;
    const cpu_set_t *cpus;
    size_t cpus_bytes;
    int stays;
};

static const char *path_of(char *const *envp)
{
    const char *path;

    for (; *envp; envp++)
        if (strncmp(*envp, "PATH=", 5) == 0)
            return *envp + 5;
    path = getenv("PATH");
    return path ? path : DEFAULT_PATH;
}

/* "name" in each folder of path ("": here), or as it is if it has a slash. */
static char *make_paths(const char *name, const char *path)
{
    size_t len = strlen(name), folders = 1;
    char *paths, *at;

    if (strchr(name, '/'))
        path = "";
    for (const char *p = path; *p; p++)
        folders += *p == ':';
    paths = malloc(strlen(path) + folders * (len + 3) + 1);
    for (at = paths; paths; path++) {
        size_t n = strcspn(path, ":");

        memcpy(at, path, n);
        at += n;
        if (n > 0)
            *at++ = '/';
        memcpy(at, name, len + 1);
        at += len + 1;
        path += n;
        if (*path == '\0')
            break;
    }
    if (paths)
        *at = '\0';
    return paths;
}

/* A descriptor above 2, so that the child can put things in 0, 1 and 2. */
static int lift(int fd)
{
    int high;

    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    spawn_close(&fd);
    return high;
}

static int make_pipe(int *read_fd, int *write_fd)
{
    int fd[2];

    if (pipe2(fd, O_CLOEXEC) < 0)
        return -1;
    *read_fd = lift(fd[0]);
    *write_fd = lift(fd[1]);
    if (*read_fd < 0 || *write_fd < 0)
        return -1;
    return fcntl(*read_fd, F_SETFL, O_NONBLOCK);
}

static int plan_init(struct plan *plan,
                     struct spawned *s,
                     const struct execution_spec *spec,
                     struct es_error *err)
{
    *plan = (struct plan){
        .argv = spec->argv,
        .envp = spec->envp ? spec->envp : environ,
        .dir_fd = -1,
        .enter_fd = -1,
        .stdin_fd = -1,
        .out_fd = -1,
        .err_fd = -1,
        .exec_fd = -1,
        .parent = getpid(),
        .orphan_signal = spec->orphan_signal ? spec->orphan_signal : SIGKILL,
        .cpus = spec->cpus,
        .cpus_bytes = spec->cpus_bytes,
        .stays = spec->stays};
    if (!spec->argv[0] || spec->argv[0][0] == '\0')
        return es_fail(err, ES_USAGE, "name one after --", "no command given");
    if (spec->dir) {
        plan->dir_fd = lift(open(spec->dir, O_PATH | O_DIRECTORY | O_CLOEXEC));
        if (plan->dir_fd < 0)
            return es_fail(err, ES_WORK, "give a folder of this node", "%s: %s",
                           spec->dir, strerror(errno));
    }
    if (spec->throttle)
        plan->enter_fd = throttle_enter_fd(spec->throttle);
    plan->paths = make_paths(spec->argv[0], path_of(plan->envp));
    if (!plan->paths)
        return es_no_memory(err);
    plan->stdin_fd =
        lift(spec->in_fd > 0 ? fcntl(spec->in_fd, F_DUPFD_CLOEXEC, 0)
                             : open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (plan->stdin_fd < 0 || make_pipe(&s->out_fd, &plan->out_fd) < 0
        || make_pipe(&s->err_fd, &plan->err_fd) < 0
        || make_pipe(&s->exec_fd, &plan->exec_fd) < 0)
        return es_fail(err, ES_ENV, "raise the limit of open files (ulimit -n)",
                       "%s: cannot make its pipes: %s", spec->argv[0],
                       strerror(errno));
    return 0;
}

static void plan_clear(struct plan *plan)
{
    spawn_close(&plan->dir_fd);
    spawn_close(&plan->stdin_fd);
    spawn_close(&plan->out_fd);
    spawn_close(&plan->err_fd);
    spawn_close(&plan->exec_fd);
    free(plan->paths);
}

/* --- the child: async-signal-safe calls only ----------------------------- */

static void reset_signals(void)
{
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t none;

    for (int i = 1; i < NSIG; i++)
        (void)sigaction(i, &standard, NULL); /* not for KILL, STOP, libc's */
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* 0, or -1 with errno.  A parent that is already gone cannot signal us. */
static int child_prepare(const struct plan *plan)
{
    if ((!plan->stays && setpgid(0, 0) < 0)
        || prctl(PR_SET_PDEATHSIG, plan->orphan_signal) < 0)
        return -1;
    if (getppid() != plan->parent)
        _exit(126);
    if (plan->enter_fd >= 0 && write(plan->enter_fd, "0", 1) != 1)
        return -1;
    /* Of CPUs that are no longer ours the kernel takes none: better anywhere. */
    if (plan->cpus)
        (void)sched_setaffinity(0, plan->cpus_bytes, plan->cpus);
    if (plan->dir_fd >= 0 && fchdir(plan->dir_fd) < 0)
        return -1;
    if (dup2(plan->stdin_fd, STDIN_FILENO) < 0
        || dup2(plan->out_fd, STDOUT_FILENO) < 0
        || dup2(plan->err_fd, STDERR_FILENO) < 0)
        return -1;
    /* Ours close by themselves; others', say srun's, do on Linux 5.11. */
    (void)syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
    file_limit_restore();
    reset_signals();
    return 0;
}

/* As execvp(3): go on when there is no such file, remember what was denied;
 * but, as shells do, pass over folders of PATH that we may not look into. */
static void child_exec(const struct plan *plan, struct exec_fault *fault)
{
    const char *denied = NULL, *there = NULL, *path = plan->paths;
    int search = strchr(plan->argv[0], '/') == NULL;

    for (; *path; path += strlen(path) + 1) {
        (void)execve(path, plan->argv, plan->envp);
        fault->error = errno;
        if (errno != EACCES && errno != ENOENT && errno != ENOTDIR)
            break;
        if (fault->error == EACCES && (!search || access(path, F_OK) == 0))
            denied = denied ? denied : path;
        else if (!there && access(path, F_OK) == 0)
            there = path; /* it is what runs it that is not */
    }
    if (*path == '\0') {
        fault->error = denied ? EACCES : ENOENT;
        path = denied ? denied : there;
    }
    if (path)
        exec_fault_find(fault, path);
}

static void child_main(const struct plan *plan)
{
    struct exec_fault fault = {.kind = EXEC_FAULT_UNKNOWN};

    if (child_prepare(plan) == 0)
        child_exec(plan, &fault);
    else
        fault.error = errno;
    (void)!write(plan->exec_fd, &fault, sizeof fault); /* nobody to tell */
    _exit(fault.error == ENOENT ? 127 : 126);
}

/* fork with all signals blocked: no handler of ours runs in the child.  We wait
 * for its exec, as long as nothing holds the child before: to make no copy of
 * our memory, only to drop it, saves a third of an empty frame. */
static pid_t fork_child(const struct plan *plan)
{
    sigset_t all, before;
    pid_t pid;
    int error;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    pid = plan->enter_fd < 0 ? vfork() : fork();
    if (pid == 0)
        child_main(plan);
    error = errno;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (pid > 0 && !plan->stays)
        (void)setpgid(pid, pid); /* the child does so, too: who is first */
    errno = error;
    return pid;
}

/* --- public -------------------------------------------------------------- */

int spawn(struct spawned *s,
          const struct execution_spec *spec,
          struct es_error *err)
{
    struct plan plan;
    int rc;

    *s = (struct spawned){.out_fd = -1, .err_fd = -1, .exec_fd = -1};
    rc = plan_init(&plan, s, spec, err);
    if (rc == 0) {
        s->begin_ns = clock_ns();
        s->pid = fork_child(&plan);
        if (s->pid < 0)
            rc =
                es_fail(err, ES_ENV, "raise the limit of processes (ulimit -u)",
                        "%s: cannot fork: %s", spec->argv[0], strerror(errno));
    }
    plan_clear(&plan);
    if (rc < 0) {
        spawn_close(&s->out_fd);
        spawn_close(&s->err_fd);
        spawn_close(&s->exec_fd);
    }
    return rc;
}

int spawn_pid_fd(pid_t pid)
{
    return lift((int)syscall(SYS_pidfd_open, pid, 0));
}
