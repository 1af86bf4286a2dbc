/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/user_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES 16 /* random names; one try is enough unless 2^32 are taken */

static void plain_name(char name[USER_DIR_NAME])
{
    snprintf(name, USER_DIR_NAME, "evenstep-%u", (unsigned)getuid());
}

int user_dir_open(int at, const char *name, int make)
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

int user_dirs_open(struct user_dirs *all)
{
    all->list = opendir(USER_DIR_BASE);
    all->listing = 0;
    plain_name(all->name);
    return all->list ? 0 : -1;
}

/* Does the name look like one of them?  Then copy it to all->name. */
static int copy_candidate(struct user_dirs *all, const char *name)
{
    char plain[USER_DIR_NAME];
    size_t len;

    plain_name(plain);
    len = strlen(plain);
    if (strncmp(name, plain, len) != 0 || name[len] != '.'
        || strlen(name) >= sizeof all->name)
        return 0;
    memcpy(all->name, name, strlen(name) + 1);
    return 1;
}

int user_dirs_next(struct user_dirs *all)
{
    const struct dirent *d;
    int fd = -1;

    if (!all->listing) {
        all->listing = 1;
        fd = user_dir_open(dirfd(all->list), all->name, 0);
    }
    while (fd < 0 && (d = readdir(all->list)) != NULL)
        if (copy_candidate(all, d->d_name))
            fd = user_dir_open(dirfd(all->list), all->name, 0);
    return fd;
}

void user_dirs_close(struct user_dirs *all)
{
    if (all->list)
        (void)closedir(all->list); /* only read */
    all->list = NULL;
}

/* Create one with a random suffix. */
static int make_private(int base, char name[USER_DIR_NAME])
{
    int fd = -1;

    errno = EEXIST;
    for (int i = 0; fd < 0 && errno == EEXIST && i < TRIES; i++) {
        uint32_t random;

        plain_name(name);
        if (getrandom(&random, sizeof random, 0) != sizeof random)
            return -1;
        snprintf(name + strlen(name), USER_DIR_NAME - strlen(name), ".%08x",
                 (unsigned)random);
        if (mkdirat(base, name, 0700) == 0)
            fd = user_dir_open(base, name, 0);
    }
    return fd;
}

/* Does the error mean that something of another user has that name? */
static int is_taken(int why)
{
    return why == EPERM || why == EACCES || why == ENOTDIR || why == ELOOP;
}

int user_dir_make(char name[USER_DIR_NAME])
{
    struct user_dirs all;
    int fd;

    if (user_dirs_open(&all) < 0)
        return -1;
    fd = user_dirs_next(&all);
    if (fd < 0) {
        plain_name(all.name);
        fd = user_dir_open(dirfd(all.list), all.name, 1);
        if (fd < 0 && is_taken(errno))
            fd = make_private(dirfd(all.list), all.name);
    }
    memcpy(name, all.name, USER_DIR_NAME);
    user_dirs_close(&all);
    return fd;
}

void user_dir_remove(const char *name)
{
    int base = open(USER_DIR_BASE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (base < 0)
        return;
    (void)unlinkat(base, name, AT_REMOVEDIR);
    close(base);
}
