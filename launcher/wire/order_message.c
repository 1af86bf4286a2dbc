/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/wire/order_message.h"
#include "launcher/wire/protocol_body.h"

#include <stdlib.h>

#define MARK   8u /* bytes */
#define RECENT 4u /* bodies that the next one is compared with */

uint32_t order_parent(uint32_t branches, uint32_t rank)
{
    return rank < branches ? UINT32_MAX : rank / branches - 1;
}

/* --- to bytes ------------------------------------------------------------- */

static void write_head(struct writer *w,
                       uint32_t number,
                       uint16_t type,
                       uint32_t n)
{
    write_u32(w, number);
    write_u32(w, type);
    write_u32(w, n);
}

void msg_write_relay(struct writer *w,
                     uint32_t number,
                     uint16_t type,
                     const uint8_t *body,
                     size_t len)
{
    write_head(w, number, type, 1);
    write_blob(w, body, len);
    write_blob(w, NULL, 0);
}

/* Bodies as they are written, and who is to have them. */
struct bodies {
    struct writer all, marks;
    uint32_t n;
    const struct writer *recent[RECENT];
};

static uint32_t place_of(struct bodies *b, const struct writer *body)
{
    for (uint32_t i = 0; i < RECENT && i < b->n; i++) {
        uint32_t place = b->n - 1 - i;
        const struct writer *had = b->recent[place % RECENT];

        if (had->len == body->len
            && (body->len == 0 || memcmp(had->buf, body->buf, body->len) == 0))
            return place;
    }
    b->recent[b->n % RECENT] = body;
    write_blob(&b->all, body->buf, body->len);
    return b->n++;
}

static void write_bodies(struct writer *w,
                         uint32_t number,
                         uint16_t type,
                         struct bodies *b)
{
    write_head(w, number, type, b->n);
    w->bad |= b->all.bad | b->marks.bad;
    for (size_t i = 0; !w->bad && i < b->all.len;) {
        size_t len = get_u32(b->all.buf + i);

        write_blob(w, b->all.buf + i + 4, len);
        i += 4 + len;
    }
    write_blob(w, b->marks.buf, b->marks.len);
    writer_clear(&b->all);
    writer_clear(&b->marks);
}

void msg_write_relay_each(struct writer *w,
                          uint32_t number,
                          uint16_t type,
                          const struct writer *const body[],
                          uint32_t first,
                          uint32_t n)
{
    struct bodies b = {.n = 0};

    for (uint32_t i = 0; i < n; i++) {
        if (!body[i])
            continue;
        b.all.bad |= body[i]->bad;
        if (b.all.bad)
            break;
        write_u32(&b.marks, first + i);
        write_u32(&b.marks, place_of(&b, body[i]));
    }
    write_bodies(w, number, type, &b);
}

/* --- and back ------------------------------------------------------------- */

static int are_marks_sound(const struct msg_relay *m)
{
    uint32_t last = 0;

    if (m->marks_len == 0)
        return m->n <= 1;
    if (m->marks_len % MARK != 0)
        return 0;
    for (size_t i = 0; i < m->marks_len; i += MARK) {
        uint32_t rank = get_u32(m->marks + i);

        if ((i > 0 && rank <= last) || rank >= AGENTS_MAX
            || get_u32(m->marks + i + 4) >= m->n)
            return 0;
        last = rank;
    }
    return 1;
}

/* Those that go on connections as themselves. */
static int is_for_relay(uint32_t type)
{
    return type >= MSG_PROBE && type <= UINT8_MAX && type != MSG_RELAY
           && type != MSG_AFTER;
}

int msg_read_relay(struct msg_relay *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);
    uint32_t type;

    m->number = read_u32(&r);
    type = read_u32(&r);
    m->type = (uint16_t)type;
    m->n = read_u32(&r);
    m->bodies = r.at;
    for (uint32_t i = 0; i < m->n && !r.bad; i++) {
        size_t one;

        (void)read_blob(&r, &one);
    }
    m->bodies_len = r.bad ? 0 : (size_t)(r.at - m->bodies);
    m->marks = read_blob(&r, &m->marks_len);
    if (m->number == 0 || !is_for_relay(type) || r.bad || !are_marks_sound(m))
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}

/* The blob at a place. */
static const uint8_t *body_at(const struct msg_relay *m,
                              uint32_t place,
                              size_t *len)
{
    const uint8_t *at = m->bodies;

    while (place-- > 0)
        at += 4 + get_u32(at);
    *len = get_u32(at);
    return at + 4;
}

/* The first mark of this rank or a later one. */
static size_t find_mark(const struct msg_relay *m, uint32_t rank)
{
    size_t low = 0, high = m->marks_len / MARK;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (get_u32(m->marks + middle * MARK) < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low * MARK;
}

const uint8_t *relay_body(const struct msg_relay *m, uint32_t rank, size_t *len)
{
    size_t i = find_mark(m, rank);

    *len = 0;
    if (m->n == 0)
        return NULL;
    if (m->marks_len == 0)
        return body_at(m, 0, len);
    if (i == m->marks_len || get_u32(m->marks + i) != rank)
        return NULL;
    return body_at(m, get_u32(m->marks + i + 4), len);
}

/* --- a part of it --------------------------------------------------------- */

/* The marks of a child and of those below it, who are by the layer one range of
 * ranks after the other: fn is given each. */
static void each_below(const struct msg_relay *m,
                       uint32_t branches,
                       uint32_t child,
                       void (*fn)(void *arg, uint32_t rank, uint32_t place),
                       void *arg)
{
    uint64_t first = child, end = (uint64_t)child + 1;

    for (; first < AGENTS_MAX;
         first = branches * (first + 1), end = branches * (end + 1)) {
        size_t i = find_mark(m, (uint32_t)first);

        for (; i < m->marks_len && get_u32(m->marks + i) < end; i += MARK)
            fn(arg, get_u32(m->marks + i), get_u32(m->marks + i + 4));
    }
}

struct cut { /* which bodies go along, and under which number */
    uint32_t *place;
    struct bodies out;
};

static void note_place(void *arg, uint32_t rank, uint32_t place)
{
    struct cut *c = arg;

    (void)rank;
    c->place[place] = 1;
}

static void note_mark(void *arg, uint32_t rank, uint32_t place)
{
    struct cut *c = arg;

    write_u32(&c->out.marks, rank);
    write_u32(&c->out.marks, c->place[place]);
}

static void take_bodies(struct cut *c, const struct msg_relay *m)
{
    const uint8_t *at = m->bodies;

    for (uint32_t i = 0; i < m->n; i++) {
        size_t len = get_u32(at);

        if (c->place[i]) {
            c->place[i] = c->out.n++;
            write_blob(&c->out.all, at + 4, len);
        }
        at += 4 + len;
    }
}

void relay_cut(struct writer *w,
               const struct msg_relay *m,
               uint32_t branches,
               uint32_t child)
{
    struct cut c = {.place = calloc(m->n + 1u, sizeof *c.place)};

    if (!c.place) {
        w->bad = 1;
        return;
    }
    each_below(m, branches, child, note_place, &c);
    take_bodies(&c, m);
    each_below(m, branches, child, note_mark, &c);
    free(c.place);
    write_bodies(w, m->number, m->type, &c.out);
}
