/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/bring_list.h"
#include "launcher/base/loader_list.h"
#include "launcher/session/broadcast.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* SRC:DST */
static int split(struct bring_file *f, const char *text, struct es_error *err)
{
    const char *colon = strchr(text, ':');
    size_t len = colon ? (size_t)(colon - text) : 0;

    if (len == 0)
        return es_fail(err, ES_USAGE, "give SRC:DST, as data:/tmp/data",
                       "--bcast: \"%.80s\" does not name two files", text);
    if (len >= sizeof f->source)
        return es_fail(err, ES_USAGE, "give a shorter one",
                       "--bcast: SRC is longer than %zu bytes",
                       sizeof f->source - 1);
    memcpy(f->source, text, len);
    return broadcast_destination(f->destination, f->source, colon + 1, err);
}

static int check(const struct bring_file *f,
                 const struct run_options *o,
                 struct es_error *err)
{
    if (broadcast_source(f->source, err) < 0)
        return -1;
    if (o->local.n <= 1 || strstr(f->destination, "{node}"))
        return 0;
    return es_fail(err, ES_USAGE, "give DST with {node} in it",
                   "--%s: with --local all nodes would write the same file",
                   f->option);
}

static int add_files(struct bring_list *l,
                     const struct run_options *o,
                     struct es_error *err)
{
    l->file = calloc(o->n_bcast + 1, sizeof *l->file);
    if (!l->file)
        return es_no_memory(err);
    for (size_t i = 0; i < o->n_bcast; i++) {
        struct bring_file *f = &l->file[l->n++];

        f->option = "bcast";
        f->path = f->source;
        if (split(f, o->bcast[i], err) < 0 || check(f, o, err) < 0)
            return -1;
    }
    return 0;
}

static int add_program(struct bring_list *l,
                       const struct run_options *o,
                       struct es_error *err)
{
    struct bring_file *f = &l->file[l->n];

    if (!o->exec.given)
        return 0;
    l->n++;
    f->option = "exec";
    f->path = f->source;
    if (strlen(o->exec.source) >= sizeof f->source)
        return es_fail(err, ES_USAGE, "give a shorter one",
                       "--exec: the program's path is longer than %zu bytes",
                       sizeof f->source - 1);
    strcpy(f->source, o->exec.source);
    strcpy(f->destination, o->exec.destination);
    return check(f, o, err);
}

/* The next name of a path, without . and slashes. */
static size_t next_name(const char **path)
{
    for (;;) {
        size_t len;

        *path += strspn(*path, "/");
        len = strcspn(*path, "/");
        if (len != 1 || **path != '.')
            return len;
        *path += len;
    }
}

static int is_same_path(const char *a, const char *b)
{
    for (;;) {
        size_t n = next_name(&a), m = next_name(&b);

        if (n != m || strncmp(a, b, n) != 0)
            return 0;
        if (n == 0)
            return 1;
        a += n;
        b += n;
    }
}

/* One would be there and not the other; with --update folders become one. */
static int check_places(const struct bring_list *l,
                        const struct run_options *o,
                        struct es_error *err)
{
    for (size_t i = 0; i < l->n; i++)
        for (size_t k = 0; k < i; k++) {
            const struct bring_file *a = &l->file[k], *b = &l->file[i];

            if (is_same_path(a->destination, b->destination)
                && !(o->update && broadcast_is_folder(a->source)
                     && broadcast_is_folder(b->source)))
                return es_fail(err, ES_USAGE, "give each a DST of its own",
                               "--%s: %.200s and %.200s have one DST",
                               b->option, a->source, b->source);
        }
    return 0;
}

static int find_libs(struct bring_list *l,
                     const struct run_options *o,
                     const struct config_bcast *config,
                     struct es_error *err)
{
    const char *exclude =
        o->exclude_libs ? o->exclude_libs : config->exclude_libs;
    int programs = 0;

    if (!o->libs)
        return 0;
    if (loader_list_check(exclude) < 0)
        return es_fail(err, ES_USAGE,
                       "give folders as in \"/lib,/usr/lib\", or none",
                       "--exclude-libs \"%s\" is no list of folders", exclude);
    for (size_t i = 0; i < l->n; i++) {
        struct bring_file *f = &l->file[i];
        int found = libs_add(&f->libs, l->libs, f->source, f->destination,
                             exclude, err);

        if (found < 0)
            return -1;
        programs += found;
    }
    return programs > 0
               ? 0
               : es_fail(err, ES_USAGE,
                         "leave it out, or bring the program itself",
                         "--libs: no file that is brought is a program");
}

int bring_list_open(struct bring_list *l,
                    const struct run_options *o,
                    const struct config_bcast *config,
                    struct es_error *err)
{
    memset(l, 0, sizeof *l);
    if (o->cache && broadcast_cache(l->cache, o->cache, config, err) < 0)
        return -1;
    if (add_files(l, o, err) < 0 || add_program(l, o, err) < 0
        || check_places(l, o, err) < 0)
        return -1;
    return find_libs(l, o, config, err);
}

void bring_list_clear(struct bring_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        libs_clear(&l->file[i].libs);
    free(l->file);
    memset(l, 0, sizeof *l);
}
