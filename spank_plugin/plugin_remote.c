/* SPDX-License-Identifier: BSD-2-Clause */
#include "spank_plugin/plugin_remote.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <slurm/slurm.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spank_plugin/plugin_options.h"

#define BASE   "/dev/shm" /* STEP_DIR_BASE of launcher/step_dir.h */
#define PREFIX "EVENSTEP_"

/* A dozen variables of up to a path each come to 2 KiB; the bounds keep what
 * a user's file can do to slurmstepd small. */
#define FILE_MAX_BYTES  16384
#define NAME_LEN_MAX    64
#define VALUE_LEN_MAX   4096
#define PLAIN_NAME_SIZE 32 /* "evenstep-4294967295", "<job>.<step>" */

/* Why a file is not believed; NULL: there is none, which is fine. */
struct verdict {
    const char *what;
};

static int refuse(struct verdict *v, const char *what)
{
    v->what = what;
    return -1;
}

/* After a failed openat(): no such file is no reason to complain. */
static int refuse_errno(struct verdict *v)
{
    if (errno == ENOENT)
        return refuse(v, NULL);
    if (errno == ELOOP || errno == ENOTDIR)
        return refuse(v, "a symbolic link or not a directory is on its path");
    return refuse(v, "it cannot be opened");
}

/* fd is the user's own, of this type, and nobody else can write to it. */
static int check_own(int fd, uid_t uid, mode_t type, struct verdict *v)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return refuse(v, "it cannot be looked at");
    if ((st.st_mode & S_IFMT) != type)
        return refuse(v, "it is not a regular file");
    if (st.st_uid != uid)
        return refuse(v, "it or a directory above it is not the user's own");
    if (st.st_mode & (S_IWGRP | S_IWOTH))
        return refuse(v, "others can write to it or to a directory above it");
    if (type == S_IFREG && st.st_size > FILE_MAX_BYTES)
        return refuse(v, "it is larger than 16384 bytes");
    return 0;
}

/* Open name in at; takes over at, also on failure.  -1 with *v. */
static int descend(
    int at, const char *name, uid_t uid, mode_t type, struct verdict *v)
{
    int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    int fd;

    if (at < 0)
        return -1;
    if (type == S_IFDIR)
        flags |= O_DIRECTORY;
    fd = openat(at, name, flags);
    if (fd < 0)
        (void)refuse_errno(v);
    (void)close(at);
    if (fd >= 0 && check_own(fd, uid, type, v) < 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

/* Read the whole of fd into buf[0..size): its length, or -1 with *v. */
static ssize_t read_all(int fd, char *buf, size_t size, struct verdict *v)
{
    size_t len = 0;

    while (len < size) {
        ssize_t n = read(fd, buf + len, size - len);

        if (n == 0)
            return (ssize_t)len;
        if (n < 0 && errno != EINTR)
            return refuse(v, "it cannot be read");
        if (n > 0)
            len += (size_t)n;
    }
    return refuse(v, "it is larger than 16384 bytes");
}

/* Whose step this is, and what its directories are called. */
struct place {
    uid_t uid;
    char user_dir[PLAIN_NAME_SIZE], step_dir[PLAIN_NAME_SIZE];
};

/* -1 if it is no step that could have a directory: batch script, shell,
 * extern. */
static int find_place(spank_t sp, struct place *p)
{
    uint32_t job, step;

    if (spank_get_item(sp, S_JOB_UID, &p->uid) != ESPANK_SUCCESS
        || spank_get_item(sp, S_JOB_ID, &job) != ESPANK_SUCCESS
        || spank_get_item(sp, S_JOB_STEPID, &step) != ESPANK_SUCCESS
        || step >= SLURM_MAX_NORMAL_STEP_ID)
        return -1;
    (void)snprintf(p->user_dir, sizeof p->user_dir, "evenstep-%u",
                   (unsigned)p->uid);
    (void)snprintf(p->step_dir, sizeof p->step_dir, "%" PRIu32 ".%" PRIu32, job,
                   step);
    return 0;
}

static int open_base(void)
{
    return open(BASE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int open_user(const struct place *p, struct verdict *v)
{
    int fd = open_base();

    if (fd < 0)
        return refuse_errno(v);
    return descend(fd, p->user_dir, p->uid, S_IFDIR, v);
}

static int open_step(const struct place *p, struct verdict *v)
{
    return descend(open_user(p, v), p->step_dir, p->uid, S_IFDIR, v);
}

static ssize_t read_file(const struct place *p, char *buf, struct verdict *v)
{
    int fd = descend(open_step(p, v), "env", p->uid, S_IFREG, v);
    ssize_t len;

    if (fd < 0)
        return -1;
    len = read_all(fd, buf, FILE_MAX_BYTES + 1, v);
    (void)close(fd);
    return len;
}

/* "EVENSTEP_NAME=value", of len bytes: where its '=' stands, or NULL. */
static char *find_equals(char *line, size_t len)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    char *equals = memchr(line, '=', len);
    size_t name_len;

    if (!equals)
        return NULL;
    name_len = (size_t)(equals - line);
    if (name_len <= strlen(PREFIX) || name_len > NAME_LEN_MAX
        || strncmp(line, PREFIX, strlen(PREFIX)) != 0
        || len - name_len - 1 > VALUE_LEN_MAX)
        return NULL;
    for (size_t i = 0; i < name_len; i++)
        if (!memchr(allowed, line[i], sizeof allowed - 1))
            return NULL;
    return equals;
}

/*
 * Cut buf[0..len], which has room for a NUL at its end, into strings
 * "NAME\0value\0", one a line.  Returns 0, or -1 with *v if a line is wrong.
 */
static int cut_lines(char *buf, size_t len, struct verdict *v)
{
    char *at = buf, *end = buf + len;

    if (memchr(buf, '\0', len))
        return refuse(v, "there is a NUL in it");
    while (at < end) {
        char *stop = memchr(at, '\n', (size_t)(end - at));
        char *equals;

        if (!stop)
            stop = end;
        equals = find_equals(at, (size_t)(stop - at));
        if (!equals)
            return refuse(v, "a line of it is not EVENSTEP_NAME=value, of at "
                             "most 4096 bytes");
        *equals = '\0';
        *stop = '\0';
        at = stop + 1;
    }
    return 0;
}

static void set_variables(spank_t sp, const char *buf, size_t len)
{
    const char *at = buf;

    while (at < buf + len) {
        const char *value = at + strlen(at) + 1;

        if (spank_setenv(sp, at, value, 1) != ESPANK_SUCCESS)
            slurm_error("evenstep: cannot set %s for the tasks", at);
        at = value + strlen(value) + 1;
    }
}

static void complain(const struct place *p, const struct verdict *v)
{
    static const char fmt[] = "evenstep: " BASE "/%s/%s/env is left out: %s";

    /* Anybody can put a directory of that name there: those who never asked
     * for evenstep shall not be troubled by it. */
    if (plugin_options_get().demand != DEMAND_NONE)
        slurm_error(fmt, p->user_dir, p->step_dir, v->what);
    else
        slurm_verbose(fmt, p->user_dir, p->step_dir, v->what);
}

void plugin_remote_set_environment(spank_t sp)
{
    char buf[FILE_MAX_BYTES + 2]; /* one to see too much by, one for NUL */
    struct verdict v = {NULL};
    struct place p;
    ssize_t len;

    if (find_place(sp, &p) < 0
        || geteuid() != p.uid) /* never with root's rights */
        return;
    len = read_file(&p, buf, &v);
    if (len >= 0 && cut_lines(buf, (size_t)len, &v) == 0)
        set_variables(sp, buf, (size_t)len);
    else if (v.what)
        complain(&p, &v);
}

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

/* Remove the empty directory name in at, which is closed. */
static void remove_empty(int at, const char *name)
{
    if (at < 0)
        return;
    (void)unlinkat(at, name, AT_REMOVEDIR); /* not empty: another step's */
    (void)close(at);
}

void plugin_remote_clean(spank_t sp)
{
    struct verdict v;
    struct place p;
    int fd;

    if (find_place(sp, &p) < 0)
        return;
    fd = open_step(&p, &v);
    if (fd < 0)
        return;
    empty(fd);
    remove_empty(open_user(&p, &v), p.step_dir);
    remove_empty(open_base(), p.user_dir);
}

void plugin_remote_refuse(spank_t sp)
{
    char mark[2];

    if (spank_getenv(sp, REFUSED, mark, sizeof mark) == ESPANK_SUCCESS)
        _exit(1);
}
