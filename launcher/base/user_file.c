/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/user_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_folder(const char *path, int flags)
{
    const char *slash = strrchr(path, '/');
    char folder[4096];

    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1,
             slash ? path : ".");
    return open(folder, flags | O_DIRECTORY | O_CLOEXEC);
}

const char *user_file_why_not(int fd, const char *path)
{
    struct stat file, folder;
    int dir, rc;

    if (fstat(fd, &file) < 0)
        return strerror(errno);
    if (file.st_uid == geteuid())
        return NULL;
    dir = open_folder(path, O_PATH);
    rc = dir < 0 ? -1 : fstat(dir, &folder);
    if (dir >= 0)
        close(dir);
    if (rc < 0)
        return strerror(errno);
    if (!(folder.st_mode & S_ISVTX) || !(folder.st_mode & S_IWOTH)
        || file.st_uid == folder.st_uid)
        return NULL;
    return "another user has created it, in a folder that all may write to";
}

/* A pipe or a device is written to as it is. */
static const char *empty_file(int fd, const char *path)
{
    const char *why = user_file_why_not(fd, path);
    struct stat st;

    if (why)
        return why;
    if (fstat(fd, &st) < 0 || (S_ISREG(st.st_mode) && ftruncate(fd, 0) < 0))
        return strerror(errno);
    return NULL;
}

int user_file_create(const char *path, int flags, const char **why)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);

    *why = fd < 0 ? strerror(errno) : empty_file(fd, path);
    if (!*why)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

int user_file_sync_name(const char *path)
{
    int fd = open_folder(path, O_RDONLY), rc;

    if (fd < 0)
        return -1;
    rc = fsync(fd);
    if (rc < 0 && errno == EINVAL)
        rc = 0; /* this file system cannot sync a folder */
    close(fd);
    return rc;
}
