/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * meter_page.h - the page in which programs leave their progress for the
 * agent of their node.
 *
 *   offset  size  field       (in the node's own byte order)
 *        0     4  magic       METER_MAGIC
 *        4     4  high        slots from this one on were never used
 *        8     4  threads     that the agent advises a rank to use; 0: none
 *       64   64n  slots       one a thread, a cache line each
 *
 *   slot 0     4  owner       process; 0: the slot is free
 *        4     4  sequence    odd while a new region is being written
 *        8     8  total       work of the region, in the program's own units
 *       16     8  done        of it so far
 *       24     8  regions     begun so far
 *       32     4  early       calls of tick before the first region
 *       36     4  beyond      calls with more than the total
 *       40     4  backwards   calls with less than before
 *
 * A slot has one writer, the thread that took it; it and the agent share no
 * lock.  Nothing here is believed: whatever bytes there are, a sample holds.
 * The page is a memfd that is sealed against a change of its size, so no
 * program can pull it away under the agent.
 */
#ifndef LAUNCHER_LIBEVENSTEP_METER_PAGE_H
#define LAUNCHER_LIBEVENSTEP_METER_PAGE_H

#include <stdint.h>

#define METER_FILE  "meter"     /* in EVENSTEP_DIR: a link to the page */
#define METER_MAGIC 0x314d5645u /* "EVM1"; a change of meaning: another */
#define METER_SLOTS 4096u       /* 1000 ranks and some threads each */
#define METER_BYTES sizeof(struct meter_page)

struct meter_slot {
    _Alignas(64) _Atomic uint32_t owner;
    _Atomic uint32_t sequence;
    _Atomic uint64_t total, done, regions;
    _Atomic uint32_t early, beyond, backwards;
};

struct meter_page {
    uint32_t magic;
    _Atomic uint32_t high;
    _Atomic uint32_t threads;
    struct meter_slot slot[METER_SLOTS];
};

/* What a slot says at one moment. */
struct meter_sample {
    uint32_t owner;
    uint64_t regions;
    double fraction; /* of the region's work, 0..1; 1 of a total of 0 */
    uint64_t misuse; /* calls that made no sense */
};

/* 0, or -1 if its writer was at work each time we looked (*sample untouched).
 */
int meter_slot_read(const struct meter_slot *slot, struct meter_sample *sample);

/*
 * A new page, sealed and mapped; *fd is its memfd, the caller's.  NULL: errno.
 */
struct meter_page *meter_page_create(int *fd);
/* Unmap a page; NULL is allowed. */
void meter_page_destroy(struct meter_page *page);
/* How many slots there are to look at. */
uint32_t meter_page_slots(const struct meter_page *page);

#endif
