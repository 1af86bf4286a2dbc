/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/exec/orphans.h"
#include "launcher/base/number.h"
#include "launcher/exec/spawn.h"

#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROUNDS 8 /* who forks meanwhile is found in the next */

static int has_entry(int64_t pid, const char *entry)
{
    char path[48], *text = NULL;
    size_t room = 0;
    int found = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%jd/environ", (intmax_t)pid);
    file = fopen(path, "re");
    if (!file)
        return 0; /* it is no more, or another user's */
    while (!found && getdelim(&text, &room, '\0', file) > 0)
        found = strcmp(text, entry) == 0;
    free(text);
    (void)fclose(file); /* only read */
    return found;
}

/* Was there one to be ended?  All that is asked is of whom the pidfd holds: once
 * he is gone it takes no signal, whoever may have got his number. */
static int end_one(int64_t pid, const char *entry)
{
    int ended = 0, fd = spawn_pid_fd((pid_t)pid);

    if (fd < 0)
        return 0;
    if (getsid((pid_t)pid) == getsid(0) && has_entry(pid, entry))
        ended = syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) == 0;
    close(fd);
    return ended;
}

static size_t end_all(const char *entry)
{
    DIR *all = opendir("/proc");
    const struct dirent *d;
    size_t n = 0;
    int64_t pid;

    while (all && (d = readdir(all)) != NULL)
        if (number_parse_int(d->d_name, 1, INT_MAX, &pid) == 0
            && pid != getpid())
            n += (size_t)end_one(pid, entry);
    if (all)
        (void)closedir(all); /* only read */
    return n;
}

size_t orphans_end(const char *entry)
{
    size_t n = 0, found = 1;

    if (!strchr(entry, '=')) /* "" is in many an environment */
        return 0;
    for (int i = 0; i < ROUNDS && found > 0; i++)
        n += found = end_all(entry);
    return n;
}
