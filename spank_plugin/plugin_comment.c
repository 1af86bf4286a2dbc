/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A child of slurmstepd asks Slurm, as soon as the agent has said the line and
 * while the agent waits: the job may end with this step, and then it is too
 * late.  slurmctld may be away, and its clients wait for minutes: nobody waits
 * for the child that long.  It does not exec, as Slurm's library is here, and
 * scontrol may be anywhere.
 */
#include "spank_plugin/plugin_comment.h"
#include "spank_plugin/slurm_release.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "spank_plugin/plugin_options.h"

#ifndef SYS_close_range
#    define SYS_close_range 436 /* everywhere but on Alpha */
#endif

#define BEGIN "evenstep: "

/* The agent has waited for it already; what is left is its end. */
#define LIMIT_MS  1000
#define LINES_MAX 8 /* of the user's, until one is ours */
#define NAP_MS    5

/* How the child ends. */
enum verdict { DONE, REFUSED_BY_SLURM, NO_ROOM, TOO_LATE };

static struct {
    pid_t pid; /* 0: none */
    int inlet; /* of the socket to it, for the agent */
} child = {.inlet = -1};

/* --- text ----------------------------------------------------------------- */

static int may_be_shown(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
           || (c >= '0' && c <= '9') || (c && strchr(" .,:=-_%()[]+/", c));
}

int plugin_comment_check(char text[COMMENT_LINE_MAX],
                         const char *line,
                         size_t len)
{
    if (len < sizeof BEGIN || len >= COMMENT_LINE_MAX
        || memcmp(line, BEGIN, sizeof BEGIN - 1) != 0)
        return -1;
    for (size_t i = 0; i < len; i++)
        text[i] = may_be_shown(line[i]) ? line[i] : '?';
    text[len] = '\0';
    return 0;
}

/* Our line has no ';' and is whole between two of them: what others write of
 * evenstep is not ours. */
static const char *find_ours(const char *was)
{
    const char *at = strstr(was, BEGIN);

    while (at && at != was && (at - was < 2 || memcmp(at - 2, "; ", 2) != 0))
        at = strstr(at + 1, BEGIN);
    return at;
}

static size_t without_end(const char *text, size_t len)
{
    while (len > 0 && (text[len - 1] == ' ' || text[len - 1] == ';'))
        len--;
    return len;
}

int plugin_comment_join(char comment[COMMENT_MAX],
                        const char *was,
                        const char *line)
{
    const char *ours, *rest;
    size_t len, more;

    was = was ? was : "";
    ours = find_ours(was);
    rest = ours ? ours + strcspn(ours, ";") : "";
    rest += strspn(rest, "; ");
    len = without_end(was, ours ? (size_t)(ours - was) : strlen(was));
    more = without_end(rest, strlen(rest));
    if (len + 2 + more + 2 + strlen(line) >= COMMENT_MAX)
        return -1;
    (void)snprintf(comment, COMMENT_MAX, "%.*s%s%.*s%s%s", (int)len, was,
                   len > 0 ? "; " : "", (int)more, rest, more > 0 ? "; " : "",
                   line);
    return 0;
}

/* --- the child ------------------------------------------------------------ */

/* What is there already, or NULL. */
static const char *comment_of(const job_info_msg_t *jobs, uint32_t job)
{
    for (uint32_t i = 0; jobs && i < jobs->record_count; i++)
        if (jobs->job_array[i].job_id == job)
            return jobs->job_array[i].admin_comment;
    return NULL;
}

static enum verdict update(uint32_t job, const char *line)
{
    char comment[COMMENT_MAX];
    job_info_msg_t *jobs = NULL;
    job_desc_msg_t wish;

    if (slurm_release_load_job(&jobs, job) != SLURM_SUCCESS)
        return REFUSED_BY_SLURM;
    if (plugin_comment_join(comment, comment_of(jobs, job), line) < 0)
        return NO_ROOM;
    slurm_init_job_desc_msg(&wish);
    slurm_release_name_job(&wish, job);
    wish.admin_comment = comment;
    if (slurm_update_job(&wish) == SLURM_SUCCESS)
        return DONE;
    return errno == ESLURM_JOB_FINISHED ? TOO_LATE : REFUSED_BY_SLURM;
}

/* slurmd waits for the end of what slurmstepd has open. */
static void close_all_but(int fd)
{
    long most = sysconf(_SC_OPEN_MAX);

    if (syscall(SYS_close_range, 0U, (unsigned)fd - 1, 0U) == 0
        && syscall(SYS_close_range, (unsigned)fd + 1, ~0U, 0U) == 0)
        return;
    for (int i = 0; i < most && i < 65536; i++) /* Linux before 5.9 */
        if (i != fd)
            (void)close(i);
}

/* 1 if that was the line of this step: slurmctld takes what root asks for
 * without its limit of requests. */
static int take_line(int outlet, uint32_t job, enum verdict *verdict)
{
    char line[COMMENT_LINE_MAX], text[COMMENT_LINE_MAX];
    ssize_t n;

    do
        n = recv(outlet, line, sizeof line, MSG_TRUNC);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return 1; /* there is none */
    if (plugin_comment_check(text, line, (size_t)n) < 0)
        return 0;
    *verdict = update(job, text);
    return 1;
}

/* Until slurmstepd and the agent are gone: slurmstepd would wait for a child
 * that ends before. */
static enum verdict serve(uint32_t job, int outlet)
{
    struct pollfd end = {.fd = outlet, .events = 0};
    enum verdict verdict = DONE;
    int is_last = 0;

    close_all_but(outlet);
    for (int i = 1; !is_last; i++) {
        is_last = take_line(outlet, job, &verdict) || i == LINES_MAX;
        if (is_last)
            (void)shutdown(outlet, SHUT_RD);
        (void)!send(outlet, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    while (poll(&end, 1, -1) < 0 && errno == EINTR)
        ;
    return verdict;
}

/* --- in slurmstepd -------------------------------------------------------- */

/* The agents' step, on its first node: one says it for all. */
static int is_wanted(spank_t sp)
{
    struct plugin_options o = plugin_options_get();
    uint32_t node;

    return o.admin_comment && o.agents
           && spank_get_item(sp, S_JOB_NODEID, &node) == ESPANK_SUCCESS
           && node == 0;
}

void plugin_comment_prepare(spank_t sp)
{
    uint32_t job;
    int fd[2];

    if (!is_wanted(sp) || spank_get_item(sp, S_JOB_ID, &job) != ESPANK_SUCCESS
        || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) < 0)
        return;
    child.pid = fork();
    if (child.pid == 0)
        _exit((int)serve(job, fd[0]));
    (void)close(fd[0]);
    child.inlet = fd[1];
    if (child.pid < 0) {
        child.pid = 0;
        (void)close(child.inlet);
        child.inlet = -1;
    }
}

void plugin_comment_task(spank_t sp)
{
    char number[16];

    if (child.inlet < 0 || fcntl(child.inlet, F_SETFD, 0) < 0)
        return;
    (void)snprintf(number, sizeof number, "%d", child.inlet);
    if (spank_setenv(sp, COMMENT_FD, number, 1) != ESPANK_SUCCESS)
        slurm_verbose("evenstep: cannot set " COMMENT_FD " for the agent");
}

static int64_t now_ms(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t); /* cannot fail for this clock */
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* 0 if it has ended by itself, and *status is how; -1 if it had to be killed,
 * or slurmstepd has waited for it. */
static int await(int *status)
{
    static const struct timespec nap = {.tv_nsec = NAP_MS * 1000000L};
    int64_t deadline = now_ms() + LIMIT_MS;

    for (;;) {
        pid_t got = waitpid(child.pid, status, WNOHANG);

        if (got == child.pid)
            return WIFEXITED(*status) ? 0 : -1;
        if (got < 0 && errno != EINTR)
            return -1;
        if (now_ms() >= deadline)
            break;
        (void)nanosleep(&nap, NULL);
    }
    (void)kill(child.pid, SIGKILL);
    (void)waitpid(child.pid, status, 0);
    return -1;
}

static const char *reason(int status)
{
    switch ((enum verdict)WEXITSTATUS(status)) {
    case DONE:
        return NULL;
    case NO_ROOM:
        return "what is there leaves no room";
    case TOO_LATE: /* its only step has ended, and srun the job */
        return "it has ended; that of sbatch or salloc would get one";
    case REFUSED_BY_SLURM:
    default:
        return "slurmctld does not take it; slurmd must run as root, or as "
               "SlurmUser";
    }
}

void plugin_comment_end(spank_t sp)
{
    uint32_t job = 0;
    const char *why;
    int status;

    if (child.pid <= 0)
        return;
    (void)close(child.inlet);
    why = await(&status) == 0 ? reason(status) : "slurmctld does not answer";
    child.inlet = -1;
    child.pid = 0;
    (void)spank_get_item(sp, S_JOB_ID, &job);
    if (why) /* in slurmd's log, and not in the user's output */
        slurm_info("evenstep: job %" PRIu32 " gets no AdminComment: %s", job,
                   why);
}
