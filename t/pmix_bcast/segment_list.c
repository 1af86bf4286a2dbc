/* SPDX-License-Identifier: BSD-2-Clause */
/* The segments that are on a node are found by their content. */
#include "pmix_bcast/segment_list.h"
#include "fault.h"
#include "tap.h"

static struct tree_segment segment(uint64_t offset, uint32_t len, uint8_t first)
{
    return (struct tree_segment){offset, len, {first, 7}};
}

int main(void)
{
    struct segment_list l = {.n = 0};
    struct tree_segment s = segment(5, 100, 0);
    int wrong = 0;

    ok(!segment_list_find(&l, &s), "nothing is in an empty one");
    segment_list_sort(&l);
    for (uint32_t i = 0; i < 200; i++) {
        s = segment(i * 1000, 100 + i % 2, (uint8_t)(i * 77));
        wrong += segment_list_add(&l, &s, i) != 0;
    }
    is_int(wrong, 0, "200 are taken");
    segment_list_sort(&l);
    for (uint32_t i = 0; i < 200; i++) {
        const struct segment_place *p;

        s = segment(0, 100 + i % 2, (uint8_t)(i * 77));
        p = segment_list_find(&l, &s);
        wrong += !p || p->segment.len != s.len
                 || p->segment.offset != (uint64_t)p->file * 1000
                 || (p->file - i) % 256 != 0;
    }
    is_int(wrong, 0, "and each is found, with its file and its place there");
    s.len = 102;
    ok(!segment_list_find(&l, &s), "not one of another length");
    s = segment(0, 100, 1);
    s.digest[31] = 1;
    ok(!segment_list_find(&l, &s), "nor of another content");
    segment_list_clear(&l);
    fault_at = 0;
    is_int(segment_list_add(&l, &s, 0), ENOMEM, "without memory it says so");
    fault_at = -1;
    ok(l.n == 0, "and is as it was");
    return done();
}
