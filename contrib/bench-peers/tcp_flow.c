/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_flow - sends a file to one other node over one plain TCP connection: the
 * best that the links of contrib/bench-bcast can do.
 *
 * usage: tcp_flow receive PORT            takes one flow
 *        tcp_flow send ADDRESS PORT FILE  prints "seconds CPU-seconds"
 *
 * Seconds are from before connect() until the receiver has said, by one byte,
 * that it has had every byte; it keeps none.
 */
#include "contrib/bench-peers/machine.h"

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PIECE = 1 << 18,
    CONNECT_TRIES = 500, /* each 10 ms: the receiver may only just start */
    CONNECT_WAIT_US = 10000
};

static struct sockaddr_in address_of(const char *host, const char *port)
{
    struct sockaddr_in to = {.sin_family = AF_INET};
    char *end;
    unsigned long n = strtoul(port, &end, 10);

    if (inet_pton(AF_INET, host, &to.sin_addr) != 1)
        errx(2, "%s: not an IPv4 address", host);
    if (*end || n == 0 || n > UINT16_MAX)
        errx(2, "%s: not a port", port);
    to.sin_port = htons((uint16_t)n);
    return to;
}

static int tcp_socket(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0)
        err(1, "socket");
    return fd;
}

/* Receives the length, then so many bytes, and confirms them. */
static void take(int fd)
{
    static char piece[PIECE];
    uint64_t left;
    ssize_t n;

    if (recv(fd, &left, sizeof left, MSG_WAITALL) != sizeof left)
        errx(1, "a flow without its length");
    for (; left > 0; left -= (uint64_t)n) {
        n = recv(fd, piece, left < PIECE ? (size_t)left : PIECE, 0);
        if (n <= 0)
            errx(1, "the flow broke off");
    }
    if (send(fd, "!", 1, 0) != 1)
        err(1, "send");
}

static int receive(const char *port)
{
    struct sockaddr_in from = address_of("0.0.0.0", port);
    int listening = tcp_socket(), fd;

    if (bind(listening, (struct sockaddr *)&from, sizeof from) < 0
        || listen(listening, 1) < 0)
        err(1, "port %s", port);
    fd = accept(listening, NULL, NULL);
    if (fd < 0)
        err(1, "accept");
    take(fd);
    close(fd);
    close(listening);
    return 0;
}

static const char *mapped(const char *path, uint64_t *bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    void *data;

    if (fd < 0 || fstat(fd, &st) < 0)
        err(1, "%s", path);
    *bytes = (uint64_t)st.st_size;
    data = mmap(NULL, *bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
    if (data == MAP_FAILED)
        err(1, "%s", path);
    close(fd);
    return data;
}

static void send_all(int fd, const void *data, uint64_t bytes)
{
    const char *at = data;
    ssize_t n;

    for (; bytes > 0; at += n, bytes -= (uint64_t)n) {
        n = send(fd, at, bytes, 0);
        if (n <= 0)
            err(1, "send");
    }
}

/* 1 if the flow is done and its figures are printed, 0 if nobody listens. */
static int send_one(const struct sockaddr_in *to,
                    const void *data,
                    uint64_t bytes)
{
    int fd = tcp_socket();
    double cpu = machine_cpu_s(), from = machine_time_s();
    char said;

    if (connect(fd, (const struct sockaddr *)to, sizeof *to) < 0) {
        if (errno != ECONNREFUSED)
            err(1, "connect");
        close(fd);
        return 0;
    }
    send_all(fd, &bytes, sizeof bytes);
    send_all(fd, data, bytes);
    if (recv(fd, &said, 1, 0) != 1)
        errx(1, "the receiver did not say that it has all");
    from = machine_time_s() - from;
    printf("%.6f %.2f\n", from, machine_cpu_s() - cpu);
    close(fd);
    return 1;
}

static int send_file(const char *host, const char *port, const char *path)
{
    struct sockaddr_in to = address_of(host, port);
    uint64_t bytes;
    const char *data = mapped(path, &bytes);

    for (int i = 0; i < CONNECT_TRIES; i++) {
        if (send_one(&to, data, bytes))
            return 0;
        usleep(CONNECT_WAIT_US);
    }
    errx(1, "%s: nobody listens on port %s", host, port);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "receive") == 0)
        return receive(argv[2]);
    if (argc == 5 && strcmp(argv[1], "send") == 0)
        return send_file(argv[2], argv[3], argv[4]);
    errx(2, "usage: tcp_flow receive PORT | send ADDRESS PORT FILE");
}
