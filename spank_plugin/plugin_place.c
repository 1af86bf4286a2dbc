/* SPDX-License-Identifier: BSD-2-Clause */
#include "spank_plugin/plugin_place.h"
#include "spank_plugin/env_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <slurm/slurm.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

int plugin_place_find(spank_t sp, struct place *p)
{
    p->thorough = 0;
    if (spank_get_item(sp, S_JOB_UID, &p->uid) != ESPANK_SUCCESS
        || spank_get_item(sp, S_JOB_ID, &p->job) != ESPANK_SUCCESS
        || spank_get_item(sp, S_JOB_STEPID, &p->step) != ESPANK_SUCCESS
        || p->step >= SLURM_MAX_NORMAL_STEP_ID)
        return -1;
    (void)snprintf(p->user_dir, sizeof p->user_dir, "evenstep-%u",
                   (unsigned)p->uid);
    (void)snprintf(p->step_dir, sizeof p->step_dir, "%" PRIu32 ".%" PRIu32,
                   p->job, p->step);
    return 0;
}

/* --- what is believed ----------------------------------------------------- */

int plugin_place_refuse(struct verdict *v, const char *what)
{
    v->what = what;
    return -1;
}

/* After a failed openat(): no such file is no reason to complain. */
static int refuse_errno(struct verdict *v)
{
    if (errno == ENOENT)
        return plugin_place_refuse(v, NULL);
    if (errno == ELOOP || errno == ENOTDIR)
        return plugin_place_refuse(
            v, "a symbolic link or not a directory is on its path");
    return plugin_place_refuse(v, "it cannot be opened");
}

/* fd is the user's own, of this type, and nobody else can write to it. */
static int check_own(int fd, uid_t uid, mode_t type, struct verdict *v)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return plugin_place_refuse(v, "it cannot be looked at");
    if ((st.st_mode & S_IFMT) != type)
        return plugin_place_refuse(v, "it is not a regular file");
    if (st.st_uid != uid)
        return plugin_place_refuse(
            v, "it or a directory above it is not the user's own");
    if (st.st_mode & (S_IWGRP | S_IWOTH))
        return plugin_place_refuse(
            v, "others can write to it or to a directory above it");
    if (type == S_IFREG && st.st_size > ENV_FILE_BYTES)
        return plugin_place_refuse(v, "it is larger than 16384 bytes");
    return 0;
}

/* Open name in at; -1 with *v. */
static int descend(
    int at, const char *name, uid_t uid, mode_t type, struct verdict *v)
{
    int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    int fd;

    if (type == S_IFDIR)
        flags |= O_DIRECTORY;
    fd = openat(at, name, flags);
    if (fd < 0)
        return refuse_errno(v);
    if (check_own(fd, uid, type, v) == 0)
        return fd;
    (void)close(fd);
    return -1;
}

/* The step's directory below this one of the user's, *user. */
static int open_step(const struct place *p,
                     int base,
                     const char *user_dir,
                     int *user,
                     struct verdict *v)
{
    int fd;

    *user = descend(base, user_dir, p->uid, S_IFDIR, v);
    if (*user < 0)
        return -1;
    fd = descend(*user, p->step_dir, p->uid, S_IFDIR, v);
    if (fd < 0)
        (void)close(*user);
    return fd;
}

/* --- all directories that may be the user's ------------------------------- */

/* What is done in each, until it returns 0 or more. */
typedef int (*visit_fn)(const struct place *p,
                        int base,
                        const char *user_dir,
                        void *arg);

static int is_another(const struct place *p, const char *name)
{
    size_t len = strlen(p->user_dir);

    return strncmp(name, p->user_dir, len) == 0 && name[len] == '.'
           && strlen(name) < PLACE_NAME_SIZE;
}

static int visit(const struct place *p, int base, visit_fn fn, void *arg)
{
    int rc = fn(p, base, p->user_dir, arg), copy;
    const struct dirent *d;
    DIR *list;

    if (rc >= 0 || !p->thorough)
        return rc;
    copy = openat(base, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    list = copy < 0 ? NULL : fdopendir(copy);
    if (!list) {
        if (copy >= 0)
            (void)close(copy);
        return -1;
    }
    while (rc < 0 && (d = readdir(list)) != NULL)
        if (is_another(p, d->d_name))
            rc = fn(p, base, d->d_name, arg);
    (void)closedir(list);
    return rc;
}

struct search {
    const char *name;
    struct verdict *v;
};

static int open_file_in(const struct place *p,
                        int base,
                        const char *user_dir,
                        void *arg)
{
    const struct search *s = arg;
    struct verdict v = {NULL};
    int user, step = open_step(p, base, user_dir, &user, &v), fd = -1;

    if (step >= 0) {
        fd = descend(step, s->name, p->uid, S_IFREG, &v);
        (void)close(step);
        (void)close(user);
    }
    if (fd < 0 && !s->v->what)
        *s->v = v; /* the plain name's goes before the others' */
    return fd;
}

int plugin_place_open(const struct place *p,
                      const char *name,
                      struct verdict *v)
{
    struct search s = {.name = name, .v = v};
    int base = open(PLACE_BASE, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;

    v->what = NULL;
    if (base < 0)
        return refuse_errno(v);
    fd = visit(p, base, open_file_in, &s);
    (void)close(base);
    return fd;
}

/* --- a line for the agent ------------------------------------------------- */

struct addition {
    const char *name;
    const void *bytes;
    size_t len;
};

static int append_in(const struct place *p,
                     int base,
                     const char *user_dir,
                     void *arg)
{
    const struct addition *a = arg;
    struct verdict v;
    int user, step = open_step(p, base, user_dir, &user, &v), fd, rc = -1;

    if (step < 0)
        return -1;
    fd = openat(step, a->name,
                O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
                    | O_NOCTTY);
    if (fd >= 0 && check_own(fd, p->uid, S_IFREG, &v) == 0
        && write(fd, a->bytes, a->len) == (ssize_t)a->len)
        rc = 0;
    if (fd >= 0)
        (void)close(fd);
    (void)close(step);
    (void)close(user);
    return rc;
}

int plugin_place_append(const struct place *p,
                        int base,
                        const char *name,
                        const void *bytes,
                        size_t len)
{
    struct addition a = {name, bytes, len};
    uid_t before = (uid_t)setfsuid(p->uid);
    int rc = visit(p, base, append_in, &a);

    (void)setfsuid(before);
    return rc;
}

/* --- clean-up ------------------------------------------------------------- */

/* All names in fd, a directory, which is closed; no directory is below it. */
static void empty(int fd)
{
    DIR *list = fdopendir(fd);
    const struct dirent *d;

    if (!list) {
        (void)close(fd);
        return;
    }
    while ((d = readdir(list)) != NULL)
        (void)unlinkat(fd, d->d_name, 0); /* not of "." and ".." */
    (void)closedir(list);
}

static int remove_in(const struct place *p,
                     int base,
                     const char *user_dir,
                     void *arg)
{
    struct verdict v;
    int user, step = open_step(p, base, user_dir, &user, &v);

    (void)arg;
    if (step < 0)
        return -1;
    empty(step);
    (void)unlinkat(user, p->step_dir, AT_REMOVEDIR);
    (void)close(user);
    (void)unlinkat(base, user_dir, AT_REMOVEDIR); /* not empty: another's */
    return -1; /* it may be in more than one */
}

/* setfsuid() is this thread's alone, also where it takes root's rights. */
void plugin_place_remove(const struct place *p, int base)
{
    uid_t before = (uid_t)setfsuid(p->uid);

    (void)visit(p, base, remove_in, NULL);
    (void)setfsuid(before);
}

/* --- strangers ------------------------------------------------------------ */

static int is_users(const struct place *p, int base, const char *name)
{
    struct stat st;

    return fstatat(base, name, &st, AT_SYMLINK_NOFOLLOW) < 0
           || st.st_uid == p->uid;
}

/* It is looked at again under its new name, which nobody but its owner can
 * take from it: before it may have been exchanged for the user's. */
static void evict(const struct place *p, int base)
{
    char away[PLACE_NAME_SIZE + 16];
    uint32_t random;

    if (is_users(p, base, p->user_dir)
        || getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random)
        return;
    (void)snprintf(away, sizeof away, "%s-%08" PRIx32, p->user_dir, random);
    if (renameat2(base, p->user_dir, base, away, RENAME_NOREPLACE) == 0
        && is_users(p, base, away))
        (void)renameat2(base, away, base, p->user_dir, RENAME_NOREPLACE);
}

void plugin_place_evict(const struct place *p)
{
    int base = open(PLACE_BASE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (base < 0)
        return;
    evict(p, base);
    (void)close(base);
}
