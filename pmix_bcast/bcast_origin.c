/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/bcast_origin.h"
#include "pmix_bcast/array.h"
#include "pmix_bcast/target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEPTH_MAX  (PATH_MAX / 2) /* of folders in a path */
#define PATH_SHOWN 300            /* of it, so that the line can be read */

/* --- at home -------------------------------------------------------------- */

struct found {
    struct object_id *id; /* owned */
    size_t n, room, sources;
};

static int find(struct object_id *id, int at, const char *name, int how)
{
    int fd = openat(at, name, O_PATH | O_CLOEXEC | how);
    int why = fd < 0 ? errno : object_id_of(id, fd);

    if (fd >= 0)
        close(fd);
    return why;
}

static int add(struct found *f, const struct object_id *id)
{
    struct object_id *all = array_grow(f->id, &f->room, f->n + 1, sizeof *all,
                                       BCAST_ORIGIN_OBJECTS);

    if (!all)
        return f->n < BCAST_ORIGIN_OBJECTS ? ENOMEM : E2BIG;
    f->id = all;
    all[f->n++] = *id;
    return 0;
}

static int is_noted(const struct found *f, const struct object_id *id)
{
    for (size_t i = f->sources; i < f->n; i++)
        if (object_id_is_same(&f->id[i], id, 1))
            return 1;
    return 0;
}

/* The folders that a source is in.  One that may not be looked at cannot be
 * replaced either, and what has no name any more is in none. */
static int add_above(struct found *f, const char *source)
{
    char path[PATH_MAX];
    char *slash;
    int why = 0;

    if (!realpath(source, path))
        return errno == ENOENT ? 0 : errno;
    while (why == 0 && path[1] != '\0' && (slash = strrchr(path, '/'))) {
        struct object_id id;

        slash[slash == path] = '\0';
        if (find(&id, AT_FDCWD, path, 0) != 0)
            continue;
        if (is_noted(f, &id))
            break; /* and so are those above */
        why = add(f, &id);
    }
    return why;
}

static int find_all(struct found *f, const struct tree_top *source, size_t n)
{
    int why = 0;

    for (size_t i = 0; why == 0 && i < n; i++) {
        struct object_id id;

        why = find(&id, AT_FDCWD, source[i].path, 0);
        if (why == 0)
            why = add(f, &id);
    }
    f->sources = f->n;
    for (size_t i = 0; why == 0 && i < n; i++)
        why = add_above(f, source[i].path);
    return why;
}

int bcast_origin_write(struct writer *w,
                       const struct tree_top *source,
                       size_t n,
                       uint32_t flags)
{
    struct found f = {.n = 0};
    int why = find_all(&f, source, n);

    if (why == 0) {
        write_u32(w, flags);
        write_u64(w, object_id_machine());
        write_u32(w, (uint32_t)f.sources);
        for (size_t i = 0; i < f.n; i++)
            object_id_write(w, &f.id[i]);
        why = w->bad ? ENOMEM : 0;
    }
    free(f.id);
    return why;
}

/* --- on a node ------------------------------------------------------------ */

struct origin {
    uint32_t flags, sources, n;
    int here; /* home is on this machine */
    const uint8_t *id;
};

static int read_origin(struct origin *o, const uint8_t *bytes, size_t len)
{
    struct reader r = {bytes, len, 0};

    o->flags = read_u32(&r);
    o->here = read_u64(&r) == object_id_machine();
    o->sources = read_u32(&r);
    o->n = (uint32_t)(r.left / OBJECT_ID_BYTES);
    o->id = r.at;
    return !r.bad && len <= BCAST_ORIGIN_MAX && r.left % OBJECT_ID_BYTES == 0
           && o->flags <= ORIGIN_UPDATE && o->sources <= o->n;
}

int bcast_origin_is_sound(const uint8_t *origin, size_t len)
{
    struct origin o;

    return len == 0 || read_origin(&o, origin, len);
}

/* Is it one of those in [first, end)? */
static int is_one_of(const struct origin *o,
                     const struct object_id *id,
                     uint32_t first,
                     uint32_t end)
{
    struct reader r = {o->id + (size_t)first * OBJECT_ID_BYTES,
                       (size_t)(end - first) * OBJECT_ID_BYTES, 0};

    for (uint32_t i = first; i < end; i++) {
        struct object_id one = object_id_read(&r);

        if (object_id_is_same(&one, id, o->here))
            return 1;
    }
    return 0;
}

/* Up to "/", which is in itself; takes the folder over.  1 if it is a source, or in
 * one; 0, or -1 with errno.  What is above a folder that may not be looked at is no
 * source that home could read. */
static int is_within(const struct origin *o, int folder)
{
    struct object_id id, below = {.ino = 0};
    int why = 0, within = 0;

    for (int depth = 0; depth < DEPTH_MAX; depth++) {
        int up;

        why = object_id_of(&id, folder);
        within = why == 0 && is_one_of(o, &id, 0, o->sources);
        if (why || within || object_id_is_same(&id, &below, 1))
            break;
        up = openat(folder, "..", O_PATH | O_CLOEXEC);
        if (up < 0)
            break;
        close(folder);
        folder = up;
        below = id;
    }
    close(folder);
    errno = why;
    return why ? -1 : within;
}

static int refuse(char *why, size_t size, const char *path, const char *how)
{
    snprintf(why, size, "%.*s%s is %s another DST", PATH_SHOWN, path,
             strlen(path) > PATH_SHOWN ? "..." : "", how);
    return EINVAL;
}

static int check(const struct origin *o,
                 const struct target *t,
                 const char *path,
                 int is_tree,
                 char *why,
                 size_t size)
{
    struct object_id there;
    int error = find(&there, t->folder, t->name, O_NOFOLLOW), folder, within;

    if (error)
        return error == ENOENT ? 0 : error;
    if (!(o->flags & ORIGIN_MAY_BE) && is_one_of(o, &there, 0, o->sources))
        return refuse(
            why, size, path,
            o->flags == ORIGIN_UPDATE
                ? "the source itself: give --update, which keeps it, or"
                : "the source itself: give");
    if (!is_tree)
        return 0;
    if (is_one_of(o, &there, o->sources, o->n))
        return refuse(why, size, path, "a folder that holds the source: give");
    folder = openat(t->folder, ".", O_PATH | O_CLOEXEC);
    within = folder < 0 ? -1 : is_within(o, folder);
    if (within > 0)
        return refuse(why, size, path, "within the source: give");
    return within < 0 ? errno : 0;
}

int bcast_origin_check(const uint8_t *origin,
                       size_t len,
                       const char *destination,
                       int is_tree,
                       char *why,
                       size_t size)
{
    struct target t;
    struct origin o;
    int error = 0;

    why[0] = '\0';
    if (len == 0 || !read_origin(&o, origin, len))
        return 0;
    if (target_open(&t, destination) == 0)
        error = check(&o, &t, destination, is_tree, why, size);
    target_close(&t);
    return error;
}
