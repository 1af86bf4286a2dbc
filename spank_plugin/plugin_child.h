/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugin_child.h - the front end as a child of srun: started on two pipes,
 * heard once, told by the end of its stdin that the step is over.
 *
 * The child answers with exactly one line on its stdout:
 *   ready            go on
 *   continue: TEXT   it could not start; the site lets the step go on
 *   fail: TEXT       it could not start; the step must not start either
 *
 * Nothing is ever written to the child, no signal handler is set, and only
 * the child itself is waited for: srun does not notice.
 */
#ifndef SPANK_PLUGIN_CHILD_H
#define SPANK_PLUGIN_CHILD_H

#include <stddef.h>
#include <sys/types.h>

#define CHILD_WAITS                                                            \
    "EVENSTEP_PLUGIN_WAITS" /* in its environment: we hear "wait" */
#define CHILD_LINE_MAX 1024 /* of the answer, with its newline */

struct plugin_child {
    pid_t pid;
    int stdin_fd;  /* our end: write end, never written to */
    int stdout_fd; /* our end: read end */
};

enum child_answer {
    ANSWER_NONE, /* its stdout ended without a line */
    ANSWER_READY,
    ANSWER_CONTINUE,
    ANSWER_FAIL,
    ANSWER_GARBLED,     /* another line, or one that is too long */
    ANSWER_LATE,        /* nothing within the time */
    ANSWER_INTERRUPTED, /* a signal to srun, as by Ctrl-C */
};

/*
 * Start argv[0], an absolute path, in a session of its own (Ctrl-C at the
 * terminal is not for it), with srun's stderr, no other file descriptors,
 * default signals, and CHILD_WAITS added to the environment.
 * Returns 0 and fills c, or an errno value (c untouched): what exec said too.
 */
int plugin_child_start(struct plugin_child *c, char *const argv[]);

/*
 * Wait up to timeout_s seconds for the answer; where it says before how long it may
 * take ("wait N", from then on), so long and may_add_s seconds more, unless that is
 * below 0.  text, of CHILD_LINE_MAX bytes, becomes TEXT, with control characters replaced by '?', or "".
 * To be called on srun's main thread; SIGINT, SIGTERM, SIGHUP and SIGQUIT to
 * srun end the waiting and are used up by it.
 */
enum child_answer plugin_child_receive(const struct plugin_child *c,
                                       int timeout_s,
                                       int may_add_s,
                                       char *text);

/*
 * Close the pipes and wait up to grace_ms for the child to end.  Returns 1 if
 * it has ended, 0 if it has not; it is a process by itself then, of which
 * c->pid remains valid for plugin_child_kill().
 */
int plugin_child_stop(struct plugin_child *c, int grace_ms);

/* SIGTERM to the child that would not end, and to what it started. */
void plugin_child_kill(const struct plugin_child *c);

#endif
