/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * least_work - what an agent of a broadcast cannot do without, and nothing more: a
 * file goes over one plain connection of this machine (sendfile(2)), and is read
 * right into new pages of a file in memory, where the tag of each chunk is made.
 * The limit of the agents' GB by CPU second in contrib/bench-bcast.
 *
 * usage: least_work FROM TO   makes TO; prints the CPU seconds of both ends
 */
#include "pmix_bcast/huge_map.h"
#include "pmix_bcast/seal.h"

#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHUNK = 128 << 10 };

static double cpu_seconds(int whose)
{
    struct rusage used;

    getrusage(whose, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec)
           + (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
}

/* A socket that listens; its address in at. */
static int listener(struct sockaddr_in *at)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t len = sizeof *at;

    *at = (struct sockaddr_in){.sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (fd < 0 || bind(fd, (struct sockaddr *)at, sizeof *at) < 0
        || getsockname(fd, (struct sockaddr *)at, &len) < 0
        || listen(fd, 1) < 0)
        err(1, "listen");
    return fd;
}

static void send_all(int file, uint64_t bytes, const struct sockaddr_in *to)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || connect(fd, (const struct sockaddr *)to, sizeof *to) < 0)
        err(1, "connect");
    while (bytes > 0) {
        ssize_t n = sendfile(fd, file, NULL, bytes);

        if (n <= 0)
            err(1, "sendfile");
        bytes -= (size_t)n;
    }
}

/* The chunk's bytes, in their place or, if there is none, in aside. */
static const uint8_t *take_chunk(
    int fd, int file, const struct huge_map *map, uint64_t at, size_t len)
{
    static uint8_t aside[CHUNK];
    uint8_t *place = huge_map_place(map, len, at), *to = place ? place : aside;

    if (recv(fd, to, len, MSG_WAITALL) != (ssize_t)len)
        err(1, "recv");
    if (!place && pwrite(file, aside, len, (off_t)at) != (ssize_t)len)
        err(1, "write");
    return to;
}

static void take_all(int fd, int file, uint64_t bytes)
{
    static const uint8_t key[KEY_BYTES];
    struct seal *seal = seal_create(key, 0);
    struct huge_map map = {0};

    if (!seal)
        errx(1, "no memory");
    huge_map_open(&map, file, bytes);
    for (uint64_t at = 0; at < bytes; at += CHUNK) {
        size_t len = bytes - at < CHUNK ? (size_t)(bytes - at) : CHUNK;
        const uint8_t *chunk = take_chunk(fd, file, &map, at, len);
        uint8_t tag[TAG_BYTES];

        if (seal_tag(seal, at, chunk, len, tag) < 0)
            errx(1, "no tag");
    }
    huge_map_close(&map);
    seal_destroy(seal);
}

int main(int argc, char *argv[])
{
    int from = argc == 3 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1, to, door;
    struct sockaddr_in at;
    struct stat st;
    pid_t sender;

    if (from < 0 || fstat(from, &st) < 0)
        errx(2, "usage: least_work FROM TO");
    to = open(argv[2], O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (to < 0 || ftruncate(to, st.st_size) < 0)
        err(1, "%s", argv[2]);
    door = listener(&at);
    sender = fork();
    if (sender < 0)
        err(1, "fork");
    if (sender == 0) {
        send_all(from, (uint64_t)st.st_size, &at);
        _exit(0);
    }
    take_all(accept(door, NULL, NULL), to, (uint64_t)st.st_size);
    if (waitpid(sender, NULL, 0) < 0)
        err(1, "wait");
    printf("%.3f\n", cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN));
    return 0;
}
