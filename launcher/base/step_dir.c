/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/step_dir.h"
#include "launcher/base/number.h"
#include "launcher/base/spool.h"
#include "launcher/base/user_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Stands for the user's directory, whatever its name is on a node. */
#define ANYWHERE USER_DIR_BASE "/evenstep-*/"

/* A step's directory, and the name of the user's that it is in. */
struct place {
    int fd; /* -1 with errno: there is none */
    char user[USER_DIR_NAME];
};

static struct place find_step(const char *step)
{
    struct place p = {.fd = -1};
    struct user_dirs all;
    int user;

    if (user_dirs_open(&all) < 0)
        return p;
    while (p.fd < 0 && (user = user_dirs_next(&all)) >= 0) {
        p.fd = user_dir_open(user, step, 0);
        memcpy(p.user, all.name, sizeof p.user);
        close(user);
    }
    user_dirs_close(&all);
    if (p.fd < 0)
        errno = ENOENT;
    return p;
}

/* A step that ends may remove the user's directory at any time: try again. */
static struct place make_step(const char *step)
{
    struct place p = find_step(step);

    for (int tries = 0; p.fd < 0 && errno == ENOENT && tries < 3; tries++) {
        int user = user_dir_make(p.user), why;

        if (user < 0)
            continue;
        p.fd = user_dir_open(user, step, 1);
        why = errno;
        close(user);
        errno = why;
    }
    return p;
}

void step_dir_local_name(char name[STEP_NAME_MAX],
                         int front_end_pid,
                         const char *node)
{
    snprintf(name, STEP_NAME_MAX, "evenstep-%d-%.40s", front_end_pid, node);
}

int step_dir_path(char path[STEP_PATH_MAX], const char *step, const char *file)
{
    struct place p = find_step(step);
    int n;

    path[0] = '\0';
    if (p.fd < 0)
        return -1;
    close(p.fd);
    n = snprintf(path, STEP_PATH_MAX, USER_DIR_BASE "/%s/%s%s%s", p.user, step,
                 file[0] ? "/" : "", file);
    if (n < STEP_PATH_MAX)
        return 0;
    errno = ENAMETOOLONG;
    return -1;
}

int step_dir_anywhere(char *path,
                      size_t size,
                      const char *step,
                      const char *file)
{
    int n = snprintf(path, size, ANYWHERE "%s/%s", step, file);

    return n < 0 || (size_t)n >= size ? -1 : 0;
}

int step_dir_here(char *path, size_t size)
{
    char here[STEP_PATH_MAX], *step = path + strlen(ANYWHERE), *slash;

    if (strncmp(path, ANYWHERE, strlen(ANYWHERE)) != 0)
        return 0;
    slash = strchr(step, '/');
    if (!slash)
        return -1;
    *slash = '\0';
    if (step_dir_path(here, step, slash + 1) < 0 || strlen(here) >= size)
        return -1;
    memcpy(path, here, strlen(here) + 1);
    return 0;
}

int step_dir_link(const char *step, const char *file, const char *target)
{
    int why = 0, dir = make_step(step).fd;

    if (dir < 0)
        return errno;
    (void)unlinkat(dir, file, 0); /* an agent before us may have left it */
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
    int dir = make_step(step).fd, fd, rc = -1, why = 0;
    char beside[80];

    if (dir < 0)
        return errno;
    if (file[0] == '\0') {
        close(dir);
        return 0;
    }
    snprintf(beside, sizeof beside, ".%s", file);
    (void)unlinkat(dir, beside, 0); /* one that was killed may have left it */
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

/* Remove all files in the directory fd, and close it. */
static void remove_files(int fd)
{
    DIR *list = fdopendir(fd);
    const struct dirent *d;

    if (!list) {
        close(fd);
        return;
    }
    while ((d = readdir(list)) != NULL)
        (void)unlinkat(fd, d->d_name, 0); /* "." and ".." stay */
    (void)closedir(list);
}

/* Remove a step's directory from one of the user's. */
static void remove_from(int user, const char *step)
{
    int fd = user_dir_open(user, step, 0);

    if (fd < 0)
        return;
    remove_files(fd);
    (void)unlinkat(user, step, AT_REMOVEDIR);
}

/* The user's directory goes with its last step: rmdir() fails before. */
void step_dir_remove(const char *step)
{
    struct user_dirs all;
    int user;

    if (user_dirs_open(&all) < 0)
        return;
    while ((user = user_dirs_next(&all)) >= 0) {
        remove_from(user, step);
        close(user);
        user_dir_remove(all.name);
    }
    user_dirs_close(&all);
}

/* Does the name end with the id of a process that is no more? */
static int is_orphan(const char *name, const char *prefix)
{
    size_t len = strlen(prefix);
    int64_t pid;

    return strncmp(name, prefix, len) == 0
           && number_parse_int(name + len, 1, INT_MAX, &pid) == 0
           && kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

static void sweep_user_dir(int user, const char *prefix)
{
    DIR *list = fdopendir(user); /* takes over user */
    struct dirent *d;

    if (!list) {
        close(user);
        return;
    }
    while ((d = readdir(list)) != NULL)
        if (is_orphan(d->d_name, prefix))
            remove_from(user, d->d_name);
    (void)closedir(list); /* only read */
}

void step_dir_sweep(const char *prefix)
{
    struct user_dirs all;
    int user;

    if (user_dirs_open(&all) < 0)
        return;
    while ((user = user_dirs_next(&all)) >= 0) {
        sweep_user_dir(user, prefix);
        user_dir_remove(all.name);
    }
    user_dirs_close(&all);
}
