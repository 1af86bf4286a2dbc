/* SPDX-License-Identifier: BSD-2-Clause */
/* What is sent next, where it cannot go from the file to the socket. */
#include "pmix_bcast/fabric_message.h"
#include "pmix_bcast/link_state.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int read_file(struct link *l, uint32_t size)
{
    ssize_t n = pread(l->file, l->loaded, size, l->at);

    if (n >= 0 && n < (ssize_t)size)
        errno = ENODATA; /* the file has shrunk */
    return n == (ssize_t)size ? 0 : -1;
}

static int read_owner(struct link *l)
{
    int why = l->on->read(l, l->arg, &l->sending, l->loaded);

    errno = why;
    return why || l->stage != OPEN ? -1 : 0;
}

/* For a chunk, and for a LINK_FABRIC. */
static size_t room(const struct link *l)
{
    return l->chunk_max > FABRIC_BODY_MAX ? l->chunk_max : FABRIC_BODY_MAX;
}

int link_sink(struct link *l)
{
    if (!l->sink)
        l->sink = malloc(room(l));
    return l->sink ? 0 : -1;
}

void link_ready(struct link *l)
{
    if (l->place && l->on->ready && l->head.type == LINK_CHUNK)
        l->place = l->on->ready(l->arg, &l->head, l->place);
}

int link_room(struct link *l)
{
    if (!l->loaded)
        l->loaded = malloc(room(l) + TAG_BYTES);
    return l->loaded && l->sending.size <= room(l) ? 0 : -1;
}

int link_read(struct link *l)
{
    uint32_t size = l->sending.size;

    if (link_room(l) < 0)
        return -1;
    l->is_loaded = 1;
    return l->file >= 0 ? read_file(l, size) : read_owner(l);
}
