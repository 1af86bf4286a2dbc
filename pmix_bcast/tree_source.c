/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/tree_source.h"
#include "pmix_bcast/array.h"
#include "pmix_bcast/clock.h"
#include "pmix_bcast/offload.h"
#include "pmix_bcast/segmenter.h"
#include "pmix_bcast/tree_digest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where these many files have shown that to open and to read one takes longer, and
 * is waited for, it is done ahead by threads: else they cost more than they save. */
#define AHEAD_WORTH_NS 100000
#define AHEAD_SHOWN    8u

/* --- where a file is ------------------------------------------------------ */

/* Entries of one source follow each other. */
static const struct tree_top *top_of(const struct tree_source *s,
                                     uint32_t entry)
{
    size_t low = 0, high = s->found.n;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (s->found.top[middle].entry <= entry)
            low = middle;
        else
            high = middle;
    }
    return &s->found.top[low];
}

static int path_of(const struct tree_source *s,
                   uint32_t entry,
                   char path[TREE_PATH_MAX])
{
    const struct tree_top *top = top_of(s, entry);
    char in_tree[TREE_PATH_MAX];
    const char *below = in_tree;
    int n;

    if (tree_index_path(&s->index, entry, in_tree) < 0)
        return -1;
    if (entry == top->entry)
        below = "";
    else if (top->entry != 0)
        below += strlen(s->index.entry[top->entry].name) + 1;
    n = snprintf(path, TREE_PATH_MAX, "%s%s%s", top->path, below[0] ? "/" : "",
                 below);
    return n >= 0 && n < TREE_PATH_MAX ? 0 : -1;
}

static int is_over(const struct tree_source *s)
{
    if (!tree_progress_is_over(&s->progress))
        return 0;
    errno = ECANCELED;
    return 1;
}

static int open_file(void *arg, uint32_t entry)
{
    char path[TREE_PATH_MAX];

    if (is_over(arg))
        return -1;
    if (path_of(arg, entry, path) == 0)
        return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    errno = ENAMETOOLONG;
    return -1;
}

/* The same for home, which reads it next.  Home is at a chunk for as long as all
 * files in it take, and what ends it is not heard until then, but seen here. */
static int open_next(void *arg, uint32_t entry)
{
    struct tree_source *s = arg;

    if (is_over(s))
        return -1;
    s->opened++;
    return s->ahead ? tree_ahead_open(s->ahead, entry) : open_file(s, entry);
}

/* --- reading -------------------------------------------------------------- */

static int fail_on(const struct tree_source *s,
                   uint32_t entry,
                   int why,
                   struct es_error *err)
{
    char path[TREE_PATH_MAX];

    if (path_of(s, entry, path) < 0)
        snprintf(path, sizeof path, "%s", s->index.entry[entry].name);
    if (why == ECANCELED)
        return es_fail(err, ES_WORK, "start it again",
                       "%s: it is not read to its end", path);
    if (why == ENODATA || why == ENOENT)
        return es_fail(err, ES_WORK, "broadcast it when nobody writes to it",
                       "%s: it changes while it is read", path);
    return es_fail(err, ES_WORK, "see that its file system is well", "%s: %s",
                   path, strerror(why));
}

/* How often this thread has waited, not counting when others had its CPU. */
static long times_waited(void)
{
    struct rusage now = {0};

    (void)getrusage(RUSAGE_THREAD, &now); /* cannot fail */
    return now.ru_nvcsw;
}

/* Home has read up to there.  Without a thread it goes on as it is. */
static void look_ahead(struct tree_source *s, uint64_t at)
{
    if (s->opened < AHEAD_SHOWN)
        return;
    if (s->read_ns > (int64_t)s->opened * AHEAD_WORTH_NS
        && s->waited > s->opened / 2)
        s->ahead = tree_ahead_start(&s->index, at, open_file, s);
    s->opened = 0;
    s->read_ns = 0;
    s->waited = 0;
}

int tree_source_read(struct tree_source *s,
                     uint8_t *bytes,
                     size_t len,
                     uint64_t at,
                     struct es_error *err)
{
    int64_t from = clock_ns();
    long waited = times_waited();
    uint32_t entry;
    int why = tree_files_read(&s->files, bytes, len, at, &entry);

    s->read_ns += clock_ns() - from;
    s->waited += times_waited() - waited;
    if (!s->ahead)
        look_ahead(s, at + len);
    return why ? fail_on(s, entry, why, err) : 0;
}

static int is_as_it_was(const struct tree_source *s, uint32_t entry)
{
    const struct tree_entry *e = &s->index.entry[entry];
    char path[TREE_PATH_MAX];
    struct stat now;

    return path_of(s, entry, path) == 0 && stat(path, &now) == 0
           && S_ISREG(now.st_mode) && (uint64_t)now.st_size == e->size
           && tree_time(&now) == e->mtime_ns;
}

/* --- digests -------------------------------------------------------------- */

struct large { /* a file that is to be in segments */
    uint32_t entry;
    struct tree_cuts cuts;
};

struct digests {
    struct tree_source *s;
    struct large *large; /* owned, in order */
    uint32_t n_large, none_is_large;
    atomic_uint failed; /* the entry */
};

/* What is not more than one segment is none; and one that is mostly ends of extents
 * would have more digests than it is worth. */
static int is_large(const struct digests *d, uint32_t entry)
{
    const struct tree_index *t = &d->s->index;
    uint64_t data = t->entry[entry].data;
    size_t n;

    if (d->none_is_large || data <= SEGMENT_MAX || !t->entry[entry].digest)
        return 0;
    (void)tree_index_extents(t, entry, &n);
    return n <= data / SEGMENT_MIN;
}

/* So much data, all in the smallest segments, would be too many for an index. */
static int are_too_many(const struct tree_index *t)
{
    uint64_t most = 2 * (t->bytes / SEGMENT_MIN);

    return most > TREE_SEGMENTS_MAX - t->n
           || t->len + most * TREE_SEGMENT_BYTES > TREE_INDEX_MAX;
}

static int find_large(struct digests *d)
{
    size_t room = 0;

    d->none_is_large = (uint32_t)are_too_many(&d->s->index);
    for (uint32_t i = 0; i < d->s->index.n; i++) {
        struct large *large;

        if (!is_large(d, i))
            continue;
        large = array_grow(d->large, &room, d->n_large + 1u, sizeof *large,
                           TREE_ENTRIES_MAX);
        if (!large)
            return ENOMEM;
        d->large = large;
        large[d->n_large++] = (struct large){.entry = i};
    }
    return 0;
}

static int compare_entry(const void *a, const void *b)
{
    uint32_t x = ((const struct large *)a)->entry,
             y = ((const struct large *)b)->entry;

    return (x > y) - (x < y);
}

/* A large one is cut, and gets its own when the index has its segments. */
static int digest_or_cut(struct digests *d, uint32_t entry, int fd)
{
    struct tree_index *t = &d->s->index;
    const struct large key = {.entry = entry};
    struct large *l = d->n_large > 0 ? bsearch(&key, d->large, d->n_large,
                                               sizeof key, compare_entry)
                                     : NULL;
    const uint8_t *digest = t->entry[entry].digest;
    const struct tree_extent *x;
    size_t n;

    if (!l)
        return tree_digest_of(t->encoded + (digest - t->encoded), t, entry, fd,
                              -1, &d->s->progress);
    x = tree_index_extents(t, entry, &n);
    return tree_digest_cut(&l->cuts, x, n, fd, &d->s->progress);
}

static int find_digest(void *arg, uint32_t entry)
{
    struct digests *d = arg;
    const struct tree_entry *e = &d->s->index.entry[entry];
    int fd, why;

    if (e->kind != TREE_FILE || !e->digest || e->data == 0)
        return 0;
    fd = open_file(d->s, entry);
    why = fd < 0 ? errno : digest_or_cut(d, entry, fd);
    if (fd >= 0)
        close(fd);
    if (why)
        atomic_store(&d->failed, entry);
    return why;
}

/* The index, and the segments behind it, which it has from now on. */
static int add_segments(struct digests *d)
{
    struct tree_index *t = &d->s->index;
    struct writer w = {.buf = t->encoded, .len = t->len, .cap = t->len};
    int why = 0;

    if (d->n_large == 0)
        return 0;
    t->encoded = NULL;
    for (uint32_t i = 0; i < d->n_large; i++)
        tree_write_segments(&w, d->large[i].entry, d->large[i].cuts.segment,
                            d->large[i].cuts.n);
    tree_index_clear(t);
    if (w.bad) {
        writer_clear(&w);
        return ENOMEM;
    }
    why = tree_index_read(t, w.buf, w.len);
    for (uint32_t i = 0; why == 0 && i < d->n_large; i++) {
        const uint8_t *digest = t->entry[d->large[i].entry].digest;

        why = tree_digest_of_segments(t->encoded + (digest - t->encoded), t,
                                      d->large[i].entry);
    }
    return why;
}

int tree_source_digest(struct tree_source *s, struct es_error *err)
{
    struct digests d = {.s = s};
    int why = find_large(&d);

    if (why == 0)
        why = offload_each(s->index.n, find_digest, &d);
    if (why)
        (void)fail_on(s, atomic_load(&d.failed), why, err);
    else if (add_segments(&d) != 0
             || tree_want_init(&s->want, s->index.segments) != 0)
        why = es_no_memory(err);
    for (uint32_t i = 0; i < d.n_large; i++)
        free(d.large[i].cuts.segment);
    free(d.large);
    return why ? -1 : 0;
}

int tree_source_select(struct tree_source *s, struct es_error *err)
{
    return !s->want.bits || tree_index_select(&s->index, &s->want) == 0
               ? 0
               : es_no_memory(err);
}

struct check {
    const struct tree_source *s;
    atomic_uint failed; /* the entry */
};

static int check_file(void *arg, uint32_t entry)
{
    struct check *c = arg;

    int why = ENODATA;

    if (c->s->index.entry[entry].kind != TREE_FILE)
        return 0;
    if (is_over(c->s))
        why = ECANCELED;
    else if (is_as_it_was(c->s, entry))
        return 0;
    atomic_store(&c->failed, entry);
    return why;
}

int tree_source_check(const struct tree_source *s, struct es_error *err)
{
    struct check c = {.s = s};
    int why = offload_each(s->index.n, check_file, &c);

    return why ? fail_on(s, atomic_load(&c.failed), why, err) : 0;
}

/* --- start and end -------------------------------------------------------- */

void tree_source_init(struct tree_source *s, const atomic_int *stop)
{
    *s = (struct tree_source){.progress = {.stop = stop}};
}

void tree_source_cancel(struct tree_source *s)
{
    atomic_store(&s->progress.cancel, 1);
}

int tree_source_open(struct tree_source *s,
                     const struct tree_wish *wish,
                     struct es_error *err)
{
    struct writer w = {0};
    int why;

    s->files =
        (struct tree_files){.index = &s->index, .open = open_next, .arg = s};
    if (tree_walk(&s->found, wish, &s->progress, &w, err) < 0) {
        writer_clear(&w);
        tree_source_close(s);
        return -1;
    }
    why = tree_index_read(&s->index, w.buf, w.len);
    s->bytes = s->index.bytes;
    if (why == 0)
        return 0;
    tree_source_close(s);
    return why == ENOMEM ? es_no_memory(err)
                         : es_fail(err, ES_WORK, "tell the developers",
                                   "the tree's index cannot be read again");
}

void tree_source_close(struct tree_source *s)
{
    tree_ahead_stop(s->ahead);
    s->ahead = NULL;
    tree_files_clear(&s->files);
    tree_index_clear(&s->index);
    tree_found_clear(&s->found);
    tree_want_clear(&s->want);
}
