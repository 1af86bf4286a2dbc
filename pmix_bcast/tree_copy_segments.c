/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Of a large file that is not on this node as it is to be, the segments that are:
 * in the old tree under its name, or in some file of the cache.
 *
 * A segment's digest is checked on the bytes that are written, so it does not
 * matter what happens to the other file meanwhile.
 */
#include "pmix_bcast/file_digest.h"
#include "pmix_bcast/file_extents.h"
#include "pmix_bcast/file_io.h"
#include "pmix_bcast/offload.h"
#include "pmix_bcast/segment_list.h"
#include "pmix_bcast/tree_copy_state.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct lack { /* a segment of a file that is to come */
    uint32_t entry, i;
};

struct search {
    struct tree_copy *t;
    uint8_t *here;              /* of each segment of the tree; the caller's */
    struct lack *lack;          /* n, owned */
    uint32_t n;                 /* of them */
    struct segment_list wanted; /* the same, by content */
    struct segment_list known;  /* of these, what is here.  file: the entry in
                                  whose place it is in the old tree, or behind
                                  these the number of the cache's file */
    pthread_mutex_t lock;       /* of known */
};

/* --- what is to come ------------------------------------------------------- */

static int is_due(const struct tree_copy *t, uint32_t entry)
{
    return t->left[entry] > 0 && t->index.entry[entry].cuts;
}

static void want(struct search *s, uint32_t entry, uint32_t i)
{
    struct tree_segment segment = tree_index_segment(&s->t->index, entry, i);

    s->lack[s->n++] = (struct lack){entry, i};
    segment_list_add(&s->wanted, &segment, 0);
}

static int find_lacks(struct search *s)
{
    const struct tree_index *t = &s->t->index;
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n; i++)
        n += is_due(s->t, i) ? t->entry[i].segments : 0;
    s->lack = calloc(n + 1u, sizeof *s->lack);
    if (!s->lack)
        return ENOMEM;
    for (uint32_t i = 0; i < t->n; i++)
        for (uint32_t k = 0; is_due(s->t, i) && k < t->entry[i].segments; k++)
            want(s, i, k);
    segment_list_sort(&s->wanted);
    s->known.only = &s->wanted;
    return 0;
}

/* --- what is here ---------------------------------------------------------- */

static void know(struct search *s, const struct tree_cuts *cuts, uint32_t file)
{
    (void)pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < cuts->n; i++)
        segment_list_add(&s->known, &cuts->segment[i], file);
    (void)pthread_mutex_unlock(&s->lock);
}

/* It is read to its end, or as far as that is possible. */
static void cut_old(struct tree_cuts *cuts, struct tree_copy *t, int fd)
{
    struct file_extents x = {.n = 0};
    struct stat st;

    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)
        && file_extents_find(&x, fd, (uint64_t)st.st_size) == 0)
        (void)tree_digest_cut(cuts, x.extent, x.n, fd, &t->progress);
    file_extents_clear(&x);
}

static int know_old(void *arg, uint32_t entry)
{
    struct search *s = arg;
    struct tree_cuts cuts = {.n = 0};
    int fd = is_due(s->t, entry) ? tree_copy_open_old(s->t, entry) : -1;

    if (fd < 0)
        return 0;
    cut_old(&cuts, s->t, fd);
    know(s, &cuts, entry);
    free(cuts.segment);
    close(fd);
    return atomic_load(&s->t->progress.cancel) ? ECANCELED : 0;
}

/* --- taking it ------------------------------------------------------------- */

static int open_known(const struct search *s, uint32_t file)
{
    return file < s->t->index.n
               ? tree_copy_open_old(s->t, file)
               : tree_cache_open_file(&s->t->cache, file - s->t->index.n);
}

/* 0; EBADMSG: these are other bytes; ENOMEM. */
static int check(const struct tree_segment *wanted, const uint8_t *bytes)
{
    struct file_digester *sum = file_digester_create();
    struct file_digest d;

    if (!sum)
        return ENOMEM;
    file_digester_add(sum, bytes, wanted->len);
    d = file_digester_end(sum);
    file_digester_destroy(sum);
    return memcmp(d.byte, wanted->digest, TREE_DIGEST) == 0 ? 0 : EBADMSG;
}

/* 0, or an errno value: it is not there, or not any more. */
static int read_from(struct search *s,
                     const struct segment_place *p,
                     uint8_t *bytes)
{
    int fd = open_known(s, p->file), why;

    if (fd < 0)
        return ENOENT;
    why = file_read_at(fd, bytes, p->segment.len, p->segment.offset);
    close(fd);
    if (why == 0)
        why = check(&p->segment, bytes);
    if ((why == EBADMSG || why == ENODATA || why == EIO)
        && p->file >= s->t->index.n)
        tree_cache_mark_bad(&s->t->cache, p->file - s->t->index.n);
    return why;
}

/* From one of n places, in several files or in one.  1: the bytes are here. */
static int read_known(struct search *s,
                      const struct segment_place *p,
                      size_t n,
                      uint8_t *bytes)
{
    for (size_t i = 0; i < n && !atomic_load(&s->t->progress.cancel); i++)
        if ((i == 0 || p[i].file != p[i - 1].file)
            && read_from(s, &p[i], bytes) == 0)
            return 1;
    return 0;
}

static int write_new(const struct search *s,
                     uint32_t entry,
                     const struct tree_segment *segment,
                     const uint8_t *bytes)
{
    char path[TREE_PATH_MAX];
    int fd, why;

    if (tree_index_path(&s->t->index, entry, path) < 0)
        return ENAMETOOLONG;
    fd = openat(s->t->root, path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
                0600);
    if (fd < 0)
        return errno;
    why = file_write_at(fd, bytes, segment->len, segment->offset);
    close(fd);
    return why;
}

static int take_segment(void *arg, uint32_t n)
{
    struct search *s = arg;
    const struct lack *l = &s->lack[n];
    struct tree_segment segment =
        tree_index_segment(&s->t->index, l->entry, l->i);
    const struct segment_place *known;
    uint8_t *bytes;
    size_t n_known;
    int why = 0;

    if (atomic_load(&s->t->progress.cancel))
        return ECANCELED;
    known = segment_list_find(&s->known, &segment, &n_known);
    bytes = known ? malloc(segment.len) : NULL;
    if (!bytes)
        return 0; /* it comes */
    if (read_known(s, known, n_known, bytes)) {
        why = write_new(s, l->entry, &segment, bytes);
        s->here[s->t->index.entry[l->entry].segment + l->i] = why == 0;
    }
    free(bytes);
    (void)atomic_fetch_add(&s->t->progress.steps, 1);
    return why;
}

/* --- what is left ---------------------------------------------------------- */

static int end_file(struct tree_copy *t, uint32_t entry)
{
    char path[TREE_PATH_MAX];
    int fd, why;

    if (tree_index_path(&t->index, entry, path) < 0)
        return ENAMETOOLONG;
    fd = openat(t->root, path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno;
    why = tree_copy_begin_file(t, entry, fd) < 0 ? errno : 0;
    if (why == 0 && t->left[entry] == 0)
        why = tree_copy_end_file(t, &t->index.entry[entry], fd);
    close(fd);
    return why;
}

static int count_left(void *arg, uint32_t entry)
{
    struct search *s = arg;
    struct tree_copy *t = s->t;
    const struct tree_entry *e = &t->index.entry[entry];

    if (!is_due(t, entry))
        return 0;
    if (t->bad[entry])
        tree_cache_drop(&t->cache, e->digest);
    for (uint32_t k = 0; k < e->segments; k++)
        if (s->here[e->segment + k])
            t->left[entry] -= tree_index_segment(&t->index, entry, k).len;
    (void)atomic_fetch_add(&t->progress.steps, 1);
    return t->left[entry] < e->data ? end_file(t, entry) : 0;
}

static int search(struct search *s)
{
    uint32_t entries = s->t->index.n;
    int why = offload_each(entries, know_old, s);

    if (why == 0)
        why = tree_cache_segments(&s->t->cache, &s->known, entries,
                                  &s->t->progress);
    segment_list_sort(&s->known);
    if (why == 0 && s->known.n > 0)
        why = offload_each(s->n, take_segment, s);
    tree_cache_drop_bad(&s->t->cache);
    return why ? why : offload_each(entries, count_left, s);
}

int tree_copy_take_segments(struct tree_copy *t, uint8_t *here)
{
    struct search s = {.t = t, .here = here};
    int why = find_lacks(&s);

    (void)pthread_mutex_init(&s.lock, NULL); /* cannot fail on Linux */
    if (why == 0 && s.n > 0)
        why = search(&s);
    (void)pthread_mutex_destroy(&s.lock);
    segment_list_clear(&s.known);
    segment_list_clear(&s.wanted);
    free(s.lack);
    return why;
}
