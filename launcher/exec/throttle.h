/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * throttle.h - a CPU speed for commands, in percent of one core.
 *
 * It is for "evenstep run --local N=S1,S2,...".  If we may create a cgroup (v1
 * or v2) with a limit of CPU time, the kernel limits all that runs in it.
 * Otherwise a timer stops and continues the process group of a command: the
 * duty cycle, which needs no rights.  It counts time, not CPU time: every
 * thread of the commands gets that percentage of a core, and a command that
 * stops itself is continued.
 */
#ifndef LAUNCHER_EXEC_THROTTLE_H
#define LAUNCHER_EXEC_THROTTLE_H

#include "pmix_bcast/error.h"

#include <stdint.h>
#include <sys/types.h>

#define THROTTLE_PERIOD_US 10000 /* cgroup; short, so as to slow evenly */
#define THROTTLE_QUOTA_US  1000  /* least quota; Linux, kernel/sched/core.c */
#define THROTTLE_CYCLE_US  20000 /* of the duty cycle */
#define THROTTLE_RUN_US    2000  /* least run; libevent's timers have 1 ms */
#define THROTTLE_NAME_MAX  64

struct event_base;
struct throttle;

enum throttle_how {
    THROTTLE_ANY, /* a cgroup where allowed, else the duty cycle */
    THROTTLE_DUTY_CYCLE,
};

/* Where a process may create a cgroup that limits CPU time. */
struct throttle_place {
    int version;     /* 1 or 2 */
    char path[4096]; /* the directory to create it in */
};

/*
 * Open a throttle of percent (1 to 100 * CPUs) of one core.
 *
 *   base  drives the duty cycle; must outlive the throttle
 *   name  of the new cgroup: 1 to 64 of A-Z a-z 0-9 . _ - and no dot at the
 *         beginning.  No other living process may use it; a group that a
 *         killed process left under this name is taken over
 *
 * For the duty cycle 100 and above mean no limit.  On failure *t is untouched.
 * The caller owns *t.
 */
int throttle_open(struct throttle **t,
                  struct event_base *base,
                  int percent,
                  const char *name,
                  enum throttle_how how,
                  struct es_error *err);

/* What it limits by: "cgroup v1", "cgroup v2" or "duty cycle". */
const char *throttle_means(const struct throttle *t);

/*
 * The descriptor to which a child writes "0" between fork and exec to enter the
 * cgroup; -1 for the duty cycle.  Owned by t.
 */
int throttle_enter_fd(const struct throttle *t);

/*
 * Limit this process group, too, which is running now; and forget it again,
 * before its leader is reaped: then another process may get its pid.  It is
 * left running.  Both do nothing for a cgroup, throttle_forget() nothing for a
 * group that is not limited.
 */
void throttle_watch(struct throttle *t, pid_t group);
void throttle_forget(struct throttle *t, pid_t group);

/*
 * End.  Kills what is left in the cgroup and removes it, which may block for up
 * to 0.5 s while processes end.  NULL is allowed.
 */
void throttle_close(struct throttle *t);

/* Remove the cgroup of a throttle whose process was killed, if it exists, and
 * kill what runs in it. */
void throttle_sweep(const char *name);

/*
 * Find the place from the texts of /proc/self/mountinfo and /proc/self/cgroup.
 * For v1 it is the group that we are in.  For v2 it is the parent of that
 * group, or the root, as a group of v2 cannot have both processes and limited
 * children. Mount points with a space in their path are skipped.
 * Pure.  Returns 0, or -1 if there is none (place untouched).
 */
int throttle_find(const char *mountinfo,
                  const char *cgroup,
                  struct throttle_place *place);

/*
 * How long, in ns, the duty cycle lets a group run in its next cycle, so that
 * it has run for just a share (0..1) of the time since the start.
 *
 *   owed_ns   share * time so far - time run: positive if it ran too little
 *   cycle_ns  length of the cycle
 *
 * Pure.  0 to cycle_ns.
 */
int64_t throttle_run_ns(double share, double owed_ns, int64_t cycle_ns);

#endif
