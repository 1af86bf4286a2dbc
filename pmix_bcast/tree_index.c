/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/tree_index.h"
#include "pmix_bcast/array.h"
#include "pmix_bcast/segmenter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC UINT32_C(0x65737433) /* "est3" */
#define DENSE UINT32_MAX
#define HEAD  20u /* bytes before the first entry */
#define CUT   TREE_SEGMENT_BYTES

/* --- making one ----------------------------------------------------------- */

void tree_write_head(struct writer *w, uint32_t parts)
{
    write_u32(w, MAGIC);
    write_u32(w, parts);
    write_u32(w, 0);
    write_u64(w, 0);
}

static void write_common(struct writer *w,
                         enum tree_kind kind,
                         const struct tree_entry *e)
{
    write_u32(w, (uint32_t)kind << 16 | e->mode);
    write_u32(w, e->parent);
    write_u64(w, (uint64_t)e->mtime_ns);
    write_blob(w, e->name, strlen(e->name) + 1);
    if (e->xattrs && kind != TREE_HARD_LINK)
        write_blob(w, e->xattrs, e->xattrs_len);
}

void tree_write_folder(struct writer *w, const struct tree_entry *e)
{
    write_common(w, TREE_FOLDER, e);
}

void tree_write_file(struct writer *w,
                     const struct tree_entry *e,
                     const struct tree_file_data *data)
{
    int dense = data->size > 0 && data->n == 1 && data->extent[0].offset == 0
                && data->extent[0].len == data->size;

    write_common(w, TREE_FILE, e);
    write_u64(w, data->size);
    write_u32(w, dense ? DENSE : (uint32_t)data->n);
    for (size_t i = 0; !dense && i < data->n; i++) {
        write_u64(w, data->extent[i].offset);
        write_u64(w, data->extent[i].len);
    }
    if (e->digest)
        write_blob(w, e->digest, TREE_DIGEST);
}

void tree_write_symlink(struct writer *w, const struct tree_entry *e)
{
    write_common(w, TREE_SYMLINK, e);
    write_blob(w, e->target, strlen(e->target) + 1);
}

void tree_write_hard_link(struct writer *w, const struct tree_entry *e)
{
    write_common(w, TREE_HARD_LINK, e);
    write_u32(w, e->same);
}

void tree_write_end(struct writer *w, uint32_t n, uint64_t bytes)
{
    if (w->bad || w->len < HEAD)
        return;
    put_u32(w->buf + 8, n);
    put_u32(w->buf + 12, (uint32_t)(bytes >> 32));
    put_u32(w->buf + 16, (uint32_t)bytes);
}

void tree_write_segments(struct writer *w,
                         uint32_t entry,
                         const struct tree_segment *segment,
                         size_t n)
{
    uint8_t *cuts = malloc(n * CUT + 1);

    write_u32(w, entry);
    for (size_t i = 0; cuts && i < n; i++) {
        put_u32(cuts + i * CUT, segment[i].len);
        memcpy(cuts + i * CUT + 4, segment[i].digest, TREE_DIGEST);
    }
    if (cuts)
        write_blob(w, cuts, n * CUT);
    else
        w->bad = 1;
    free(cuts);
}

/* --- reading it ----------------------------------------------------------- */

struct decoder {
    struct tree_index *t;
    struct reader r;
    uint32_t parts;
    size_t entries_room, extents_room;
    uint64_t at; /* in the content */
    int error;
};

/* A text that must have its NUL at its end, and nowhere else; "" if bad. */
static const char *read_string(struct decoder *d)
{
    size_t len;
    const uint8_t *text = read_blob(&d->r, &len);

    if (!d->r.bad && len > 0 && memchr(text, '\0', len) == text + len - 1)
        return (const char *)text;
    d->r.bad = 1;
    return "";
}

static int is_name(const char *name)
{
    return name[0] != '\0' && strlen(name) <= NAME_MAX && !strchr(name, '/')
           && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static void add_extent(struct decoder *d, uint64_t offset, uint64_t len)
{
    struct tree_index *t = d->t;
    struct tree_extent *extent =
        array_grow(t->extent, &d->extents_room, t->n_extents + 1,
                   sizeof *extent, SIZE_MAX / sizeof *extent);

    if (!extent) {
        d->error = ENOMEM;
        return;
    }
    t->extent = extent;
    extent[t->n_extents++] = (struct tree_extent){offset, len, d->at, t->n, 0};
    d->at += len;
}

/* Extents come in order, and none is empty. */
static void read_extents(struct decoder *d, struct tree_entry *e)
{
    uint64_t before = d->at, end = 0;
    uint32_t n;

    e->size = read_u64(&d->r);
    n = read_u32(&d->r);
    if (e->size > INT64_MAX)
        d->r.bad = 1;
    if (n == DENSE && e->size > 0)
        add_extent(d, 0, e->size);
    for (uint32_t i = 0; n != DENSE && i < n && !d->r.bad && !d->error; i++) {
        uint64_t offset = read_u64(&d->r), len = read_u64(&d->r);

        if (offset < end || len == 0 || len > e->size || offset > e->size - len)
            d->r.bad = 1;
        else
            add_extent(d, offset, len);
        end = offset + len;
    }
    e->data = d->at - before;
}

static void read_digest(struct decoder *d, struct tree_entry *e)
{
    size_t len;

    e->digest = read_blob(&d->r, &len);
    if (len != TREE_DIGEST)
        d->r.bad = 1;
}

/* Each name and value is looked at once, here. */
static void read_xattrs(struct decoder *d, struct tree_entry *e)
{
    struct tree_xattr x;
    size_t at = 0;

    e->xattrs = read_blob(&d->r, &e->xattrs_len);
    if (d->r.bad || e->xattrs_len > TREE_XATTRS_MAX) {
        d->r.bad = 1;
        return;
    }
    while (tree_index_xattr(e, &at, &x))
        if (at > e->xattrs_len)
            d->r.bad = 1;
}

static void read_rest(struct decoder *d, struct tree_entry *e)
{
    if (d->parts & TREE_XATTRS && e->kind != TREE_HARD_LINK)
        read_xattrs(d, e);
    switch (e->kind) {
    case TREE_FILE:
        read_extents(d, e);
        if (d->parts & TREE_DIGESTS)
            read_digest(d, e);
        break;
    case TREE_SYMLINK:
        e->target = read_string(d);
        break;
    case TREE_HARD_LINK:
        e->same = read_u32(&d->r);
        if (e->same >= d->t->n || d->t->entry[e->same].kind != TREE_FILE)
            d->r.bad = 1;
        break;
    case TREE_FOLDER:
    default:
        break;
    }
}

static int is_rightly_placed(const struct tree_index *t,
                             const struct tree_entry *e)
{
    if (t->n == 0)
        return e->kind == TREE_FOLDER && e->name[0] == '\0' && e->parent == 0;
    return is_name(e->name) && e->parent < t->n
           && t->entry[e->parent].kind == TREE_FOLDER;
}

static void read_entry(struct decoder *d)
{
    struct tree_index *t = d->t;
    struct tree_entry *entry = array_grow(t->entry, &d->entries_room, t->n + 1u,
                                          sizeof *entry, TREE_ENTRIES_MAX);
    struct tree_entry e = {.kind = TREE_FOLDER, .segments = 1};
    uint32_t word;

    if (!entry) {
        d->error = ENOMEM;
        return;
    }
    t->entry = entry;
    word = read_u32(&d->r);
    e.kind = (enum tree_kind)(word >> 16);
    e.mode = word & 0xffffu;
    e.parent = read_u32(&d->r);
    e.mtime_ns = (int64_t)read_u64(&d->r);
    e.name = read_string(d);
    if (word >> 16 > TREE_HARD_LINK || e.mode > 07777
        || !is_rightly_placed(t, &e))
        d->r.bad = 1;
    if (!d->r.bad)
        read_rest(d, &e);
    t->entry[t->n++] = e;
}

/* Of files in order. */
static void read_cuts(struct decoder *d, uint32_t *last)
{
    uint32_t entry = read_u32(&d->r);
    struct tree_index *t = d->t;
    size_t len;
    const uint8_t *cuts = read_blob(&d->r, &len);

    if (d->r.bad || entry <= *last || entry >= t->n || !t->entry[entry].digest
        || t->entry[entry].data == 0 || len < 2 * CUT || len % CUT != 0) {
        d->r.bad = 1;
        return;
    }
    t->entry[entry].cuts = cuts;
    t->entry[entry].segments = (uint32_t)(len / CUT);
    *last = entry;
}

static void number_segments(struct decoder *d)
{
    struct tree_index *t = d->t;

    for (uint32_t i = 0; i < t->n && !d->r.bad; i++) {
        struct tree_entry *e = &t->entry[i];

        e->segment = t->segments;
        if (e->segments > TREE_SEGMENTS_MAX - t->segments)
            d->r.bad = 1;
        else
            t->segments += e->segments;
    }
}

/* The extents of a file, n of them, become those of its segments.  0, or -1: they
 * are not all of it. */
static int split(struct tree_index *t,
                 const struct tree_extent *whole,
                 size_t n)
{
    const struct tree_entry *e = &t->entry[whole->entry];
    uint32_t done = 0;

    for (size_t i = 0; i < n; i++) {
        struct tree_extent x = whole[i];
        uint64_t left = x.len;

        while (left > 0) {
            x.len = done < e->segments ? get_u32(e->cuts + done * CUT) : 0;
            if (x.len == 0 || x.len > left || x.len > SEGMENT_MAX)
                return -1;
            x.segment = e->segment + done++;
            t->extent[t->n_extents++] = x;
            x.offset += x.len;
            x.at += x.len;
            left -= x.len;
        }
    }
    return done == e->segments ? 0 : -1;
}

/* Extents get the numbers of their segments. */
static void split_extents(struct decoder *d)
{
    struct tree_index *t = d->t;
    struct tree_extent *whole = t->extent;
    size_t n = t->n_extents, first = 0, next;

    t->extent = malloc((n + t->segments + 1) * sizeof *whole);
    t->n_extents = 0;
    if (!t->extent)
        d->error = ENOMEM;
    for (; first < n && !d->r.bad && !d->error; first = next) {
        const struct tree_entry *e = &t->entry[whole[first].entry];

        for (next = first; next < n && whole[next].entry == whole[first].entry;
             next++)
            whole[next].segment = e->segment;
        if (e->cuts && split(t, whole + first, next - first) < 0)
            d->r.bad = 1;
        for (size_t i = first; !e->cuts && i < next; i++)
            t->extent[t->n_extents++] = whole[i];
    }
    free(whole);
}

static void read_segments(struct decoder *d)
{
    uint32_t last = 0;

    while (d->parts & TREE_DIGESTS && d->r.left > 0 && !d->r.bad)
        read_cuts(d, &last);
    number_segments(d);
    if (!d->r.bad && last > 0)
        split_extents(d);
    for (size_t i = 0; !d->r.bad && last == 0 && i < d->t->n_extents; i++)
        d->t->extent[i].segment = d->t->entry[d->t->extent[i].entry].segment;
}

int tree_index_read(struct tree_index *t, uint8_t *encoded, size_t len)
{
    struct decoder d = {.t = t, .r = {encoded, len, 0}};
    uint32_t n;

    *t = (struct tree_index){.encoded = encoded, .len = len};
    if (read_u32(&d.r) != MAGIC)
        d.r.bad = 1;
    d.parts = read_u32(&d.r);
    if (d.parts > (TREE_DIGESTS | TREE_XATTRS))
        d.r.bad = 1;
    n = read_u32(&d.r);
    t->bytes = read_u64(&d.r);
    while (t->n < n && !d.r.bad && !d.error && d.at <= INT64_MAX)
        read_entry(&d);
    if (!d.r.bad && !d.error && t->n == n)
        read_segments(&d);
    if (!d.error
        && (read_end(&d.r) < 0 || n == 0 || d.at != t->bytes
            || d.at > INT64_MAX))
        d.error = EBADMSG;
    t->all = t->extent;
    t->n_all = t->n_extents;
    if (d.error)
        tree_index_clear(t);
    return d.error;
}

void tree_index_clear(struct tree_index *t)
{
    free(t->entry);
    if (t->all != t->extent)
        free(t->all);
    free(t->extent);
    free(t->encoded);
    *t = (struct tree_index){.n = 0};
}

/* --- what it says --------------------------------------------------------- */

int tree_index_path(const struct tree_index *t,
                    uint32_t entry,
                    char path[TREE_PATH_MAX])
{
    size_t at = TREE_PATH_MAX - 1;

    path[at] = '\0';
    if (entry == 0)
        path[--at] = '.';
    for (uint32_t i = entry; i != 0; i = t->entry[i].parent) {
        size_t len = strlen(t->entry[i].name), slash = i != entry;

        if (len + slash > at)
            return -1;
        if (slash)
            path[--at] = '/';
        at -= len;
        memcpy(path + at, t->entry[i].name, len);
    }
    memmove(path, path + at, TREE_PATH_MAX - at);
    return 0;
}

int tree_index_xattr(const struct tree_entry *e,
                     size_t *at,
                     struct tree_xattr *x)
{
    struct reader r = {0};
    size_t len;

    if (!e->xattrs || *at >= e->xattrs_len)
        return 0;
    r = (struct reader){e->xattrs + *at, e->xattrs_len - *at, 0};
    x->name = (const char *)read_blob(&r, &len);
    if (r.bad || len < 2 || memchr(x->name, '\0', len) != x->name + len - 1)
        r.bad = 1;
    else if (strncmp(x->name, "user.", 5) != 0
             && strncmp(x->name, "system.posix_acl_", 17) != 0)
        r.bad = 1; /* others say what a program may do */
    x->value = read_blob(&r, &x->len);
    *at = r.bad ? SIZE_MAX : e->xattrs_len - r.left;
    return 1;
}

/* --- some of it ----------------------------------------------------------- */

int tree_index_select(struct tree_index *t, const struct tree_want *want)
{
    struct tree_extent *some = malloc((t->n_all + 1) * sizeof *some);

    if (!some)
        return ENOMEM;
    if (t->extent != t->all)
        free(t->extent);
    t->extent = some;
    t->n_extents = 0;
    t->bytes = 0;
    for (size_t i = 0; i < t->n_all; i++) {
        if (!tree_want_has(want, t->all[i].segment))
            continue;
        some[t->n_extents] = t->all[i];
        some[t->n_extents++].at = t->bytes;
        t->bytes += t->all[i].len;
    }
    return 0;
}

const struct tree_extent *tree_index_extents(const struct tree_index *t,
                                             uint32_t entry,
                                             size_t *n)
{
    size_t low = 0, high = t->n_all, first;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (t->all[middle].entry < entry)
            low = middle + 1;
        else
            high = middle;
    }
    first = low;
    if (t->entry[entry].cuts)
        low += t->entry[entry].segments;
    while (low < t->n_all && t->all[low].entry == entry)
        low++;
    *n = low - first;
    return t->all + first;
}

struct tree_segment tree_index_segment(const struct tree_index *t,
                                       uint32_t entry,
                                       uint32_t i)
{
    size_t n;
    const struct tree_extent *x = tree_index_extents(t, entry, &n) + i;
    struct tree_segment s = {.offset = x->offset, .len = (uint32_t)x->len};

    memcpy(s.digest, t->entry[entry].cuts + i * CUT + 4, TREE_DIGEST);
    return s;
}

/* --- where it is ---------------------------------------------------------- */

size_t tree_index_extent(const struct tree_index *t, uint64_t at)
{
    size_t low = 0, high = t->n_extents;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (t->extent[middle].at <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

struct tree_piece tree_index_piece(const struct tree_index *t,
                                   size_t extent,
                                   uint64_t at,
                                   size_t len)
{
    const struct tree_extent *x = &t->extent[extent];
    uint64_t left = x->at + x->len - at;

    return (struct tree_piece){
        .entry = x->entry,
        .segment = x->segment,
        .offset = x->offset + (at - x->at),
        .len = left < len ? (size_t)left : len,
    };
}
