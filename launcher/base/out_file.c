/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/out_file.h"
#include "launcher/base/notice.h"
#include "launcher/base/user_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/xattr.h>
#include <unistd.h>

#define LOCK_END ".evenstep-lock"

static int fail_out(const struct out_file *f,
                    enum es_kind kind,
                    const char *mend,
                    const char *why,
                    struct es_error *err)
{
    return es_fail(err, kind, mend, "%s%s%s: %s", f->option ? f->option : "",
                   f->option ? ": " : "", f->path, why);
}

/* --- the lock ------------------------------------------------------------- */

/* A file beside with who has it, which goes away with the lock. */
static void unlock(struct out_file *f)
{
    if (f->lock <= 0)
        return;
    (void)unlinkat(f->lock_dir, f->lock_name, 0);
    close(f->lock);
    close(f->lock_dir);
    f->lock = f->lock_dir = 0;
}

/* Has somebody removed the file since it was opened? */
static int is_gone(const struct out_file *f)
{
    struct stat st, now;

    return fstat(f->lock, &st) < 0
           || fstatat(f->lock_dir, f->lock_name, &now, AT_SYMLINK_NOFOLLOW) < 0
           || st.st_ino != now.st_ino || st.st_dev != now.st_dev;
}

static int is_held(const struct out_file *f, struct es_error *err)
{
    char what[200], who[100] = "";
    ssize_t n = pread(f->lock, who, sizeof who - 1, 0);

    who[n > 0 ? strcspn(who, "\n") : 0] = '\0';
    snprintf(what, sizeof what, "another run is writing it%s%s",
             who[0] ? ", " : "", who);
    return fail_out(f, ES_USAGE, "wait for it, or name another file", what,
                    err);
}

/* 1: it was somebody else's until now, try again. */
static int try_lock(struct out_file *f, struct es_error *err)
{
    int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;

    f->lock = openat(f->lock_dir, f->lock_name, flags);
    if (f->lock < 0 && errno == ENOENT)
        f->lock = openat(f->lock_dir, f->lock_name, flags | O_CREAT, 0666);
    if (f->lock < 0)
        return fail_out(f, ES_USAGE, es_mend_file(errno), strerror(errno), err);
    if (flock(f->lock, LOCK_EX | LOCK_NB) == 0) {
        if (!is_gone(f))
            return 0;
    } else if (errno == EWOULDBLOCK) {
        return is_held(f, err);
    } else {
        notice("warning: %s: its file system has no locks: make sure that no "
               "other run writes it",
               f->path);
        return 0;
    }
    close(f->lock);
    return 1;
}

static int lock_out(struct out_file *f,
                    const struct file_place *p,
                    struct es_error *err)
{
    char host[80] = "";
    int rc;

    snprintf(f->lock_name, sizeof f->lock_name, ".%.*s" LOCK_END,
             (int)(sizeof f->lock_name - sizeof LOCK_END - 1), p->name);
    f->lock_dir = openat(p->dir, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    do
        rc = try_lock(f, err);
    while (rc > 0);
    if (rc < 0) {
        if (f->lock > 0)
            close(f->lock);
        if (f->lock_dir > 0)
            close(f->lock_dir);
        f->lock = f->lock_dir = 0;
        return -1;
    }
    (void)gethostname(host, sizeof host - 1);
    (void)!fchmod(f->lock, 0666); /* if we are killed, it is no obstacle */
    if (ftruncate(f->lock, 0) == 0)
        (void)!dprintf(f->lock, "pid %d on %s\n", (int)getpid(), host);
    return 0;
}

/* --- job arrays ----------------------------------------------------------- */

#define ARRAY_ATTRIBUTE "user.evenstep.array"

/* "JOB_TASK", or nothing. */
static void array_task(char task[64])
{
    const char *job = getenv("SLURM_ARRAY_JOB_ID");
    const char *id = getenv("SLURM_ARRAY_TASK_ID");

    task[0] = '\0';
    if (job && id)
        snprintf(task, 64, "%.30s_%.30s", job, id);
}

/* Another task of our array has written the file, and would lose it.  Where there
 * are no attributes nobody knows. */
static int is_of_array(const struct out_file *f, struct es_error *err)
{
    char ours[64], its[64] = "", what[80];
    size_t job;

    array_task(ours);
    if (!ours[0]
        || getxattr(f->path, ARRAY_ATTRIBUTE, its, sizeof its - 1) <= 0)
        return 0;
    job = strcspn(ours, "_") + 1;
    if (strncmp(ours, its, job) != 0 || strcmp(ours, its) == 0)
        return 0;
    snprintf(what, sizeof what, "task %s of this job array has written it",
             its + job);
    fail_out(f, ES_USAGE, "put $SLURM_ARRAY_TASK_ID into the name", what, err);
    return 1;
}

static void tell_array(const struct out_file *f)
{
    char ours[64];

    array_task(ours);
    if (ours[0] && f->lock > 0)
        (void)fsetxattr(f->fd, ARRAY_ATTRIBUTE, ours, strlen(ours), 0);
}

/* --- the file ------------------------------------------------------------- */

static const char mend_path[] = "name a file that you may write";

/* A pipe, a device, or what is open already. */
static int open_in_place(struct out_file *f, struct es_error *err)
{
    const char *why;

    f->fd = user_file_open(f->path, 0, &why);
    if (f->fd >= 0)
        return 0;
    f->fd = 0;
    return fail_out(f, ES_USAGE, mend_path, why, err);
}

static int open_beside(struct out_file *f,
                       struct file_place *p,
                       enum out_lock lock,
                       struct es_error *err)
{
    if (p->is_there && file_place_is_of_another(&p->st, &p->folder))
        return fail_out(f, ES_USAGE, "name a file of your own",
                        file_place_of_another, err);
    if (lock == OUT_LOCKED
        && ((p->is_there && is_of_array(f, err)) || lock_out(f, p, err) < 0))
        return -1;
    if (hidden_file_open_at(&f->file, p, 0666) < 0) {
        fail_out(f, ES_USAGE, mend_path, strerror(errno), err);
        unlock(f);
        return -1;
    }
    f->fd = f->file.fd;
    return 0;
}

int out_file_open(struct out_file *f,
                  const char *option,
                  const char *path,
                  enum out_lock lock,
                  struct es_error *err)
{
    struct file_place p;
    const char *why;
    int rc;

    *f = (struct out_file){.option = option, .path = path};
    if (strcmp(path, "-") == 0) {
        f->path = "stdout";
        f->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
        return f->fd < 0
                   ? fail_out(f, ES_USAGE, "open it", strerror(errno), err)
                   : 0;
    }
    if (file_place_find(&p, path, &why) < 0)
        return fail_out(f, ES_USAGE, mend_path, why, err);
    rc = p.is_open || (p.is_there && !S_ISREG(p.st.st_mode))
             ? open_in_place(f, err)
             : open_beside(f, &p, lock, err);
    file_place_close(&p);
    return rc;
}

int out_file_commit(struct out_file *f, int sync, struct es_error *err)
{
    int rc, why;

    if (f->file.fd > 0) {
        hidden_file_like_old(&f->file);
        tell_array(f);
        rc = hidden_file_show(&f->file, sync);
    } else {
        rc = f->fd > 0 ? close(f->fd) : 0;
    }
    why = errno;
    f->fd = 0;
    unlock(f);
    return rc < 0 ? fail_out(f, ES_WORK, es_mend_file(why), strerror(why), err)
                  : 0;
}

void out_file_abandon(struct out_file *f)
{
    if (f->file.fd > 0)
        hidden_file_drop(&f->file);
    else if (f->fd > 0)
        close(f->fd); /* all that counts was looked at */
    f->fd = 0;
    unlock(f);
}

/* 0, or -1 with errno. */
static int print_all(int fd,
                     int (*print)(FILE *out, const void *arg),
                     const void *arg)
{
    int to = fcntl(fd, F_DUPFD_CLOEXEC, 3), rc, bad;
    FILE *out = to < 0 ? NULL : fdopen(to, "w");

    if (!out) {
        if (to >= 0)
            close(to);
        return -1;
    }
    rc = print(out, arg);
    bad = ferror(out) ? errno : 0;
    if (fclose(out) != 0 && !bad)
        bad = errno;
    errno = bad ? bad : ENOMEM;
    return rc < 0 || bad ? -1 : 0;
}

int out_file_write(const char *option,
                   const char *path,
                   int (*print)(FILE *out, const void *arg),
                   const void *arg,
                   struct es_error *err)
{
    struct out_file f;
    int rc;

    if (out_file_open(&f, option, path, OUT_UNLOCKED, err) < 0) {
        if (err)
            err->kind = ES_WORK;
        return -1;
    }
    if (print_all(f.fd, print, arg) == 0)
        return out_file_commit(&f, 0, err);
    rc = fail_out(&f, ES_WORK, es_mend_file(errno), strerror(errno), err);
    out_file_abandon(&f);
    return rc;
}
