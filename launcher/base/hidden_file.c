/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/hidden_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- its folder ----------------------------------------------------------- */

static int make_folders(const char *path)
{
    char part[PATH_MAX];

    if (strlen(path) >= sizeof part) {
        errno = ENAMETOOLONG;
        return -1;
    }
    for (size_t i = 1; path[i]; i++) {
        if (path[i] != '/')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0777) < 0 && errno != EEXIST)
            return -1;
    }
    return 0;
}

static int open_folder(const char *path, const char *slash)
{
    char folder[PATH_MAX];

    if (!slash)
        return open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (make_folders(path) < 0)
        return -1;
    snprintf(folder, sizeof folder, "%.*s", (int)(slash + 1 - path), path);
    return open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* --- without a name ------------------------------------------------------- */

static void name_before(struct hidden_file *f)
{
    static uint64_t number;

    snprintf(f->before, sizeof f->before, ".evenstep-%d-%ju", (int)getpid(),
             (uintmax_t)number++);
}

static int open_hidden(struct hidden_file *f, mode_t mode)
{
    int flags = O_RDWR | O_CLOEXEC;

    f->before[0] = '\0';
    f->fd = openat(f->dir, ".", O_TMPFILE | flags, mode);
    if (f->fd >= 0 || errno == EMFILE || errno == ENFILE || errno == ENOSPC
        || errno == EACCES || errno == EROFS)
        return f->fd;
    do { /* another host may be at work in this folder */
        name_before(f);
        f->fd = openat(f->dir, f->before, O_CREAT | O_EXCL | O_NOFOLLOW | flags,
                       mode);
    } while (f->fd < 0 && errno == EEXIST);
    return f->fd;
}

static int is_taken(const struct hidden_file *f)
{
    struct stat st;

    if (fstatat(f->dir, f->name, &st, AT_SYMLINK_NOFOLLOW) < 0
        || S_ISREG(st.st_mode) || S_ISLNK(st.st_mode))
        return 0;
    errno = EEXIST;
    return 1;
}

int hidden_file_open(struct hidden_file *f, const char *path, mode_t mode)
{
    const char *slash = strrchr(path, '/');
    int n;

    *f = (struct hidden_file){0};
    n = snprintf(f->name, sizeof f->name, "%s", slash ? slash + 1 : path);
    if (n <= 0 || (size_t)n >= sizeof f->name) {
        errno = n == 0 ? EISDIR : ENAMETOOLONG;
        return -1;
    }
    f->dir = open_folder(path, slash);
    if (f->dir < 0)
        return -1;
    if (!is_taken(f) && open_hidden(f, mode) >= 0)
        return 0;
    f->fd = 0;
    f->before[0] = '\0';
    n = errno;
    close(f->dir);
    errno = n;
    return -1;
}

/* --- with one ------------------------------------------------------------- */

static int give_name(struct hidden_file *f)
{
    char self[40];
    int rc;

    snprintf(self, sizeof self, "/proc/self/fd/%d", f->fd);
    while (f->before[0] == '\0') {
        name_before(f);
        rc = linkat(AT_FDCWD, self, f->dir, f->before, AT_SYMLINK_FOLLOW);
        if (rc == 0)
            break;
        f->before[0] = '\0';
        if (errno != EEXIST)
            return -1;
    }
    if (is_taken(f) || renameat(f->dir, f->before, f->dir, f->name) < 0)
        return -1;
    f->before[0] = '\0';
    return 0;
}

/* Some file systems cannot sync a folder. */
static int sync_folder(const struct hidden_file *f)
{
    return fsync(f->dir) < 0 && errno != EINVAL ? -1 : 0;
}

int hidden_file_show(struct hidden_file *f, int sync)
{
    int rc = -1, fd = f->fd, why;

    if ((!sync || fsync(fd) == 0) && give_name(f) == 0)
        rc = sync ? sync_folder(f) : 0;
    why = errno;
    if (rc < 0)
        hidden_file_drop(f);
    else {
        f->fd = 0;
        close(f->dir);
        if (close(fd) < 0) { /* so say network file systems */
            why = errno;
            rc = -1;
        }
    }
    errno = why;
    return rc;
}

void hidden_file_drop(struct hidden_file *f)
{
    int saved = errno;

    if (f->fd <= 0)
        return;
    if (f->before[0])
        (void)unlinkat(f->dir, f->before, 0);
    close(f->fd); /* nothing of it is to stay */
    close(f->dir);
    f->fd = 0;
    f->before[0] = '\0';
    errno = saved;
}
