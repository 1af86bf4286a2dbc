/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep.h - what a program under `srun --evenstep` may ask of evenstep.
 * Link with -levenstep.
 */
#ifndef EVENSTEP_H
#define EVENSTEP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum evenstep_link {
    EVENSTEP_LINK_IP = 1,         /* a network interface, no more is known */
    EVENSTEP_LINK_INFINIBAND = 2, /* an InfiniBand port */
    EVENSTEP_LINK_ROCE = 3        /* an RDMA port on Ethernet: it has no LID */
};

/* How a task of the step is reached: its line of the connection table. */
struct evenstep_peer {
    uint8_t address[16]; /* GID; else as ip */
    uint8_t ip[16];      /* IPv6, or IPv4 as ::ffff:a.b.c.d */
    uint64_t network;    /* alike for all adapters of one subnet */
    uint32_t lid, port;  /* of an InfiniBand port, else 0 */
    uint32_t rate_mbps;  /* 0: not known */
    uint32_t node;       /* its number in the step, from 0 */
    uint16_t local_rank; /* among the node's tasks */
    uint16_t window;     /* among the tasks that share the adapter */
    uint16_t tcp_port;   /* on ip, where the node's agent listens */
    uint8_t lmc;         /* 2^lmc LIDs from lid on lead to the port */
    uint8_t link;        /* enum evenstep_link */
};

/*
 * The line of a rank of this step (SLURM_PROCID).  The table is mapped at the
 * first call; after that each is O(1) and needs no system call.  Any thread
 * may call it.
 *
 * Returns 0, or -1 (*peer zeroed) and errno: ENOENT there is no table (not
 * under evenstep), ERANGE the step has no such rank, EBADMSG the table is
 * damaged or of another version, else what opening it failed with.
 */
int evenstep_peer(uint32_t rank, struct evenstep_peer *peer);

#ifdef __cplusplus
}
#endif

#endif
