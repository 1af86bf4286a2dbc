/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * folder.h - files in memory, for what is read by its path: of a folder of
 * one's own in /dev/shm, which goes with the process.
 */
#ifndef FOLDER_H
#define FOLDER_H

#include <fcntl.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder_root[] = "/dev/shm/evenstep-fuzz.XXXXXX";

static inline int folder_remove_one(const char *path,
                                    const struct stat *st,
                                    int type,
                                    struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

static inline void folder_remove(void)
{
    (void)nftw(folder_root, folder_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* The path of a name in it; the folders above the name are made. */
static inline const char *folder_path(char path[4096], const char *name)
{
    static int made;

    if (!made) {
        if (!mkdtemp(folder_root))
            abort();
        made = 1;
        (void)atexit(folder_remove);
    }
    snprintf(path, 4096, "%s/%s", folder_root, name);
    for (char *at = path + strlen(folder_root) + 1; (at = strchr(at, '/'));
         at++) {
        *at = '\0';
        (void)mkdir(path, 0755);
        *at = '/';
    }
    return path;
}

/* A file that can be read and written, empty at first; -1 never. */
static inline int folder_file(const char *name)
{
    char path[4096];
    int fd = open(folder_path(path, name),
                  O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0)
        abort();
    return fd;
}

/* What is in it from now on. */
static inline void folder_fill(int fd, const void *bytes, size_t len)
{
    if (ftruncate(fd, 0) < 0 || pwrite(fd, bytes, len, 0) != (ssize_t)len)
        abort();
}

#endif
