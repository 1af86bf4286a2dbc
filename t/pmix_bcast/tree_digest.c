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
    test_faults();
    tree_index_clear(&t);
    tree_remove();
    return done();
}
