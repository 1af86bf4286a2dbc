/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/step_dir.h"
#include "launcher/number.h"
#include "launcher/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void user_name(char *name, size_t size)
{
    snprintf(name, size, "evenstep-%u", (unsigned)getuid());
}

int step_dir_path(char path[STEP_PATH_MAX], const char *step, const char *file)
{
    char user[64];
    int n;

    user_name(user, sizeof user);
    n = snprintf(path, STEP_PATH_MAX, "%s/%s/%s%s%s", STEP_DIR_BASE, user, step,
                 file[0] ? "/" : "", file);
    return n < 0 || n >= STEP_PATH_MAX ? -1 : 0;
}

/* Open name below at as a directory that is ours alone; -1 with errno. */
static int open_own(int at, const char *name, int make)
{
    struct stat st;
    int fd;

    if (make && mkdirat(at, name, 0700) < 0 && errno != EEXIST)
        return -1;
    fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && st.st_uid == getuid() && (st.st_mode & 077) == 0)
        return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

/* The directory of step, or of the user if step is NULL. */
static int open_step(const char *step, int make)
{
    int base = open(STEP_DIR_BASE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int user = -1, fd = -1;
    char name[64];

    user_name(name, sizeof name);
    if (base >= 0)
        user = open_own(base, name, make);
    if (user >= 0)
        fd = step ? open_own(user, step, make) : dup(user);
    if (user >= 0)
        close(user);
    if (base >= 0)
        close(base);
    return fd;
}

/* Again if the last step of before takes the user's directory away. */
static int make_step(const char *step)
{
    int dir, tries = 0;

    do
        dir = open_step(step, 1);
    while (dir < 0 && errno == ENOENT && ++tries < 3);
    return dir;
}

int step_dir_link(const char *step, const char *file, const char *target)
{
    int why = 0, dir = make_step(step);

    if (dir < 0)
        return errno;
    (void)unlinkat(dir, file, 0); /* of a predecessor */
    if (symlinkat(target, dir, file) < 0)
        why = errno;
    close(dir);
    return why;
}

int step_dir_put(const char *step,
                 const char *file,
                 const void *content,
                 size_t len)
{
    int dir = make_step(step), fd, rc = -1, why = 0;
    char beside[80];

    if (dir < 0)
        return errno;
    if (file[0] == '\0') {
        close(dir);
        return 0;
    }
    snprintf(beside, sizeof beside, ".%s", file);
    (void)unlinkat(dir, beside, 0); /* of a predecessor that was killed */
    fd = openat(dir, beside,
                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0) {
        rc = write_all(fd, content, len);
        if (close(fd) < 0)
            rc = -1;
    }
    if (rc == 0)
        rc = renameat(dir, beside, dir, file);
    if (rc < 0) {
        why = errno;
        (void)unlinkat(dir, beside, 0);
    }
    close(dir);
    return why;
}

void step_dir_remove(const char *step)
{
    int dir = open_step(step, 0);
    DIR *list = dir >= 0 ? fdopendir(dir) : NULL;
    struct dirent *d;
    int user;
    char name[64];

    if (dir >= 0 && !list)
        close(dir);
    if (!list)
        return;
    while ((d = readdir(list)) != NULL)
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
            (void)unlinkat(dir, d->d_name, 0);
    closedir(list);
    user = open_step(NULL, 0);
    if (user >= 0) {
        (void)unlinkat(user, step, AT_REMOVEDIR);
        close(user);
    }
    /* The user's directory goes with its last step; another's keeps it. */
    user_name(name, sizeof name);
    user = open(STEP_DIR_BASE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (user >= 0) {
        (void)unlinkat(user, name, AT_REMOVEDIR);
        close(user);
    }
}

/* Is it called after a process that is no more? */
static int is_orphan(const char *name, const char *prefix)
{
    size_t len = strlen(prefix);
    int64_t pid;

    return strncmp(name, prefix, len) == 0
           && number_parse_int(name + len, 1, INT_MAX, &pid) == 0
           && kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

void step_dir_sweep(const char *prefix)
{
    int user = open_step(NULL, 0);
    DIR *list = user >= 0 ? fdopendir(user) : NULL;
    struct dirent *d;

    if (user >= 0 && !list)
        close(user);
    if (!list)
        return;
    while ((d = readdir(list)) != NULL)
        if (is_orphan(d->d_name, prefix))
            step_dir_remove(d->d_name);
    closedir(list);
}
