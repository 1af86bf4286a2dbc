/* SPDX-License-Identifier: BSD-2-Clause */
/* What segments a cache has: what it notes is read again, what is not its own stays,
 * and what is rubbish does no harm. */
#include "pmix_bcast/tree_cache_segments.h"
#include "pmix_bcast/tree_cache_name.h"
#include "tree.h"

#include <sys/stat.h>

#define SEGMENTS 5u

static struct tree_progress progress;
static struct tree_index t;
static int folder;
static char name[TREE_CACHE_NAME], hex[TREE_CACHE_NAME];

/* An index of one file in segments, whose digest is given. */
static void be_of(uint8_t first)
{
    const uint8_t digest[TREE_DIGEST] = {first, 0xcd, 3};
    const struct tree_entry root = {.mode = 0755, .name = ""},
                            file = {
                                .mode = 0644, .name = "f", .digest = digest};
    const struct tree_extent x = {.offset = 0, .len = 100 * SEGMENTS};
    const struct tree_file_data data = {100 * SEGMENTS, 1, &x};
    struct tree_segment cuts[SEGMENTS];
    struct writer w = {0};

    for (uint32_t i = 0; i < SEGMENTS; i++)
        cuts[i] = (struct tree_segment){100 * i, 100, {(uint8_t)i, first}};
    tree_index_clear(&t);
    tree_write_head(&w, TREE_DIGESTS);
    tree_write_folder(&w, &root);
    tree_write_file(&w, &file, &data);
    tree_write_end(&w, 2, 100 * SEGMENTS);
    tree_write_segments(&w, 1, cuts, SEGMENTS);
    if (w.bad || tree_index_read(&t, w.buf, w.len) != 0)
        bail("no index");
    tree_cache_name(name, digest);
    snprintf(hex, sizeof hex, "%.2s%s", name, name + 3);
}

/* As if the cache had the file. */
static void have_file(void)
{
    char path[200];

    snprintf(path, sizeof path, "cache/%s", name);
    tree_put(path, "content");
}

/* Where the segments of the file are noted. */
static const char *noted(void)
{
    static char path[200];

    snprintf(path, sizeof path, "cache/segments/%s", hex);
    return path;
}

static size_t found(struct segment_list *l, struct tree_cached *files)
{
    segment_list_clear(l);
    free(files->file);
    *files = (struct tree_cached){.n = 0};
    if (tree_cache_all_segments(folder, l, files, 10, &progress) != 0)
        bail("it fails");
    segment_list_sort(l);
    return l->n;
}

static void test_read(void)
{
    struct segment_list l = {.n = 0};
    struct tree_cached files = {.n = 0};
    struct tree_segment s;
    const struct segment_place *p;
    struct stat st;
    size_t n;

    is_int((intmax_t)found(&l, &files), 0, "an empty cache has none");
    be_of(1);
    have_file();
    tree_cache_put_segments(folder, &t, 1);
    be_of(2);
    have_file();
    tree_cache_put_segments(folder, &t, 1);
    is_int((intmax_t)found(&l, &files), 2 * SEGMENTS, "of two files, all");
    s = tree_index_segment(&t, 1, 3);
    p = segment_list_find(&l, &s, &n);
    ok(files.n == 2 && p && n == 1 && p->segment.offset == 300
           && p->segment.len == 100
           && memcmp(files.file[p->file - 10].digest, t.entry[1].digest,
                     TREE_DIGEST)
                  == 0,
       "each with its place and its file");
    ok(tree_cache_segments_used(folder, name)
           >= tree_cache_segments_need(SEGMENTS),
       "what that takes is known");
    if (stat(tree_path(noted()), &st) < 0)
        bail("not noted");
    n = (size_t)st.st_ino;
    tree_cache_put_segments(folder, &t, 1);
    ok(stat(tree_path(noted()), &st) == 0 && (size_t)st.st_ino == n,
       "it is noted once");
    atomic_store(&progress.cancel, 1);
    is_int(tree_cache_all_segments(folder, &l, &files, 0, &progress), ECANCELED,
           "it can be cancelled");
    atomic_store(&progress.cancel, 0);
    segment_list_clear(&l);
    free(files.file);
}

/* Each of its bytes another one, and each length. */
static void test_rubbish(void)
{
    struct segment_list l = {.n = 0};
    struct tree_cached files = {.n = 0};
    uint8_t good[48 * SEGMENTS], bad[sizeof good];
    int fd = open(tree_path(noted()), O_RDWR | O_CLOEXEC), wrong = 0;

    if (fd < 0 || pread(fd, good, sizeof good, 0) != sizeof good)
        bail("%s", noted());
    for (size_t i = 0; i < sizeof good; i++) {
        memcpy(bad, good, sizeof bad);
        bad[i] ^= 0xff;
        if (pwrite(fd, bad, sizeof bad, 0) != sizeof bad)
            bail("%s", noted());
        (void)found(&l, &files);
        for (size_t k = 0; k < l.n; k++)
            wrong += l.place[k].segment.len == 0
                     || l.place[k].segment.len > 1u << 20
                     || l.place[k].segment.offset > INT64_MAX;
    }
    for (size_t len = 0; len < sizeof good; len++) {
        if (pwrite(fd, good, sizeof good, 0) != sizeof good
            || ftruncate(fd, (off_t)len) < 0)
            bail("%s", noted());
        wrong += found(&l, &files) != SEGMENTS + len / 48;
    }
    is_int(wrong, 0, "what is no segment is left out");
    close(fd);
    segment_list_clear(&l);
    free(files.file);
}

static int is_there(const char *path)
{
    struct stat st;

    return lstat(tree_path(path), &st) == 0;
}

static void make_old(const char *path)
{
    const struct timespec old[2] = {{.tv_sec = 1000000000},
                                    {.tv_sec = 1000000000}};

    tree_put(path, "x");
    if (utimensat(AT_FDCWD, tree_path(path), old, 0) < 0)
        bail("%s: %s", path, strerror(errno));
}

static void test_sweep(void)
{
    struct segment_list l = {.n = 0};
    struct tree_cached files = {.n = 0};
    char gone[200];

    be_of(1);
    snprintf(gone, sizeof gone, "cache/%s", name);
    if (unlink(tree_path(gone)) < 0)
        bail("%s", gone);
    is_int((intmax_t)found(&l, &files), (intmax_t)(SEGMENTS - 1),
           "those of a file that is gone are not used");
    make_old("cache/segments/part-00000");
    make_old("cache/segments/thesis.tex");
    make_old("cache/segments/part-0123456789abcdef");
    tree_put("cache/segments/part-0123456789abcde0", "x");
    tree_cache_sweep_segments(folder);
    ok(!is_there(noted()) && !is_there("cache/segments/part-0123456789abcdef"),
       "and are removed, and what a killed agent has left");
    ok(is_there("cache/segments/part-0123456789abcde0"),
       "what is being made stays");
    ok(is_there("cache/segments/part-00000")
           && is_there("cache/segments/thesis.tex"),
       "and what is not the cache's own");
    segment_list_clear(&l);
    free(files.file);
}

int main(void)
{
    tree_make();
    tree_dirs("cache/x");
    folder = open(tree_path("cache"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        bail("cache: %s", strerror(errno));
    test_read();
    test_rubbish();
    test_sweep();
    tree_index_clear(&t);
    close(folder);
    tree_remove();
    return done();
}
