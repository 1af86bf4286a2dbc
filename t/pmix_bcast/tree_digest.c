/* SPDX-License-Identifier: BSD-2-Clause */
/* The digest of a file: of its size, its holes and its bytes, and of nothing
 * else. */
#include "pmix_bcast/tree_digest.h"
#include "tree.h"

static struct tree_progress progress;
static struct tree_index t;

/* An index of one file, with so much data at an offset. */
static void be_of(uint64_t size, uint64_t offset, uint64_t len)
{
    const struct tree_entry root = {.mode = 0755, .name = ""},
                            file = {
                                .kind = TREE_FILE, .mode = 0644, .name = "f"};
    const struct tree_extent x = {.offset = offset, .len = len};
    const struct tree_file_data data = {.size = size, .n = 1, .extent = &x};
    struct writer w = {0};

    tree_index_clear(&t);
    tree_write_head(&w, 0);
    tree_write_folder(&w, &root);
    tree_write_file(&w, &file, &data);
    tree_write_end(&w, 2, len);
    if (w.bad || tree_index_read(&t, w.buf, w.len) != 0)
        bail("no index");
}

static int digest(uint8_t out[TREE_DIGEST], const char *name, int to)
{
    int fd = open(tree_path(name), O_RDONLY | O_CLOEXEC), why;

    if (fd < 0)
        bail("%s: %s", name, strerror(errno));
    memset(out, 0, TREE_DIGEST);
    why = tree_digest_of(out, &t, 1, fd, to, &progress);
    close(fd);
    return why;
}

static void test_of_what(void)
{
    uint8_t a[TREE_DIGEST], b[TREE_DIGEST];

    tree_put("x", "hello, world");
    tree_put("y", "hello, world");
    tree_put("z", "hello, WORLD");
    be_of(12, 0, 12);
    ok(digest(a, "x", -1) == 0 && digest(b, "y", -1) == 0
           && memcmp(a, b, sizeof a) == 0,
       "two files of the same bytes have one digest");
    ok(digest(b, "z", -1) == 0 && memcmp(a, b, sizeof a) != 0,
       "of other bytes another one");
    be_of(13, 0, 12);
    ok(digest(b, "x", -1) == 0 && memcmp(a, b, sizeof a) != 0,
       "of another size, too");
    be_of(12, 1, 11);
    ok(digest(b, "x", -1) == 0 && memcmp(a, b, sizeof a) != 0,
       "with a hole, too");
    ok(atomic_load(&progress.steps) > 0, "it tells that something is done");
}

static void test_copy(void)
{
    uint8_t a[TREE_DIGEST], b[TREE_DIGEST];
    char got[20] = "";
    int fd = open(tree_path("copy"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    be_of(12, 0, 12);
    ok(fd >= 0 && digest(a, "x", fd) == 0 && digest(b, "x", -1) == 0
           && memcmp(a, b, sizeof a) == 0 && pread(fd, got, sizeof got, 0) == 12
           && strcmp(got, "hello, world") == 0,
       "what is read is written to another");
    close(fd);
}

/* A file of 3 MiB, bytes by chance, with so many before and a hole behind it. */
static void make_large(const char *name, size_t before)
{
    static uint8_t bytes[3u << 20];
    uint32_t x = 1;
    int fd = open(tree_path(name), O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)((x = x * 1664525u + 1013904223u) >> 24);
    if (fd < 0 || pwrite(fd, bytes, before, 0) != (ssize_t)before
        || pwrite(fd, bytes, sizeof bytes, (off_t)before)
               != (ssize_t)sizeof bytes)
        bail("%s: %s", name, strerror(errno));
    close(fd);
}

static int cut(struct tree_cuts *cuts, const char *name, uint64_t len)
{
    const struct tree_extent x[] = {{.offset = 0, .len = 1000},
                                    {.offset = 1000, .len = len - 1000}};
    int fd = open(tree_path(name), O_RDONLY | O_CLOEXEC), why;

    *cuts = (struct tree_cuts){.n = 0};
    why = tree_digest_cut(cuts, x, 2, fd, &progress);
    close(fd);
    return why;
}

/* The index of one file, in these segments. */
static void be_in(const struct tree_cuts *cuts, uint64_t size)
{
    static const uint8_t none[TREE_DIGEST] = {0};
    const struct tree_entry root = {.mode = 0755, .name = ""},
                            file = {.mode = 0644, .name = "f", .digest = none};
    const struct tree_extent x = {.offset = 0, .len = size};
    const struct tree_file_data data = {.size = size, .n = 1, .extent = &x};
    struct writer w = {0};

    tree_index_clear(&t);
    tree_write_head(&w, TREE_DIGESTS);
    tree_write_folder(&w, &root);
    tree_write_file(&w, &file, &data);
    tree_write_end(&w, 2, size);
    tree_write_segments(&w, 1, cuts->segment, cuts->n);
    if (w.bad || tree_index_read(&t, w.buf, w.len) != 0)
        bail("no index");
}

static void test_cut(void)
{
    uint8_t a[TREE_DIGEST], b[TREE_DIGEST];
    struct tree_cuts one, two;
    const struct tree_segment *last;

    make_large("large", 1000);
    make_large("later", 1100);
    ok(cut(&one, "large", (3u << 20) + 1000) == 0 && one.n > 3
           && one.segment[0].len == 1000 && one.segment[1].offset == 1000,
       "a file is cut, and where an extent ends");
    ok(cut(&two, "later", (3u << 20) + 1100) == 0 && two.n > 3,
       "another one, too");
    last = &one.segment[one.n - 1];
    ok(last->offset + 100 == two.segment[two.n - 1].offset
           && last->len == two.segment[two.n - 1].len
           && memcmp(last->digest, two.segment[two.n - 1].digest, TREE_DIGEST)
                  == 0,
       "what both have at their ends is one segment, of one digest");
    be_in(&one, (3u << 20) + 1000);
    ok(digest(a, "large", -1) == 0 && tree_digest_of_segments(b, &t, 1) == 0
           && memcmp(a, b, sizeof a) == 0,
       "the digest of the file is that of its segments");
    is_int(digest(b, "later", -1), ENODATA, "another file has others");
    free(two.segment);
    is_int(cut(&two, "large", 4u << 20), ENODATA, "a file that is shorter");
    free(one.segment);
    free(two.segment);
}

static void test_faults(void)
{
    uint8_t a[TREE_DIGEST];

    be_of(20, 0, 20);
    is_int(digest(a, "x", -1), ENODATA, "a file that is shorter");
    be_of(1000000, 999990, 10);
    is_int(digest(a, "x", -1), ENODATA, "one that ends before its data");
    be_of(12, 0, 12);
    atomic_store(&progress.cancel, 1);
    is_int(digest(a, "x", -1), ECANCELED, "it can be cancelled");
}

int main(void)
{
    tree_make();
    test_of_what();
    test_copy();
    test_cut();
    test_faults();
    tree_index_clear(&t);
    tree_remove();
    return done();
}
