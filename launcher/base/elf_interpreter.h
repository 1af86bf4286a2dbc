/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * elf_interpreter.h - which loader a program of ELF asks for (PT_INTERP), and no
 * more: what it needs besides, its loader says (loader_list.h).  elf(5)
 *
 * The first two are pure: they read what somebody else's file says, and believe
 * nothing of it.
 */
#ifndef LAUNCHER_BASE_ELF_INTERPRETER_H
#define LAUNCHER_BASE_ELF_INTERPRETER_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_HEAD_MAX     64u  /* bytes of a file's head */
#define ELF_SEGMENTS_MAX 512u /* of which Linux takes 1170 at most */
#define ELF_SEGMENT_MAX  56u  /* bytes of a segment's entry */
#define ELF_PATH_MAX     ((size_t)PATH_MAX) /* of the loader, with its NUL */

struct elf_place { /* in the file */
    uint64_t at;
    size_t len;
};

struct elf_segments { /* the table of a program */
    struct elf_place table;
    int is_64;
};

/* Where the table of segments is.  0, or -1 if it is no program or library of
 * this machine's byte order. */
int elf_segments(struct elf_segments *s, const uint8_t *head, size_t len);
/* Where the loader's path is, whose length is 2 to ELF_PATH_MAX then.  1; 0: the
 * program asks for none; -1: it is not well. */
int elf_find_interpreter(struct elf_place *path,
                         const struct elf_segments *s,
                         const uint8_t *table,
                         size_t len);
/* Of an open file: 1 and its path; 0 if it asks for none (linked statically, or
 * a library); -1 with errno: ENOEXEC if it is no program of ELF. */
int elf_interpreter(int fd, char path[PATH_MAX]);

#endif
