/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gather.h - adds up over the ranks of a node what each of them tells by a
 * number: its regions, or its iterations.
 *
 * Pure.  If they come faster than RANKS_REGIONS in the time between two
 * messages those count whose number is a multiple of a power of two, the
 * stride, which are the same on all nodes.
 */
#ifndef LAUNCHER_AGENT_GATHER_H
#define LAUNCHER_AGENT_GATHER_H

#include "launcher/libevenstep/meter_page.h"
#include "launcher/wire/protocol.h"

#define GATHER_PENDING 256u /* are gathered at once */

struct gather { /* all zero but stride, which is 1 */
    uint64_t stride;
    uint64_t begun, ended; /* at the last message and now */
    struct msg_region pending[GATHER_PENDING], kept[GATHER_PENDING];
};

/* A rank tells one; `number` counts those of its earlier programs, too.  Of
 * loops that are not the same for all ranks nothing comes. */
void gather_add(struct gather *g,
                uint64_t number,
                uint32_t rank,
                const struct meter_region *region);
/* Those that so many ranks have told, out of here; returns how many, and
 * chooses the stride. */
uint32_t gather_take(struct gather *g,
                     uint32_t ranks,
                     struct msg_region region[RANKS_REGIONS]);

#endif
