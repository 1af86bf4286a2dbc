/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packing.h - how the chunks of a broadcast travel over its links: as they are,
 * or compressed by LZ4 or Zstandard.
 *
 * Home chooses, for each chunk: a chunk that does not get smaller goes as it is,
 * and PACK_AUTO compresses where it shortens the way (pack_choice.h), by the
 * rate of the wire and by what the first chunk and every so many after it cost.
 * A node passes a chunk on as it came; the last ones are remembered as they
 * came, others are compressed once more.  A chunk's tag is always that of the
 * bytes themselves, so whatever comes out here is checked; and a link opens only
 * what the other end has sealed (link.h).
 */
#ifndef PMIX_BCAST_PACKING_H
#define PMIX_BCAST_PACKING_H

#include "pmix_bcast/pack_choice.h"

#include <stddef.h>
#include <stdint.h>

struct packing;

/* Chunks have at most chunk bytes; wish is home's, a node's is PACK_NONE.
 * NULL if memory ran out. */
struct packing *packing_create(enum pack wish, uint32_t chunks, uint32_t chunk);
void packing_destroy(struct packing *p);

/* A chunk's bytes as they travel; PACK_NONE: as they are, and bytes NULL. */
struct packed {
    enum pack how;
    const uint8_t *bytes; /* until the next call with this packing */
    uint32_t size;
};

/* A chunk of size bytes is sent next: is it to be read for packing_make()? */
int packing_wants(struct packing *p, uint32_t chunk, uint32_t size);
/* It came compressed, and is remembered; else PACK_NONE. */
struct packed packing_known(const struct packing *p, uint32_t chunk);
/* Compress its size bytes, if that is wanted and makes them fewer. */
struct packed packing_make(struct packing *p,
                           uint32_t chunk,
                           const uint8_t *bytes,
                           uint32_t size);
/* A chunk has come that was compressed: put its size bytes out.  Returns 0, or
 * -1 if they are not so many, or no such bytes. */
int packing_open(struct packing *p,
                 uint32_t chunk,
                 const struct packed *packed,
                 uint8_t *bytes,
                 uint32_t size);
/* For PACK_AUTO: so many bytes have gone over the wire until now; is_full: more
 * of them wait for it. */
void packing_went(struct packing *p, uint64_t bytes, int is_full, double now);
/* What is left of all bytes that were to be sent, as a part of them; 1: nothing
 * was compressed. */
double packing_left(const struct packing *p);

#endif
