/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as what the tasks of a piece have sent: what is heard is within them and
 * within its bounds, and the same however they are cut; the first byte says how. */
#include "launcher/wire/task_stream.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct heard {
    size_t bytes, ends;
    uint64_t sum; /* of what is heard, in its order */
};

static void add(struct heard *h, uint64_t n)
{
    h->sum = (h->sum ^ n) * 1099511628211u;
}

static void on_text(void *arg, enum task_part kind, const void *bytes, size_t n)
{
    const uint8_t *b = bytes;
    struct heard *h = arg;

    if ((kind != TASK_OUT && kind != TASK_ERR) || n == 0 || n > TASK_PART_MAX)
        abort();
    for (size_t i = 0; i < n; i++)
        add(h, (uint64_t)kind << 8 | b[i]);
    h->bytes += n;
}

static void on_end(void *arg, const struct task_end *e)
{
    struct heard *h = arg;

    if (e->status > 255 || e->signal > 128 || e->tries == 0
        || e->why > TASK_NO_MEMORY_ALONE)
        abort();
    add(h, 1 << 16 | e->status);
    add(h, e->begun_ns);
    h->ends++;
}

static void on_again(void *arg)
{
    add(arg, 1 << 17);
}

static const struct task_events events = {
    .text = on_text, .again = on_again, .end = on_end};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct heard whole = {0}, cut = {0};
    struct task_stream r = {0};
    size_t by = size > 0 ? data[0] + 1u : 1, at = 1;
    int rc, rc_cut = 0;

    if (size == 0)
        return 0;
    rc = task_stream_read(&r, data + 1, size - 1, &events, &whole);
    r = (struct task_stream){0};
    for (; rc_cut == 0 && at < size; at += by)
        rc_cut = task_stream_read(
            &r, data + at, size - at < by ? size - at : by, &events, &cut);
    if (rc != rc_cut || whole.bytes != cut.bytes || whole.ends != cut.ends
        || whole.sum != cut.sum || whole.bytes >= size)
        abort();
    return 0;
}
