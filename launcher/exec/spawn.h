/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spawn.h - starts a command in a process group of its own, with pipes for its
 * output, default signal actions, no blocked signals, and the limit of open
 * files that we were given (file_limit.h).  The command gets a signal when the
 * thread that started it dies (PR_SET_PDEATHSIG).
 */
#ifndef LAUNCHER_EXEC_SPAWN_H
#define LAUNCHER_EXEC_SPAWN_H

#include "pmix_bcast/error.h"

#include <sched.h>
#include <stdint.h>
#include <sys/types.h>

struct throttle;

struct execution_spec {
    /* The command.  A name without a slash is looked for in PATH of envp, or
     * in ours if envp has none, as execvp(3) does.  Unlike there, folders that
     * we may not search are skipped, and a file that is neither a program nor
     * begins with #! is not given to a shell. */
    char *const *argv;
    char *const *envp;         /* NULL: ours */
    const char *dir;           /* its working directory; NULL: ours */
    struct throttle *throttle; /* NULL: full speed */
    int orphan_signal;         /* sent to it if we die; 0: SIGKILL */
    int in_fd;                 /* its stdin; 0: /dev/null */
    const cpu_set_t *cpus;     /* that it may run on; NULL: as we may */
    size_t cpus_bytes;         /* of these */
    int stays;                 /* in our process group */
};

struct spawned {
    pid_t pid;          /* and its group, unless it stays in ours */
    int out_fd, err_fd; /* read ends of its stdout and stderr, non-blocking */
    int exec_fd; /* at its end: a struct exec_fault if exec failed, else nothing */
    int64_t begin_ns; /* before the fork, CLOCK_MONOTONIC */
};

/* Start it.  0, or -1 (nothing started, *s undefined).  A command that cannot
 * be found or executed is reported by exec_fd, not here. */
int spawn(struct spawned *s,
          const struct execution_spec *spec,
          struct es_error *err);
/* A pidfd of a child, above 2; -1 with errno: ENOSYS before Linux 5.3. */
int spawn_pid_fd(pid_t pid);
/* Close *fd, unless it is -1, and set it to -1. */
void spawn_close(int *fd);

#endif
