/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * segmenter.h - cuts the bytes of a large file into segments where its content
 * says so: what is the same in two files is cut alike in both, wherever it stands
 * in them.  Pure.
 *
 * A segment ends where a hash of the last 64 bytes has its upper bits all zero,
 * more of them before its usual size than behind it: FastCDC with normalised sizes
 * (Xia et al., USENIX ATC 2016).
 */
#ifndef PMIX_BCAST_SEGMENTER_H
#define PMIX_BCAST_SEGMENTER_H

#include <stddef.h>
#include <stdint.h>

/* Bytes.  An index has 36 for each segment: a 7000th of what it is of. */
#define SEGMENT_MIN   (64u << 10)
#define SEGMENT_USUAL (256u << 10)
#define SEGMENT_MAX   (1u << 20)

struct segmenter {
    uint64_t gear[256]; /* of each byte: 64 bits by chance */
    uint64_t hash;
    uint32_t len; /* of the segment that is open */
};

void segmenter_init(struct segmenter *s);
/* How many of these bytes, which come next, are of the segment that is open; ends:
 * 1 if it ends there, and the next one begins. */
size_t segmenter_take(struct segmenter *s,
                      const uint8_t *bytes,
                      size_t len,
                      int *ends);
/* The data ends, and the segment with it. */
void segmenter_end(struct segmenter *s);

#endif
