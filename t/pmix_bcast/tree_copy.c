/* SPDX-License-Identifier: BSD-2-Clause */
/* A tree of files, and its copy in another folder: the same in all that an index
 * says, and in every byte; or nothing is there. */
#include "pmix_bcast/tree_copy.h"
#include "fault.h"
#include "pmix_bcast/tree_source.h"
#include "tap.h"
#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define LARGE 300001u
#define SOME  1000u /* bytes that come at once */

static char dir[] = "/tmp/tree_copy.XXXXXX";
static char from[100], to[100]; /* two trees in it */

/* --- the disk ------------------------------------------------------------- */

static struct statvfs disk; /* all 0: it has no limit */

/* In the place of libc's. */
int fstatvfs(int fd, struct statvfs *fs)
{
    (void)fd;
    *fs = disk;
    return 0;
}

/* --- files ---------------------------------------------------------------- */

static const char *path_of(const char *name)
{
    static char path[400];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static void put(const char *name, size_t bytes, off_t offset)
{
    int fd = open(path_of(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0640);
    uint8_t byte;

    for (size_t i = 0; fd >= 0 && i < bytes; i++) {
        byte = (uint8_t)(i * 7 + i / 256 + strlen(name));
        if (pwrite(fd, &byte, 1, offset + (off_t)i) != 1)
            bail("%s", name);
    }
    if (fd < 0 || close(fd) < 0)
        bail("%s", name);
}

static void be_old(const char *name, time_t when)
{
    struct timespec times[2] = {{when, 5}, {when, 5}};

    if (utimensat(AT_FDCWD, path_of(name), times, AT_SYMLINK_NOFOLLOW) < 0)
        bail("%s", name);
}

static void clean(const char *path)
{
    (void)nftw(path, tree_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* How many names there are beside the two trees, hidden ones, too. */
static int others(void)
{
    DIR *d = opendir(dir);
    const struct dirent *e;
    int n = 0;

    if (!d)
        bail("%s", dir);
    while ((e = readdir(d)) != NULL)
        n += strcmp(e->d_name, "from") != 0 && strcmp(e->d_name, "to") != 0;
    closedir(d);
    return n - 2; /* . and .. */
}

static int link_both(void)
{
    char name[400];

    snprintf(name, sizeof name, "%s", path_of("from/zz"));
    return link(path_of("from/b c/x"), name);
}

static void make_tree(void)
{
    static const struct timespec before_1970[2] = {{0, UTIME_OMIT}, {-3, 7}};

    if (mkdir(path_of("from"), 0750) < 0 || mkdir(path_of("from/b c"), 0700) < 0
        || mkdir(path_of("from/b c/\xff\n"), 0755) < 0
        || mkdir(path_of("from/empty"), 0711) < 0
        || symlink("../large", path_of("from/b c/up")) < 0
        || symlink("/nowhere", path_of("from/dangling")) < 0)
        bail("no tree");
    put("from/large", LARGE, 0);
    put("from/b c/x", 12, 0);
    put("from/b c/\xff\n/y", 5000, 0);
    put("from/nothing", 0, 0);
    put("from/sparse", 10, 5000000);
    put("from/sparse", 10, 1000000);
    if (truncate(path_of("from/sparse"), 9000000) < 0 || link_both() < 0
        || chmod(path_of("from/large"), 0400) < 0
        || utimensat(AT_FDCWD, path_of("from/large"), before_1970, 0) < 0)
        bail("no tree");
    be_old("from/b c/up", 1000);
    be_old("from/b c", 2000);
    if (chmod(path_of("from/b c"), 0500) < 0)
        bail("no tree");
    be_old("from", 3000);
}

/* --- trees ---------------------------------------------------------------- */

static void open_source(struct tree_source *s, const char *path)
{
    char *source = strdup(path);
    const struct tree_wish wish = {.source = &source, .n = 1};
    struct es_error err = {0};

    tree_source_init(s, NULL);
    if (!source || tree_source_open(s, &wish, &err) < 0)
        bail("%s", err.what);
    free(source);
}

static uint8_t *index_of(const struct tree_source *s)
{
    uint8_t *bytes = malloc(s->index.len);

    if (!bytes)
        bail("no memory");
    memcpy(bytes, s->index.encoded, s->index.len);
    return bytes;
}

static int begin_with(struct tree_copy **t,
                      const struct tree_source *s,
                      const struct tree_copy_setup *setup)
{
    int why = tree_copy_create(t, setup, index_of(s), s->index.len);

    if (why == 0)
        why = tree_copy_prepare(*t);
    if (why) {
        tree_copy_destroy(*t);
        *t = NULL;
    }
    return why;
}

static int begin(struct tree_copy **t,
                 const struct tree_source *s,
                 int force,
                 int keep)
{
    const struct tree_copy_setup setup = {
        .destination = to, .force = force, .keep = keep};

    return begin_with(t, s, &setup);
}

static void send_piece(struct tree_copy *t, struct tree_source *s, uint64_t i)
{
    uint8_t bytes[SOME];
    uint64_t left = s->index.bytes - i;
    size_t len = left < SOME ? (size_t)left : SOME;
    struct es_error err = {0};

    if (tree_source_read(s, bytes, len, i, &err) < 0)
        bail("%s", err.what);
    if (tree_copy_write(t, bytes, len, i) != 0)
        bail("byte %ju", (uintmax_t)i);
}

/* In an order that is not theirs: every other piece, then the rest backwards. */
static void send_all(struct tree_copy *t, struct tree_source *s)
{
    uint64_t n = (s->index.bytes + SOME - 1) / SOME;

    for (uint64_t i = 1; i < n; i += 2)
        send_piece(t, s, i * SOME);
    for (uint64_t i = (n + 1) / 2; i-- > 0;)
        send_piece(t, s, i * 2 * SOME);
}

static int is_same_content(struct tree_source *a, struct tree_source *b)
{
    static uint8_t x[LARGE * 2], y[LARGE * 2];
    size_t len = (size_t)a->index.bytes;

    return a->index.bytes == b->index.bytes && len <= sizeof x
           && tree_source_read(a, x, len, 0, NULL) == 0
           && tree_source_read(b, y, len, 0, NULL) == 0
           && memcmp(x, y, len) == 0;
}

/* An index says all but what the bytes are. */
static int is_same(struct tree_source *a)
{
    struct tree_source b;
    int same;

    open_source(&b, to);
    same = a->index.len == b.index.len
           && memcmp(a->index.encoded, b.index.encoded, a->index.len) == 0
           && is_same_content(a, &b);
    tree_source_close(&b);
    return same;
}

/* --- tests ---------------------------------------------------------------- */

static void test_copy(struct tree_source *s)
{
    struct tree_copy *t;
    struct stat x, zz, sparse;
    uint8_t a[SOME], b[SOME];

    is_int(begin(&t, s, 0, 1), 0, "a copy is begun");
    ok(access(to, F_OK) < 0 && others() == 1, "it is hidden until it is whole");
    send_all(t, s);
    is_int(tree_copy_finish(t), 0, "it gets its name");
    ok(is_same(s), "and is the same, with its times, modes, links and holes");
    is_int(others(), 0, "nothing is beside it");
    ok(stat(path_of("to/b c/x"), &x) == 0 && stat(path_of("to/zz"), &zz) == 0
           && x.st_ino == zz.st_ino && x.st_nlink == 2,
       "a file of two names is one file");
    ok(stat(path_of("to/sparse"), &sparse) == 0 && sparse.st_size == 9000000
           && sparse.st_blocks < 9000000 / 512,
       "holes take no room");
    ok(tree_copy_read(t, a, SOME, 70000) == 0
           && tree_source_read(s, b, SOME, 70000, NULL) == 0
           && memcmp(a, b, SOME) == 0,
       "others can still read it");
    ok(tree_copy_read(t, a, SOME, s->index.bytes - 1) == EBADMSG,
       "but not beyond its end");
    tree_copy_destroy(t);
    ok(is_same(s), "it stays when the copy is destroyed");
}

static void test_name(struct tree_source *s)
{
    struct tree_copy *t, *other;

    is_int(begin(&t, s, 0, 0), EEXIST, "what is there is not replaced");
    ok(!t && others() == 0, "and nothing is left of it");
    if (begin(&t, s, 1, 0) != 0 || begin(&other, s, 1, 0) != 0)
        bail("no copy");
    put("to/foreign", 3, 0);
    send_all(t, s);
    is_int(tree_copy_finish(t), 0, "unless that is wanted");
    ok(is_same(s) && others() == 1,
       "all of it, even what is closed to writing");
    tree_copy_destroy(t);
    send_all(other, s);
    ok(tree_copy_finish(other) == 0 && is_same(s) && others() == 0,
       "two at once: the last one is there");
    tree_copy_destroy(other);
    clean(to);
    put("to", 5, 0);
    if (begin(&t, s, 1, 0) != 0)
        bail("no copy");
    send_all(t, s);
    ok(tree_copy_finish(t) == 0 && is_same(s) && others() == 0,
       "a file is replaced, too");
    tree_copy_destroy(t);
    clean(to);
    if (begin(&t, s, 0, 0) != 0)
        bail("no copy");
    send_all(t, s);
    put("to", 5, 0);
    is_int(tree_copy_finish(t), EEXIST, "what came meanwhile is not replaced");
    tree_copy_destroy(t);
    ok(others() == 0 && unlink(to) == 0, "and only that is there");
}

static void test_wrong(struct tree_source *s)
{
    struct tree_copy *t;
    uint8_t byte = 0;

    if (begin(&t, s, 0, 0) != 0)
        bail("no copy");
    send_piece(t, s, 0);
    is_int(tree_copy_write(t, &byte, 1, s->index.bytes), EBADMSG,
           "nothing is written beyond the end");
    is_int(tree_copy_write(t, &byte, 1, UINT64_MAX), EBADMSG, "nor far beyond");
    tree_copy_destroy(t);
    ok(access(to, F_OK) < 0 && others() == 0, "half a copy leaves nothing");
}

/* What an agent of this host has left that was killed. */
static void test_left_over(struct tree_source *s)
{
    char host[65] = "", name[128];
    struct tree_copy *t;

    (void)gethostname(host, sizeof host - 1);
    snprintf(name, sizeof name, ".evenstep-tree-0123-%s", host);
    if (mkdir(path_of(name), 0700) < 0)
        bail("%s", name);
    be_old(name, time(NULL) - 1000);
    if (begin(&t, s, 0, 0) != 0)
        bail("no copy");
    is_int(others(), 1, "what a dead one has left is removed");
    tree_copy_destroy(t);
    is_int(others(), 0, "and so is the next");
}

static void test_changes(void)
{
    struct tree_source s;
    struct es_error err = {0};
    uint8_t bytes[SOME];

    open_source(&s, from);
    is_int(tree_source_check(&s, &err), 0, "a source is as it was");
    put("from/b c/x", 20, 0);
    ok(tree_source_check(&s, &err) < 0 && err.kind == ES_WORK
           && strstr(err.what, "from/b c/x: it changes"),
       "one that grows is noticed, and named");
    tree_source_close(&s);
    open_source(&s, from);
    if (chmod(path_of("from/b c"), 0700) < 0
        || unlink(path_of("from/b c/x")) < 0 || unlink(path_of("from/zz")) < 0)
        bail("cannot remove");
    memset(&err, 0, sizeof err);
    while (s.index.bytes > 0 && err.kind == ES_OK)
        for (uint64_t i = 0; i + SOME < s.index.bytes; i += SOME)
            if (tree_source_read(&s, bytes, SOME, i, &err) < 0)
                break;
    ok(strstr(err.what, "b c/x: it changes") != NULL, "or one that goes");
    tree_source_close(&s);
}

static void test_sources(void)
{
    char *both[] = {strdup(path_of("from/large")),
                    strdup(path_of("from/empty/")),
                    strdup(path_of("from/b c"))};
    char *same[] = {both[0], both[0]};
    char *pattern[] = {strdup("large"), strdup("b c/up")};
    struct tree_wish wish = {.source = both, .n = 3};
    const struct tree_wish twice = {.source = same, .n = 2};
    struct tree_source s;
    struct es_error err = {0};

    tree_source_init(&s, NULL);
    is_int(tree_source_open(&s, &wish, &err), 0, "several sources");
    ok(s.index.n == 8 && s.index.entry[1].parent == 0
           && strcmp(s.index.entry[1].name, "b c") == 0,
       "are in one root, by their names");
    is_int(tree_source_check(&s, &err), 0, "and are found there");
    tree_source_close(&s);
    ok(tree_source_open(&s, &twice, &err) < 0 && err.kind == ES_USAGE,
       "of two of one name that is said");
    wish.exclude = pattern;
    wish.n_exclude = 2;
    ok(tree_source_open(&s, &wish, &err) == 0 && s.index.n == 6,
       "what is excluded is left out, by its name or its path");
    tree_source_close(&s);
    for (size_t i = 0; i < 3; i++)
        free(both[i]);
    free(pattern[0]);
    free(pattern[1]);
}

/* --- room ----------------------------------------------------------------- */

/* Each file takes whole blocks. */
static fsblkcnt_t blocks_of(const struct tree_source *s, unsigned long block)
{
    fsblkcnt_t n = 0;

    for (uint32_t i = 0; i < s->index.n; i++)
        n += (s->index.entry[i].data + block - 1) / block;
    return n;
}

static void check_room(const struct tree_source *s,
                       const struct tree_copy_setup *setup,
                       int want,
                       const char *what)
{
    struct tree_copy *t;

    is_int(begin_with(&t, s, setup), want, what);
    tree_copy_destroy(t);
    if (others() > 0)
        bail("something is left");
}

/* It is known when nothing has come yet. */
static void test_room(struct tree_source *s)
{
    const struct tree_copy_setup plain = {.destination = to, .force = 1},
                                 update = {.destination = to, .update = 1};

    disk.f_frsize = 512;
    disk.f_blocks = 1;
    disk.f_bavail = blocks_of(s, disk.f_frsize);
    check_room(s, &plain, 0, "a disk with just the room");
    check_room(s, &update, 0, "for an update, too");
    disk.f_bavail--;
    check_room(s, &plain, ENOSPC, "a block less is told before a byte comes");
    check_room(s, &update, ENOSPC, "for an update, too");
    disk.f_blocks = 0;
    check_room(s, &plain, 0, "without blocks it has no limit");
    disk.f_files = 1;
    disk.f_favail = s->index.n;
    check_room(s, &plain, 0, "a disk with just the files");
    disk.f_favail--;
    check_room(s, &plain, ENOSPC, "one less is told");
    disk = (struct statvfs){0};
}

/* What a node lacks must come. */
static void test_select(struct tree_source *s)
{
    const struct tree_copy_setup setup = {.destination = to, .update = 1};
    struct tree_want some;
    struct tree_copy *t;
    size_t len = tree_want_bytes(s->index.segments);

    clean(to);
    if (begin_with(&t, s, &setup) != 0
        || tree_want_init(&some, s->index.segments) != 0)
        bail("no copy");
    is_int(tree_copy_select(t, some.bits, len - 1), EPROTO,
           "bits of another tree");
    is_int(tree_copy_select(t, some.bits, len), EPROTO,
           "what is lacking does not come");
    if (tree_want_unite(&some, tree_copy_lacks(t)->bits, len) < 0)
        bail("no bits");
    ok(tree_copy_select(t, some.bits, len) == 0
           && tree_copy_bytes(t) == s->index.bytes,
       "what is, does");
    tree_want_clear(&some);
    tree_copy_destroy(t);
}

/* One that is not wanted any more reads nothing, and says so. */
static int is_ended(int rc, const struct es_error *err)
{
    return rc < 0 && err->kind == ES_WORK
           && strcmp(err->mend, "start it again") == 0;
}

static void test_end(void)
{
    char *path = from;
    const struct tree_wish wish = {
        .source = &path, .n = 1, .parts = TREE_DIGESTS};
    atomic_int stop = 1;
    struct tree_source s;
    struct es_error err = {0};
    uint8_t bytes[SOME];

    tree_source_init(&s, &stop);
    ok(is_ended(tree_source_open(&s, &wish, &err), &err),
       "a walk ends where all is to end");
    atomic_store(&stop, 0);
    tree_source_init(&s, &stop);
    if (tree_source_open(&s, &wish, &err) < 0)
        bail("%s", err.what);
    tree_source_cancel(&s);
    ok(is_ended(tree_source_digest(&s, &err), &err),
       "digests end when they are not wanted any more");
    ok(is_ended(tree_source_read(&s, bytes, SOME, 0, &err), &err),
       "so does reading");
    ok(is_ended(tree_source_check(&s, &err), &err), "and a last look");
    tree_source_close(&s);
}

static void test_memory(const struct tree_source *s)
{
    const struct tree_copy_setup setup = {.destination = to};
    struct tree_copy *t = NULL;
    int why = ENOMEM;
    long n = 0;

    for (; why == ENOMEM && n < 100; n++) {
        uint8_t *index = index_of(s);

        fault_at = n;
        why = tree_copy_create(&t, &setup, index, s->index.len);
        if (why == 0)
            why = tree_copy_prepare(t);
        fault_at = -1;
        if (why)
            tree_copy_destroy(t);
        if (why && others() > 0)
            bail("something is left");
    }
    ok(why == 0 && n > 4, "each allocation that fails is told");
    tree_copy_destroy(t);
}

int main(void)
{
    struct tree_source s;

    if (!mkdtemp(dir))
        bail("no ground to stand on");
    snprintf(from, sizeof from, "%s/from", dir);
    snprintf(to, sizeof to, "%s/to", dir);
    make_tree();
    open_source(&s, from);
    test_copy(&s);
    test_name(&s);
    test_wrong(&s);
    test_left_over(&s);
    test_room(&s);
    test_select(&s);
    test_memory(&s);
    tree_source_close(&s);
    test_sources();
    test_end();
    test_changes();
    clean(dir);
    return done();
}
