/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/segmenter.h"

#define WINDOW 64u /* bytes that the hash is of: each shifts it by a bit */
/* Bits that are zero at an end: 18 would make it 2^18 bytes, SEGMENT_USUAL.  Before
 * that it is four times less likely, and behind it four times more. */
#define BITS_BEFORE 20u
#define BITS_BEHIND 16u

/* SplitMix64 (Steele et al., OOPSLA 2014) of the byte: both ends have the same. */
static uint64_t mixed(uint64_t n)
{
    uint64_t z = (n + 1) * UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

void segmenter_init(struct segmenter *s)
{
    for (unsigned i = 0; i < 256; i++)
        s->gear[i] = mixed(i);
    segmenter_end(s);
}

void segmenter_end(struct segmenter *s)
{
    s->hash = 0;
    s->len = 0;
}

/* Hash on to the end of the bytes, or behind the first where it has so many zeros:
 * how many bytes that are, and whether it is one. */
static size_t look(struct segmenter *s,
                   const uint8_t *bytes,
                   size_t len,
                   unsigned bits,
                   int *ends)
{
    uint64_t hash = s->hash;
    size_t i = 0;

    while (i < len && !*ends) {
        hash = (hash << 1) + s->gear[bytes[i++]];
        *ends = hash >> (64 - bits) == 0;
    }
    s->hash = hash;
    return i;
}

/* What is more than a window before SEGMENT_MIN has no part in the hash there. */
static size_t pass_over(struct segmenter *s, const uint8_t *bytes, size_t len)
{
    size_t i =
        s->len < SEGMENT_MIN - WINDOW ? SEGMENT_MIN - WINDOW - s->len : 0;

    for (; i < len; i++)
        s->hash = (s->hash << 1) + s->gear[bytes[i]];
    return len;
}

/* Bytes up to where the rule changes. */
static size_t step(struct segmenter *s,
                   const uint8_t *bytes,
                   size_t len,
                   int *ends)
{
    uint32_t to = s->len < SEGMENT_MIN     ? SEGMENT_MIN
                  : s->len < SEGMENT_USUAL ? SEGMENT_USUAL
                                           : SEGMENT_MAX;

    if (len > to - s->len)
        len = to - s->len;
    if (to == SEGMENT_MIN)
        return pass_over(s, bytes, len);
    return look(s, bytes, len, to == SEGMENT_USUAL ? BITS_BEFORE : BITS_BEHIND,
                ends);
}

size_t segmenter_take(struct segmenter *s,
                      const uint8_t *bytes,
                      size_t len,
                      int *ends)
{
    size_t taken = 0;

    *ends = 0;
    while (taken < len && !*ends) {
        size_t n = step(s, bytes + taken, len - taken, ends);

        taken += n;
        s->len += (uint32_t)n;
        if (s->len == SEGMENT_MAX)
            *ends = 1;
    }
    if (*ends)
        segmenter_end(s);
    return taken;
}
