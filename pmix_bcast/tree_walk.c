/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/tree_walk.h"
#include "pmix_bcast/file_extents.h"
#include "pmix_bcast/file_io.h"
#include "pmix_bcast/tree_exclude.h"
#include "pmix_bcast/tree_xattrs.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <search.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* --- tree links ---------------------------------------------------------------- */

/* Symbolic links of a tree that lead back into it by an absolute path:
 * those of the copy would lead to the source, and not into the copy. */

struct tree_links {
    char **given,
        **real; /* n each, owned: the sources as absolute paths, as they are
                             named and without links; NULL: there is none */
    size_t n;
};

/* As it is named, from "/" on; NULL if memory ran out. */
static char *absolute(const char *path)
{
    char *folder, *all = NULL;

    if (path[0] == '/')
        return strdup(path);
    folder = getcwd(NULL, 0);
    while (strncmp(path, "./", 2) == 0)
        path += 2 + strspn(path + 2, "/");
    if (folder && strcmp(path, ".") == 0)
        return folder;
    if (folder && asprintf(&all, "%s/%s", folder, path) < 0)
        all = NULL;
    free(folder);
    return all;
}

/* path: the sources, without slashes at the end.  0, or -1 if memory ran out; it is to
 * be cleared either way. */
static int tree_links_init(struct tree_links *l, char *const path[], size_t n)
{
    *l = (struct tree_links){.given = calloc(n, sizeof *l->given),
                             .real = calloc(n, sizeof *l->real),
                             .n = n};
    if (!l->given || !l->real)
        return -1;
    for (size_t i = 0; i < n; i++) {
        l->given[i] = absolute(path[i]);
        l->real[i] = realpath(path[i], NULL); /* NULL: what reads it says why */
        if (!l->given[i])
            return -1;
    }
    return 0;
}

/* What of the target is behind a folder, without a slash before it; else NULL. */
static const char *behind(const char *folder, const char *target)
{
    size_t len = folder ? strlen(folder) : 0;

    if (len < 2 || strncmp(target, folder, len) != 0
        || (target[len] != '/' && target[len] != '\0'))
        return NULL;
    return target + len + strspn(target + len, "/");
}

/*
 * Where a link leads if its target is in one of the sources, as a path relative to
 * the link's folder in the copy: 1, and to, of size bytes, is filled in.  0: it leads
 * elsewhere; -1: the path is too long.
 *
 *   in_tree   the link's own path in the copy
 */
static int tree_links_relative(const struct tree_links *l,
                               const char *in_tree,
                               const char *target,
                               char *to,
                               size_t size)
{
    const char *rest = NULL, *name = "", *slash;
    size_t source = 0, len = 0;
    int n;

    for (; target[0] == '/' && source < l->n && !rest; source++) {
        rest = behind(l->given[source], target);
        if (!rest)
            rest = behind(l->real[source], target);
    }
    if (!rest)
        return 0;
    if (l->n > 1) { /* each is in a folder of its name */
        slash = strrchr(l->given[source - 1], '/');
        name = slash ? slash + 1 : l->given[source - 1];
    }
    for (slash = strchr(in_tree, '/'); slash && len + 4 < size;
         slash = strchr(slash + 1, '/'))
        len += (size_t)snprintf(to + len, size - len, "../");
    n = snprintf(to + len, size - len, "%s%s%s", name,
                 name[0] && rest[0] ? "/" : "", rest);
    if (slash || n < 0 || (size_t)n >= size - len)
        return -1;
    if (to[0] == '\0' && size > 1)
        strcpy(to, ".");
    return 1;
}

static void tree_links_clear(struct tree_links *l)
{
    for (size_t i = 0; i < l->n; i++) {
        if (l->given)
            free(l->given[i]);
        if (l->real)
            free(l->real[i]);
    }
    free(l->given);
    free(l->real);
    *l = (struct tree_links){.n = 0};
}

/* --- tree walk ----------------------------------------------------------------- */

#define MODE 01777 /* a copy is not setuid, as its owner may be another */

struct name { /* of a file that has several: which entry it is */
    dev_t device;
    ino_t inode;
    uint32_t entry;
};

struct walk {
    struct tree_found *found;
    const struct tree_wish *wish;
    const struct tree_progress *progress;
    struct writer *w;
    struct es_error *err;
    char **path; /* of the sources, without slashes at the end */
    uint32_t n;  /* entries */
    uint64_t bytes;
    struct tree_links links;
    dev_t device;                /* of the last file ... */
    int is_made_up;              /* ... and is it one of the kernel's own? */
    void *names;                 /* of files with several, tsearch(3) */
    struct file_extents extents; /* workspace */
    struct writer xattrs;        /* likewise */
};

int64_t tree_time(const struct stat *st)
{
    return (int64_t)((uint64_t)st->st_mtim.tv_sec * 1000000000u
                     + (uint64_t)st->st_mtim.tv_nsec);
}

static int fail_on(const struct walk *k, const char *path, const char *mend)
{
    return es_fail(k->err, ES_WORK, mend, "%s: %s", path, strerror(errno));
}

/* --- files with several names --------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
    const struct name *x = a, *y = b;

    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->inode > y->inode) - (x->inode < y->inode);
}

/* The entry under which this file was written before, or 0: it was not; now
 * it is this one.  -1 if memory ran out. */
static int64_t first_name(struct walk *k, const struct stat *st)
{
    struct name *name, **found;

    if (st->st_nlink < 2)
        return 0;
    name = malloc(sizeof *name);
    if (!name)
        return es_no_memory(k->err);
    *name = (struct name){st->st_dev, st->st_ino, k->n};
    found = tsearch(name, &k->names, compare_names);
    if (!found || *found != name)
        free(name);
    if (!found)
        return es_no_memory(k->err);
    return (*found)->entry == k->n ? 0 : (int64_t)(*found)->entry;
}

/* --- sparse files --------------------------------------------------------- */

static int find_extents(struct walk *k, const FTSENT *f)
{
    const struct stat *st = f->fts_statp;
    uint64_t size = (uint64_t)st->st_size;
    int fd, why;

    if ((uint64_t)st->st_blocks * 512 >= size)
        return file_extents_all(&k->extents, size) ? es_no_memory(k->err) : 0;
    fd = open(f->fts_accpath, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return fail_on(k, f->fts_path, "give files that can be read");
    why = file_extents_find(&k->extents, fd, size);
    close(fd);
    return why ? es_no_memory(k->err) : 0;
}

/* Files that are made when they are read, as in /proc, are in file systems that have
 * no blocks: only their sizes are worth a look at each. */
static int check_size(struct walk *k, const FTSENT *f)
{
    struct statvfs fs;

    if (k->device != f->fts_statp->st_dev) {
        k->device = f->fts_statp->st_dev;
        k->is_made_up = statvfs(f->fts_accpath, &fs) == 0 && fs.f_blocks == 0;
    }
    return k->is_made_up ? file_check_size(f->fts_accpath, k->err) : 0;
}

/* --- entries -------------------------------------------------------------- */

static int add_file(struct walk *k, const FTSENT *f, struct tree_entry *e)
{
    static const uint8_t unknown[TREE_DIGEST];
    struct tree_file_data data = {.size = (uint64_t)f->fts_statp->st_size};
    int64_t same = first_name(k, f->fts_statp);

    if (same < 0)
        return -1;
    if (same > 0) {
        e->same = (uint32_t)same;
        tree_write_hard_link(k->w, e);
        return 0;
    }
    if (access(f->fts_accpath, R_OK) < 0)
        return fail_on(k, f->fts_path, "give files that can be read");
    if (check_size(k, f) < 0 || find_extents(k, f) < 0)
        return -1;
    data.n = k->extents.n;
    data.extent = k->extents.extent;
    for (size_t i = 0; i < data.n; i++)
        k->bytes += data.extent[i].len;
    if (k->wish->parts & TREE_DIGESTS)
        e->digest = unknown;
    tree_write_file(k->w, e, &data);
    return 0;
}

/* Its path in the tree. */
static const char *path_in_tree(const struct walk *k, const FTSENT *f)
{
    const FTSENT *root = f;
    const char *at;

    while (root->fts_level > FTS_ROOTLEVEL)
        root = root->fts_parent;
    if (k->wish->n > 1)
        return f->fts_path + root->fts_pathlen - root->fts_namelen;
    if (f == root)
        return "";
    at = f->fts_path + root->fts_pathlen;
    return *at == '/' ? at + 1 : at; /* below "/" there is none */
}

/* One that leads into a source by an absolute path leads into the copy, if that is
 * wished, or is counted. */
static int look_at_target(struct walk *k,
                          const FTSENT *f,
                          char target[PATH_MAX])
{
    char to[PATH_MAX];
    int is = tree_links_relative(&k->links, path_in_tree(k, f), target, to,
                                 sizeof to);

    if (is > 0 && k->wish->relocate) {
        strcpy(target, to);
        return 0;
    }
    if (is == 0 || (k->found->inward++ > 0))
        return 0;
    k->found->first_inward = strdup(path_in_tree(k, f));
    return k->found->first_inward ? 0 : es_no_memory(k->err);
}

static int add_symlink(struct walk *k, const FTSENT *f, struct tree_entry *e)
{
    char target[PATH_MAX];
    ssize_t n = readlink(f->fts_accpath, target, sizeof target - 1);

    if (n < 0)
        return fail_on(k, f->fts_path, "give links that can be read");
    target[n] = '\0';
    if (look_at_target(k, f, target) < 0)
        return -1;
    e->target = target;
    tree_write_symlink(k->w, e);
    return 0;
}

static int add_xattrs(struct walk *k, const FTSENT *f, struct tree_entry *e)
{
    int why = 0;

    if (!(k->wish->parts & TREE_XATTRS))
        return 0;
    k->xattrs.len = 0;
    if (f->fts_info == FTS_D || f->fts_info == FTS_F)
        why = tree_xattrs_read(&k->xattrs, f->fts_accpath);
    e->xattrs = k->xattrs.buf ? k->xattrs.buf : (const uint8_t *)"";
    e->xattrs_len = k->xattrs.len;
    errno = why;
    return why ? fail_on(k, f->fts_path, "see that its attributes can be read")
               : 0;
}

/* That holds them, and is none of the sources. */
static int has_folder(const struct walk *k)
{
    return k->wish->n > 1 || k->wish->single;
}

static int add_entry(struct walk *k, FTSENT *f)
{
    int is_root = f->fts_level == FTS_ROOTLEVEL;
    struct tree_entry e = {
        .parent = is_root ? 0 : (uint32_t)f->fts_parent->fts_number,
        .mode = f->fts_statp->st_mode & MODE,
        .mtime_ns = tree_time(f->fts_statp),
        .name = is_root && !has_folder(k) ? "" : f->fts_name};
    int rc = 0;

    f->fts_number = k->n;
    if (add_xattrs(k, f, &e) < 0)
        return -1;
    if (f->fts_info == FTS_D)
        tree_write_folder(k->w, &e);
    else if (f->fts_info == FTS_F)
        rc = add_file(k, f, &e);
    else
        rc = add_symlink(k, f, &e);
    if (rc < 0)
        return -1;
    k->n++;
    if (k->w->bad)
        return es_no_memory(k->err);
    if (k->n < TREE_ENTRIES_MAX && k->w->len < TREE_INDEX_MAX)
        return 0;
    return es_fail(k->err, ES_WORK, "broadcast it in parts",
                   "%s: these are too many files", f->fts_path);
}

/* --- what is left out ----------------------------------------------------- */

/* All patterns are looked at: each that would is one that does. */
static int is_excluded(const struct walk *k, const FTSENT *f)
{
    const char *path = path_in_tree(k, f);
    int is = 0;

    for (size_t i = 0; path[0] && i < k->wish->n_exclude; i++)
        if (tree_exclude_has(k->wish->exclude[i], path, f->fts_info == FTS_D)) {
            k->found->used |= UINT64_C(1) << i;
            is = 1;
        }
    return is;
}

static int is_leaf(const FTSENT *f)
{
    return f->fts_info == FTS_F || f->fts_info == FTS_SL
           || f->fts_info == FTS_SLNONE || f->fts_info == FTS_DEFAULT;
}

/* Of what only leads to something that is, folders alone. */
static int is_listed(const struct walk *k, const FTSENT *f)
{
    enum tree_listed how;

    if (!k->wish->list)
        return 1;
    how = tree_list_has(k->wish->list, path_in_tree(k, f));
    return how == LIST_YES || (how == LIST_ON_THE_WAY && !is_leaf(f));
}

/* --- sources -------------------------------------------------------------- */

static int add_top(struct walk *k, const FTSENT *f)
{
    struct tree_top *top = &k->found->top[k->found->n];

    *top = (struct tree_top){k->n, strdup(f->fts_path)};
    if (!top->path)
        return es_no_memory(k->err);
    k->found->n++;
    return 0;
}

/* What has a name in its folder, and cannot be looked at. */
static int fail_unseen(const struct walk *k, const FTSENT *f)
{
    if (f->fts_info == FTS_DC)
        return es_fail(k->err, ES_WORK, "leave it out with --exclude",
                       "%s: this folder is within itself", f->fts_path);
    errno = f->fts_errno;
    if (errno == ENOENT && f->fts_level > FTS_ROOTLEVEL)
        return es_fail(k->err, ES_WORK, "wait until nothing writes there",
                       "%s: it has gone while the tree was read", f->fts_path);
    return fail_on(k, f->fts_path, "give files that can be read");
}

static int visit(struct walk *k, FTS *fts, FTSENT *f)
{
    if (f->fts_info == FTS_DP)
        return 0;
    if (is_excluded(k, f) || !is_listed(k, f)) {
        k->found->unwanted++;
        (void)fts_set(fts, f, FTS_SKIP);
        return 0;
    }
    if (f->fts_info == FTS_DEFAULT) { /* a socket, a pipe, a device */
        k->found->left_out++;
        return 0;
    }
    if (f->fts_info != FTS_D && !is_leaf(f))
        return fail_unseen(k, f);
    if (f->fts_level == FTS_ROOTLEVEL && add_top(k, f) < 0)
        return -1;
    return add_entry(k, f);
}

/* The same tree has the same index. */
static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int check_wanted(const struct walk *k, const FTSENT *f)
{
    return tree_progress_is_over(k->progress)
               ? es_fail(k->err, ES_WORK, "start it again",
                         "%s: what is behind it was not looked at", f->fts_path)
               : 0;
}

static int walk_all(struct walk *k)
{
    FTS *fts =
        fts_open(k->path, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);
    FTSENT *f;
    int rc = 0;

    if (!fts)
        return es_no_memory(k->err);
    while (rc == 0 && (errno = 0, f = fts_read(fts)) != NULL) {
        rc = check_wanted(k, f);
        if (rc == 0)
            rc = visit(k, fts, f);
    }
    if (rc == 0 && errno != 0)
        rc = fail_on(k, "SRC", "give files that can be read");
    (void)fts_close(fts);
    return rc;
}

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Each of several sources needs a name of its own. */
static int check_names(const struct walk *k)
{
    for (size_t i = 0; i < k->wish->n; i++) {
        const char *name = last_name(k->path[i]);

        if (name[0] == '\0' || strcmp(name, ".") == 0
            || strcmp(name, "..") == 0)
            return es_fail(k->err, ES_USAGE, "give its whole path",
                           "%s has no name that it could have in DST",
                           k->path[i]);
        for (size_t j = 0; j < i; j++)
            if (strcmp(name, last_name(k->path[j])) == 0)
                return es_fail(k->err, ES_USAGE,
                               "broadcast them one after the other",
                               "%s and %s would both be DST/%s", k->path[j],
                               k->path[i], name);
    }
    return 0;
}

static int copy_paths(struct walk *k)
{
    k->path = calloc(k->wish->n + 1, sizeof *k->path);
    k->found->top = calloc(k->wish->n, sizeof *k->found->top);
    if (!k->path || !k->found->top)
        return es_no_memory(k->err);
    for (size_t i = 0; i < k->wish->n; i++) {
        size_t len = strlen(k->wish->source[i]);

        while (len > 1 && k->wish->source[i][len - 1] == '/')
            len--;
        k->path[i] = strndup(k->wish->source[i], len);
        if (!k->path[i])
            return es_no_memory(k->err);
    }
    return k->wish->n > 1 ? check_names(k) : 0;
}

static int write_index(struct walk *k)
{
    struct tree_entry root = {
        .mode = 0755, .mtime_ns = TREE_NO_TIME, .name = ""};

    if (copy_paths(k) < 0)
        return -1;
    tree_write_head(k->w, k->wish->parts);
    if (has_folder(k)) {
        if (k->wish->parts & TREE_XATTRS)
            root.xattrs = (const uint8_t *)"";
        tree_write_folder(k->w, &root);
        k->n = 1;
    }
    if (tree_links_init(&k->links, k->path, k->wish->n) < 0)
        return es_no_memory(k->err);
    if (walk_all(k) < 0)
        return -1;
    if (k->wish->list && tree_list_check(k->wish->list, k->err) < 0)
        return -1;
    if (k->wish->single && k->n != 2)
        return es_fail(k->err, ES_WORK, "write it to a file first",
                       "%s: it is not a regular file", k->path[0]);
    tree_write_end(k->w, k->n, k->bytes);
    return k->w->bad ? es_no_memory(k->err) : 0;
}

int tree_walk(struct tree_found *found,
              const struct tree_wish *wish,
              const struct tree_progress *progress,
              struct writer *w,
              struct es_error *err)
{
    struct walk k = {
        .found = found, .wish = wish, .progress = progress, .w = w, .err = err};
    int rc = write_index(&k);

    tree_links_clear(&k.links);
    for (size_t i = 0; k.path && i < wish->n; i++)
        free(k.path[i]);
    free(k.path);
    file_extents_clear(&k.extents);
    writer_clear(&k.xattrs);
    tdestroy(k.names, free);
    return rc;
}

void tree_found_clear(struct tree_found *found)
{
    for (size_t i = 0; i < found->n; i++)
        free(found->top[i].path);
    free(found->top);
    free(found->first_inward);
    *found = (struct tree_found){.n = 0};
}
