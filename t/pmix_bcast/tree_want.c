/* SPDX-License-Identifier: BSD-2-Clause */
/* What nodes lack of a tree, and what of it goes over the wire then. */
#include "pmix_bcast/tree_want.h"
#include "pmix_bcast/tree_index.h"
#include "tap.h"

static void test_bits(void)
{
    const uint8_t ours[] = {0x41, 0x02}, beyond[] = {0, 0x04};
    struct tree_want none = {0}, w;

    ok(tree_want_has(&none, 0) && tree_want_has(&none, 1000),
       "where nothing is said all is wanted");
    is_int(tree_want_init(&w, 10), 0, "ten segments");
    is_int((int)tree_want_bytes(10), 2, "are two bytes");
    ok(!tree_want_has(&w, 0) && !tree_want_has(&w, 9), "none is wanted yet");
    tree_want_add(&w, 3);
    is_int(tree_want_unite(&w, ours, 2), 0, "another one's are taken");
    ok(tree_want_has(&w, 0) && tree_want_has(&w, 3) && tree_want_has(&w, 6)
           && tree_want_has(&w, 9) && !tree_want_has(&w, 1)
           && !tree_want_has(&w, 10) && !tree_want_has(&w, 4000000000u),
       "what either wants is wanted");
    ok(tree_want_unite(&w, ours, 1) < 0 && tree_want_unite(&w, ours, 0) < 0,
       "other lengths are refused");
    ok(tree_want_unite(&w, beyond, 2) < 0
           && tree_want_unite(&none, ours, 2) < 0,
       "and bits behind the last");
    tree_want_clear(&w);
}

static void write_tree(struct writer *w)
{
    static const uint8_t digest[TREE_DIGEST] = {1, 2, 3};
    const struct tree_extent two[] = {{.offset = 0, .len = 10},
                                      {.offset = 100, .len = 20}};
    struct tree_entry e = {.mode = 0755, .name = "", .xattrs = digest};
    struct tree_file_data data = {120, 2, two};

    tree_write_head(w, TREE_DIGESTS | TREE_XATTRS);
    tree_write_folder(w, &e);
    e.digest = digest;
    e.name = "a";
    tree_write_file(w, &e, &data);
    e.name = "b";
    data = (struct tree_file_data){10, 1, two};
    tree_write_file(w, &e, &data);
    tree_write_end(w, 3, 40);
}

static void test_select(void)
{
    struct writer w = {0};
    struct tree_index t;
    struct tree_want want;
    size_t n;

    write_tree(&w);
    is_int(tree_index_read(&t, w.buf, w.len), 0, "an index with digests");
    ok(t.entry[1].digest && t.entry[1].digest[2] == 3 && !t.entry[0].digest,
       "of its files");
    if (tree_want_init(&want, t.segments) != 0)
        bail("no memory");
    tree_want_add(&want, 2);
    ok(tree_index_select(&t, &want) == 0 && t.bytes == 10
           && tree_index_piece(&t, 0, 0, 100).entry == 2,
       "the content is that of what is wanted");
    ok(tree_index_extents(&t, 1, &n)[1].offset == 100 && n == 2,
       "all extents of the others are still known");
    ok(tree_index_extents(&t, 0, &n) && n == 0, "a folder has none");
    tree_want_clear(&want);
    tree_index_clear(&t);
}

int main(void)
{
    test_bits();
    test_select();
    return done();
}
