/* SPDX-License-Identifier: BSD-2-Clause */
/* What a killed process has left is found by its environment, and ended. */
#include "launcher/exec/orphans.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char mark[64];
static int ready[2]; /* who holds the write end has not yet become another */

/* Become a program that sleeps, with this environment. */
_Noreturn static void sleep_with(char *entry)
{
    static char other[] = "OTHER=1", program[] = "/bin/sleep", time[] = "600";
    char *argv[] = {program, time, NULL}, *env[] = {other, entry, NULL};

    execve(program, argv, env);
    _exit(127);
}

static pid_t begin(char *entry, int own_session, int own_group)
{
    pid_t pid = fork();

    if (pid < 0)
        bail("fork: %s", strerror(errno));
    if (pid == 0) {
        if ((own_session && setsid() < 0) || (own_group && setpgid(0, 0) < 0))
            _exit(126);
        sleep_with(entry);
    }
    return pid;
}

/* All of them are what they are to be: the ends that they had are closed. */
static void wait_for_all(void)
{
    struct pollfd end = {ready[0], 0, 0};

    close(ready[1]);
    if (poll(&end, 1, 30000) != 1)
        bail("they do not begin");
}

static int lives(pid_t pid)
{
    return waitpid(pid, NULL, WNOHANG) == 0;
}

static void test_who(void)
{
    char other[] = "EVENSTEP_LOCAL=evenstep-0-local1x", longer[128];
    pid_t ours, grouped, daemon, others, more;

    snprintf(mark, sizeof mark, "EVENSTEP_LOCAL=evenstep-%d-local1", getpid());
    snprintf(longer, sizeof longer, "%sx", mark);
    if (pipe2(ready, O_CLOEXEC) < 0)
        bail("pipe2: %s", strerror(errno));
    ours = begin(mark, 0, 0);
    grouped = begin(mark, 0, 1);
    daemon = begin(mark, 1, 0);
    others = begin(other, 0, 0);
    more = begin(longer, 0, 1);
    wait_for_all();
    ok(orphans_end(mark) >= 2, "two are found, perhaps twice");
    ok(waitpid(ours, NULL, 0) == ours && waitpid(grouped, NULL, 0) == grouped,
       "in whatever group, they end");
    ok(lives(daemon), "who has a session of his own does not");
    ok(lives(others) && lives(more), "nor does another's");
    is_int((long)orphans_end(mark), 0, "nobody is left");
    for (size_t i = 0; i < 3; i++) {
        pid_t pid = (const pid_t[]){daemon, others, more}[i];

        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
    }
}

static void test_us(void)
{
    is_int((long)orphans_end("EVENSTEP_LOCAL=nobody"), 0, "none has it");
    ok(orphans_end("") == 0 && orphans_end("PATH") == 0,
       "what is no entry is nobody's");
}

int main(void)
{
    test_who();
    test_us();
    done();
}
