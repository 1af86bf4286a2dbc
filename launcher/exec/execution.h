/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * execution.h - run one command for one slice: hear its output and its end.
 *
 * The command runs in a process group of its own, with /dev/null or a file as its stdin,
 * the limit of open files that we were given (file_limit.h), signals at their
 * defaults and none blocked.  When it has exited, what it left running
 * in that group is killed; a process that has escaped from the group and
 * still holds the output is waited for EXECUTION_DRAIN_MS and then let go.
 * The command is signalled when the thread that started it dies
 * (PR_SET_PDEATHSIG), which must therefore be the main one.
 *
 * All functions and callbacks run on the event loop's thread.
 */
#ifndef LAUNCHER_EXEC_EXECUTION_H
#define LAUNCHER_EXEC_EXECUTION_H

#include "launcher/exec/spawn.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define EXECUTION_STOP_MS  2000  /* from SIGTERM to SIGKILL */
#define EXECUTION_DRAIN_MS 200   /* for a daemon that holds the output */
#define EXECUTION_READ_MAX 65536 /* a pipe's capacity; pipe(7) */
#define EXECUTION_ERR_MAX  8192  /* the last lines of stderr, and to spare */

struct event_base;
struct execution;

struct execution_end {
    int status;           /* 0..255; 128 + signal if it was killed */
    int signal;           /* that killed it; 0 if it exited */
    int exec_errno;       /* not 0: it could not be started; then status is 127
                             if there is no such command, else 126 */
    int64_t elapsed_ns;   /* from before fork to its exit, CLOCK_MONOTONIC */
    const char *err_tail; /* the last bytes of its stderr, not terminated */
    size_t err_len;       /* at most EXECUTION_ERR_MAX */
    uint64_t err_dropped; /* how many bytes went before */
};

/* len > 0 bytes of its stdout; buf is valid during the call. */
typedef void (*execution_output_fn)(void *arg, const void *buf, size_t len);

/* Called once, after the last output; end is valid during the call. */
typedef void (*execution_end_fn)(void *arg, const struct execution_end *end);

/*
 * Start a command.  What spec points to is used during the call only, but for
 * the throttle, which must outlive the execution.
 * Returns 0, or -1 (*x untouched, nothing started, no callback).  A command
 * that is not to be found or not executable is told by end, not here.
 * The caller owns *x and destroys it, in or after end.
 */
int execution_start(struct execution **x,
                    struct event_base *base,
                    const struct execution_spec *spec,
                    execution_output_fn out,
                    execution_end_fn end,
                    void *arg,
                    struct es_error *err);

/*
 * Stop (on != 0) or resume reading its stdout, so that the command waits when
 * the pipe is full.  While stopped, out and end are not called.  May be called
 * from out.  If reading cannot be resumed (no memory) the command is killed
 * and its end says so.
 */
void execution_hold(struct execution *x, int on);

/* Hear its stderr, too, as it comes; err may not destroy it. */
void execution_hear_err(struct execution *x, execution_output_fn err);

/* Its process group; 0 if it has ended. */
pid_t execution_group(const struct execution *x);

/* Bytes of its stdout that are not read yet; out will bring them first. */
size_t execution_unread(const struct execution *x);

/*
 * SIGTERM to its group, which from then on runs at full speed if the throttle
 * is a duty cycle; SIGKILL after EXECUTION_STOP_MS.  end is still called.
 */
void execution_stop(struct execution *x);

/*
 * Free x; kill its group at once if it still runs, and reap it, which blocks
 * until the kernel has ended it (at most 1 s).  No callback comes any more.
 * NULL is allowed, and so is the call from out or from end.
 */
void execution_destroy(struct execution *x);

#endif
