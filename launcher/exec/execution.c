/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/exec/execution.h"
#include "launcher/base/file_limit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event2/event.h>

#include "launcher/exec/throttle.h"
#include "pmix_bcast/clock.h"

#define DESTROY_MS   1000
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

struct execution {
    execution_output_fn out, err;
    execution_end_fn end;
    void *arg;
    struct throttle *throttle;
    pid_t pid;                           /* and its group; 0: none, or reaped */
    int pid_fd, out_fd, err_fd, exec_fd; /* ours; -1: closed */
    struct event *on_exit, *on_out, *on_err, *on_timer;
    int64_t begin_ns;
    int held;
    int exited;    /* the command was reaped; its output may still come */
    int broken;    /* output was lost: never say that it went well */
    int in_out;    /* out() is being called */
    int destroyed; /* from within out(): free when it returns */
    int drained;   /* EXECUTION_DRAIN_MS are over */
    uint64_t out_bytes, out_until; /* read; to be read once drained is set */
    struct execution_end result;
    char buf[EXECUTION_READ_MAX];
    char tail[EXECUTION_ERR_MAX]; /* ring: byte i of stderr is at i % size */
    uint64_t err_bytes;
};

static void close_fd(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd); /* only read from, or handed to the child */
    *fd = -1;
}

static void free_event(struct event **event)
{
    if (*event)
        event_free(*event);
    *event = NULL;
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
    close_fd(&fd);
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
                     struct execution *x,
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
        .orphan_signal = spec->orphan_signal ? spec->orphan_signal : SIGKILL};
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
    if (plan->stdin_fd < 0 || make_pipe(&x->out_fd, &plan->out_fd) < 0
        || make_pipe(&x->err_fd, &plan->err_fd) < 0
        || make_pipe(&x->exec_fd, &plan->exec_fd) < 0)
        return es_fail(err, ES_ENV, "raise the limit of open files (ulimit -n)",
                       "%s: cannot make its pipes: %s", spec->argv[0],
                       strerror(errno));
    return 0;
}

static void plan_clear(struct plan *plan)
{
    close_fd(&plan->dir_fd);
    close_fd(&plan->stdin_fd);
    close_fd(&plan->out_fd);
    close_fd(&plan->err_fd);
    close_fd(&plan->exec_fd);
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
    if (setpgid(0, 0) < 0 || prctl(PR_SET_PDEATHSIG, plan->orphan_signal) < 0)
        return -1;
    if (getppid() != plan->parent)
        _exit(126);
    if (plan->enter_fd >= 0 && write(plan->enter_fd, "0", 1) != 1)
        return -1;
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
static void child_exec(const struct plan *plan)
{
    int denied = 0, search = strchr(plan->argv[0], '/') == NULL;

    for (const char *path = plan->paths; *path; path += strlen(path) + 1) {
        (void)execve(path, plan->argv, plan->envp);
        if (errno == EACCES)
            denied |= !search || access(path, F_OK) == 0;
        else if (errno != ENOENT && errno != ENOTDIR)
            return;
    }
    errno = denied ? EACCES : ENOENT;
}

static void child_main(const struct plan *plan)
{
    int error;

    if (child_prepare(plan) == 0)
        child_exec(plan);
    error = errno;
    (void)!write(plan->exec_fd, &error, sizeof error); /* nobody to tell */
    _exit(error == ENOENT ? 127 : 126);
}

/* fork with all signals blocked: no handler of ours runs in the child.  We wait
 * for its exec, as long as nothing holds the child before: to make no copy of
 * our memory, only to drop it, saves a third of an empty frame. */
static pid_t spawn(const struct plan *plan)
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
    if (pid > 0)
        (void)setpgid(pid, pid); /* the child does so, too: who is first */
    errno = error;
    return pid;
}

/* --- its end ------------------------------------------------------------- */

/* What its last wait said, and what the pipe says about exec. */
static void note_end(struct execution *x, int known, const siginfo_t *info)
{
    struct execution_end *end = &x->result;
    int error;

    end->elapsed_ns = clock_ns() - x->begin_ns;
    if (!known) {
        end->exec_errno = ECHILD; /* somebody else has reaped it */
        end->status = 126;
    } else if (info->si_code == CLD_EXITED) {
        end->status = info->si_status & 0xff;
    } else {
        end->signal = info->si_status;
        end->status = 128 + info->si_status;
    }
    if (read(x->exec_fd, &error, sizeof error) == (ssize_t)sizeof error)
        end->exec_errno = error;
    close_fd(&x->exec_fd);
}

/* The command is a zombie: while it is, its number is nobody else's. */
static void kill_and_reap(struct execution *x)
{
    siginfo_t info = {0};
    int rc;

    if (x->throttle)
        throttle_watch(x->throttle, 0);
    (void)kill(-x->pid, SIGKILL); /* the rest of its group */
    do {
        rc = waitid(P_PID, (id_t)x->pid, &info, WEXITED | WNOHANG);
    } while (rc < 0 && errno == EINTR);
    x->pid = 0;
    close_fd(&x->pid_fd);
    note_end(x, rc == 0 && info.si_pid != 0, &info);
}

/* The last bytes of stderr in order, at the start of buf. */
static void straighten_tail(struct execution *x)
{
    size_t len = sizeof x->tail, first;

    if (x->err_bytes < len)
        len = (size_t)x->err_bytes;
    x->result.err_dropped = x->err_bytes - len;
    x->result.err_len = len;
    x->result.err_tail = x->buf;
    first = (size_t)(x->result.err_dropped % sizeof x->tail);
    if (first + len <= sizeof x->tail) {
        memcpy(x->buf, x->tail + first, len);
        return;
    }
    memcpy(x->buf, x->tail + first, sizeof x->tail - first);
    memcpy(x->buf + (sizeof x->tail - first), x->tail,
           len - (sizeof x->tail - first));
}

/* Call end if all is over.  x may be gone afterwards. */
static void finish_if_done(struct execution *x)
{
    if (!x->exited || x->held || x->out_fd >= 0 || x->err_fd >= 0)
        return;
    (void)event_del(x->on_timer); /* fails for a broken base only */
    x->exited = 0;                /* once */
    straighten_tail(x);
    if (x->broken) {
        x->result.signal = SIGKILL;
        x->result.status = 128 + SIGKILL;
    }
    x->end(x->arg, &x->result);
}

static void close_pipe(struct event **event, int *fd)
{
    free_event(event);
    close_fd(fd);
}

/* Bytes read into buf; 0 if none are there now; -1 at the end. */
static ssize_t read_some(struct execution *x, int fd)
{
    ssize_t n = read(fd, x->buf, sizeof x->buf);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    return n > 0 ? n : -1;
}

/* -1: x was destroyed. */
static int pump_out(struct execution *x)
{
    ssize_t n = read_some(x, x->out_fd);

    if (n < 0)
        close_pipe(&x->on_out, &x->out_fd);
    if (n <= 0)
        return 0;
    x->out_bytes += (uint64_t)n;
    x->in_out = 1;
    x->out(x->arg, x->buf, (size_t)n);
    x->in_out = 0;
    if (!x->destroyed)
        return 0;
    free(x);
    return -1;
}

static void pump_err(struct execution *x)
{
    ssize_t n = read_some(x, x->err_fd);

    if (n < 0)
        close_pipe(&x->on_err, &x->err_fd);
    for (ssize_t i = 0; i < n; i++)
        x->tail[x->err_bytes++ % sizeof x->tail] = x->buf[i];
    if (n > 0 && x->err)
        x->err(x->arg, x->buf, (size_t)n);
}

/* --- events -------------------------------------------------------------- */

static void on_out(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    if (pump_out(arg) == 0)
        finish_if_done(arg);
}

static void on_err(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    pump_err(arg);
    finish_if_done(arg);
}

static void set_timer(struct execution *x, int ms)
{
    struct timeval delay = {ms / 1000, ms % 1000 * 1000};

    if (event_add(x->on_timer, &delay) < 0)
        event_active(x->on_timer, EV_TIMEOUT, 0); /* at once, then */
}

/* Take what is in the pipes when the time is over, and not a byte more: who
 * still holds them may write for ever. */
static void drain(struct execution *x)
{
    int there = 0;

    if (!x->drained && x->out_fd >= 0)
        (void)ioctl(x->out_fd, FIONREAD, &there); /* else: one read */
    if (!x->drained)
        x->out_until = x->out_bytes + (uint64_t)there;
    x->drained = 1;
    if (x->err_fd >= 0)
        pump_err(x);
    close_pipe(&x->on_err, &x->err_fd);
    if (x->held || (x->out_fd >= 0 && pump_out(x) < 0))
        return;
    if (x->out_bytes >= x->out_until)
        close_pipe(&x->on_out, &x->out_fd);
    if (x->out_fd >= 0 && !x->held)
        set_timer(x, 0);
    finish_if_done(x);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct execution *x = arg;

    (void)fd;
    (void)what;
    if (x->pid != 0)
        (void)kill(-x->pid, SIGKILL); /* it was asked to stop */
    else
        drain(x);
}

/* SIGCHLD tells of all children: is it this one? */
static int has_ended(const struct execution *x)
{
    siginfo_t info = {0};

    return waitid(P_PID, (id_t)x->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0
           || info.si_pid != 0;
}

static void on_exit_of(evutil_socket_t fd, short what, void *arg)
{
    struct execution *x = arg;

    (void)fd;
    (void)what;
    if (x->pid_fd < 0 && !has_ended(x))
        return;
    free_event(&x->on_exit);
    kill_and_reap(x);
    x->exited = 1;
    set_timer(x, EXECUTION_DRAIN_MS);
    finish_if_done(x);
}

/* By its pidfd; before Linux 5.3 by SIGCHLD, which may have come already. */
static int listen_to_exit(struct execution *x, struct event_base *base)
{
    x->on_exit =
        x->pid_fd >= 0
            ? event_new(base, x->pid_fd, EV_READ, on_exit_of, x)
            : event_new(base, SIGCHLD, EV_SIGNAL | EV_PERSIST, on_exit_of, x);
    if (!x->on_exit || event_add(x->on_exit, NULL) < 0)
        return -1;
    if (x->pid_fd < 0)
        event_active(x->on_exit, EV_SIGNAL, 1);
    return 0;
}

static int listen_to(struct execution *x, struct event_base *base)
{
    x->on_out = event_new(base, x->out_fd, EV_READ | EV_PERSIST, on_out, x);
    x->on_err = event_new(base, x->err_fd, EV_READ | EV_PERSIST, on_err, x);
    x->on_timer = event_new(base, -1, 0, on_timer, x);
    if (!x->on_out || !x->on_err || !x->on_timer || listen_to_exit(x, base) < 0
        || event_add(x->on_out, NULL) < 0 || event_add(x->on_err, NULL) < 0)
        return -1;
    return 0;
}

/* --- public -------------------------------------------------------------- */

int execution_start(struct execution **x,
                    struct event_base *base,
                    const struct execution_spec *spec,
                    execution_output_fn out,
                    execution_end_fn end,
                    void *arg,
                    struct es_error *err)
{
    struct execution *new = calloc(1, sizeof *new);
    struct plan plan;
    int rc = -1;

    if (!new)
        return es_no_memory(err);
    new->out = out;
    new->end = end;
    new->arg = arg;
    new->pid_fd = new->out_fd = new->err_fd = new->exec_fd = -1;
    if (plan_init(&plan, new, spec, err) < 0)
        goto done;
    new->begin_ns = clock_ns();
    new->pid = spawn(&plan);
    if (new->pid < 0) {
        new->pid = 0;
        es_fail(err, ES_ENV, "raise the limit of processes (ulimit -u)",
                "%s: cannot fork: %s", spec->argv[0], strerror(errno));
        goto done;
    }
    new->pid_fd = lift((int)syscall(SYS_pidfd_open, new->pid, 0));
    if ((new->pid_fd < 0 && errno != ENOSYS) || listen_to(new, base) < 0) {
        es_fail(err, ES_ENV, "free memory and files", "%s: cannot watch it: %s",
                spec->argv[0], strerror(errno));
        goto done;
    }
    new->throttle = spec->throttle;
    if (new->throttle)
        throttle_watch(new->throttle, new->pid);
    *x = new;
    rc = 0;
done:
    plan_clear(&plan);
    if (rc < 0)
        execution_destroy(new);
    return rc;
}

void execution_hold(struct execution *x, int on)
{
    if (!on == !x->held)
        return;
    x->held = on;
    if (x->on_out && on) {
        (void)event_del(x->on_out); /* fails for a broken base only */
    } else if (x->on_out && event_add(x->on_out, NULL) < 0) {
        x->broken = 1;
        close_pipe(&x->on_out, &x->out_fd);
        if (x->pid != 0)
            (void)kill(-x->pid, SIGKILL);
    }
    if (!on && x->exited && (x->drained || x->out_fd < 0))
        set_timer(x, 0);
}

void execution_hear_err(struct execution *x, execution_output_fn err)
{
    x->err = err;
}

pid_t execution_group(const struct execution *x)
{
    return x->pid;
}

size_t execution_unread(const struct execution *x)
{
    int there = 0;

    if (x->out_fd >= 0)
        (void)ioctl(x->out_fd, FIONREAD, &there); /* a pipe has it */
    return (size_t)there;
}

void execution_stop(struct execution *x)
{
    if (x->pid == 0 || event_pending(x->on_timer, EV_TIMEOUT, NULL))
        return;
    (void)kill(-x->pid, SIGTERM); /* a zombie at worst: not reaped yet */
    if (x->throttle)
        throttle_watch(x->throttle, 0);
    (void)kill(-x->pid, SIGCONT); /* a stopped one would not hear of it */
    set_timer(x, EXECUTION_STOP_MS);
}

static void kill_now(struct execution *x)
{
    struct pollfd end = {x->pid_fd, POLLIN, 0};
    int rc;

    if (x->throttle)
        throttle_watch(x->throttle, 0);
    (void)kill(-x->pid, SIGKILL);
    (void)kill(x->pid, SIGKILL); /* not yet in its group, if setpgid failed */
    if (x->pid_fd >= 0) {
        do {
            rc = poll(&end, 1, DESTROY_MS);
        } while (rc < 0 && errno == EINTR);
    }
    do {
        rc = waitpid(x->pid, NULL, x->pid_fd >= 0 ? WNOHANG : 0);
    } while (rc < 0 && errno == EINTR);
    x->pid = 0;
}

void execution_destroy(struct execution *x)
{
    int saved = errno;

    if (!x)
        return;
    if (x->pid != 0)
        kill_now(x);
    free_event(&x->on_exit);
    free_event(&x->on_out);
    free_event(&x->on_err);
    free_event(&x->on_timer);
    close_fd(&x->pid_fd);
    close_fd(&x->out_fd);
    close_fd(&x->err_fd);
    close_fd(&x->exec_fd);
    x->destroyed = 1;
    if (!x->in_out)
        free(x);
    errno = saved;
}
