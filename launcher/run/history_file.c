/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/history_file.h"
#include "launcher/base/spool.h"
#include "launcher/base/state_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_BYTES 32 /* of a file, with .old */

static int is_ours(int fd, struct stat *st)
{
    return fstat(fd, st) == 0 && S_ISREG(st->st_mode)
           && st->st_uid == geteuid();
}

int history_file_append(const char *name, const char *line, size_t most)
{
    int dir = state_dir_open(NULL), fd = -1, rc = -1, why;
    char old[NAME_BYTES];
    struct stat st;

    if (dir >= 0)
        fd = openat(dir, name,
                    O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
                    0600);
    /* One write: runs that end together do not mix their lines. */
    if (fd >= 0 && is_ours(fd, &st))
        rc = write_all(fd, line, strlen(line));
    (void)snprintf(old, sizeof old, "%s.old", name);
    if (rc == 0 && (size_t)st.st_size > most)
        rc = renameat(dir, name, dir, old);
    why = errno;
    if (fd >= 0)
        close(fd);
    if (dir >= 0)
        close(dir);
    errno = why;
    return rc;
}

int history_file_append_json(const char *name,
                             json_t *value,
                             size_t digits,
                             size_t most)
{
    size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(digits);
    char *text = value ? json_dumps(value, flags) : NULL, *line = NULL;
    int rc = -1, why;

    if (text && asprintf(&line, "%s\n", text) < 0)
        line = NULL;
    if (line)
        rc = history_file_append(name, line, most);
    why = line ? errno : ENOMEM;
    free(line);
    free(text);
    json_decref(value);
    errno = why;
    return rc;
}

static void read_one(int dir,
                     const char *name,
                     size_t most,
                     void (*take)(void *arg, const char *line),
                     void *arg)
{
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    FILE *file;
    char *line = NULL;
    size_t cap = 0;

    if (fd < 0)
        return;
    file = is_ours(fd, &st) && st.st_size < 4 * (off_t)most ? fdopen(fd, "r")
                                                            : NULL;
    if (!file) {
        close(fd);
        return;
    }
    while (getline(&line, &cap, file) > 0)
        take(arg, line);
    free(line);
    (void)fclose(file); /* was only read */
}

void history_file_read(const char *name,
                       size_t most,
                       void (*take)(void *arg, const char *line),
                       void *arg)
{
    int dir = state_dir_open(NULL);
    char old[NAME_BYTES];

    if (dir < 0)
        return;
    (void)snprintf(old, sizeof old, "%s.old", name);
    read_one(dir, old, most, take, arg);
    read_one(dir, name, most, take, arg);
    close(dir);
}
