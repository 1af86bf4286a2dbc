/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/hidden_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char part_end[] = ".evenstep-part";

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

/* Where it is to be; folders are made if they are missing. */
static int find_place(struct file_place *p, const char *path)
{
    const char *why;

    return make_folders(path) < 0 ? -1 : file_place_find(p, path, &why);
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

int hidden_file_open_at(struct hidden_file *f,
                        struct file_place *p,
                        mode_t mode)
{
    int why;

    *f = (struct hidden_file){.dir = p->dir};
    memcpy(f->name, p->name, sizeof f->name);
    p->dir = -1;
    errno = EEXIST;
    if (!p->is_open && !is_taken(f) && open_hidden(f, mode) >= 0)
        return 0;
    f->fd = 0;
    f->before[0] = '\0';
    why = errno;
    close(f->dir);
    errno = why;
    return -1;
}

int hidden_file_open(struct hidden_file *f, const char *path, mode_t mode)
{
    struct file_place p;

    *f = (struct hidden_file){0};
    return find_place(&p, path) < 0 ? -1 : hidden_file_open_at(f, &p, mode);
}

void hidden_file_like_old(struct hidden_file *f)
{
    struct stat st, folder;

    if (fstatat(f->dir, f->name, &st, AT_SYMLINK_NOFOLLOW) < 0
        || !S_ISREG(st.st_mode) || fstat(f->dir, &folder) < 0
        || file_place_is_of_another(&st, &folder))
        return;
    if (fchown(f->fd, st.st_uid, st.st_gid) < 0)
        (void)!fchown(f->fd, (uid_t)-1, st.st_gid);
    (void)!fchmod(f->fd, st.st_mode & 0777);
}

/* --- with one ------------------------------------------------------------- */

/* Link the file under the name f->before. */
static int link_before(struct hidden_file *f)
{
    char self[40];
    int rc;

    snprintf(self, sizeof self, "/proc/self/fd/%d", f->fd);
    rc = linkat(AT_FDCWD, self, f->dir, f->before, AT_SYMLINK_FOLLOW);
    if (rc < 0)
        f->before[0] = '\0';
    return rc;
}

static int give_name(struct hidden_file *f)
{
    while (f->before[0] == '\0') {
        name_before(f);
        if (link_before(f) < 0 && errno != EEXIST)
            return -1;
    }
    if (is_taken(f) || renameat(f->dir, f->before, f->dir, f->name) < 0)
        return -1;
    f->before[0] = '\0';
    return 0;
}

int hidden_file_show(struct hidden_file *f, int sync)
{
    int rc = -1, fd = f->fd, why;

    if ((!sync || fsync(fd) == 0) && give_name(f) == 0)
        rc = sync ? file_place_sync(f->dir) : 0;
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

/* .NAME.evenstep-part; -1 with errno if that is too long. */
static int name_part(char part[PLACE_NAME_MAX], const char *name)
{
    int n = snprintf(part, PLACE_NAME_MAX, ".%s%s", name, part_end);

    if (n > 0 && n < (int)PLACE_NAME_MAX)
        return 0;
    errno = ENAMETOOLONG;
    return -1;
}

int hidden_file_keep(struct hidden_file *f)
{
    char part[PLACE_NAME_MAX];

    if (name_part(part, f->name) < 0 || fsync(f->fd) < 0)
        return -1;
    if (f->before[0] == '\0') { /* one that was killed may have left it */
        (void)unlinkat(f->dir, part, 0);
        memcpy(f->before, part, sizeof part);
        if (link_before(f) < 0)
            return -1;
    } else if (renameat(f->dir, f->before, f->dir, part) == 0) {
        memcpy(f->before, part, sizeof part);
    } else {
        return -1;
    }
    return file_place_sync(f->dir);
}

int hidden_file_recover(const char *path)
{
    struct hidden_file f = {0};
    struct file_place p;
    int rc, why;

    if (find_place(&p, path) < 0)
        return -1;
    f.dir = p.dir;
    memcpy(f.name, p.name, sizeof f.name);
    rc = name_part(f.before, f.name) < 0                             ? 0
         : faccessat(f.dir, f.before, F_OK, AT_SYMLINK_NOFOLLOW) < 0 ? 0
         : is_taken(&f)                                              ? -1
         : renameat(f.dir, f.before, f.dir, f.name) < 0              ? -1
                                                                     : 1;
    why = errno;
    file_place_close(&p);
    errno = why;
    return rc;
}

static int is_part(const char *name, const char *begin)
{
    size_t len = strlen(name), end = sizeof part_end - 1;

    return name[0] == '.' && strncmp(name + 1, begin, strlen(begin)) == 0
           && len > end && strcmp(name + len - end, part_end) == 0;
}

void hidden_file_sweep(const char *folder, const char *begin)
{
    DIR *list = opendir(folder);
    const struct dirent *d;

    if (!list)
        return; /* nothing is kept there */
    while ((d = readdir(list)) != NULL)
        if (is_part(d->d_name, begin))
            (void)unlinkat(dirfd(list), d->d_name, 0);
    (void)closedir(list); /* only read */
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
