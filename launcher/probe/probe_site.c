/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe/probe_site.h"
#include "launcher/probe/probe_crew.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OUTPUT_MAX 256 /* bytes; a number has fewer */

void probe_site_label(const struct probe_site *site, struct probe_result *r)
{
    memcpy(r->name, site->name, sizeof r->name);
    memcpy(r->unit, site->unit, sizeof r->unit);
    r->less = site->less;
}

int probe_site_fits(const struct probe_site *site, const struct probe_result *r)
{
    return strcmp(site->name, r->name) == 0 && strcmp(site->unit, r->unit) == 0
           && site->less == r->less;
}

/* --- the command ---------------------------------------------------------- */

/* Of its standard output and its standard error. */
struct output {
    int fd; /* -1: it has closed it */
    char text[OUTPUT_MAX];
    size_t len; /* of what is kept */
    int more;   /* there was more */
};

struct run {
    pid_t pid;
    struct output out, err;
    int64_t end_ns;
};

static void child_main(const struct probe_site *site, int out, int err)
{
    int none = open("/dev/null", O_RDONLY);

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* fails for a bad signal only */
    (void)setpgid(0, 0);                    /* our own; cannot be a leader */
    if (none < 0 || dup2(none, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
        _exit(126);
    (void)execl("/bin/sh", "sh", "-c", site->command, (char *)NULL);
    _exit(127);
}

/* 0, or -1 with errno. */
static int start(struct run *r, const struct probe_site *site)
{
    int out[2], err[2];

    if (pipe2(out, O_CLOEXEC) < 0)
        return -1;
    if (pipe2(err, O_CLOEXEC) < 0) {
        close(out[0]);
        close(out[1]);
        return -1;
    }
    r->pid = fork();
    if (r->pid == 0)
        child_main(site, out[1], err[1]);
    if (r->pid > 0)
        (void)setpgid(r->pid, r->pid); /* whoever of us is first */
    r->out.fd = out[0];
    r->err.fd = err[0];
    close(out[1]);
    close(err[1]);
    return r->pid > 0 ? 0 : -1;
}

static void take(struct output *o)
{
    char buf[4096];
    ssize_t n = read(o->fd, buf, sizeof buf);
    size_t room = sizeof o->text - 1 - o->len;

    if (n < 0 && errno == EINTR)
        return;
    if (n <= 0) {
        close(o->fd);
        o->fd = -1;
        return;
    }
    if ((size_t)n > room)
        o->more = 1;
    memcpy(o->text + o->len, buf, (size_t)n < room ? (size_t)n : room);
    o->len += (size_t)n < room ? (size_t)n : room;
}

/* Until both are closed, too much has come, or it is late. */
static void listen_to(struct run *r)
{
    while ((r->out.fd >= 0 || r->err.fd >= 0) && !r->out.more) {
        struct pollfd p[] = {{r->out.fd, POLLIN, 0}, {r->err.fd, POLLIN, 0}};
        int64_t left = r->end_ns - probe_now_ns();

        if (left <= 0)
            return;
        if (poll(p, 2, (int)(left / 1000000) + 1) < 0)
            continue; /* a signal: until it is late */
        if (p[0].revents)
            take(&r->out);
        if (p[1].revents)
            take(&r->err);
    }
}

/* Wait for its end, and end it when it is late or has said too much.  Returns
 * its status, or -1 if it was late. */
static int wait_for(struct run *r)
{
    const struct timespec pause_1ms = {0, 1000000};
    siginfo_t ended = {0};
    int status = 0;

    for (;;) {
        /* not reaped yet, so that the number of its group is its own */
        (void)waitid(P_PID, (id_t)r->pid, &ended, WEXITED | WNOHANG | WNOWAIT);
        if (ended.si_pid != 0 || r->out.more || probe_now_ns() >= r->end_ns)
            break;
        (void)nanosleep(&pause_1ms, NULL);
    }
    (void)kill(-r->pid, SIGKILL); /* and whatever it has left behind */
    if (waitpid(r->pid, &status, 0) != r->pid)
        return -1;
    return ended.si_pid != 0 ? status : -1;
}

static void end(struct run *r)
{
    if (r->out.fd >= 0)
        close(r->out.fd);
    if (r->err.fd >= 0)
        close(r->err.fd);
}

/* --- what it says --------------------------------------------------------- */

/* The last line that is not empty; cuts o->text. */
static const char *last_line(struct output *o)
{
    char *line;

    o->text[o->len] = '\0';
    while (o->len > 0 && strchr(" \t\r\n", o->text[o->len - 1]))
        o->text[--o->len] = '\0';
    line = strrchr(o->text, '\n');
    return line ? line + 1 : o->text;
}

/* NULL, or why the output is no result. */
static const char *read_number(struct output *o, int less, double *value)
{
    const char *text = last_line(o);
    char *stop;

    if (o->more)
        return "more than a number";
    if (!*text)
        return "nothing";
    *value = strtod(o->text, &stop);
    if (stop == o->text || *stop)
        return "no single number";
    if (!isfinite(*value) || *value < 0)
        return "no number of 0 or more";
    if (less && !isnormal(1 / *value))
        return "no number above 0, of which less is better";
    return NULL;
}

static void take_result(struct run *run,
                        const struct probe_site *site,
                        int status,
                        struct probe_result *r)
{
    const char *said = last_line(&run->err), *why;
    double value = 0;

    if (status < 0 && !run->out.more) {
        probe_not_measured(r, "its command took longer than %d ms",
                           site->budget_ms);
        return;
    }
    if (!run->out.more && WIFSIGNALED(status)) {
        probe_not_measured(r, "its command was ended by signal %d",
                           WTERMSIG(status));
        return;
    }
    if (!run->out.more && WEXITSTATUS(status) != 0) {
        probe_not_measured(r, "its command ended with status %d%s%.100s",
                           WEXITSTATUS(status), *said ? ": " : "", said);
        return;
    }
    why = read_number(&run->out, site->less, &value);
    if (why)
        probe_not_measured(r, "its command printed %s", why);
    else
        probe_measured(r, value, 0, "%.120s", site->command);
}

void probe_site_measure(const struct probe_site *site, struct probe_result *r)
{
    struct run run = {.out.fd = -1,
                      .err.fd = -1,
                      .end_ns =
                          probe_now_ns() + (int64_t)site->budget_ms * 1000000};

    if (start(&run, site) < 0) {
        probe_not_measured(r, "its command cannot be started: %s",
                           strerror(errno));
    } else {
        listen_to(&run);
        take_result(&run, site, wait_for(&run), r);
    }
    end(&run);
    probe_site_label(site, r);
}
