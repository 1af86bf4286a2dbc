/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a node or home decodes; what is decoded must be just what is encoded
 * again, and a plan that came must hold together.
 */
#include "pmix_bcast/bcast_message.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
    if (!holds)
        abort();
}

static void same(struct writer *w, const uint8_t *data, size_t size)
{
    must(w->bad || (w->len == size && memcmp(w->buf, data, size) == 0));
    writer_clear(w);
}

static void walk(const struct plan *p)
{
    uint32_t last = p->nodes - 1;

    must(plan_used(p) <= p->nodes && plan_gives(p) >= p->chunks);
    for (uint32_t i = 0; i < plan_gives(p) && i < 100; i++) {
        struct give g = plan_give(p, i);
        uint32_t parent = plan_parent(p, last, g.chunk);

        must(g.chunk < p->chunks && g.node < p->branches);
        must(parent == PLAN_NOBODY || parent < p->nodes);
        must(plan_holder(p, g.chunk, i * 7919u) < p->nodes);
        for (uint32_t c = 0; c < plan_children(p, last, g.chunk) && c < 9; c++)
            must(plan_child(p, last, g.chunk, c) < p->nodes);
    }
}

static void read_order(const uint8_t *data, size_t size)
{
    static struct bcast_order o;
    struct writer w = {0};

    if (bcast_read_order(&o, data, size) < 0) {
        must(o.destination[0] == '\0' && !o.content && o.plan.nodes == 0);
        return;
    }
    walk(&o.plan);
    bcast_write_order(&w, &o);
    same(&w, data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct bcast_done d;
    struct writer w = {0};
    uint32_t id, number;
    uint64_t digest;

    read_order(data, size);
    if (bcast_read_done(&d, data, size) == 0) {
        bcast_write_done(&w, &d);
        same(&w, data, size);
    }
    if (bcast_read_sum(&id, &digest, data, size) == 0) {
        bcast_write_sum(&w, id, digest);
        same(&w, data, size);
    }
    if (bcast_read_number(&id, &number, data, size) == 0) {
        bcast_write_number(&w, id, number);
        same(&w, data, size);
    }
    return 0;
}
