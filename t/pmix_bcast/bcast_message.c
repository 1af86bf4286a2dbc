/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/bcast_message.h"
#include "pmix_bcast/bcast_origin.h"
#include "pmix_bcast/pull.h"
#include "tap.h"

static struct bcast_order order; /* large: a path in it */
static struct bcast_done done_message;

/* As the test likes it, and then spoiled. */
static struct bcast_order sound(uint64_t bytes, const uint8_t *content)
{
    struct bcast_order o = {.id = 7,
                            .flags = ORDER_FORCE | ORDER_TIMES,
                            .mode = 0640,
                            .mtime_ns = -1,
                            .way = PULL_BY_NODE,
                            .port = 65535,
                            .destination = "/tmp/{node}/x",
                            .content = content,
                            .begun = 6};
    struct plan_wish w = {.bytes = bytes, .nodes = 9};

    if (plan_make(&o.plan, &w, NULL) < 0)
        bail("no plan");
    return o;
}

static struct writer encoded(const struct bcast_order *o)
{
    struct writer w = {0};

    bcast_write_order(&w, o);
    if (w.bad)
        bail("no memory");
    return w;
}

static int is_zero(const void *p, size_t len)
{
    const uint8_t *b = p;
    int all = 0;

    for (size_t i = 0; i < len; i++)
        all |= b[i];
    return all == 0;
}

static void test_order(void)
{
    static const uint8_t content[] = "some content";
    static const struct {
        const char *name;
        uint64_t bytes;
        const uint8_t *content;
    } cases[] = {
        {"with its content", sizeof content, content},
        {"of data that comes in chunks", 12500000, NULL},
        {"of an empty file", 0, content},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bcast_order in = sound(cases[i].bytes, cases[i].content);
        struct writer w = encoded(&in);
        int taken = 0;

        ok(bcast_read_order(&order, w.buf, w.len) == 0 && order.id == in.id
               && order.flags == in.flags && order.mode == in.mode
               && order.mtime_ns == in.mtime_ns && order.way == in.way
               && order.port == in.port && order.begun == in.begun
               && memcmp(&order.plan, &in.plan, sizeof in.plan) == 0
               && strcmp(order.destination, in.destination) == 0,
           "an order %s comes back", cases[i].name);
        ok(cases[i].bytes > sizeof content
               ? order.content == NULL
               : memcmp(order.content, content, cases[i].bytes) == 0,
           "and so does that");
        for (size_t len = 0; len < w.len; len++) {
            uint8_t *part = malloc(len + 1); /* for ASan to see its end */

            memcpy(part, w.buf, len);
            memset(&order, 1, sizeof order);
            taken += bcast_read_order(&order, part, len) == 0
                     || !is_zero(&order, sizeof order);
            free(part);
        }
        is_int(taken, 0, "no proper prefix of it is an order");
        write_u32(&w, 0);
        is_int(bcast_read_order(&order, w.buf, w.len - 3), -1,
               "nor is one with a byte too many");
        writer_clear(&w);
    }
}

static void refused(const char *name, const struct bcast_order *o)
{
    struct writer w = encoded(o);

    memset(&order, 1, sizeof order);
    ok(bcast_read_order(&order, w.buf, w.len) == -1
           && is_zero(&order, sizeof order),
       "%s is refused", name);
    writer_clear(&w);
}

static void test_bad_orders(void)
{
    static const uint8_t content[100];
    struct bcast_order o = sound(1000000, NULL), sane = o;
    struct writer w;

    o.flags = ORDER_ALL + 1;
    refused("a flag that there is not", &o);
    o = sane;
    o.flags = ORDER_BEGIN;
    refused("one that begins what was begun", &o);
    o.flags = ORDER_INDEX;
    refused("an index of that", &o);
    o.begun = 0;
    o.flags = ORDER_BEGIN | ORDER_INDEX;
    refused("one that begins both a file and a tree", &o);
    o.flags = ORDER_TREE;
    refused("the content of a tree that was not begun", &o);
    o = sane;
    o.mode = 010000;
    refused("a mode above 7777", &o);
    o = sane;
    o.way = PULL_BY_NODE + 1;
    refused("a way that there is not", &o);
    o = sane;
    snprintf(o.destination, sizeof o.destination, "tmp/x");
    refused("a destination that is not absolute", &o);
    o.destination[0] = '\0';
    refused("an empty one", &o);
    o = sane;
    o.plan.chunks++;
    refused("a plan that does not hold together", &o);
    o = sane;
    o.plan.nodes = 0;
    refused("a plan for nobody", &o);
    o = sound(sizeof content, content);
    w = encoded(&o);
    w.buf[w.len - sizeof content - 1]--; /* the content's length */
    is_int(bcast_read_order(&order, w.buf, w.len - 1), -1,
           "content of another length than the plan's is refused");
    writer_clear(&w);
    o = sane;
    memset(o.destination, 'x', DESTINATION_MAX - 1);
    o.destination[0] = '/';
    w = encoded(&o);
    is_int(bcast_read_order(&order, w.buf, w.len), 0,
           "a destination may have 4095 bytes");
    writer_clear(&w);
    o = sane;
    w = encoded(&o);
    put_u32(w.buf + 24, 65536);
    is_int(bcast_read_order(&order, w.buf, w.len), -1,
           "a port above 65535 is refused");
    writer_clear(&w);
}

static void test_origin(void)
{
    struct bcast_order in = sound(1000000, NULL);
    uint8_t origin[BCAST_ORIGIN_HEAD + OBJECT_ID_BYTES] = {0};
    struct writer w;

    origin[BCAST_ORIGIN_HEAD - 1] = 1;
    in.origin = origin;
    in.origin_len = sizeof origin;
    w = encoded(&in);
    ok(bcast_read_order(&order, w.buf, w.len) == 0
           && order.origin_len == sizeof origin
           && memcmp(order.origin, origin, sizeof origin) == 0,
       "where the source is comes back");
    writer_clear(&w);
    in.origin_len--;
    refused("half an object", &in);
    in.origin_len++;
    origin[BCAST_ORIGIN_HEAD - 1] = 2;
    refused("a source that is not told", &in);
}

static void test_sum(void)
{
    struct writer w = {0};
    uint64_t digest;
    uint32_t id;
    int taken = 0;

    bcast_write_sum(&w, 3, UINT64_C(0xfedcba9876543210));
    ok(bcast_read_sum(&id, &digest, w.buf, w.len) == 0 && id == 3
           && digest == UINT64_C(0xfedcba9876543210),
       "a sum comes back");
    for (size_t len = 0; len < w.len; len++)
        taken += bcast_read_sum(&id, &digest, w.buf, len) == 0 || id || digest;
    write_u32(&w, 0);
    taken += bcast_read_sum(&id, &digest, w.buf, w.len) == 0 || id || digest;
    is_int(taken, 0, "no prefix of it does, nor more");
    writer_clear(&w);
}

static void test_number(void)
{
    struct writer w = {0};
    uint32_t id, number;
    int taken = 0;

    bcast_write_number(&w, 3, UINT32_MAX);
    ok(bcast_read_number(&id, &number, w.buf, w.len) == 0 && id == 3
           && number == UINT32_MAX,
       "a number comes back");
    for (size_t len = 0; len < w.len; len++)
        taken +=
            bcast_read_number(&id, &number, w.buf, len) == 0 || id || number;
    write_u32(&w, 0);
    taken += bcast_read_number(&id, &number, w.buf, w.len) == 0 || id || number;
    is_int(taken, 0, "no prefix of it does, nor more");
    writer_clear(&w);
}

static void test_done(void)
{
    struct bcast_done in = {.id = 3,
                            .error = 28,
                            .text = "why",
                            .pulls = UINT64_MAX,
                            .refused = 5,
                            .duplicates = 6,
                            .threads = 2};
    struct writer w = {0};
    int taken = 0;

    bcast_write_done(&w, &in);
    ok(bcast_read_done(&done_message, w.buf, w.len) == 0
           && memcmp(&done_message, &in, sizeof in) == 0,
       "a done comes back");
    for (size_t len = 0; len < w.len; len++) {
        memset(&done_message, 1, sizeof done_message);
        taken += bcast_read_done(&done_message, w.buf, len) == 0
                 || !is_zero(&done_message, sizeof done_message);
    }
    write_u32(&w, 0);
    taken += bcast_read_done(&done_message, w.buf, w.len) == 0;
    is_int(taken, 0, "no prefix of it does, nor more");
    writer_clear(&w);
    memset(in.text, 'x', BCAST_TEXT_MAX - 1);
    bcast_write_done(&w, &in);
    is_int(bcast_read_done(&done_message, w.buf, w.len), 0,
           "a reason may have 511 bytes");
    writer_clear(&w);
    write_u32(&w, 3);
    write_u32(&w, 0);
    write_u32(&w, BCAST_TEXT_MAX);
    for (uint32_t i = 0; i < BCAST_TEXT_MAX / 4 + 6; i++)
        write_u32(&w, 0x78787878);
    is_int(bcast_read_done(&done_message, w.buf, w.len), -1, "but not 512");
    writer_clear(&w);
}

int main(void)
{
    test_order();
    test_bad_orders();
    test_origin();
    test_sum();
    test_number();
    test_done();
    return done();
}
