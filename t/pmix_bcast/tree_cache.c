/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that a node has already (tree_same.h), and its cache of them: what is
 * damaged, or is no file, is never taken for what it says it is. */
#include "pmix_bcast/tree_cache.h"
#include "pmix_bcast/tree_source.h"
#include "tree.h"

#include <limits.h>
#include <sys/file.h>
#include <sys/stat.h>

static struct tree_source source;
static struct tree_progress progress;
static char note[300];
static int root; /* where files are made, and the source's root */
static int sources;

/* --- locks ---------------------------------------------------------------- */

static int busy; /* so often another one has it */

/* In the place of libc's. */
int flock(int fd, int operation)
{
    (void)fd;
    if (busy == 0 || operation == LOCK_UN)
        return 0;
    busy--;
    errno = EWOULDBLOCK;
    return -1;
}

/* --- files ---------------------------------------------------------------- */

static uint32_t entry_of(const char *name)
{
    for (uint32_t i = 1; i < source.index.n; i++)
        if (strcmp(source.index.entry[i].name, name) == 0)
            return i;
    bail("%s is not in the index", name);
}

static struct tree_place place_of(const char *name, int folder)
{
    return (struct tree_place){.index = &source.index,
                               .entry = entry_of(name),
                               .root = folder,
                               .path = name,
                               .progress = &progress};
}

static int folder_at(const char *name)
{
    int fd;

    tree_dirs(name);
    (void)mkdir(tree_path(name), 0700);
    fd = open(tree_path(name), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        bail("%s: %s", name, strerror(errno));
    return fd;
}

/* Of 10 bytes each. */
static void put_lines(const char *name, int n)
{
    FILE *f = fopen(tree_path(name), "we");

    for (int i = 0; f && i < n; i++)
        (void)fprintf(f, "%09d\n", i);
    if (!f || fclose(f) != 0)
        bail("%s", name);
}

static void make_source(void)
{
    char path[600], *at = path;
    const struct tree_wish wish = {
        .source = &at, .n = 1, .parts = TREE_DIGESTS};
    struct es_error err = {0};

    tree_put("from/a", "hello, world");
    tree_put("from/other", "hello, WORLD");
    tree_put("from/empty", "");
    tree_put("from/sparse", "begin");
    if (truncate(tree_path("from/sparse"), 1000000) < 0)
        bail("sparse");
    put_lines("from/large", 20000);
    put_lines("from/huge", 300000);
    snprintf(path, sizeof path, "%s", tree_path("from"));
    tree_source_init(&source, NULL);
    if (tree_source_open(&source, &wish, &err) < 0
        || tree_source_digest(&source, &err) < 0)
        bail("%s", err.what);
    sources = folder_at("from");
    root = folder_at("to");
}

/* Nothing of that name, nor anything else, is in the folder of what is made. */
static int is_nothing_left(const char *name)
{
    struct stat st;

    return fstatat(root, name, &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
}

/* A file of the source, from one that is there: 1: made, and the same. */
static int made_from(const char *name, const char *other)
{
    const struct tree_place p = place_of(name, root);
    int from = openat(sources, other, O_RDONLY | O_CLOEXEC), fd = 7;
    int why = tree_same_make(&fd, &p, from);
    struct stat st;

    close(from);
    if (why || fd < 0)
        return why == 0 && fd == -1 && is_nothing_left(name) ? 0 : -1;
    if (fstat(fd, &st) < 0 || (st.st_mode & 07777) != 0600
        || (uint64_t)st.st_size != source.index.entry[p.entry].size)
        return -1;
    close(fd);
    (void)unlinkat(root, name, 0);
    return 1;
}

static void test_same(void)
{
    static const char *const names[] = {"a", "sparse", "large"};
    const struct tree_place a = place_of("a", root);
    int fd = 7, from;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        ok(made_from(names[i], names[i]) == 1, "%s is made of the same",
           names[i]);
    is_int(made_from("a", "other"), 0, "not of other bytes");
    is_int(made_from("a", "empty"), 0, "nor of a shorter file");
    is_int(made_from("a", "large"), 0, "nor of a longer one");
    is_int(made_from("sparse", "large"), 0, "nor one with holes");
    from = openat(sources, "a", O_RDONLY | O_CLOEXEC);
    atomic_store(&progress.cancel, 1);
    ok(tree_same_make(&fd, &a, from) == ECANCELED && fd == -1
           && is_nothing_left("a"),
       "cancelled it leaves nothing");
    atomic_store(&progress.cancel, 0);
    close(from);
}

/* --- the cache ------------------------------------------------------------ */

#define DAMAGED 2

/* 1: it was there; 0: it was not, and DAMAGED: it was not right, and nothing is left;
 * -1: else. */
static int get(struct tree_cache *c, const char *name)
{
    const struct tree_place p = place_of(name, root);
    int fd = 7, why = tree_cache_get(c, &fd, &p);

    if (why || fd < 0)
        return why == 0 && fd < 0 && is_nothing_left(name)
                   ? fd == -1 ? 0 : DAMAGED
                   : -1;
    close(fd);
    return unlinkat(root, name, 0) == 0 ? 1 : -1;
}

static void put(struct tree_cache *c, const char *name)
{
    const struct tree_place p = place_of(name, sources);

    tree_cache_put(c, &p);
}

/* Where the cache has a file, by its digest. */
static const char *cached(const char *name)
{
    static char path[700];
    const uint8_t *d = source.index.entry[entry_of(name)].digest;
    int n = snprintf(path, sizeof path, "%s/%02x/", tree_path("cache"), d[0]);

    for (size_t i = 1; i < TREE_DIGEST; i++)
        n += snprintf(path + n, sizeof path - (size_t)n, "%02x", d[i]);
    return path;
}

static int is_cached(const char *name)
{
    return access(cached(name), F_OK) == 0;
}

static void test_get(struct tree_cache *c)
{
    is_int(get(c, "a"), 0, "what was not put is not there");
    put(c, "a");
    put(c, "sparse");
    put(c, "a");
    ok(is_cached("a") && is_cached("sparse"),
       "a file is kept by its digest, in two digits and the others");
    is_int(get(c, "a"), 1, "and is there");
    is_int(get(c, "sparse"), 1, "and one with a hole, too");
    is_int(get(c, "large"), 0, "others are not");
    is_int(atomic_load(&c->damaged), 0, "nothing was damaged");
}

static void overwrite(const char *name, const char *text)
{
    int fd = open(cached(name), O_WRONLY | O_TRUNC | O_CLOEXEC);

    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        bail("%s: %s", name, strerror(errno));
    close(fd);
}

static void test_damaged(struct tree_cache *c)
{
    static const char *const bad[] = {"hello, wOrld", "hello", "",
                                      "hello, world, and more"};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        put(c, "a");
        overwrite("a", bad[i]);
        atomic_store(&c->damaged, 0);
        ok(get(c, "a") == DAMAGED && atomic_load(&c->damaged) == 1
               && !is_cached("a"),
           "\"%s\" under another's digest is found, and removed", bad[i]);
    }
    put(c, "a");
    is_int(get(c, "a"), 1, "it can be put again");
}

/* Of a file in segments, that are noted, some may be good. */
static void test_segments(struct tree_cache *c)
{
    const struct tree_entry *e = &source.index.entry[entry_of("huge")];
    struct segment_list l = {.n = 0};
    struct stat st;
    int fd;

    c->bytes = 4 << 20;
    put(c, "huge");
    ok(tree_cache_segments(c, &l, 7, &progress) == 0 && e->segments > 2
           && l.n == e->segments && l.place[0].file == 7,
       "of a large file the segments are known");
    fd = tree_cache_open_file(c, 0);
    ok(fd >= 0, "which can be opened");
    close(fd);
    is_int(get(c, "huge"), 1, "and the file is there");
    overwrite("huge", "hello");
    ok(get(c, "huge") == DAMAGED && is_cached("huge"),
       "damaged it stays, as some may be good");
    tree_cache_drop_bad(c);
    ok(is_cached("huge"), "and while none of it was found to be bad");
    tree_cache_mark_bad(c, 0);
    tree_cache_drop_bad(c);
    ok(!is_cached("huge"), "then it goes");
    atomic_store(&c->taken, 0);
    put(c, "huge");
    if (stat(cached("huge"), &st) < 0)
        bail("huge");
    c->bytes = (uint64_t)st.st_blocks * 512 + 100;
    tree_cache_trim(c, 0);
    ok(!is_cached("huge"), "what is noted of its segments counts, too");
    c->bytes = 4 << 20;
    atomic_store(&c->taken, 0);
    put(c, "huge");
    tree_cache_drop(c, e->digest);
    ok(!is_cached("huge"), "or when it is told to");
    c->bytes = 1 << 20;
    atomic_store(&c->taken, 0);
    segment_list_clear(&l);
}

/* Somebody else has made something under that name. */
static void test_strange(struct tree_cache *c)
{
    (void)unlink(cached("a"));
    if (symlink(tree_path("from/a"), cached("a")) < 0)
        bail("no link");
    is_int(get(c, "a"), 0, "a link is not followed");
    (void)unlink(cached("a"));
    if (mkfifo(cached("a"), 0600) < 0)
        bail("no pipe");
    is_int(get(c, "a"), DAMAGED, "a pipe is not waited for, nor taken");
    (void)unlink(cached("a"));
    if (mkdir(cached("a"), 0700) < 0)
        bail("no folder");
    ok(get(c, "a") != 1, "a folder is no file");
    (void)rmdir(cached("a"));
    put(c, "a");
    is_int(get(c, "a"), 1, "what was there does no harm afterwards");
}

static void be_used(const char *name, time_t when)
{
    const struct timespec times[2] = {{when, 0}, {when, 0}};

    if (utimensat(AT_FDCWD, cached(name), times, 0) < 0)
        bail("%s: %s", name, strerror(errno));
}

static void test_bounds(struct tree_cache *c)
{
    c->bytes = 1000;
    put(c, "large");
    ok(!is_cached("large"), "what is larger than all of it is not kept");
    c->bytes = 1 << 20;
    put(c, "large");
    put(c, "other");
    be_used("a", 1000);
    be_used("other", 3000);
    be_used("large", 2000);
    tree_cache_trim(c, 0);
    ok(is_cached("a") && is_cached("large"), "what fits stays");
    c->bytes = 100000; /* large has 200,000 */
    tree_cache_trim(c, 0);
    ok(!is_cached("a") && !is_cached("large") && is_cached("other"),
       "what was not used for longest goes, and no more than must");
    tree_cache_trim(c, 100000);
    ok(!is_cached("other"), "more of it where room is asked for");
    c->bytes = 8192;
    atomic_store(&c->taken, 0);
    put(c, "a");
    put(c, "other");
    put(c, "sparse");
    ok(is_cached("a") && is_cached("other") && !is_cached("sparse"),
       "while it is filled it takes no more than its bytes");
}

static void test_busy(struct tree_cache *c)
{
    c->bytes = 1;
    busy = 3;
    tree_cache_trim(c, 0);
    ok(busy == 0 && !is_cached("a") && !is_cached("other"),
       "another one that removes files is waited for");
    c->bytes = 8192;
    atomic_store(&c->taken, 0);
    put(c, "a");
    c->bytes = 1;
    busy = INT_MAX;
    tree_cache_trim(c, 0);
    ok(is_cached("a"), "but not one that does not end");
    busy = 0;
}

static void test_folder(void)
{
    struct tree_cache c;

    tree_cache_open(&c, tree_path("from/a"), 1, note, sizeof note);
    ok(c.folder == -1 && strstr(note, "it is no folder"), "%s", note);
    if (symlink("cache", tree_path("link")) < 0)
        bail("no link");
    tree_cache_open(&c, tree_path("link"), 1, note, sizeof note);
    ok(c.folder == -1 && strstr(note, "it is no folder"), "a link: %s", note);
    close(folder_at("open"));
    if (chmod(tree_path("open"), 0777) < 0)
        bail("chmod");
    tree_cache_open(&c, tree_path("open"), 1, note, sizeof note);
    ok(c.folder == -1 && strstr(note, "not this user's alone"), "%s", note);
    tree_cache_open(&c, tree_path("no/such/folder"), 1, note, sizeof note);
    ok(c.folder == -1 && strstr(note, "make the folder that it is to be in"),
       "%s", note);
    ok(get(&c, "a") == 0, "one that is closed has nothing");
    put(&c, "a");
    tree_cache_trim(&c, 0);
    tree_cache_close(&c);
}

int main(void)
{
    struct tree_cache c;

    tree_make();
    make_source();
    test_same();
    tree_cache_open(&c, tree_path("cache"), 1 << 20, note, sizeof note);
    ok(c.folder >= 0 && (!note[0] || strstr(note, "in memory")),
       "a cache is made");
    test_get(&c);
    test_damaged(&c);
    test_segments(&c);
    test_strange(&c);
    test_bounds(&c);
    test_busy(&c);
    tree_cache_close(&c);
    is_int(c.folder, -1, "it is closed");
    test_folder();
    tree_source_close(&source);
    close(root);
    close(sources);
    tree_remove();
    return done();
}
