/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bytes.h - numbers and texts to bytes and back, for the bodies of messages.
 *
 * Integers are big-endian; a double is its IEEE 754 bits as a u64; text and
 * blobs are a u32 length followed by that many bytes.  Reading never goes
 * past the end: the first short or bad read sets `bad`, and every read after
 * it gives 0 or an empty text, so a decoder checks once, at its end.
 */
#ifndef PMIX_BCAST_BYTES_H
#define PMIX_BCAST_BYTES_H

#include <stddef.h>
#include <stdint.h>

struct reader {
    const uint8_t *at;
    size_t left;
    int bad; /* something was missing or out of bounds */
};

struct writer {
    uint8_t *buf; /* owned; writer_clear() frees it */
    size_t len, cap;
    int bad; /* memory ran out, or a text over 4 GiB; buf is then useless */
};

uint16_t get_u16(const uint8_t *p);
uint32_t get_u32(const uint8_t *p);
void put_u16(uint8_t *p, uint16_t v);
void put_u32(uint8_t *p, uint32_t v);

uint32_t read_u32(struct reader *r);
uint64_t read_u64(struct reader *r);
/* A finite double; anything else sets bad and gives 0. */
double read_double(struct reader *r);
/* The blob's bytes inside the reader's buffer, its length in *len. */
const uint8_t *read_blob(struct reader *r, size_t *len);
/*
 * A text without NUL of at most size - 1 bytes, copied into out with a NUL
 * behind it.  Longer text or a NUL inside sets bad; out is then "".
 */
void read_text(struct reader *r, char *out, size_t size);
/* 0 if all was read well and nothing is left over, else -1. */
int read_end(const struct reader *r);

void write_u32(struct writer *w, uint32_t v);
void write_u64(struct writer *w, uint64_t v);
void write_double(struct writer *w, double v);
void write_blob(struct writer *w, const void *p, size_t len);
void write_text(struct writer *w, const char *text);
void writer_clear(struct writer *w);

#endif
