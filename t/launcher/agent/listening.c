/* SPDX-License-Identifier: BSD-2-Clause */
/* Who listens, by lines of /proc/net/tcp and /proc/net/tcp6. */
#include "launcher/agent/listening.h"
#include "tap.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

/* Lines of a little-endian machine. */
#define TAIL " 00000000:00000000 00:00000000 00000000     0        0 12345 1 0"

static const struct {
    const char *what, *ip, *line;
    int is;
} lines[] = {
    {"IPv4, any address", "::ffff:10.0.0.1",
     "   0: 00000000:1F90 00000000:0000 0A" TAIL, 1},
    {"IPv4, the address", "::ffff:10.0.0.1",
     "   0: 0100000A:1F90 00000000:0000 0A" TAIL, 1},
    {"IPv4, another address", "::ffff:10.0.0.1",
     "   0: 0100007F:1F90 00000000:0000 0A" TAIL, 0},
    {"IPv4, another port", "::ffff:10.0.0.1",
     "   0: 00000000:1F91 00000000:0000 0A" TAIL, 0},
    {"connected, not listening", "::ffff:10.0.0.1",
     "   1: 0100000A:1F90 0200000A:9C40 01" TAIL, 0},
    {"IPv6, any address", "fd00::3",
     "  12: 00000000000000000000000000000000:1F90 "
     "00000000000000000000000000000000:0000 0A" TAIL,
     1},
    {"IPv6, any address, reached by IPv4", "::ffff:10.0.0.1",
     "  12: 00000000000000000000000000000000:1F90 "
     "00000000000000000000000000000000:0000 0A" TAIL,
     1},
    {"IPv6, the address", "fd00::3",
     "  12: 000000FD000000000000000003000000:1F90 "
     "00000000000000000000000000000000:0000 0A" TAIL,
     1},
    {"IPv6, another address", "fd00::4",
     "  12: 000000FD000000000000000003000000:1F90 "
     "00000000000000000000000000000000:0000 0A" TAIL,
     0},
    {"the head", "fd00::3", "  sl  local_address rem_address   st", 0},
    {"an address of five bytes", "fd00::3",
     "   0: 0000000000:1F90 00000000:0000 0A" TAIL, 0},
    {"nothing", "fd00::3", "", 0},
};

static void test_lines(void)
{
    uint8_t ip[16];

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        inet_pton(AF_INET6, lines[i].ip, ip);
        ok(listening_line(lines[i].line, ip, 8080) == lines[i].is, "%s",
           lines[i].what);
    }
}

static int is_little_endian(void)
{
    const uint16_t one = 1;

    return *(const uint8_t *)&one == 1;
}

static void test_socket(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    uint8_t ip[16];

    inet_pton(AF_INET6, "::ffff:127.0.0.1", ip);
    if (bind(fd, (const struct sockaddr *)&at, len) < 0
        || getsockname(fd, (struct sockaddr *)&at, &len) < 0)
        bail("no port");
    is_int(listening_at(ip, ntohs(at.sin_port)), LISTENING_NO,
           "a port that is bound, and nobody listens");
    if (listen(fd, 1) < 0)
        bail("cannot listen");
    is_int(listening_at(ip, ntohs(at.sin_port)), LISTENING_YES,
           "somebody does");
    close(fd);
}

int main(void)
{
    test_socket();
    if (is_little_endian())
        test_lines();
    return done();
}
