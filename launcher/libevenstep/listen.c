/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep_listen(): a connection of its own to the node's agent, which is open
 * until the agent says that the table of all is there.
 */
#include "launcher/libevenstep/agent_socket.h"
#include "launcher/libevenstep/evenstep.h"
#include "launcher/libevenstep/peer_table.h"
#include "launcher/libevenstep/slice_message.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* Say it, and wait for all others: 0, or an errno value. */
static int tell_agent(int fd, int port)
{
    const struct slice_message m = {.type = SLICE_LISTEN,
                                    .version = SLICE_VERSION,
                                    .rank = agent_socket_rank(),
                                    .port = (uint32_t)port};
    struct slice_message answer;
    int rc = slice_message_send(fd, &m);

    if (rc < 0)
        return errno == EPIPE ? ECONNRESET : errno;
    rc = slice_message_receive(fd, &answer);
    if (rc <= 0)
        return rc == 0 ? ECONNRESET : errno;
    return answer.type == SLICE_LISTENED ? (int)answer.error : EBADMSG;
}

EXPORT int evenstep_listen(int port)
{
    const char *path = getenv("EVENSTEP_SOCKET");
    int why = port < 0 || port > UINT16_MAX ? EINVAL : 0, fd;

    if (!why && !(path && *path))
        why = ENOENT;
    if (!why) {
        fd = agent_socket_connect(path);
        why = fd < 0 ? errno : tell_agent(fd, port);
        if (fd >= 0)
            (void)close(fd); /* all has been said */
    }
    if (!why)
        why = peer_table_again();
    if (!why)
        return 0;
    errno = why;
    return -1;
}
