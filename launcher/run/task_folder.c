/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/task_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_MOST 4096u

/* A value as the name of a folder; 0, or -1: it is too long. */
static int name_of(char name[NAME_MAX + 1], const char *value)
{
    static const char plain[] = "\\/\t", *const code[] = {"\\\\", "\\_", "\\t"};
    size_t n = 0;

    for (; *value; value++) {
        const char *at = strchr(plain, *value);
        const char *as = at ? code[at - plain] : (char[]){*value, '\0'};
        size_t len = strlen(as);

        if (n + len > NAME_MAX)
            return -1;
        memcpy(name + n, as, len);
        n += len;
    }
    name[n] = '\0';
    return n > 0 && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 ? 0 : -1;
}

/* Add "/NAME" and make that folder. */
static int enter(char path[PATH_MOST], const char *name)
{
    size_t n = strlen(path);

    if (n + strlen(name) + 16 > PATH_MOST) { /* room for a file in it */
        errno = ENAMETOOLONG;
        return -1;
    }
    snprintf(path + n, PATH_MOST - n, "%s%s", n > 0 ? "/" : "", name);
    return mkdir(path, 0777) < 0 && errno != EEXIST ? -1 : 0;
}

static int write_file(const char *path,
                      const struct spool *of,
                      uint64_t from,
                      uint64_t to)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), rc = 0;
    char bytes[16384];

    while (fd >= 0 && rc == 0 && from < to) {
        size_t n =
            to - from < sizeof bytes ? (size_t)(to - from) : sizeof bytes;

        rc = spool_read(of, from, bytes, n);
        if (rc == 0)
            rc = write_all(fd, bytes, n);
        from += n;
    }
    return fd < 0 || close(fd) < 0 ? -1 : rc;
}

static int write_text(const char *path, const char *text)
{
    struct spool s = {0};
    int rc = spool_add(&s, text, strlen(text));

    if (rc == 0)
        rc = write_file(path, &s, 0, spool_size(&s));
    spool_clear(&s);
    return rc;
}

static int enter_all(char path[PATH_MOST],
                     const char *dir,
                     const struct task_record *record,
                     uint64_t seq)
{
    char name[NAME_MAX + 1];

    path[0] = '\0';
    if (enter(path, dir) < 0)
        return -1;
    for (size_t i = 0; i < record->n; i++) {
        snprintf(name, sizeof name, "%zu", i + 1);
        if (enter(path, name) < 0)
            return -1;
        if (name_of(name, record->value[i]) < 0)
            snprintf(name, sizeof name, "#%ju", (uintmax_t)seq);
        if (enter(path, name) < 0)
            return -1;
    }
    return 0;
}

int task_folder_write(const char *dir,
                      const struct task_record *record,
                      uint64_t seq,
                      const struct task_results *results,
                      size_t i,
                      char path[4096])
{
    char number[32];
    size_t n;

    if (enter_all(path, dir, record, seq) < 0)
        return -1;
    n = strlen(path);
    snprintf(number, sizeof number, "%ju", (uintmax_t)seq);
    strcpy(path + n, "/stdout");
    if (write_file(path, &results->out, task_results_out(results, i),
                   results->task[i].out)
        < 0)
        return -1;
    strcpy(path + n, "/stderr");
    if (write_file(path, &results->err, task_results_err(results, i),
                   results->task[i].err)
        < 0)
        return -1;
    strcpy(path + n, "/seq");
    return write_text(path, number);
}
