/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/libevenstep/agent_socket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

uint32_t agent_socket_rank(void)
{
    const char *text = getenv("SLURM_LOCALID");
    char *end;
    unsigned long rank = text ? strtoul(text, &end, 10) : 0;

    return text && *text && !*end && rank < UINT32_MAX ? (uint32_t)rank : 0;
}

int agent_socket_connect(const char *path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int fd;

    if (strlen(path) >= sizeof to.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(to.sun_path, path, strlen(path));
    fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&to, sizeof to) < 0) {
        int why = errno;

        (void)close(fd);
        errno = why;
        return -1;
    }
    return fd;
}
