/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/wire/order_message.h"
#include "launcher/wire/protocol.h"
#include "tap.h"

#define N 100u

static struct writer own[N];
static const struct writer *body[N];

/* What rank is to have, 0 to 255; every seventh has nothing. */
static int value(uint32_t rank)
{
    return rank % 7 == 0 ? -1 : (int)(rank * rank % 6);
}

static void make_bodies(void)
{
    for (uint32_t i = 0; i < N; i++) {
        write_u32(&own[i], (uint32_t)value(i));
        body[i] = value(i) < 0 ? NULL : &own[i];
    }
}

static int has(const struct msg_relay *m, uint32_t rank, int want)
{
    size_t len;
    const uint8_t *p = relay_body(m, rank, &len);

    return p ? len == 4 && (int)get_u32(p) == want : len == 0 && want < 0;
}

static int is_below(uint32_t branches, uint32_t rank, uint32_t child)
{
    while (rank != UINT32_MAX && rank != child)
        rank = order_parent(branches, rank);
    return rank == child;
}

static void test_one(void)
{
    struct writer w = {0};
    struct msg_relay m;
    size_t len;

    msg_write_relay(&w, 7, MSG_PUT, (const uint8_t *)"abc", 3);
    ok(msg_read_relay(&m, w.buf, w.len) == 0 && m.number == 7
           && m.type == MSG_PUT && m.n == 1,
       "an order for all is read back");
    ok(memcmp(relay_body(&m, 0, &len), "abc", 3) == 0 && len == 3
           && relay_body(&m, AGENTS_MAX - 1, &len) != NULL && len == 3,
       "every rank has its body");
    writer_clear(&w);
    msg_write_relay(&w, 1, MSG_RANKS, NULL, 0);
    ok(msg_read_relay(&m, w.buf, w.len) == 0 && relay_body(&m, 3, &len)
           && len == 0,
       "one without a body is still one");
    writer_clear(&w);
}

static void test_each(void)
{
    struct writer w = {0};
    struct msg_relay m;
    unsigned right = 0;

    msg_write_relay_each(&w, 9, MSG_PROBE, body, 0, N);
    if (msg_read_relay(&m, w.buf, w.len) < 0)
        bail("it is not read");
    for (uint32_t i = 0; i < N; i++)
        right += has(&m, i, value(i)) != 0;
    ok(right == N && has(&m, N, -1), "each rank has what is its own");
    ok(m.n < N, "what several have goes once where they are near");
    writer_clear(&w);
    msg_write_relay_each(&w, 9, MSG_PROBE, body, 40, 0);
    ok(msg_read_relay(&m, w.buf, w.len) == 0 && m.n == 0 && has(&m, 40, -1),
       "it may be for nobody");
    writer_clear(&w);
}

/* All that each child in each tree is to have, and nothing else. */
static void test_cut(void)
{
    struct writer w = {0};
    struct msg_relay m, part;
    unsigned wrong = 0;

    msg_write_relay_each(&w, 9, MSG_PROBE, body, 0, N);
    if (msg_read_relay(&m, w.buf, w.len) < 0)
        bail("it is not read");
    for (uint32_t branches = 1; branches <= 9; branches++)
        for (uint32_t child = 0; child < N; child++) {
            struct writer cut = {0};

            relay_cut(&cut, &m, branches, child);
            wrong += cut.bad || msg_read_relay(&part, cut.buf, cut.len) < 0
                     || part.number != 9 || part.type != MSG_PROBE;
            for (uint32_t i = 0; i < N; i++)
                wrong += !has(&part, i,
                              is_below(branches, i, child) ? value(i) : -1);
            writer_clear(&cut);
        }
    is_int(wrong, 0, "a child's part is what those below it are to have");
    writer_clear(&w);
}

static void test_tree(void)
{
    ok(order_parent(8, 0) == UINT32_MAX && order_parent(8, 7) == UINT32_MAX
           && order_parent(8, 8) == 0 && order_parent(8, 15) == 0
           && order_parent(8, 16) == 1 && order_parent(8, 72) == 8,
       "the front end has the first ranks, rank 0 the next");
    ok(order_parent(1, 5) == 4 && order_parent(1, 0) == UINT32_MAX,
       "with one branch it is a chain");
}

/* --- nonsense ------------------------------------------------------------- */

static void refused(struct writer *w, const char *what)
{
    struct msg_relay m = {.number = 1};

    ok(!w->bad && msg_read_relay(&m, w->buf, w->len) < 0 && m.number == 0
           && m.marks == NULL,
       "%s", what);
    writer_clear(w);
}

static void refused_type(uint32_t type, const char *what)
{
    struct writer w = {0};

    write_u32(&w, 1);
    write_u32(&w, type);
    write_u32(&w, 1);
    write_blob(&w, "a", 1);
    write_blob(&w, NULL, 0);
    refused(&w, what);
}

static void refused_marks(uint32_t n,
                          const uint32_t mark[],
                          size_t len,
                          const char *what)
{
    struct writer w = {0}, marks = {0};

    write_u32(&w, 1);
    write_u32(&w, MSG_PUT);
    write_u32(&w, n);
    for (uint32_t i = 0; i < n; i++)
        write_blob(&w, "ab", 2);
    for (size_t i = 0; i < len; i++)
        write_u32(&marks, mark[i]);
    write_blob(&w, marks.buf, marks.len);
    writer_clear(&marks);
    refused(&w, what);
}

static void test_nonsense(void)
{
    struct writer w = {0};
    unsigned taken = 0;
    struct msg_relay m;

    msg_write_relay_each(&w, 9, MSG_PROBE, body, 0, 20);
    for (size_t n = 0; n < w.len; n++)
        taken += msg_read_relay(&m, w.buf, n) == 0;
    is_int(taken, 0, "no prefix of an order is one");
    writer_clear(&w);
    msg_write_relay(&w, 0, MSG_PUT, (const uint8_t *)"a", 1);
    refused(&w, "orders are numbered from 1");
    refused_type(MSG_RELAY, "no order is in another");
    refused_type(MSG_AFTER, "nor what tells of their order");
    refused_type(MSG_FENCE, "nor what is said before there are any");
    refused_type(MSG_READY, "nor an agent's own READY");
    refused_type(65536 + MSG_PUT, "a type beyond 16 bits");
    refused_marks(2, NULL, 0, "two bodies for all");
    refused_marks(1, (uint32_t[]){0, 1}, 2, "a body that is not there");
    refused_marks(1, (uint32_t[]){3, 0, 3, 0}, 4, "a rank twice");
    refused_marks(1, (uint32_t[]){4, 0, 3, 0}, 4, "ranks in disorder");
    refused_marks(1, (uint32_t[]){AGENTS_MAX, 0}, 2, "a rank that nobody has");
    refused_marks(1, (uint32_t[]){1, 0, 2}, 3, "half a mark");
    refused_marks(0, (uint32_t[]){1, 0}, 2, "marks of nothing");
    write_u32(&w, 1);
    write_u32(&w, MSG_PUT);
    write_u32(&w, UINT32_MAX);
    write_blob(&w, NULL, 0);
    write_blob(&w, NULL, 0);
    refused(&w, "more bodies than bytes");
}

int main(void)
{
    make_bodies();
    test_tree();
    test_one();
    test_each();
    test_cut();
    test_nonsense();
    for (uint32_t i = 0; i < N; i++)
        writer_clear(&own[i]);
    return done();
}
