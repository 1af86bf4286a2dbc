/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loader_list.h - what a program's loader prints when it is asked for the
 * shared objects of it (ld.so --list, of glibc and musl), and which of them are
 * worth bringing elsewhere.  Pure.
 */
#ifndef LAUNCHER_BASE_LOADER_LIST_H
#define LAUNCHER_BASE_LOADER_LIST_H

enum loader_word {
    LOADER_OBJECT,  /* found at a path */
    LOADER_MISSING, /* not found anywhere */
    LOADER_NONE,    /* one that is no file, or nothing at all */
    LOADER_STRANGE, /* no line of such a list */
};

struct loader_object {
    const char *name; /* as the program asks for it; what begins with '/' is
                         looked for there and nowhere else */
    const char *path;
};

/* Cut a line of the list, without its newline; *o points into it. */
enum loader_word loader_list_line(struct loader_object *o, char *line);

/* Is it of the C library, all parts of which must be of one make with the
 * loader, that a node has of its own? */
int loader_list_is_libc(const char *name);

/* Is the path in one of these folders, "/lib,/usr/lib"? */
int loader_list_is_in(const char *path, const char *folders);
/* Is it a list of folders from the root on, or "none"? */
int loader_list_check(const char *folders);

#endif
