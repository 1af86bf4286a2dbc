/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * protocol_body.h - how the body of a message is read; for the files of
 * protocol.h alone.
 *
 *   protocol_nodes.c  versions, how agents find each other, what nodes measure
 *   protocol_work.c   commands, slices, files, the tasks of a step
 *   protocol_meter.c  progress and power
 *   protocol_ranks.c  how the time of ranks went
 *   protocol_join.c   nodes join
 */
#ifndef LAUNCHER_WIRE_PROTOCOL_BODY_H
#define LAUNCHER_WIRE_PROTOCOL_BODY_H

#include "launcher/wire/protocol.h"

#include <string.h>

static inline struct reader reader_of(const uint8_t *body, size_t len)
{
    return (struct reader){.at = body, .left = len};
}

/* The end of every decoder: whole and sound, or zeroed. */
static inline int finish(const struct reader *r, void *m, size_t size)
{
    if (read_end(r) == 0)
        return 0;
    memset(m, 0, size);
    return -1;
}

static inline int is_plain_name(const char *name)
{
    return name[0] && name[0] != '.' && !strchr(name, '/');
}

#endif
