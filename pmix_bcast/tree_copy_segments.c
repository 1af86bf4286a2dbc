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
    uint8_t *here;     /* of each segment of the tree; the caller's */
    uint32_t *large;   /* n_large entries, owned: files that are to come */
    struct lack *lack; /* n_lacks, owned: their segments */
    uint32_t n_large, n_lacks;
    struct segment_list known; /* in files of the old tree, by entry, and behind
                                  them those of the cache */
    pthread_mutex_t lock;      /* of known */
};

/* --- what is to come ------------------------------------------------------- */

static int is_due(const struct tree_copy *t, uint32_t entry)
{
    return t->left[entry] > 0 && t->index.entry[entry].cuts;
}

static int find_lacks(struct search *s)
{
    const struct tree_copy *t = s->t;
    uint32_t files = 0, segments = 0;

    for (uint32_t i = 0; i < t->index.n; i++) {
        files += (uint32_t)is_due(t, i);
        segments += is_due(t, i) ? t->index.entry[i].segments : 0;
    }
    s->large = calloc(files + 1u, sizeof *s->large);
    s->lack = calloc(segments + 1u, sizeof *s->lack);
    if (!s->large || !s->lack)
        return ENOMEM;
    for (uint32_t i = 0; i < t->index.n; i++) {
        if (!is_due(t, i))
            continue;
        s->large[s->n_large++] = i;
        for (uint32_t k = 0; k < t->index.entry[i].segments; k++)
            s->lack[s->n_lacks++] = (struct lack){i, k};
    }
    return 0;
}

/* --- what is here ---------------------------------------------------------- */

static int know(struct search *s, const struct tree_cuts *cuts, uint32_t file)
{
    int why = 0;

    (void)pthread_mutex_lock(&s->lock);
    for (size_t i = 0; why == 0 && i < cuts->n; i++)
        why = segment_list_add(&s->known, &cuts->segment[i], file);
    (void)pthread_mutex_unlock(&s->lock);
    return why;
}

/* It is read to its end, which is what its segments cost. */
static int cut_old(struct tree_cuts *cuts, struct tree_copy *t, int fd)
{
    struct file_extents x = {.n = 0};
    struct stat st;
    int why;

    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return 0;
    why = file_extents_find(&x, fd, (uint64_t)st.st_size);
    if (why == 0)
        why = tree_digest_cut(cuts, x.extent, x.n, fd, &t->progress);
    file_extents_clear(&x);
    return why == ENODATA || why == EIO ? 0 : why; /* what was read is right */
}

static int know_old(void *arg, uint32_t i)
{
    struct search *s = arg;
    struct tree_cuts cuts = {.n = 0};
    uint32_t entry = s->large[i];
    int fd = tree_copy_open_old(s->t, entry), why;

    if (fd < 0)
        return 0;
    why = cut_old(&cuts, s->t, fd);
    if (why == 0)
        why = know(s, &cuts, entry);
    free(cuts.segment);
    close(fd);
    return why;
}

/* --- taking it ------------------------------------------------------------- */

static int open_known(const struct search *s, uint32_t file)
{
    return file < s->t->index.n
               ? tree_copy_open_old(s->t, file)
               : tree_cache_open_file(&s->t->cache, file - s->t->index.n);
}

static int is_it(const struct tree_segment *wanted, const uint8_t *bytes)
{
    struct file_digester *sum = file_digester_create();
    struct file_digest d = {0};

    if (!sum)
        return 0;
    file_digester_add(sum, bytes, wanted->len);
    d = file_digester_end(sum);
    file_digester_destroy(sum);
    return memcmp(d.byte, wanted->digest, TREE_DIGEST) == 0;
}

/* 1: the bytes are here; 0: they are not, or not any more. */
static int read_known(const struct search *s,
                      const struct tree_segment *wanted,
                      uint8_t *bytes)
{
    const struct segment_place *p = segment_list_find(&s->known, wanted);
    int fd = p ? open_known(s, p->file) : -1, is_here;

    if (fd < 0)
        return 0;
    is_here = file_read_at(fd, bytes, wanted->len, p->segment.offset) == 0
              && is_it(wanted, bytes);
    close(fd);
    if (!is_here && p->file >= s->t->index.n)
        tree_cache_drop(&s->t->cache, p->file - s->t->index.n);
    return is_here;
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
    uint8_t *bytes;
    int why = 0;

    if (atomic_load(&s->t->progress.cancel))
        return ECANCELED;
    if (!segment_list_find(&s->known, &segment))
        return 0;
    bytes = malloc(segment.len);
    if (!bytes)
        return ENOMEM;
    if (read_known(s, &segment, bytes)) {
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

static int count_left(void *arg, uint32_t i)
{
    struct search *s = arg;
    struct tree_copy *t = s->t;
    uint32_t entry = s->large[i];
    const struct tree_entry *e = &t->index.entry[entry];

    for (uint32_t k = 0; k < e->segments; k++)
        if (s->here[e->segment + k])
            t->left[entry] -= tree_index_segment(&t->index, entry, k).len;
    return t->left[entry] < e->data ? end_file(t, entry) : 0;
}

int tree_copy_take_segments(struct tree_copy *t, uint8_t *here)
{
    struct search s = {.t = t, .here = here};
    int why = find_lacks(&s);

    (void)pthread_mutex_init(&s.lock, NULL); /* cannot fail on Linux */
    if (why == 0)
        why = offload_each(s.n_large, know_old, &s);
    if (why == 0 && s.n_large > 0)
        why = tree_cache_segments(&t->cache, &s.known, t->index.n);
    segment_list_sort(&s.known);
    if (why == 0 && s.known.n > 0)
        why = offload_each(s.n_lacks, take_segment, &s);
    if (why == 0)
        why = offload_each(s.n_large, count_left, &s);
    (void)pthread_mutex_destroy(&s.lock);
    segment_list_clear(&s.known);
    free(s.large);
    free(s.lack);
    return why;
}
