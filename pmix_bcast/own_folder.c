/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/own_folder.h"
#include "pmix_bcast/folder_path.h"
#include "pmix_bcast/mounts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define YOUNG_S 60 /* a new folder may not be locked yet */

/* --- entering -------------------------------------------------------------- */

/* It is looked at before it is opened: on a mount that may take for ever. */
static int enter_looking(int at, const char *name)
{
    int place = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int fd = -1, why = place < 0 ? errno : 0;

    if (why == 0 && mounts_differ(at, place))
        why = EXDEV;
    if (why == 0) {
        fd = openat(place, ".", FOLDER_OPEN);
        why = fd < 0 ? errno : 0;
    }
    if (place >= 0)
        close(place);
    errno = why;
    return fd;
}

/* The C library has no name for it yet.  Kernels before 5.6 do not know it, and
 * containers may forbid it. */
int own_folder_enter(int at, const char *name)
{
    struct open_how how = {.flags = FOLDER_OPEN, .resolve = RESOLVE_NO_XDEV};
    int fd = (int)syscall(SYS_openat2, at, name, &how, sizeof how);

    return fd < 0 && (errno == ENOSYS || errno == EPERM)
               ? enter_looking(at, name)
               : fd;
}

/* --- removing ------------------------------------------------------------- */

static int enter_to_empty(int at, const char *name)
{
    int dir = own_folder_enter(at, name);

    if (dir < 0 && errno == EACCES /* a command has closed it to itself */
        && fchmodat(at, name, 0700, 0) == 0)
        dir = own_folder_enter(at, name);
    if (dir >= 0)
        (void)fchmod(dir, 0700); /* it may be closed to writing */
    return dir;
}

/* All but the folders in it, which are to be visited. */
static void remove_files(struct folder_path *p)
{
    int dir = fcntl(folder_path_fd(p), F_DUPFD_CLOEXEC, 0);
    DIR *list = dir < 0 ? NULL : fdopendir(dir);
    struct dirent *d;
    int why = 0;

    if (!list) {
        if (dir >= 0)
            close(dir);
        return;
    }
    while (why == 0 && (d = readdir(list)) != NULL)
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0
            && unlinkat(dir, d->d_name, 0) < 0 && errno != ENOENT)
            why = folder_path_add(p, d->d_name);
    closedir(list);
}

static void empty(struct folder_path *p, int at, const char *name)
{
    int dir = enter_to_empty(at, name);

    if (dir < 0)
        (void)unlinkat(at, name, AT_REMOVEDIR);
    else if (folder_path_enter(p, dir) == 0)
        remove_files(p);
}

static void remove_tree(int at, const char *name)
{
    struct folder_path p = {0};
    int why = 0;

    if (unlinkat(at, name, 0) == 0 || errno == ENOENT)
        return;
    empty(&p, at, name);
    while (why == 0 && p.n > 0) {
        const char *next = folder_path_next(&p);

        if (next)
            empty(&p, folder_path_fd(&p), next);
        else if ((why = folder_path_leave(&p)) == 0 && p.n > 0)
            (void)unlinkat(folder_path_fd(&p), folder_path_now(&p),
                           AT_REMOVEDIR);
    }
    folder_path_clear(&p);
    (void)unlinkat(at, name, AT_REMOVEDIR);
}

/* What is mounted on the way to it does not matter, only what is within. */
void own_folder_remove(int at, const char *name)
{
    const char *last = strrchr(name, '/');
    char folder[PATH_MAX] = ".";
    int fd;

    if (last && last - name >= (ptrdiff_t)sizeof folder - 1)
        return;
    if (last)
        snprintf(folder, sizeof folder, "%.*s/", (int)(last - name), name);
    fd = openat(at, folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    remove_tree(fd, last ? last + 1 : name);
    close(fd);
}

/* --- making --------------------------------------------------------------- */

int own_folder_open(int at, const char *name)
{
    struct stat st;
    int fd;

    if (mkdirat(at, name, 0700) < 0 && errno != EEXIST)
        return -1;
    fd = openat(at, name, FOLDER_OPEN);
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && st.st_uid == getuid() && (st.st_mode & 077) == 0)
        return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

/* --- those of others ------------------------------------------------------ */

static int is_kept(int dir, const char *kept)
{
    return kept
           && !(faccessat(dir, kept, F_OK, AT_SYMLINK_NOFOLLOW) < 0
                && errno == ENOENT);
}

static int is_abandoned(int at, const char *name, const char *kept)
{
    struct stat st;
    int fd = openat(at, name, FOLDER_OPEN);
    int is = fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == getuid()
             && st.st_mtime < time(NULL) - YOUNG_S
             && flock(fd, LOCK_EX | LOCK_NB) == 0 && !is_kept(fd, kept);

    if (fd >= 0)
        close(fd);
    return is;
}

static int is_folder_for(const char *name, const char *prefix, const char *node)
{
    size_t len = strlen(name), node_len = strlen(node);

    return strncmp(name, prefix, strlen(prefix)) == 0 && len > node_len
           && name[len - node_len - 1] == '-'
           && strcmp(name + len - node_len, node) == 0;
}

void own_folder_sweep(const char *folder,
                      const char *prefix,
                      const char *node,
                      const char *kept)
{
    DIR *list = opendir(folder);
    struct dirent *d;

    if (!list)
        return; /* who makes one there will report it */
    while ((d = readdir(list)) != NULL)
        if (is_folder_for(d->d_name, prefix, node)
            && is_abandoned(dirfd(list), d->d_name, kept))
            own_folder_remove(dirfd(list), d->d_name);
    closedir(list);
}
