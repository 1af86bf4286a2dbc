/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/exec/exec_fault.h"
#include "launcher/base/elf_interpreter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define LINE_MAX_READ 256 /* of a first line the kernel reads no more */

/* --- in the child: async-signal-safe calls only --------------------------- */

static void copy(char *to, size_t size, const char *from, size_t len)
{
    len = len < size ? len : size - 1;
    memcpy(to, from, len);
    to[len] = '\0';
}

static int is_noexec(const char *path)
{
    struct statvfs fs;

    return statvfs(path, &fs) == 0 && (fs.f_flag & ST_NOEXEC) != 0;
}

/* What runs it, from its first line or as ELF has it.  0: it names none. */
static int find_interpreter(struct exec_fault *f, const char *path)
{
    char head[LINE_MAX_READ], loader[PATH_MAX];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), found = 0;
    ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof head, 0);
    size_t from = 2, to;

    if (n > 2 && head[0] == '#' && head[1] == '!') {
        while (from < (size_t)n && (head[from] == ' ' || head[from] == '\t'))
            from++;
        for (to = from; to < (size_t)n && !strchr(" \t\n", head[to]); to++)
            ;
        copy(f->interpreter, sizeof f->interpreter, head + from, to - from);
        found = to > from;
    } else if (n > 0 && elf_interpreter(fd, loader) == 1) {
        copy(f->interpreter, sizeof f->interpreter, loader, strlen(loader));
        found = 1;
    }
    if (fd >= 0)
        (void)close(fd); /* only read */
    return found;
}

static enum exec_fault_kind kind_of(struct exec_fault *f, const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return EXEC_FAULT_UNKNOWN;
    if (f->error == ENOEXEC)
        return EXEC_FAULT_FORMAT;
    if (f->error == EACCES && S_ISDIR(st.st_mode))
        return EXEC_FAULT_FOLDER;
    if (f->error == EACCES && is_noexec(path))
        return EXEC_FAULT_MOUNT;
    if (f->error == EACCES && access(path, X_OK) < 0)
        return EXEC_FAULT_MODE;
    if ((f->error != EACCES && f->error != ENOENT)
        || !find_interpreter(f, path))
        return EXEC_FAULT_UNKNOWN;
    if (access(f->interpreter, F_OK) < 0)
        return EXEC_FAULT_INTERPRETER;
    return f->error == EACCES ? EXEC_FAULT_INTERPRETER_DENIED
                              : EXEC_FAULT_UNKNOWN;
}

void exec_fault_find(struct exec_fault *f, const char *path)
{
    copy(f->path, sizeof f->path, path, strlen(path));
    f->kind = kind_of(f, path);
}

/* --- in words ------------------------------------------------------------- */

size_t exec_fault_say(const struct exec_fault *f, char text[EXEC_FAULT_MAX])
{
    size_t len = strlen(f->interpreter);
    const char *why = "";

    switch (f->kind) {
    case EXEC_FAULT_UNKNOWN:
        return 0;
    case EXEC_FAULT_FOLDER:
        why = "is a folder: name a program in it";
        break;
    case EXEC_FAULT_MOUNT:
        why = "is on a file system that is mounted noexec: copy it to another";
        break;
    case EXEC_FAULT_MODE:
        why = "may not be run, by its mode: chmod +x";
        break;
    case EXEC_FAULT_FORMAT:
        why = "is no program of this machine: begin a script with #!/bin/sh";
        break;
    case EXEC_FAULT_INTERPRETER:
    case EXEC_FAULT_INTERPRETER_DENIED:
        break;
    }
    if (why[0])
        snprintf(text, EXEC_FAULT_MAX, "evenstep: %s %s\n", f->path, why);
    else if (f->interpreter[len - 1] == '\r')
        snprintf(text, EXEC_FAULT_MAX,
                 "evenstep: %s has lines that end with CR: sed -i 's/\\r$//' "
                 "mends it\n",
                 f->path);
    else
        snprintf(text, EXEC_FAULT_MAX,
                 "evenstep: %s needs %s, which %s on this node\n", f->path,
                 f->interpreter,
                 f->kind == EXEC_FAULT_INTERPRETER ? "is not there"
                                                   : "may not be run");
    return strlen(text);
}
