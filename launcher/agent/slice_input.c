/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/slice_input.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define NEVER_S 1 /* of 1970; older than each write, so that a read renews it */

void slice_input_rewind(int fd)
{
    const struct timespec times[] = {{.tv_sec = NEVER_S},
                                     {.tv_nsec = UTIME_OMIT}};
    struct statvfs fs;

    (void)lseek(fd, 0, SEEK_SET); /* a file of ours */
    /* Where no access is noted all seems to have been read: a command that has is
       never said to have failed. */
    if (fstatvfs(fd, &fs) == 0 && !(fs.f_flag & ST_NOATIME))
        (void)futimens(fd, times);
}

/* Lines from there on; a last one without its end is one. */
static uintmax_t count_lines(int fd, off_t at)
{
    char text[65536], last = '\n';
    uintmax_t lines = 0;
    ssize_t n;

    while ((n = pread(fd, text, sizeof text, at)) > 0) {
        for (const char *p = text;
             (p = memchr(p, '\n', (size_t)(text + n - p))) != NULL; p++)
            lines++;
        last = text[n - 1];
        at += n;
    }
    return lines + (last != '\n');
}

int slice_input_is_left(int fd, char why[SLICE_INPUT_WHY])
{
    off_t at = lseek(fd, 0, SEEK_CUR);
    uintmax_t left, all;
    struct stat st;

    if (at < 0 || fstat(fd, &st) < 0 || at >= st.st_size
        || (at == 0 && st.st_atim.tv_sec != NEVER_S))
        return 0;
    left = count_lines(fd, at);
    all = count_lines(fd, 0);
    (void)snprintf(why, SLICE_INPUT_WHY,
                   "--lines: %ju of %ju line%s %s not read", left, all,
                   all == 1 ? "" : "s", left == 1 ? "was" : "were");
    return 1;
}
