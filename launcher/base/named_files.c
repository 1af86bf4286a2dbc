/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/named_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 0 if there is no file to be compared. */
static int find(struct file_place *p, const char *path)
{
    const char *why;

    if (strcmp(path, "-") == 0 || file_place_find(p, path, &why) < 0)
        return 0; /* who opens it says why */
    file_place_close(p);
    return !p->is_open && (!p->is_there || S_ISREG(p->st.st_mode));
}

static int is_one(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static int is_same(const struct file_place *a, const struct file_place *b)
{
    if (a->is_there || b->is_there)
        return a->is_there && b->is_there && is_one(&a->st, &b->st);
    return is_one(&a->folder, &b->folder) && strcmp(a->name, b->name) == 0;
}

static const struct named_file *which(const struct named_files *f,
                                      const struct file_place *p)
{
    for (size_t i = 0; i < f->n; i++)
        if (is_same(&f->written[i].at, p))
            return &f->written[i];
    return NULL;
}

int named_files_written(struct named_files *f,
                        const char *option,
                        const char *path,
                        struct es_error *err)
{
    struct named_file *file = &f->written[f->n];
    const struct named_file *other;

    if (!*path)
        return es_fail(err, ES_USAGE, "name a file", "--%s: the name is empty",
                       option);
    if (f->n == NAMED_FILES_MAX || !find(&file->at, path))
        return 0;
    other = which(f, &file->at);
    if (other)
        return es_fail(err, ES_USAGE, "name another",
                       "--%s %.200s: is the file of --%s", option, path,
                       other->option);
    file->option = option;
    file->path = path;
    f->n++;
    return 0;
}

static int read_stdin(struct named_files *f,
                      const char *option,
                      const char *what,
                      struct es_error *err)
{
    const char *dashes = option ? "--" : "";

    if (f->stdin_of[0])
        return es_fail(err, ES_USAGE, "name a file",
                       "%s%s -: stdin is that of %s already", dashes, what,
                       f->stdin_of);
    snprintf(f->stdin_of, sizeof f->stdin_of, "%s%s", dashes, what);
    return 0;
}

int named_files_read(struct named_files *f,
                     const char *option,
                     const char *what,
                     const char *path,
                     struct es_error *err)
{
    const struct named_file *other;
    struct file_place p;

    if (!path)
        return 0;
    if (!*path && option)
        return es_fail(err, ES_USAGE, "name a file", "--%s: the name is empty",
                       option);
    if (strcmp(path, "-") == 0)
        return read_stdin(f, option, option ? option : what, err);
    other = find(&p, path) ? which(f, &p) : NULL;
    if (!other)
        return 0;
    return es_fail(err, ES_USAGE, "name another", "--%s %.200s: is %s%s",
                   other->option, other->path, option ? "the file of --" : what,
                   option ? option : "");
}

/* The file that was given, or NULL. */
static const char *given(const struct option *o, const void *at, int file)
{
    const char *path = NULL;

    if (o->type == OPTION_TEXT && o->file == file)
        memcpy(&path, (const char *)at + o->offset, sizeof path);
    if (!path || strcmp(path, "-") == 0)
        return path;
    return option_word_find(o->value, path) >= 0 || (!*path && o->bare) ? NULL
                                                                        : path;
}

int named_files_of_options(struct named_files *f,
                           const struct option table[],
                           const void *at,
                           struct es_error *err)
{
    const char *path;
    const struct option *o;

    *f = (struct named_files){.n = 0};
    for (o = table; o->type != OPTION_END; o++)
        if ((path = given(o, at, OPTION_WRITES))
            && named_files_written(f, o->name, path, err) < 0)
            return -1;
    for (o = table; o->type != OPTION_END; o++)
        if ((path = given(o, at, OPTION_READS))
            && named_files_read(f, o->name, NULL, path, err) < 0)
            return -1;
    path = getenv("EVENSTEP_CONF");
    if (path && *path
        && named_files_read(f, NULL, "the configuration", path, err) < 0)
        return -1;
    return named_files_read(f, NULL, "the configuration", EVENSTEP_CONF, err);
}
