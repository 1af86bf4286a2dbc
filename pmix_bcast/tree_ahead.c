/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/tree_ahead.h"
#include "pmix_bcast/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* They wait for the file system, so there may be more of them than CPUs. */
#define THREADS 4u
/* Home has several receivers, of which some are ahead of others: what it comes to
 * later than to files behind it is kept for as many files. */
#define FILES (2 * TREE_AHEAD_FILES)

struct opened {
    uint32_t entry; /* 0: there is none */
    uint64_t nth;   /* of those that were come to */
    uint64_t at;    /* where it begins in the content */
    int is_here;    /* 0: a thread is at it */
    int fd;         /* -1: it could not be opened */
};

struct tree_ahead {
    const struct tree_index *t;
    int (*open)(void *arg, uint32_t entry);
    void *arg;
    pthread_t thread[THREADS];
    unsigned threads;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t room;  /* there may be something to be opened */
    pthread_cond_t here;  /* something has been */
    struct opened file[FILES];
    size_t next;       /* the extent that the next file begins with */
    uint64_t nth;      /* which one that is */
    uint64_t asked;    /* the last one of these that was asked for ... */
    uint64_t asked_at; /* ... and where it begins */
    int is_over;
};

/* --- in a thread ---------------------------------------------------------- */

static struct opened *find(struct tree_ahead *a, uint32_t entry)
{
    for (size_t i = 0; i < FILES; i++)
        if (a->file[i].entry == entry)
            return &a->file[i];
    return NULL;
}

/* On to the next file. */
static void skip(struct tree_ahead *a)
{
    const struct tree_index *t = a->t;
    uint32_t entry = t->extent[a->next].entry;

    while (a->next < t->n_extents && t->extent[a->next].entry == entry)
        a->next++;
    a->nth++;
}

/* Where the next file is to be put; NULL: it is too early for it. */
static struct opened *place(struct tree_ahead *a)
{
    if (a->nth > a->asked + TREE_AHEAD_FILES
        || a->t->extent[a->next].at > a->asked_at + TREE_AHEAD_BYTES)
        return NULL;
    return find(a, 0);
}

/* Open the next file, while others are at the lock. */
static void open_next(struct tree_ahead *a, struct opened *to)
{
    const struct tree_extent *first = &a->t->extent[a->next];
    int fd;

    *to = (struct opened){first->entry, a->nth, first->at, 0, -1};
    skip(a);
    (void)pthread_mutex_unlock(&a->lock);
    fd = a->open(a->arg, first->entry);
    if (fd >= 0)
        (void)posix_fadvise(fd, (off_t)first->offset, TREE_AHEAD_BYTES,
                            POSIX_FADV_WILLNEED);
    (void)pthread_mutex_lock(&a->lock);
    to->fd = fd;
    to->is_here = 1;
    (void)pthread_cond_signal(&a->here); /* one waits at most */
}

static void *run(void *arg)
{
    struct tree_ahead *a = arg;

    (void)pthread_mutex_lock(&a->lock);
    while (!a->is_over && a->next < a->t->n_extents) {
        struct opened *to = place(a);

        if (to)
            open_next(a, to);
        else
            (void)pthread_cond_wait(&a->room, &a->lock);
    }
    (void)pthread_mutex_unlock(&a->lock);
    return NULL;
}

/* --- for home ------------------------------------------------------------- */

static void close_file(struct opened *f)
{
    if (f->entry && f->fd >= 0)
        close(f->fd);
    *f = (struct opened){.fd = -1};
}

static void note_asked(struct tree_ahead *a, uint64_t nth, uint64_t at)
{
    if (nth < a->asked)
        return;
    a->asked = nth;
    a->asked_at = at;
    for (size_t i = 0; i < FILES; i++) /* nobody wants these any more */
        if (a->file[i].is_here && a->file[i].nth + TREE_AHEAD_FILES < nth)
            close_file(&a->file[i]);
}

/* Its descriptor, if the threads have it, or are at it; -1: home opens it. */
static int take(struct tree_ahead *a, uint32_t entry)
{
    const struct tree_index *t = a->t;
    struct opened *f = find(a, entry);
    int fd;

    while (f && !f->is_here)
        (void)pthread_cond_wait(&a->here, &a->lock);
    if (f) {
        note_asked(a, f->nth, f->at);
        fd = f->fd;
        *f = (struct opened){.fd = -1};
        return fd;
    }
    while (a->next < t->n_extents && t->extent[a->next].entry < entry)
        skip(a); /* it is before them */
    if (a->next < t->n_extents && t->extent[a->next].entry == entry) {
        note_asked(a, a->nth, t->extent[a->next].at);
        skip(a);
    }
    return -1;
}

int tree_ahead_open(struct tree_ahead *a, uint32_t entry)
{
    int fd;

    (void)pthread_mutex_lock(&a->lock);
    fd = take(a, entry);
    (void)pthread_cond_signal(&a->room);
    (void)pthread_mutex_unlock(&a->lock);
    return fd >= 0 ? fd : a->open(a->arg, entry); /* errno is of now */
}

/* --- start and end -------------------------------------------------------- */

struct tree_ahead *tree_ahead_start(const struct tree_index *t,
                                    uint64_t at,
                                    int (*open)(void *arg, uint32_t entry),
                                    void *arg)
{
    struct tree_ahead *a = calloc(1, sizeof *a);

    if (!a)
        return NULL;
    a->t = t;
    a->open = open;
    a->arg = arg;
    a->asked_at = at;
    a->next = at < t->bytes ? tree_index_extent(t, at) : t->n_extents;
    for (size_t i = 0; i < FILES; i++)
        a->file[i].fd = -1;
    (void)pthread_mutex_init(&a->lock, NULL); /* these cannot fail on Linux */
    (void)pthread_cond_init(&a->room, NULL);
    (void)pthread_cond_init(&a->here, NULL);
    while (a->threads < THREADS
           && thread_start(&a->thread[a->threads], run, a) == 0)
        a->threads++;
    if (a->threads > 0)
        return a;
    tree_ahead_stop(a);
    return NULL;
}

void tree_ahead_stop(struct tree_ahead *a)
{
    if (!a)
        return;
    (void)pthread_mutex_lock(&a->lock);
    a->is_over = 1;
    (void)pthread_cond_broadcast(&a->room);
    (void)pthread_mutex_unlock(&a->lock);
    for (unsigned i = 0; i < a->threads; i++)
        (void)pthread_join(a->thread[i], NULL);
    for (size_t i = 0; i < FILES; i++)
        close_file(&a->file[i]);
    (void)pthread_cond_destroy(&a->here);
    (void)pthread_cond_destroy(&a->room);
    (void)pthread_mutex_destroy(&a->lock);
    free(a);
}
