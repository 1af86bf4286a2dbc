/* SPDX-License-Identifier: BSD-2-Clause */
/* The CPU time of a group, in a /proc that we have made and in the real one. */
#include "launcher/meter/group_cpu.h"
#include "tap.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

static char proc[] = "/tmp/group_cpu.XXXXXX";

static void put(const char *pid, const char *stat)
{
    char path[100];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", proc, pid);
    if (mkdir(path, 0700) < 0)
        bail("cannot make %s", path);
    snprintf(path, sizeof path, "%s/%s/stat", proc, pid);
    file = fopen(path, "w");
    if (!file || fputs(stat, file) < 0 || fclose(file) != 0)
        bail("cannot write %s", path);
}

static void test_made(void)
{
    double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);
    char command[200];

    put("7", "7 (sh) S 1 7 7 0 -1 4194304 1 2 3 4 10 20 3 4 20 0 1 0 5\n");
    put("8", "8 (a) R 9 (b)) S 7 7 7 0 -1 0 0 0 0 0 100 200 0 0 20 0 1 0 5\n");
    put("9", "9 (other) S 1 9 9 0 -1 0 0 0 0 0 1000 1000 0 0 20 0 1 0 5\n");
    put("10", "nonsense\n");
    put("11", "");
    put("self", "7 (sh) S 1 7 7 0 -1 0 0 0 0 0 5000 0 0 0 20 0 1 0 5\n");
    is_near(group_cpu_seconds(proc, 7), 337 * tick, 1e-9,
            "those of the group count, with what they have waited for");
    is_near(group_cpu_seconds(proc, 12), 0, 1e-9, "a group that is none is 0");
    is_near(group_cpu_seconds("/nowhere", 7), 0, 1e-9, "so is no /proc");
    snprintf(command, sizeof command, "rm -r %s", proc);
    if (system(command) != 0)
        bail("%s", command);
}

static void test_real(void)
{
    pid_t pid = fork();
    struct timespec t = {0, 10000000};
    double used = 0;

    if (pid == 0) {
        for (;;)
            (void)getppid();
    }
    if (pid < 0 || setpgid(pid, pid) < 0)
        bail("no child");
    for (int i = 0; i < 1000 && used < 0.05; i++) {
        (void)nanosleep(&t, NULL);
        used = group_cpu_seconds("/proc", pid);
    }
    ok(used >= 0.05, "a child that works uses time");
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
    is_near(group_cpu_seconds("/proc", pid), 0, 1e-9, "and then no more");
}

int main(void)
{
    if (!mkdtemp(proc))
        bail("no directory");
    test_made();
    test_real();
    return done();
}
