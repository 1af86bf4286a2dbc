/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((format(printf, 2, 0))) static int make_path(
    char path[SYSFS_PATH], const char *fmt, va_list ap)
{
    int len = vsnprintf(path, SYSFS_PATH, fmt, ap);

    if (len >= 0 && len < SYSFS_PATH)
        return 0;
    errno = ENAMETOOLONG;
    return -1;
}

int sysfs_path(char path[SYSFS_PATH], const char *fmt, ...)
{
    va_list ap;
    int rc;

    va_start(ap, fmt);
    rc = make_path(path, fmt, ap);
    va_end(ap);
    return rc;
}

__attribute__((format(printf, 2, 0))) static int read_line(
    char line[SYSFS_LINE], const char *fmt, va_list ap)
{
    char path[SYSFS_PATH];
    int fd, why;
    ssize_t n;

    line[0] = '\0';
    if (make_path(path, fmt, ap) < 0)
        return -1;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -1;
    n = read(fd, line, SYSFS_LINE - 1); /* an attribute comes whole */
    why = errno;
    close(fd);
    line[n > 0 ? n : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    errno = why;
    return n < 0 ? -1 : 0;
}

int sysfs_read(char line[SYSFS_LINE], const char *fmt, ...)
{
    va_list ap;
    int rc;

    va_start(ap, fmt);
    rc = read_line(line, fmt, ap);
    va_end(ap);
    return rc;
}

static int parse_u64(uint64_t *value, const char *text)
{
    unsigned long long v;

    text += strspn(text, " \t");
    if (*text < '0' || *text > '9')
        return -1;
    errno = 0;
    v = strtoull(text, NULL, 10);
    if (errno)
        return -1;
    *value = v;
    return 0;
}

int sysfs_read_u64(uint64_t *value, const char *fmt, ...)
{
    char line[SYSFS_LINE];
    va_list ap;
    int rc;

    va_start(ap, fmt);
    rc = read_line(line, fmt, ap);
    va_end(ap);
    return rc < 0 ? -1 : parse_u64(value, line);
}

__attribute__((format(printf, 3, 0))) static int find_line(
    char line[SYSFS_LINE], const char *key, const char *fmt, va_list ap)
{
    char path[SYSFS_PATH];
    size_t len = strlen(key);
    int got = 0;
    FILE *file;

    line[0] = '\0';
    if (make_path(path, fmt, ap) < 0)
        return -1;
    file = fopen(path, "re");
    if (!file)
        return -1;
    while (!got && fgets(line, SYSFS_LINE, file))
        got = strncmp(line, key, len) == 0;
    (void)fclose(file); /* only read */
    if (!got) {
        line[0] = '\0';
        return -1;
    }
    line[strcspn(line, "\n")] = '\0';
    memmove(line, line + len, strlen(line + len) + 1);
    return 0;
}

int sysfs_find(char line[SYSFS_LINE], const char *key, const char *fmt, ...)
{
    va_list ap;
    int rc;

    va_start(ap, fmt);
    rc = find_line(line, key, fmt, ap);
    va_end(ap);
    return rc;
}

int sysfs_find_u64(uint64_t *value, const char *key, const char *fmt, ...)
{
    char line[SYSFS_LINE];
    va_list ap;
    int rc;

    va_start(ap, fmt);
    rc = find_line(line, key, fmt, ap);
    va_end(ap);
    return rc < 0 ? -1 : parse_u64(value, line);
}
