/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * link_lane.h - where the files of a link meet the lane beside it (fabric.h);
 * for them alone.  Without libfabric there is none: see fabric_none.c.
 */
#ifndef PMIX_BCAST_LINK_LANE_H
#define PMIX_BCAST_LINK_LANE_H

#include "pmix_bcast/fabric.h"
#include "pmix_bcast/link_state.h"

/* NULL: there is none. */
struct link_lane;

/* A message of the lane's is to be sent before any of the owner's: 1, and it
 * stands in l->sending; 0, or -1 with errno set. */
int link_lane_next(struct link *l);
/* Chunks go by it; but not now, and the owner is not asked for any. */
int link_lane_is_open(const struct link *l);
int link_lane_is_full(const struct link *l);
/* The chunk in l->sending goes by it: 0, or -1 with errno set. */
int link_lane_send(struct link *l);
/* Where the bytes of a LINK_FABRIC go; NULL: nowhere. */
uint8_t *link_lane_place(const struct link *l);
/* A message has come; is it the lane's?  Then 0, or -1 if that cannot be. */
int link_lane_hear(struct link *l, int *is_ours);
uint64_t link_lane_queued(const struct link *l);
void link_lane_end(struct link *l);

#endif
