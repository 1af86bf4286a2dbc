/* SPDX-License-Identifier: BSD-2-Clause */
/* A tree's index: what is written is read again, and nothing else is. */
#include "pmix_bcast/tree_index.h"
#include "fault.h"
#include "tap.h"

static struct writer written;

/* A copy that tree_index_read() may have. */
static uint8_t *bytes_of(const struct writer *w, size_t len)
{
    uint8_t *bytes = malloc(len > 0 ? len : 1);

    if (!bytes || w->bad)
        bail("no memory");
    memcpy(bytes, w->buf, len);
    return bytes;
}

static int read_it(struct tree_index *t)
{
    return tree_index_read(t, bytes_of(&written, written.len), written.len);
}

static void end(uint32_t n, uint64_t bytes)
{
    tree_write_end(&written, n, bytes);
}

static struct tree_entry named(uint32_t parent, const char *name)
{
    return (struct tree_entry){.parent = parent,
                               .mode = 0644,
                               .mtime_ns = 1500000000123456789,
                               .name = name,
                               .target = "../else where"};
}

static void write_file(uint32_t parent,
                       const char *name,
                       uint64_t size,
                       const struct tree_extent *extent,
                       size_t n)
{
    struct tree_entry e = named(parent, name);
    struct tree_file_data data = {size, n, extent};

    tree_write_file(&written, &e, &data);
}

static void write_root_with(uint32_t parts)
{
    struct tree_entry root = named(0, "");

    writer_clear(&written);
    written = (struct writer){0};
    root.mode = 01755;
    tree_write_head(&written, parts);
    tree_write_folder(&written, &root);
}

static void write_root(void)
{
    write_root_with(0);
}

static const struct tree_extent all = {.offset = 0, .len = 100};
static const struct tree_extent some[] = {{.offset = 4096, .len = 50},
                                          {.offset = 9000, .len = 1000}};

/* 1 folder, 2 in it of 100 bytes, 3 sparse, 4 empty, 5 symlink, 6 hard link */
static void write_tree(void)
{
    struct tree_entry e = named(0, "folder \n\xff");

    write_root();
    tree_write_folder(&written, &e);
    write_file(1, "dense", 100, &all, 1);
    write_file(0, "sparse", 20000, some, 2);
    write_file(0, "empty", 0, NULL, 0);
    e = named(1, "symlink");
    tree_write_symlink(&written, &e);
    e = named(0, "hard");
    e.same = 2;
    tree_write_hard_link(&written, &e);
    end(7, 1150);
}

static void refused(const char *what)
{
    struct tree_index t;

    ok(read_it(&t) == EBADMSG && t.n == 0 && !t.entry, "refused: %s", what);
}

static void test_read(void)
{
    struct tree_index t;
    char path[TREE_PATH_MAX];

    write_tree();
    is_int(read_it(&t), 0, "an index is read again");
    ok(t.n == 7 && t.bytes == 1150 && t.n_extents == 3, "with all that it has");
    ok(t.entry[0].mode == 01755 && t.entry[0].kind == TREE_FOLDER
           && t.entry[1].mtime_ns == 1500000000123456789,
       "modes and times");
    ok(t.entry[2].size == 100 && t.entry[2].data == 100
           && t.entry[3].size == 20000 && t.entry[3].data == 1050
           && t.entry[4].data == 0,
       "sizes, and what of it is data");
    is_str(t.entry[5].target, "../else where", "where a symlink leads");
    is_int(t.entry[6].same, 2, "of what a hard link is another name");
    ok(tree_index_path(&t, 2, path) == 0, "a path");
    is_str(path, "folder \n\xff/dense", "is from the root on");
    ok(tree_index_path(&t, 0, path) == 0 && strcmp(path, ".") == 0,
       "which is called .");
    tree_index_clear(&t);
}

static void test_pieces(void)
{
    struct tree_index t;
    struct tree_piece p;

    write_tree();
    if (read_it(&t) != 0)
        bail("no index");
    ok(tree_index_extent(&t, 0) == 0 && tree_index_extent(&t, 99) == 0
           && tree_index_extent(&t, 100) == 1 && tree_index_extent(&t, 149) == 1
           && tree_index_extent(&t, 150) == 2
           && tree_index_extent(&t, 1149) == 2,
       "each byte of the content is in one extent");
    p = tree_index_piece(&t, 0, 60, 1000);
    ok(p.entry == 2 && p.offset == 60 && p.len == 40,
       "a piece ends where the extent does");
    p = tree_index_piece(&t, 2, 160, 10);
    ok(p.entry == 3 && p.offset == 9010 && p.len == 10,
       "or where the bytes do, and knows its place in the file");
    tree_index_clear(&t);
}

static void test_short(void)
{
    struct tree_index t;
    size_t taken = 0;

    write_tree();
    for (size_t len = 0; len < written.len; len++)
        if (tree_index_read(&t, bytes_of(&written, len), len) != EBADMSG)
            taken++;
    is_int((intmax_t)taken, 0, "no part of it is an index");
    write_tree();
    write_file(0, "another", 0, NULL, 0);
    refused("one entry more than it says");
    write_tree();
    written.buf[0] ^= 1;
    is_int(read_it(&t), EBADMSG, "nor with another beginning");
}

static void test_names(void)
{
    static const char *const bad[] = {"", ".", "..", "a/b", "/", "../x"};
    char is_long[NAME_MAX + 2];
    struct tree_index t;

    memset(is_long, 'x', sizeof is_long);
    is_long[NAME_MAX + 1] = '\0';
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        write_root();
        write_file(0, bad[i], 0, NULL, 0);
        end(2, 0);
        refused(bad[i]);
    }
    write_root();
    write_file(0, is_long, 0, NULL, 0);
    end(2, 0);
    refused("a name of 256 bytes");
    is_long[NAME_MAX] = '\0';
    write_root();
    write_file(0, is_long, 0, NULL, 0);
    end(2, 0);
    is_int(read_it(&t), 0, "taken: one of 255");
    tree_index_clear(&t);
}

static void test_places(void)
{
    struct tree_entry e;

    write_tree();
    write_file(2, "x", 0, NULL, 0);
    end(8, 1150);
    refused("in a file");
    write_tree();
    write_file(7, "x", 0, NULL, 0);
    end(8, 1150);
    refused("in itself");
    write_tree();
    write_file(5, "x", 0, NULL, 0);
    end(8, 1150);
    refused("behind a symlink");
    write_tree();
    e = named(0, "x");
    e.same = 7;
    tree_write_hard_link(&written, &e);
    end(8, 1150);
    refused("a hard link to itself");
    write_tree();
    e.same = 1;
    tree_write_hard_link(&written, &e);
    end(8, 1150);
    refused("a hard link to a folder");
    writer_clear(&written);
    written = (struct writer){0};
    tree_write_head(&written, 0);
    write_file(0, "", 0, NULL, 0);
    end(1, 0);
    refused("a file for a root");
}

static void test_data(void)
{
    static const struct tree_extent beyond = {.offset = 50, .len = 51};
    static const struct tree_extent empty = {.offset = 50, .len = 0};
    static const struct tree_extent far = {.offset = UINT64_MAX - 1, .len = 2};
    static const struct tree_extent crossed[] = {{.offset = 50, .len = 20},
                                                 {.offset = 69, .len = 20}};

    write_root();
    write_file(0, "x", 100, &all, 1);
    end(2, 99);
    refused("less content than files");
    write_root();
    write_file(0, "x", 100, &beyond, 1);
    end(2, 51);
    refused("data behind the end");
    write_root();
    write_file(0, "x", 100, &empty, 1);
    end(2, 0);
    refused("an extent of nothing");
    write_root();
    write_file(0, "x", 100, &far, 1);
    end(2, 2);
    refused("an extent that goes round");
    write_root();
    write_file(0, "x", 100, crossed, 2);
    end(2, 40);
    refused("extents that share a byte");
    write_root();
    write_file(0, "x", UINT64_MAX, NULL, 0);
    end(2, 0);
    refused("a file that no file can be");
}

/* --- segments ------------------------------------------------------------- */

static const struct tree_segment cuts[] = {
    {.offset = 0, .len = 60, .digest = {1}},
    {.offset = 60, .len = 30, .digest = {2}},
    {.offset = 500, .len = 50, .digest = {3}}};

/* 1 of one segment, 2 in two extents of 90 and 50 bytes, 3 empty */
static void write_large(void)
{
    static const uint8_t digest[TREE_DIGEST] = {9};
    static const struct tree_extent two[] = {{.offset = 0, .len = 90},
                                             {.offset = 500, .len = 50}};
    struct tree_entry e = named(0, "small");
    struct tree_file_data data = {100, 1, &all};

    write_root_with(TREE_DIGESTS);
    e.digest = digest;
    tree_write_file(&written, &e, &data);
    e.name = "large";
    data = (struct tree_file_data){600, 2, two};
    tree_write_file(&written, &e, &data);
    e.name = "none";
    data = (struct tree_file_data){0, 0, NULL};
    tree_write_file(&written, &e, &data);
    end(4, 240);
}

static void test_segments(void)
{
    struct tree_want want;
    struct tree_index t;
    struct tree_segment s;
    size_t n;

    write_large();
    tree_write_segments(&written, 2, cuts, 3);
    is_int(read_it(&t), 0, "an index with segments");
    ok(t.segments == 6 && t.entry[1].segment == 1 && t.entry[1].segments == 1
           && t.entry[2].segment == 2 && t.entry[2].segments == 3
           && t.entry[3].segment == 5 && t.n_extents == 4,
       "which are numbered, one for all that has none");
    s = tree_index_segment(&t, 2, 2);
    ok(s.offset == 500 && s.len == 50 && s.digest[0] == 3,
       "each has its place and its digest");
    ok(tree_index_extents(&t, 2, &n)[1].segment == 3 && n == 3,
       "and is an extent");
    if (tree_want_init(&want, t.segments) != 0)
        bail("no memory");
    tree_want_add(&want, 3);
    tree_want_add(&want, 1);
    ok(tree_index_select(&t, &want) == 0 && t.bytes == 130
           && tree_index_piece(&t, 1, 110, 100).offset == 70
           && tree_index_piece(&t, 1, 110, 100).segment == 3,
       "the content is that of what is wanted");
    tree_want_clear(&want);
    tree_index_clear(&t);
}

/* Of the large file, or another entry. */
static void refused_cuts(uint32_t entry,
                         const struct tree_segment *segment,
                         size_t n,
                         const char *what)
{
    write_large();
    tree_write_segments(&written, entry, segment, n);
    refused(what);
}

static void refused_size(void)
{
    const struct tree_extent x = {.offset = 0, .len = (1u << 20) + 2};
    const uint8_t digest[TREE_DIGEST] = {9};
    const struct tree_segment two[] = {{.offset = 0, .len = 1},
                                       {.offset = 1, .len = (1u << 20) + 1}};
    struct tree_entry e = named(0, "x");

    write_root_with(TREE_DIGESTS);
    e.digest = digest;
    tree_write_file(&written, &e, &(struct tree_file_data){x.len, 1, &x});
    end(2, x.len);
    tree_write_segments(&written, 1, two, 2);
    refused("one of more than 1 MiB");
}

static void test_bad_segments(void)
{
    struct tree_segment bad[4] = {cuts[0], cuts[1], cuts[2], cuts[2]};

    refused_cuts(2, bad, 4, "more segments than the file has bytes");
    refused_cuts(2, bad, 2, "less");
    refused_cuts(2, bad, 1, "one that is all");
    refused_cuts(0, bad, 3, "of the root");
    refused_cuts(4, bad, 3, "of an entry that is not there");
    refused_cuts(3, bad, 3, "of an empty file");
    bad[1].len = 31;
    bad[2].len = 49;
    refused_cuts(2, bad, 3, "one in two extents");
    bad[1].len = 0;
    refused_cuts(2, bad, 3, "one of no bytes");
    refused_size();
    write_large();
    tree_write_segments(&written, 2, cuts, 3);
    tree_write_segments(&written, 2, cuts, 3);
    refused("twice");
    tree_write_head(&written, 0);
    written.buf[written.len - 1] = 1;
    refused("anything behind them");
}

static void test_memory(void)
{
    struct tree_index t;
    uint8_t *bytes;
    int why = ENOMEM;
    long n = 0;

    write_large();
    tree_write_segments(&written, 2, cuts, 3);
    for (; why == ENOMEM && n < 20; n++) {
        bytes = bytes_of(&written, written.len);
        fault_at = n;
        why = tree_index_read(&t, bytes, written.len);
        fault_at = -1;
    }
    ok(why == 0 && n > 2, "each allocation that fails is told");
    tree_index_clear(&t);
}

int main(void)
{
    test_read();
    test_pieces();
    test_short();
    test_names();
    test_places();
    test_data();
    test_segments();
    test_bad_segments();
    test_memory();
    writer_clear(&written);
    return done();
}
