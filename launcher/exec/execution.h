/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * execution.h - runs one command for one slice, and reports its output and its
 * end.
 *
 * The command runs in a process group of its own, with a file or /dev/null as
 * its stdin, the limit of open files that we were given (file_limit.h), default
 * signal actions and no blocked signals.  When it has exited, what it left
 * running in that group is killed.  A process that has left the group and still
 * holds the output is waited for EXECUTION_DRAIN_MS, then ignored.
 *
 * Slurm ends a job or a step by SIGTERM or SIGKILL to all its processes, one after
 * the other: that one has died of that is told after EXECUTION_DOUBT_MS only, by
 * when we have it, too;
 * and any other failure after the signals that are here already.
 *
 * The command gets a signal when the thread that started it dies
 * (PR_SET_PDEATHSIG), so that must be the main thread.
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
#define EXECUTION_DRAIN_MS 200   /* wait for a daemon that holds the output */
#define EXECUTION_DOUBT_MS 500   /* from a death by either to its report */
#define EXECUTION_READ_MAX 65536 /* capacity of a pipe; pipe(7) */
#define EXECUTION_ERR_MAX  8192  /* bytes kept of the end of stderr */

struct event_base;
struct execution;

struct execution_end {
    int status;         /* 0..255; 128 + signal if it was killed */
    int signal;         /* that killed it; 0 if it exited */
    int exec_errno;     /* not 0: it could not be started, and status is 127
                             if there is no such command, else 126 */
    int64_t elapsed_ns; /* from before fork to its exit, CLOCK_MONOTONIC */
    double
        cpu_s; /* seconds of CPU time, its own and of what it has waited for */
    const char *err_tail; /* the last bytes of its stderr, not terminated */
    size_t err_len;       /* at most EXECUTION_ERR_MAX */
    uint64_t err_dropped; /* bytes of stderr before err_tail */
};

/* Called with len > 0 bytes of its stdout; buf is valid during the call.  NULL:
 * its stdout is read and dropped. */
typedef void (*execution_output_fn)(void *arg, const void *buf, size_t len);

/* Called once, after the last output; end is valid during the call. */
typedef void (*execution_end_fn)(void *arg, const struct execution_end *end);

/*
 * Start a command.  The throttle must outlive the execution; the rest of spec
 * is used during the call only.
 * Returns 0, or -1 (*x untouched, nothing started, no callback).  A command
 * that cannot be found or executed is reported by end, not here.
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

/* Call err for its stderr as it comes; err must not destroy x. */
void execution_hear_err(struct execution *x, execution_output_fn err);

/* Its process group; 0 if it has ended. */
pid_t execution_group(const struct execution *x);

/* Bytes of its stdout that are in the pipe, not yet passed to out. */
size_t execution_unread(const struct execution *x);

/*
 * Send SIGTERM to its group, and SIGKILL after EXECUTION_STOP_MS.  A throttle
 * by duty cycle lets the group run at full speed from now on.  end is still
 * called, without delay.
 */
void execution_stop(struct execution *x);

/* Send its process alone, and not its group, a SIGTERM that has a number with it
 * (sigqueue(3)); nothing follows. */
void execution_tell(struct execution *x, int what);

/* As execution_stop() of one that seems to have ended by itself: if it has died of SIGTERM,
 * that may have been another's. */
void execution_leave(struct execution *x);

/* Free x, and let it run on: nobody reads what it writes any more.  NULL is
 * allowed; no callback follows. */
void execution_release(struct execution *x);

/*
 * Free x.  If its group still runs, it is killed and reaped, which blocks until
 * the kernel has ended it (at most 1 s).  No callback follows.  NULL is
 * allowed, and so is the call from out or end.
 */
void execution_destroy(struct execution *x);

#endif
