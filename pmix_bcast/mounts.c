/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/mounts.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNKNOWN (-1)

/* --- which mount ----------------------------------------------------------- */

/* Not by statx(2), which tells it since Linux 5.8 only. */
static int id_of(int fd)
{
    char text[256], *at;
    int info, id;
    ssize_t n;

    snprintf(text, sizeof text, "/proc/self/fdinfo/%d", fd);
    info = open(text, O_RDONLY | O_CLOEXEC);
    if (info < 0)
        return UNKNOWN;
    n = read(info, text, sizeof text - 1);
    close(info);
    text[n > 0 ? n : 0] = '\0';
    at = strstr(text, "mnt_id:");
    return at && sscanf(at, "mnt_id: %d", &id) == 1 ? id : UNKNOWN;
}

/* A file is asked in vain: those of an overlay have another device than its
 * folders. */
static int is_on_other_device(int folder, int fd)
{
    struct stat a, b;

    if (fstat(folder, &a) < 0 || fstat(fd, &b) < 0)
        return 1;
    return S_ISDIR(b.st_mode) && a.st_dev != b.st_dev;
}

int mounts_differ(int folder, int fd)
{
    int a = id_of(folder), b = id_of(fd);

    return a == UNKNOWN || b == UNKNOWN ? is_on_other_device(folder, fd)
                                        : a != b;
}

int mounts_is_point(int folder, const char *name)
{
    int fd = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    int is = fd >= 0 && mounts_differ(folder, fd);

    if (fd >= 0)
        close(fd);
    return is;
}

/* --- within a folder -------------------------------------------------------- */

static int is_octal(char c)
{
    return c >= '0' && c <= '7';
}

/* Blanks and the like are \ooo there. */
static void unescape(char *text)
{
    char *to = text;

    for (const char *at = text; *at && *at != ' '; at++) {
        if (at[0] == '\\' && is_octal(at[1]) && is_octal(at[2])
            && is_octal(at[3])) {
            *to++ =
                (char)((at[1] - '0') * 64 + (at[2] - '0') * 8 + at[3] - '0');
            at += 3;
        } else
            *to++ = *at;
    }
    *to = '\0';
}

/* Where a line of mountinfo, which is changed, says that something is mounted on
 * this mount (proc(5)); NULL: nowhere. */
static char *point_on(char *line, int mount)
{
    int parent, at = 0;

    if (sscanf(line, "%*d %d %*s %*s %n", &parent, &at) != 1 || at == 0
        || parent != mount)
        return NULL;
    unescape(line + at);
    return line + at;
}

static int path_of(int fd, char path[PATH_MAX])
{
    char name[40];
    ssize_t n;

    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    n = readlink(name, path, PATH_MAX - 1);
    path[n > 0 ? n : 0] = '\0';
    return n > 0 ? 0 : -1;
}

int mounts_within(int folder, char *path, size_t size)
{
    char own[PATH_MAX], *line = NULL;
    int mount = id_of(folder), found = 0;
    FILE *f = path_of(folder, own) < 0 || mount == UNKNOWN
                  ? NULL
                  : fopen("/proc/self/mountinfo", "re");
    size_t len = strlen(own), room = 0;

    while (f && !found && getline(&line, &room, f) > 0) {
        const char *point = point_on(line, mount);

        found = point && strncmp(point, own, len) == 0 && point[len] == '/';
        if (found)
            snprintf(path, size, "%s", point + len + 1);
    }
    free(line);
    if (f)
        fclose(f);
    return found;
}
