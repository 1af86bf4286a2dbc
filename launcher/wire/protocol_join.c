/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/wire/protocol_body.h"

void msg_write_join(struct writer *w, const struct msg_join *m)
{
    write_u32(w, m->version);
    write_text(w, m->release);
    write_u32(w, m->local);
    write_u32(w, m->n);
    write_blob(w, m->name, m->len);
}

/* n names, each a plain one with its NUL, and nothing behind them. */
static int are_names(const uint8_t *at, size_t len, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t *end = len > 0 ? memchr(at, '\0', len) : NULL;
        size_t size = end ? (size_t)(end - at) + 1 : 0;

        if (!end || size > NODE_NAME_MAX || !is_plain_name((const char *)at))
            return 0;
        at += size;
        len -= size;
    }
    return len == 0;
}

int msg_read_join(struct msg_join *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->version = read_u32(&r);
    read_text(&r, m->release, sizeof m->release);
    m->local = read_u32(&r);
    m->n = read_u32(&r);
    m->name = read_blob(&r, &m->len);
    if (m->local > 1 || m->n == 0 || m->n > JOINS_MAX
        || !are_names(m->name, m->len, m->n))
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}

void msg_write_seats(struct writer *w,
                     const struct msg_seats *m,
                     const size_t seat[])
{
    struct writer seats = {0};

    for (uint32_t i = 0; i < m->n; i++)
        write_u32(&seats, (uint32_t)seat[i]);
    write_u32(w, m->port);
    write_u32(w, m->secret.encrypt);
    write_blob(w, m->secret.key, SECRET_BYTES);
    write_u32(w, m->agents);
    write_u32(w, m->energy);
    write_blob(w, seats.buf, seats.len);
    w->bad |= seats.bad;
    writer_clear(&seats);
}

uint32_t msg_seat(const struct msg_seats *m, uint32_t i)
{
    struct reader r = reader_of(m->seat + 4 * i, 4);

    return read_u32(&r);
}

int msg_read_seats(struct msg_seats *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);
    const uint8_t *key;
    size_t key_len, seats;

    m->port = read_u32(&r);
    m->secret.encrypt = read_u32(&r);
    key = read_blob(&r, &key_len);
    m->agents = read_u32(&r);
    m->energy = read_u32(&r);
    m->seat = read_blob(&r, &seats);
    m->n = (uint32_t)(seats / 4);
    if (r.bad || key_len != SECRET_BYTES || m->port == 0 || m->port > UINT16_MAX
        || m->secret.encrypt > 1 || m->energy > 1 || m->agents > AGENTS_MAX
        || seats % 4 != 0 || seats > 4 * JOINS_MAX)
        r.bad = 1;
    else
        memcpy(m->secret.key, key, SECRET_BYTES);
    for (uint32_t i = 0; !r.bad && i < m->n; i++)
        r.bad = msg_seat(m, i) >= m->agents;
    return finish(&r, m, sizeof *m);
}

void msg_write_refused(struct writer *w, const struct msg_refused *m)
{
    write_text(w, m->what);
    write_text(w, m->mend);
}

int msg_read_refused(struct msg_refused *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    read_text(&r, m->what, sizeof m->what);
    read_text(&r, m->mend, sizeof m->mend);
    return finish(&r, m, sizeof *m);
}
