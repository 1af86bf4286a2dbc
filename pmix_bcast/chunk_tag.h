/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chunk_tag.h - the tag of each chunk of a broadcast, which nobody else can
 * make: a tag of seal.h, under a key of the step's secret and the broadcast's
 * number, with the chunk's index as its number.
 */
#ifndef PMIX_BCAST_CHUNK_TAG_H
#define PMIX_BCAST_CHUNK_TAG_H

#include "pmix_bcast/seal.h"

struct chunk_tag {
    uint8_t bytes[TAG_BYTES];
};

/* For seal_tag() and seal_check(); seal_destroy() ends it.  NULL if memory ran
 * out. */
struct seal *chunk_tag_seal(const struct secret *s, uint32_t broadcast);
/* A digest of n tags: of all tags it stands for the whole file. */
uint64_t chunk_tag_sum(const struct chunk_tag *tag, uint32_t n);

#endif
