/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exec_fault.h - why execve(2) has refused a program that is there, beyond its
 * errno: EACCES comes of five faults, of which chmod mends one, and ENOENT is also
 * said of a script whose interpreter is missing.
 */
#ifndef LAUNCHER_EXEC_EXEC_FAULT_H
#define LAUNCHER_EXEC_EXEC_FAULT_H

#include <stddef.h>

#define EXEC_FAULT_MAX 700 /* bytes of what is said, with its NUL */

enum exec_fault_kind {
    EXEC_FAULT_UNKNOWN,
    EXEC_FAULT_FOLDER,             /* it is one */
    EXEC_FAULT_MOUNT,              /* noexec */
    EXEC_FAULT_MODE,               /* nobody, or not we, may run it */
    EXEC_FAULT_FORMAT,             /* no program of this machine, and no #! */
    EXEC_FAULT_INTERPRETER,        /* is not there */
    EXEC_FAULT_INTERPRETER_DENIED, /* may not be run */
};

struct exec_fault { /* as the child tells its parent, in one write to a pipe */
    int error;      /* errno of execve(2), or of what came before it */
    enum exec_fault_kind kind;
    char path[300], interpreter[300]; /* cut */
};

/* Of the program at path, which f->error is of.  Async-signal-safe; reads the
 * program's head. */
void exec_fault_find(struct exec_fault *f, const char *path);
/* In words, with what mends it, and a newline.  Returns how many bytes; 0: there
 * is nothing to say but the errno. */
size_t exec_fault_say(const struct exec_fault *f, char text[EXEC_FAULT_MAX]);

#endif
