/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/exec/execution.h"
#include "launcher/exec/exec_fault.h"
#include "launcher/exec/throttle.h"
#include "pmix_bcast/clock.h"

#include <errno.h>
#include <event2/event.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define DESTROY_MS 1000

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
    int exited;  /* the command was reaped; its output may still come */
    int stopped; /* by us */
    enum { DOUBT_NONE, DOUBT_WAITS, DOUBT_OVER } doubt; /* about its end */
    int broken;                    /* output was lost: never report success */
    int in_out;                    /* out() is being called */
    int destroyed;                 /* from within out(): free when it returns */
    int drained;                   /* EXECUTION_DRAIN_MS are over */
    uint64_t out_bytes, out_until; /* bytes read; to read once drained is set */
    struct execution_end result;
    char buf[EXECUTION_READ_MAX];
    char tail[EXECUTION_ERR_MAX]; /* ring: byte i of stderr is at i % size */
    uint64_t err_bytes;
};

static void free_event(struct event **event)
{
    if (*event)
        event_free(*event);
    *event = NULL;
}

/* Of its stderr; what is not kept any more makes room. */
static void keep_err(struct execution *x, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x->tail[x->err_bytes++ % sizeof x->tail] = bytes[i];
}

/* --- its end ------------------------------------------------------------- */

/* Fill in the end: from its wait status, and from the pipe about exec. */
static void note_end(struct execution *x, int known, const siginfo_t *info)
{
    struct execution_end *end = &x->result;
    struct exec_fault fault;
    char why[EXEC_FAULT_MAX] = "";

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
    if (read(x->exec_fd, &fault, sizeof fault) == (ssize_t)sizeof fault) {
        end->exec_errno = fault.error;
        keep_err(x, why, exec_fault_say(&fault, why));
    }
    spawn_close(&x->exec_fd);
}

/* Of all children that were waited for. */
static double children_cpu(void)
{
    struct rusage r = {0};

    (void)getrusage(RUSAGE_CHILDREN, &r); /* cannot fail for these */
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec)
           + (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1e-6;
}

/* The command is a zombie; until it is reaped nobody else gets its pid. */
static void kill_and_reap(struct execution *x)
{
    double before = children_cpu();
    siginfo_t info = {0};
    int rc;

    if (x->throttle)
        throttle_forget(x->throttle, x->pid);
    (void)kill(-x->pid, SIGKILL); /* the rest of its group */
    do {
        rc = waitid(P_PID, (id_t)x->pid, &info, WEXITED | WNOHANG);
    } while (rc < 0 && errno == EINTR);
    x->result.cpu_s = children_cpu() - before;
    x->pid = 0;
    spawn_close(&x->pid_fd);
    note_end(x, rc == 0 && info.si_pid != 0, &info);
}

/* Copy the last bytes of stderr, in order, to the start of buf. */
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

static void set_timer(struct execution *x, int ms)
{
    struct timeval delay = {ms / 1000, ms % 1000 * 1000};

    if (event_add(x->on_timer, &delay) < 0)
        event_active(x->on_timer, EV_TIMEOUT, 0); /* at once instead */
}

/* Has it failed by itself, or by what we will get in a moment, or have got
 * already, but not heard?  1: wait for that. */
static int is_doubtful(struct execution *x)
{
    const struct execution_end *end = &x->result;
    int is_common =
        end->status == 128 + SIGTERM || end->status == 128 + SIGKILL;

    if (x->doubt == DOUBT_NONE && end->status != 0 && !x->stopped) {
        x->doubt = DOUBT_WAITS;
        set_timer(x, is_common ? EXECUTION_DOUBT_MS : 0);
    }
    return x->doubt == DOUBT_WAITS;
}

/* Call end if all is over.  x may be gone afterwards. */
static void finish_if_done(struct execution *x)
{
    if (!x->exited || x->held || x->out_fd >= 0 || x->err_fd >= 0
        || is_doubtful(x))
        return;
    (void)event_del(x->on_timer); /* fails for a broken base only */
    x->exited = 0;                /* so that this happens once */
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
    spawn_close(fd);
}

/* Bytes read into buf; 0 if none are there now; -1 at the end. */
static ssize_t read_some(struct execution *x, int fd)
{
    ssize_t n = read(fd, x->buf, sizeof x->buf);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    return n > 0 ? n : -1;
}

/* Pass its stdout on.  -1: x was destroyed. */
static int pump_out(struct execution *x)
{
    ssize_t n = read_some(x, x->out_fd);

    if (n < 0)
        close_pipe(&x->on_out, &x->out_fd);
    if (n <= 0)
        return 0;
    x->out_bytes += (uint64_t)n;
    x->in_out = 1;
    if (x->out)
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
    if (n > 0)
        keep_err(x, x->buf, (size_t)n);
    if (n > 0 && x->err)
        x->err(x->arg, x->buf, (size_t)n);
}

/* --- events -------------------------------------------------------------- */

static void on_stdout(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    if (pump_out(arg) == 0)
        finish_if_done(arg);
}

static void on_stderr(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    pump_err(arg);
    finish_if_done(arg);
}

/* When the time is over, read what is in the pipes then and no more: a process
 * that still holds them may write for ever. */
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

static void on_execution_timer(evutil_socket_t fd, short what, void *arg)
{
    struct execution *x = arg;

    (void)fd;
    (void)what;
    if (x->doubt == DOUBT_WAITS)
        x->doubt = DOUBT_OVER;
    if (x->pid != 0)
        (void)kill(-x->pid, SIGKILL); /* it was asked to stop */
    else
        drain(x);
}

/* SIGCHLD may be about any child: is it this one? */
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

/* Listen to its pidfd, or before Linux 5.3 to SIGCHLD, which may have come
 * already. */
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
    x->on_out = event_new(base, x->out_fd, EV_READ | EV_PERSIST, on_stdout, x);
    x->on_err = event_new(base, x->err_fd, EV_READ | EV_PERSIST, on_stderr, x);
    x->on_timer = event_new(base, -1, 0, on_execution_timer, x);
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
    struct spawned child;

    if (!new)
        return es_no_memory(err);
    if (spawn(&child, spec, err) < 0) {
        free(new);
        return -1;
    }
    new->out = out;
    new->end = end;
    new->arg = arg;
    new->pid = child.pid;
    new->out_fd = child.out_fd;
    new->err_fd = child.err_fd;
    new->exec_fd = child.exec_fd;
    new->begin_ns = child.begin_ns;
    new->pid_fd = spawn_pid_fd(new->pid);
    if ((new->pid_fd < 0 && errno != ENOSYS) || listen_to(new, base) < 0) {
        es_fail(err, ES_ENV, "free memory and files", "%s: cannot watch it: %s",
                spec->argv[0], strerror(errno));
        execution_destroy(new);
        return -1;
    }
    new->throttle = spec->throttle;
    if (new->throttle)
        throttle_watch(new->throttle, new->pid);
    *x = new;
    return 0;
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
    if (!on && x->exited && (x->drained || x->out_fd < 0)
        && x->doubt != DOUBT_WAITS)
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

void execution_leave(struct execution *x)
{
    if (x->pid == 0 || event_pending(x->on_timer, EV_TIMEOUT, NULL))
        return;
    (void)kill(-x->pid, SIGTERM); /* its pid is ours until it is reaped */
    if (x->throttle)
        throttle_forget(x->throttle, x->pid);
    (void)kill(-x->pid, SIGCONT); /* a stopped process acts on no SIGTERM */
    set_timer(x, EXECUTION_STOP_MS);
}

void execution_tell(struct execution *x, int what)
{
    if (x->pid != 0) /* ours until it is reaped; it may have ended */
        (void)sigqueue(x->pid, SIGTERM, (union sigval){.sival_int = what});
}

void execution_stop(struct execution *x)
{
    x->stopped = 1;
    if (x->doubt == DOUBT_WAITS)
        set_timer(x, 0);
    execution_leave(x);
}

static void kill_now(struct execution *x)
{
    struct pollfd end = {x->pid_fd, POLLIN, 0};
    int rc;

    if (x->throttle)
        throttle_forget(x->throttle, x->pid);
    (void)kill(-x->pid, SIGKILL);
    (void)kill(x->pid, SIGKILL); /* if setpgid failed, it is not in the group */
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

void execution_release(struct execution *x)
{
    if (x)
        x->pid = 0;
    execution_destroy(x);
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
    spawn_close(&x->pid_fd);
    spawn_close(&x->out_fd);
    spawn_close(&x->err_fd);
    spawn_close(&x->exec_fd);
    x->destroyed = 1;
    if (!x->in_out)
        free(x);
    errno = saved;
}
