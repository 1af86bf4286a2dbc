/* SPDX-License-Identifier: BSD-2-Clause */
/* Tasks beside each other, and one that has the node for itself. */
#include "launcher/agent/alone.h"
#include "tap.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

static int open_it(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);

    if (fd < 0)
        bail("%s", path);
    return fd;
}

/* In another process, which opens it by its path. */
static int is_open_elsewhere(const char *path)
{
    pid_t pid = fork();
    int status;

    if (pid == 0)
        _exit(alone_enter(open_it(path), 0) == 1 ? 0 : 1);
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

int main(void)
{
    int made = alone_make(), a, b, c;
    char path[64];

    ok(made >= 0, "a file is made");
    alone_path(path, made);
    a = open_it(path);
    b = open_it(path);
    c = open_it(path);
    ok(alone_enter(a, 0) == 1 && alone_enter(b, 0) == 1, "two are in");
    ok(is_open_elsewhere(path), "and one of another process, which ends");
    is_int(alone_enter(c, 1), 0, "who is to be alone waits");
    alone_leave(a);
    is_int(alone_enter(a, 0), 0, "and lets nobody in");
    is_int(alone_enter(c, 1), 0, "while one is still in");
    ok(!is_open_elsewhere(path), "nor from another process");
    alone_leave(b);
    is_int(alone_enter(c, 1), 1, "then it is in");
    ok(alone_enter(a, 0) == 0 && alone_enter(b, 1) == 0, "and nobody else");
    alone_leave(c);
    ok(alone_enter(a, 0) == 1 && alone_enter(c, 0) == 1,
       "when it has left others are");
    is_int(alone_enter(b, 1), 0, "the next one waits");
    close(b);
    alone_leave(a);
    is_int(alone_enter(a, 0), 1, "and when it is gone keeps nobody out");
    close(made);
    ok(alone_enter(-1, 0) < 0, "no file, no answer");
    return done();
}
