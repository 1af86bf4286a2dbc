/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * connect.c - connects all tasks of a step to each other, without MPI: an example
 * of evenstep_listen().
 *
 *     cc -O2 -o connect connect.c -levenstep
 *     srun -N4 -n16 --evenstep ./connect
 *     evenstep run --local 4 --persistent --range 0:16 -- ./connect
 *
 * Each task listens at a port that the kernel chooses, says so, and then knows
 * the ports of all.  It calls the tasks before it, is called by those after it,
 * and tells each its rank, which tells its own.  In the end it has a connection
 * to each of the others, as a runtime of a language or a data store needs them,
 * and asks for its slices.
 */
#include <evenstep.h>

#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static uint32_t rank, ranks;
static int *connection; /* to each of them */

/* Of a worker of `evenstep run --persistent`, or of a task of a step. */
static uint32_t number_of(const char *worker, const char *task)
{
    const char *text = getenv(worker) ? getenv(worker) : getenv(task);

    if (!text)
        errx(1, "no %s: start it by srun --evenstep", task);
    return (uint32_t)strtoul(text, NULL, 10);
}

/* A socket that listens, and its port. */
static int listen_anywhere(int *port)
{
    struct sockaddr_in6 at = {.sin6_family = AF_INET6};
    socklen_t len = sizeof at;
    int fd = socket(AF_INET6, SOCK_STREAM, 0), no = 0;

    if (fd < 0 || setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no) < 0
        || bind(fd, (struct sockaddr *)&at, sizeof at) < 0
        || listen(fd, SOMAXCONN) < 0
        || getsockname(fd, (struct sockaddr *)&at, &len) < 0)
        err(1, "cannot listen");
    *port = ntohs(at.sin6_port);
    return fd;
}

static int call(uint32_t other)
{
    struct sockaddr_in6 to = {.sin6_family = AF_INET6};
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    struct evenstep_peer peer;

    if (evenstep_peer(other, &peer) < 0)
        err(1, "rank %u has no entry", other);
    memcpy(&to.sin6_addr, peer.ip, sizeof peer.ip); /* IPv4 is in it, too */
    to.sin6_port = htons(peer.tcp_port);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) < 0)
        err(1, "rank %u does not answer at port %u", other, peer.tcp_port);
    return fd;
}

static void tell(int fd)
{
    uint32_t word = htonl(rank);

    if (send(fd, &word, sizeof word, 0) != sizeof word)
        err(1, "cannot tell my rank");
}

static uint32_t hear(int fd)
{
    uint32_t word;

    if (recv(fd, &word, sizeof word, MSG_WAITALL) != sizeof word)
        err(1, "a rank says nothing");
    return ntohl(word);
}

/* All that are after us call, in any order. */
static void answer(int listener)
{
    for (uint32_t i = rank + 1; i < ranks; i++) {
        int fd = accept(listener, NULL, NULL);
        uint32_t other = fd < 0 ? ranks : hear(fd);

        if (other <= rank || other >= ranks || connection[other])
            errx(1, "somebody calls who should not");
        connection[other] = fd;
        tell(fd);
    }
}

/* The others could take part in each of them. */
static void do_slices(void)
{
    uint64_t begin, end;
    int more;

    if (evenstep_open(ranks, 1) < 0)
        err(1, "evenstep_open");
    while ((more = evenstep_next(&begin, &end)) > 0) {
        for (uint64_t unit = begin; unit < end; unit++)
            printf("unit %u: connections to %u others\n", (unsigned)unit,
                   ranks - 1);
        if (evenstep_done() < 0)
            err(1, "evenstep_done");
    }
    if (more < 0)
        err(1, "evenstep_next");
    evenstep_close();
}

int main(void)
{
    int port, listener = listen_anywhere(&port);

    rank = number_of("EVENSTEP_RANK", "SLURM_PROCID");
    ranks = number_of("EVENSTEP_RANKS", "SLURM_NTASKS");
    connection = calloc(ranks, sizeof *connection);
    if (!connection || rank >= ranks)
        errx(1, "no memory, or no such rank");
    if (evenstep_listen(port) < 0)
        err(1, "evenstep_listen");
    for (uint32_t other = 0; other < rank; other++) {
        connection[other] = call(other);
        tell(connection[other]);
    }
    answer(listener);
    for (uint32_t other = 0; other < rank; other++)
        if (hear(connection[other]) != other)
            errx(1, "rank %u is another one", other);
    do_slices();
    return 0;
}
