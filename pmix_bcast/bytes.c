/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/bytes.h"
#include "pmix_bcast/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint16_t get_u16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

uint32_t get_u32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8
           | p[3];
}

void put_u16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

void put_u32(uint8_t *p, uint32_t v)
{
    put_u16(p, (uint16_t)(v >> 16));
    put_u16(p + 2, (uint16_t)v);
}

/* The next n bytes, or NULL if they are not there. */
static const uint8_t *take_bytes(struct reader *r, size_t n)
{
    const uint8_t *p = r->at;

    if (r->bad || n > r->left) {
        r->bad = 1;
        return NULL;
    }
    r->at += n;
    r->left -= n;
    return p;
}

uint32_t read_u32(struct reader *r)
{
    const uint8_t *p = take_bytes(r, 4);

    return p ? get_u32(p) : 0;
}

uint64_t read_u64(struct reader *r)
{
    const uint8_t *p = take_bytes(r, 8);

    return p ? (uint64_t)get_u32(p) << 32 | get_u32(p + 4) : 0;
}

double read_double(struct reader *r)
{
    uint64_t bits = read_u64(r);
    double v;

    memcpy(&v, &bits, sizeof v);
    if (isfinite(v))
        return v;
    r->bad = 1;
    return 0;
}

const uint8_t *read_blob(struct reader *r, size_t *len)
{
    size_t n = read_u32(r);
    const uint8_t *p = take_bytes(r, n);

    *len = p ? n : 0;
    return p;
}

void read_text(struct reader *r, char *out, size_t size)
{
    size_t len;
    const uint8_t *p = read_blob(r, &len);

    if (len >= size || (len > 0 && memchr(p, '\0', len))) {
        r->bad = 1;
        len = 0;
    }
    if (len > 0)
        memcpy(out, p, len);
    out[len] = '\0';
}

int read_end(const struct reader *r)
{
    return r->bad || r->left > 0 ? -1 : 0;
}

/* Room for n more bytes, or NULL. */
static uint8_t *room(struct writer *w, size_t n)
{
    if (!w->bad && w->cap - w->len < n) {
        uint8_t *p = n <= SIZE_MAX - w->len
                         ? array_grow(w->buf, &w->cap, w->len + n, 1, SIZE_MAX)
                         : NULL;

        if (p)
            w->buf = p;
        else
            w->bad = 1;
    }
    if (w->bad)
        return NULL;
    w->len += n;
    return w->buf + w->len - n;
}

void write_u32(struct writer *w, uint32_t v)
{
    uint8_t *p = room(w, 4);

    if (p)
        put_u32(p, v);
}

void write_u64(struct writer *w, uint64_t v)
{
    write_u32(w, (uint32_t)(v >> 32));
    write_u32(w, (uint32_t)v);
}

void write_double(struct writer *w, double v)
{
    uint64_t bits;

    memcpy(&bits, &v, sizeof bits);
    write_u64(w, bits);
}

void write_blob(struct writer *w, const void *p, size_t len)
{
    uint8_t *to;

    if (len > UINT32_MAX)
        w->bad = 1;
    write_u32(w, (uint32_t)len);
    to = room(w, len);
    if (to && len > 0)
        memcpy(to, p, len);
}

void write_text(struct writer *w, const char *text)
{
    write_blob(w, text, strlen(text));
}

void writer_clear(struct writer *w)
{
    free(w->buf);
    memset(w, 0, sizeof *w);
}
