/* SPDX-License-Identifier: BSD-2-Clause */
/* A tree's index as a node gets it: whatever is in it, no path leads out. */
#include "pmix_bcast/tree_index.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
    if (!holds)
        abort();
}

static void check_entry(const struct tree_index *t, uint32_t i)
{
    const struct tree_entry *e = &t->entry[i];
    char path[TREE_PATH_MAX];

    must(i == 0 || e->parent < i);
    must(e->segments > 0 && e->segment < t->segments
         && e->segments <= t->segments - e->segment);
    must(e->mode <= 07777 && e->data <= e->size);
    must(e->kind != TREE_HARD_LINK || e->same < i);
    must(e->kind != TREE_SYMLINK || e->target);
    if (tree_index_path(t, i, path) < 0)
        return;
    must(path[0] != '/' && strlen(path) < sizeof path);
    must(strncmp(path, "../", 3) != 0 && !strstr(path, "/../"));
}

/* Of a large file they are all of it, one behind the other. */
static void check_segments(const struct tree_index *t, uint32_t entry)
{
    const struct tree_entry *e = &t->entry[entry];
    uint64_t data = 0, at = 0;

    for (uint32_t i = 0; e->cuts && i < e->segments; i++) {
        struct tree_segment s = tree_index_segment(t, entry, i);

        must(s.len > 0 && s.len <= 1u << 20 && s.offset >= at);
        at = s.offset + s.len;
        data += s.len;
    }
    must(!e->cuts || (data == e->data && at <= e->size));
}

static void check_content(const struct tree_index *t)
{
    uint64_t at = 0;

    for (size_t x = 0; x < t->n_extents; x++) {
        struct tree_piece p = tree_index_piece(t, x, at, SIZE_MAX);

        must(tree_index_extent(t, at) == x);
        must(p.segment >= t->entry[p.entry].segment
             && p.segment - t->entry[p.entry].segment
                    < t->entry[p.entry].segments);
        must(p.len > 0 && p.offset + p.len <= t->entry[p.entry].size);
        at += p.len;
    }
    must(at == t->bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tree_index t;
    uint8_t *bytes = malloc(size > 0 ? size : 1);

    if (!bytes)
        return 0;
    if (size > 0)
        memcpy(bytes, data, size);
    if (tree_index_read(&t, bytes, size) != 0)
        return 0;
    must(t.n > 0);
    for (uint32_t i = 0; i < t.n; i++)
        check_entry(&t, i);
    for (uint32_t i = 0; i < t.n; i++)
        check_segments(&t, i);
    check_content(&t);
    tree_index_clear(&t);
    return 0;
}
