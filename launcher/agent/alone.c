/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/alone.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* Bytes of the file that are locked.  All go through the door to the room; who is to be
 * alone stays in it. */
enum { DOOR, ROOM };

int alone_make(void)
{
    return memfd_create("evenstep-alone", MFD_CLOEXEC);
}

void alone_path(char path[64], int fd)
{
    snprintf(path, 64, "/proc/%ld/fd/%d", (long)getpid(), fd);
}

/* type: F_RDLCK, which several may have, F_WRLCK or F_UNLCK.  1: done, 0: another has
 * it, or -1 with errno. */
static int lock(int fd, int what, int type)
{
    struct flock l = {.l_type = (short)type,
                      .l_whence = SEEK_SET,
                      .l_start = what,
                      .l_len = 1};

    if (fcntl(fd, F_OFD_SETLK, &l) == 0)
        return 1;
    return errno == EAGAIN || errno == EACCES ? 0 : -1;
}

int alone_enter(int fd, int alone)
{
    int rc = lock(fd, DOOR, alone ? F_WRLCK : F_RDLCK);

    if (rc > 0)
        rc = lock(fd, ROOM, alone ? F_WRLCK : F_RDLCK);
    if (!alone)
        (void)lock(fd, DOOR, F_UNLCK);
    return rc;
}

void alone_leave(int fd)
{
    (void)lock(fd, ROOM, F_UNLCK);
    (void)lock(fd, DOOR, F_UNLCK);
}
