/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep_peer() of libevenstep, which applications link.  Nothing here prints
 * or exits; it keeps one mapping of the connection table.
 */
#include "launcher/libevenstep/evenstep.h"
#include "pmix_bcast/conntable.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static pthread_once_t opened = PTHREAD_ONCE_INIT;
static struct conntable table;
static int why; /* errno value, if it could not be opened */

/* The digest of the whole table is checked once, so a damaged table shows at
 * the first call, and not as a peer that cannot be reached. */
static void open_table(void)
{
    const char *dir = getenv("EVENSTEP_DIR");
    char path[4096];

    why = ENOENT;
    if (!dir
        || (size_t)snprintf(path, sizeof path, "%s/conntable", dir)
               >= sizeof path)
        return;
    if (access(path, R_OK) < 0)
        why = errno;
    else
        why = conntable_open(&table, path, CONNTABLE_DIGEST, NULL) < 0 ? EBADMSG
                                                                       : 0;
}

EXPORT int evenstep_peer(uint32_t rank, struct evenstep_peer *peer)
{
    struct conntable_entry e;

    memset(peer, 0, sizeof *peer);
    (void)pthread_once(&opened, open_table);
    errno = why ? why : ERANGE;
    if (why || conntable_lookup(&table, rank, &e) < 0)
        return -1;
    memcpy(peer->address, e.adapter.address, sizeof peer->address);
    memcpy(peer->ip, e.adapter.ip, sizeof peer->ip);
    peer->network = e.adapter.network;
    peer->lid = e.adapter.lid;
    peer->port = e.adapter.port;
    peer->rate_mbps = e.adapter.rate_mbps;
    peer->node = e.node;
    peer->local_rank = e.local_rank;
    peer->window = e.window;
    peer->tcp_port = e.adapter.tcp_port;
    peer->lmc = e.adapter.lmc;
    peer->link = (uint8_t)e.adapter.link;
    return 0;
}
