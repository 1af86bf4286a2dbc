/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/file_place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#define LINKS_MAX 40 /* as Linux has it */

const char file_place_of_another[] =
    "another user has created it, in a folder that all may write to";

/* On its way: what is left of the path. */
struct walk {
    struct file_place *p;
    char rest[2 * PATH_MAX];
    int links;
    int is_refused; /* a link is not to be followed */
};

int file_place_is_of_another(const struct stat *file, const struct stat *folder)
{
    return file->st_uid != geteuid() && (folder->st_mode & S_ISVTX)
           && (folder->st_mode & S_IWOTH) && file->st_uid != folder->st_uid;
}

/* From the folder where we are. */
static int enter(struct file_place *p, const char *name, int flags)
{
    int dir = openat(p->dir < 0 ? AT_FDCWD : p->dir, name,
                     O_PATH | O_DIRECTORY | O_CLOEXEC | flags);

    if (dir < 0 || fstat(dir, &p->folder) < 0) {
        if (dir >= 0)
            close(dir);
        return -1;
    }
    if (p->dir >= 0)
        close(p->dir);
    p->dir = dir;
    return 0;
}

/* What a link says comes before what is left. */
static int put_before(struct walk *w, const char *link)
{
    char rest[sizeof w->rest];
    int n = snprintf(rest, sizeof rest, "%s%s%s", link, w->rest[0] ? "/" : "",
                     w->rest);

    if (n < 0 || (size_t)n >= sizeof rest) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(w->rest, rest, (size_t)n + 1);
    return w->rest[0] == '/' ? enter(w->p, "/", 0) : 0;
}

static int is_of_processes(const struct file_place *p)
{
    struct statfs fs;

    return fstatfs(p->dir, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/* p->name is a link.  1: it is to be taken as it is. */
static int follow(struct walk *w)
{
    struct file_place *p = w->p;
    char link[PATH_MAX];
    ssize_t n;

    w->is_refused = file_place_is_of_another(&p->st, &p->folder);
    errno = w->is_refused ? EACCES : ELOOP;
    if (w->is_refused || w->links++ == LINKS_MAX)
        return -1;
    if (is_of_processes(p)) { /* such a link does not say where it leads */
        if (w->rest[0])
            return enter(p, p->name, 0);
        p->is_open = 1;
        return fstatat(p->dir, p->name, &p->st, 0) < 0 ? -1 : 1;
    }
    n = readlinkat(p->dir, p->name, link, sizeof link);
    if (n < 0 || (size_t)n >= sizeof link) {
        errno = n < 0 ? errno : ENAMETOOLONG;
        return -1;
    }
    link[n] = '\0';
    return put_before(w, link);
}

/* The first name of what is left. */
static int take_name(struct walk *w)
{
    const char *at = w->rest + strspn(w->rest, "/");
    size_t n = strcspn(at, "/");
    int is_folder = at[n] == '/';

    if (n >= sizeof w->p->name) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(w->p->name, at, n);
    w->p->name[n] = '\0';
    at += n + strspn(at + n, "/");
    memmove(w->rest, at, strlen(at) + 1);
    if (n > 0 && (w->rest[0] || !is_folder))
        return 0;
    errno = EISDIR;
    return -1;
}

/* 1: it is found. */
static int step(struct walk *w)
{
    struct file_place *p = w->p;

    if (take_name(w) < 0)
        return -1;
    p->is_there = fstatat(p->dir, p->name, &p->st, AT_SYMLINK_NOFOLLOW) == 0;
    if (!p->is_there)
        return errno == ENOENT && !w->rest[0] ? 1 : -1;
    if (S_ISLNK(p->st.st_mode))
        return follow(w);
    return w->rest[0] ? enter(p, p->name, O_NOFOLLOW) : 1;
}

int file_place_find(struct file_place *p, const char *path, const char **why)
{
    struct walk w = {.p = p};
    int rc;

    *p = (struct file_place){.dir = -1};
    errno = ENOENT;
    rc = path[0] == '/' ? 0 : path[0] ? enter(p, ".", 0) : -1;
    if (rc == 0)
        rc = put_before(&w, path);
    while (rc == 0)
        rc = step(&w);
    if (rc > 0)
        return 0;
    rc = errno;
    *why = w.is_refused ? file_place_of_another : strerror(rc);
    file_place_close(p);
    errno = rc;
    return -1;
}

void file_place_close(struct file_place *p)
{
    if (p->dir >= 0)
        close(p->dir);
    p->dir = -1;
}

int file_place_sync(int dir)
{
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc, why;

    if (fd < 0)
        return -1;
    rc = fsync(fd);
    why = errno;
    close(fd);
    errno = why;
    return rc < 0 && why != EINVAL ? -1 : 0; /* some cannot sync a folder */
}
