/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/offload.h"
#include "pmix_bcast/tree_copy_state.h"
#include "pmix_bcast/tree_merge.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHOWN 300u /* bytes of a path in a message, with its NUL */

/* --- from the old tree and the cache --------------------------------------- */

static int find_same(struct tree_copy *t, int *fd, const struct tree_place *p)
{
    int old = tree_copy_open_old(t, p->entry), why = 0;

    *fd = -1;
    if (old >= 0) {
        why = tree_same_make(fd, p, old);
        close(old);
    }
    if (why == 0 && *fd < 0)
        why = tree_cache_get(&t->cache, fd, p);
    t->bad[p->entry] = *fd == TREE_CACHE_DAMAGED;
    return why;
}

static int keep_same(void *arg, uint32_t entry)
{
    struct tree_copy *t = arg;
    const struct tree_entry *e = &t->index.entry[entry];
    struct tree_place p;
    char path[TREE_PATH_MAX];
    int fd, why;

    if (e->kind != TREE_FILE || t->left[entry] == 0 || !e->digest)
        return 0;
    why = tree_copy_place(t, entry, &p, path);
    if (why == 0)
        why = find_same(t, &fd, &p);
    if (why || fd < 0)
        return why;
    why = tree_copy_end_file(t, e, fd);
    close(fd);
    t->left[entry] = 0;
    (void)atomic_fetch_add(&t->progress.steps, 1);
    return why;
}

static void note_lacks(struct tree_copy *t, const uint8_t *here)
{
    for (uint32_t i = 0; i < t->index.n; i++) {
        const struct tree_entry *e = &t->index.entry[i];

        for (uint32_t k = 0; t->left[i] > 0 && k < e->segments; k++)
            if (!here[e->segment + k])
                tree_want_add(&t->lacks, e->segment + k);
    }
}

static int look_for_same(struct tree_copy *t)
{
    uint8_t *here = calloc(t->index.segments + 1u, 1);
    int why = here ? tree_want_init(&t->lacks, t->index.segments) : ENOMEM;

    if (t->use_cache)
        tree_cache_open(&t->cache, t->cache_path, t->cache_bytes, t->cache_note,
                        sizeof t->cache_note);
    if (why == 0)
        why = offload_each(t->index.n, keep_same, t);
    if (why == 0)
        why = tree_copy_find_twins(t);
    if (why == 0)
        why = tree_copy_take_segments(t, here);
    if (why == 0)
        note_lacks(t, here);
    free(here);
    return why;
}

/* Of a path that would leave no room for the reason, its end. */
static void shorten(char shown[SHOWN], const char *path)
{
    size_t len = strlen(path);
    const char *end = len < SHOWN ? NULL : strchr(path + len - SHOWN + 4, '/');

    snprintf(shown, SHOWN, "%s%s", end ? "..." : "", end ? end : path);
}

static void say_why_not(struct tree_copy *t, int why, const char *path)
{
    char shown[SHOWN];

    shorten(shown, path);
    if (why == EISDIR)
        snprintf(t->why, sizeof t->why,
                 "%s is a folder there, and none in SRC: give --delete", shown);
    else if (why == EBUSY)
        snprintf(t->why, sizeof t->why, TREE_COPY_MOUNTED, shown);
    else if (why == EXDEV)
        snprintf(t->why, sizeof t->why,
                 "%s belongs to another device, subvolume or project there, "
                 "and cannot be kept: give --delete",
                 shown);
    else
        snprintf(t->why, sizeof t->why, "%s: %s", shown, strerror(why));
}

/* What only the old tree has. */
static int keep_others(struct tree_copy *t)
{
    struct tree_merge *m;
    int why;

    if (t->old < 0 || t->delete)
        return 0;
    m = malloc(sizeof *m);
    if (!m)
        return ENOMEM;
    *m = (struct tree_merge){.index = &t->index,
                             .from = t->old,
                             .to = t->root,
                             .progress = &t->progress};
    why = tree_merge(m);
    if (why && m->path[0])
        say_why_not(t, why, m->path);
    free(m);
    return why;
}

int tree_copy_take_same(struct tree_copy *t)
{
    int why = look_for_same(t);

    return why ? why : keep_others(t);
}

/* --- for the next time ----------------------------------------------------- */

static int put_into_cache(void *arg, uint32_t entry)
{
    struct tree_copy *t = arg;
    const struct tree_entry *e = &t->index.entry[entry];
    struct tree_place p;
    char path[TREE_PATH_MAX];

    if (e->kind == TREE_FILE && e->digest && e->data > 0
        && tree_copy_place(t, entry, &p, path) == 0)
        tree_cache_put(&t->cache, &p);
    return atomic_load(&t->progress.cancel) ? ECANCELED : 0;
}

/* Room is made first, so that it never has more than it may. */
int tree_copy_fill_cache(struct tree_copy *t)
{
    uint64_t lacks = 0;
    int why;

    if (t->cache.folder < 0)
        return 0;
    for (uint32_t i = 0; i < t->index.n; i++)
        lacks += tree_cache_lacks(&t->cache, &t->index.entry[i]);
    if (lacks == 0)
        return 0;
    tree_cache_trim(&t->cache, lacks < t->cache.bytes ? lacks : t->cache.bytes);
    why = offload_each(t->index.n, put_into_cache, t);
    if (why == 0)
        tree_cache_trim(&t->cache, 0); /* others may have put in, too */
    return why;
}
