/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/state_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Open or make one directory of a path, ours alone; closes at. */
static int enter(int at, const char *name)
{
    int fd = -1, why;

    if (at < 0)
        return -1;
    if (mkdirat(at, name, 0700) == 0 || errno == EEXIST)
        fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    why = errno;
    close(at);
    errno = why;
    return fd;
}

static int open_own(void)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

    if (state && *state == '/')
        return enter(open(state, flags), "evenstep");
    errno = ENOENT;
    if (!home || *home != '/')
        return -1;
    return enter(enter(enter(open(home, flags), ".local"), "state"),
                 "evenstep");
}

int state_dir_open(const char *name)
{
    int dir = open_own();

    return name ? enter(dir, name) : dir;
}
