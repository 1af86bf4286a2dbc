/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep_peer() of libevenstep, which applications link.  Nothing here prints
 * or exits; it keeps the connection table mapped.
 */
#include "launcher/libevenstep/evenstep.h"
#include "launcher/libevenstep/peer_table.h"
#include "pmix_bcast/conntable.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static pthread_once_t opened = PTHREAD_ONCE_INIT;
static _Atomic(const struct conntable *) table; /* NULL: there is none */
static int why; /* errno value, if the first could not be opened */

/* 0, or an errno value.  The digest of the whole table is checked once, so a
 * damaged table shows at the first call, and not as a peer that cannot be
 * reached. */
static int map_table(struct conntable *t)
{
    const char *dir = getenv("EVENSTEP_DIR");
    char path[4096];

    if (!dir
        || (size_t)snprintf(path, sizeof path, "%s/conntable", dir)
               >= sizeof path)
        return ENOENT;
    if (access(path, R_OK) < 0)
        return errno;
    return conntable_open(t, path, CONNTABLE_DIGEST, NULL) < 0 ? EBADMSG : 0;
}

static void open_table(void)
{
    static struct conntable first;

    why = map_table(&first);
    if (why == 0)
        atomic_store(&table, &first);
}

int peer_table_again(void)
{
    struct conntable *next = malloc(sizeof *next);
    int rc;

    (void)pthread_once(&opened, open_table); /* else it would come after us */
    rc = next ? map_table(next) : ENOMEM;
    if (rc == 0)
        atomic_store(&table, next);
    else
        free(next);
    return rc;
}

EXPORT int evenstep_peer(uint32_t rank, struct evenstep_peer *peer)
{
    const struct conntable *t;
    struct conntable_entry e;

    memset(peer, 0, sizeof *peer);
    (void)pthread_once(&opened, open_table);
    t = atomic_load(&table);
    errno = t ? ERANGE : why;
    if (!t || conntable_lookup(t, rank, &e) < 0)
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
