/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/power/power_state.h"
#include "launcher/power/actuator_cgroup.h"
#include "launcher/power/cgroup_threads.h"
#include "launcher/power/power_socket.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Create and open dir, if nobody else can write to it; -1 with errno. */
static int make_dir(const char *dir)
{
    return power_dir_make(dir) < 0 ? -1 : power_dir_open(dir);
}

void power_state_init(struct power_state *s)
{
    *s = (struct power_state){.fd = -1, .claim_fd = -1};
}

/* The name of a claim begins with a dot, as it is no state.  If it is unlinked
 * between open() and flock(), its step has just ended. */
int power_state_claim(struct power_state *s,
                      const char *dir,
                      const char *name,
                      struct es_error *err)
{
    struct stat st;
    int at = make_dir(dir);

    if (at >= 0 && sysfs_path(s->claim, "%s/.%s", dir, name) == 0)
        s->claim_fd =
            open(s->claim, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (at >= 0)
        close(at);
    if (s->claim_fd < 0)
        return es_fail(err, ES_ENV, "let evenstep-power write there", "%s: %s",
                       dir, strerror(errno));
    if (flock(s->claim_fd, LOCK_EX | LOCK_NB) == 0
        && fstat(s->claim_fd, &st) == 0 && st.st_nlink > 0)
        return 0;
    close(s->claim_fd);
    s->claim_fd = -1;
    return es_fail(err, ES_ENV, "wait until that step has ended",
                   "another step sets the limits of this node");
}

int power_state_seat(const char *dir, uid_t uid, struct es_error *err)
{
    char host[65] = "", path[SYSFS_PATH];
    int at = make_dir(dir), fd = -1;

    (void)gethostname(host, sizeof host - 1); /* nodes may share the folder */
    if (at >= 0 && sysfs_path(path, "%s/../guards.%s", dir, host) == 0)
        fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (at >= 0)
        close(at);
    if (fd < 0)
        return es_fail(err, ES_ENV, "let evenstep-power write there",
                       "%s/..: %s", dir, strerror(errno));
    for (off_t i = 0; i < POWER_GUARDS; i++) {
        struct flock seat = {.l_type = F_WRLCK,
                             .l_start = (off_t)uid * POWER_GUARDS + i,
                             .l_len = 1};

        if (fcntl(fd, F_OFD_SETLK, &seat) == 0)
            return fd;
    }
    close(fd);
    return es_fail(err, ES_WORK, "wait until one of them has ended",
                   "%d steps of user %u have one on %s, and no more may",
                   POWER_GUARDS, (unsigned)uid, host);
}

static int write_knobs(int fd, const struct actuator *a, size_t from)
{
    int bad = 0;

    for (size_t i = from; i < a->n; i++)
        bad |=
            dprintf(fd, "knob %s\t%s\n", a->knob[i].path, a->knob[i].found) < 0;
    return bad || fsync(fd) < 0 ? -1 : 0;
}

static int write_state(int fd, const struct actuator *a)
{
    if (a->group[0] && dprintf(fd, "group %s\n", a->group) < 0)
        return -1;
    if (a->above[0] && dprintf(fd, "threads %s\n", a->above) < 0)
        return -1;
    return write_knobs(fd, a, 0);
}

int power_state_add(struct power_state *s, const struct actuator *a)
{
    return write_knobs(s->fd, a, a->own);
}

int power_state_save(struct power_state *s,
                     const char *dir,
                     const char *name,
                     const struct actuator *a,
                     struct es_error *err)
{
    int at = make_dir(dir);

    if (at >= 0 && sysfs_path(s->path, "%s/%s", dir, name) == 0)
        s->fd = openat(
            at, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (at >= 0)
        close(at);
    if (s->fd >= 0 && flock(s->fd, LOCK_EX | LOCK_NB) == 0
        && write_state(s->fd, a) == 0)
        return 0;
    es_fail(err, ES_ENV, "let evenstep-power write there", "%s/%s: %s", dir,
            name, strerror(errno));
    power_state_remove(s);
    return -1;
}

static void drop_lock(const char *path, int *fd)
{
    if (*fd < 0)
        return;
    (void)unlink(path); /* before another process can get the lock */
    close(*fd);
    *fd = -1;
}

void power_state_remove(struct power_state *s)
{
    drop_lock(s->path, &s->fd);
    drop_lock(s->claim, &s->claim_fd);
}

static const char *path_after(const char *line, const char *word)
{
    size_t len = strlen(word);

    return strncmp(line, word, len) == 0 && line[len] == '/'
                   && strlen(line + len) < SYSFS_PATH
               ? line + len
               : NULL;
}

enum power_state_kind power_state_line(char *line,
                                       const char **path,
                                       const char **value)
{
    char *end = strchr(line, '\n'), *tab = strchr(line, '\t');

    if (!end || end[1])
        return POWER_STATE_NONE;
    *end = '\0';
    if ((*path = path_after(line, "group ")) != NULL)
        return POWER_STATE_GROUP;
    if ((*path = path_after(line, "threads ")) != NULL)
        return POWER_STATE_THREADS;
    if (strncmp(line, "knob /", 6) != 0 || !tab || tab - line - 5 >= SYSFS_PATH
        || strlen(tab + 1) >= KNOB_TEXT)
        return POWER_STATE_NONE;
    *tab = '\0';
    *path = line + 5;
    *value = tab + 1;
    return POWER_STATE_KNOB;
}

/* Restore what the lines of one kind say. */
static void restore_lines(FILE *file, enum power_state_kind kind)
{
    char line[POWER_STATE_LINE];
    const char *path, *value;

    rewind(file);
    while (fgets(line, sizeof line, file)) {
        if (power_state_line(line, &path, &value) != kind)
            continue;
        if (kind == POWER_STATE_GROUP)
            actuator_remove_group(path);
        else if (kind == POWER_STATE_THREADS)
            cgroup_threads_join(path);
        else
            (void)actuator_write(path, value); /* the file may be gone */
    }
}

/* 1 if the file was of a guard that has died. */
static int restore_file(int at, const char *name)
{
    int fd = openat(at, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    FILE *file;

    if (fd < 0)
        return 0;
    file = flock(fd, LOCK_EX | LOCK_NB) == 0 ? fdopen(fd, "r") : NULL;
    if (!file) {
        close(fd);
        return 0;
    }
    /* First the knobs of a group, then the group itself. */
    restore_lines(file, POWER_STATE_KNOB);
    restore_lines(file, POWER_STATE_THREADS);
    restore_lines(file, POWER_STATE_GROUP);
    (void)unlinkat(at, name, 0);
    (void)fclose(file); /* only read; the lock goes with it */
    return 1;
}

size_t power_state_restore(const char *dir)
{
    int at = power_dir_open(dir);
    DIR *list = at >= 0 ? fdopendir(at) : NULL;
    struct dirent *d;
    size_t n = 0;

    if (at >= 0 && !list)
        close(at);
    while (list && (d = readdir(list)) != NULL)
        if (d->d_name[0] == '@')
            power_socket_sweep(at, d->d_name);
        else if (d->d_name[0] != '.')
            n += (size_t)restore_file(at, d->d_name);
    if (list)
        closedir(list);
    return n;
}
