/* SPDX-License-Identifier: BSD-2-Clause */
/* What a slice prints, gathered; the front end is this test. */
#include "launcher/agent/output_batch.h"
#include "fault.h"
#include "loop.h"
#include "tap.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#define LINES 1000

static struct slot_common common;
static struct output_batch *batch;
static struct {
    int n;           /* messages */
    uint64_t id[64]; /* of the first ones */
    char text[1 << 16];
    size_t len;
} got;

static void on_send(void *arg, enum protocol_type type, struct writer *w)
{
    struct msg_output m;

    (void)arg;
    if (type != MSG_OUTPUT || msg_read_output(&m, w->buf, w->len) < 0
        || m.len > sizeof got.text - got.len)
        bail("this is no output");
    if (got.n < 64)
        got.id[got.n] = m.id;
    got.n++;
    memcpy(got.text + got.len, m.bytes, m.len);
    got.len += m.len;
    writer_clear(w);
}

static void begin(void)
{
    memset(&got, 0, sizeof got);
    common = (struct slot_common){.base = base, .send = on_send};
    batch = output_batch_create(&common);
    if (!batch)
        bail("no memory");
}

static void print(uint64_t id, const char *text)
{
    output_batch_add(batch, id, text, strlen(text));
}

static int has_got(int n, const char *text)
{
    return got.n == n && got.len == strlen(text)
           && memcmp(got.text, text, got.len) == 0;
}

static void test_lines(void)
{
    begin();
    print(1, "a\n");
    ok(has_got(1, "a\n"), "the first line is sent at once");
    print(1, "b\n");
    print(1, "c\n");
    ok(has_got(1, "a\n"), "those behind it wait");
    until(got.n == 2);
    ok(has_got(2, "a\nb\nc\n"), "and go together");
    print(1, "d\n");
    ok(has_got(2, "a\nb\nc\n"), "as do those behind these");
    output_batch_flush(batch);
    ok(has_got(3, "a\nb\nc\nd\n"), "unless their slice has ended");
    output_batch_flush(batch);
    ok(has_got(3, "a\nb\nc\nd\n"), "which is told once");
    output_batch_destroy(batch);
}

static void test_much(void)
{
    static char text[3 * OUTPUT_BATCH_BYTES];
    char all[LINES * 8 + 1] = "";
    size_t at = 0;

    begin();
    for (int i = 0; i < LINES; i++) {
        size_t before = at;

        at += (size_t)sprintf(all + at, "%d\n", i);
        print(1, all + before);
    }
    ok(got.n <= 2 && at - got.len <= OUTPUT_BATCH_BYTES,
       "of much no more than that waits");
    output_batch_flush(batch);
    ok(has_got(got.n, all), "in its order");
    memset(text, 'x', sizeof text);
    print(1, "y");
    output_batch_add(batch, 1, text, sizeof text);
    ok(got.len == at + 1 + sizeof text && got.text[at] == 'y',
       "what is more at once goes as it is, behind what waits");
    output_batch_destroy(batch);
}

static void test_slices(void)
{
    begin();
    print(1, "a");
    print(1, "b");
    print(2, "c");
    output_batch_flush(batch);
    ok(has_got(3, "abc") && got.id[0] == 1 && got.id[1] == 1 && got.id[2] == 2,
       "a message is of one slice");
    print(2, "d");
    output_batch_drop(batch);
    output_batch_flush(batch);
    ok(has_got(3, "abc"), "of one that was stopped nothing more is sent");
    output_batch_destroy(batch);
}

static void test_memory(void)
{
    common = (struct slot_common){.base = base, .send = on_send};
    fault_at = 0;
    batch = output_batch_create(&common);
    fault_at = -1;
    ok(!batch, "without memory there is none");
    output_batch_destroy(NULL);
}

int main(void)
{
    base = event_base_new();
    if (!base)
        bail("no event loop");
    test_lines();
    test_much();
    test_slices();
    test_memory();
    event_base_free(base);
    return done();
}
