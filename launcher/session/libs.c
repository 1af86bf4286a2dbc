/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/libs.h"
#include "launcher/base/elf_interpreter.h"
#include "launcher/base/env_list.h"
#include "launcher/base/loader_list.h"
#include "launcher/base/notice.h"
#include "launcher/exec/answer.h"
#include "pmix_bcast/array.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOADER_MS 10000 /* it answers in some ms, but for a slow file system */
#define SUFFIX    "_libs"

/* --- the loader ----------------------------------------------------------- */

static int find_loader(char loader[PATH_MAX],
                       const char *program,
                       struct es_error *err)
{
    int fd = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK), found, why;

    if (fd < 0)
        return es_fail(err, ES_WORK, "give a file that can be read", "%s: %s",
                       program, strerror(errno));
    found = elf_interpreter(fd, loader);
    why = errno;
    close(fd);
    if (found >= 0)
        return found;
    (void)es_fail(err, ES_WORK,
                  why == ENOEXEC ? "give --libs with programs only, not with "
                                   "scripts or data"
                                 : "give a file that can be read",
                  "--libs: %s: %s", program,
                  why == ENOEXEC ? "it is no program of this kind of machine"
                                 : strerror(why));
    errno = why;
    return -1;
}

/* A file may name anything as its loader, and we are to run it. */
static int check_loader(const char *loader,
                        const char *program,
                        struct es_error *err)
{
    const char *name = strrchr(loader, '/') + 1;
    struct stat st;

    if (stat(loader, &st) < 0)
        return es_fail(err, ES_WORK, "find the libraries on a host that has it",
                       "--libs: %s: its loader %s: %s", program, loader,
                       strerror(errno));
    if (strncmp(name, "ld", 2) == 0 && S_ISREG(st.st_mode)
        && (st.st_uid == 0 || st.st_uid == geteuid())
        && !(st.st_mode & (S_IWGRP | S_IWOTH)))
        return 0;
    return es_fail(err, ES_WORK,
                   "it must be called ld..., be root's or your own, and nobody "
                   "else's to write",
                   "--libs: %s: its loader %s is not run", program, loader);
}

/* Not what makes a loader do something else. */
static int is_for_loader(const char *entry)
{
    static const char path[] = "LD_LIBRARY_PATH=";

    return strncmp(entry, "LD_", 3) != 0
           || strncmp(entry, path, sizeof path - 1) == 0;
}

static int ask_loader(struct answer *a,
                      char *loader,
                      char *program,
                      struct es_error *err)
{
    char list[] = "--list";
    char *argv[] = {loader, list, program, NULL};
    struct event_base *base = event_base_new();
    char **env = env_list_make(environ, is_for_loader, NULL);
    int rc = base && env ? answer_ask(a, base, argv, env, LOADER_MS)
                         : es_no_memory(err);

    if (rc < 0 && base && env)
        (void)es_fail(err, ES_WORK,
                      "set LD_LIBRARY_PATH, or load the module, that it runs "
                      "with here",
                      "--libs: %s", a->error[0] ? a->error : program);
    free(env);
    if (base)
        event_base_free(base);
    return rc;
}

/* --- its list ------------------------------------------------------------- */

/* Where the folder really is counts, too: "/opt/../lib" is "/lib". */
static int is_excluded(const char *path, const char *exclude)
{
    char folder[PATH_MAX], real[PATH_MAX];
    const char *slash = strrchr(path, '/');

    if (strcmp(exclude, "none") == 0)
        return 0;
    if (loader_list_is_in(path, exclude))
        return 1;
    if (slash == path || (size_t)(slash - path) >= sizeof folder)
        return 0;
    memcpy(folder, path, (size_t)(slash - path));
    folder[slash - path] = '\0';
    if (!realpath(folder, real) || strlen(real) + 2 > sizeof real)
        return 0;
    strcat(real, "/");
    return loader_list_is_in(real, exclude);
}

static int is_same_file(const char *a, const char *b)
{
    struct stat x, y;

    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev
           && x.st_ino == y.st_ino;
}

static int add(struct libs *l, const char *path, struct es_error *err)
{
    char **grown =
        array_grow(l->path, &l->room, l->n + 1, sizeof *grown, LIBS_MAX);

    if (!grown)
        return es_no_memory(err);
    l->path = grown;
    l->path[l->n] = strdup(path);
    return l->path[l->n] ? (l->n++, 0) : es_no_memory(err);
}

/* A name that the program looks for at one place only is found nowhere else, nor
 * under another name. */
static int is_reached(const struct loader_object *o)
{
    return strcmp(o->name, strrchr(o->path, '/') + 1) == 0;
}

static int take_line(struct libs *l,
                     char *line,
                     const char *loader,
                     const char *exclude,
                     struct es_error *err)
{
    struct loader_object o;

    switch (loader_list_line(&o, line)) {
    case LOADER_NONE:
        return 0;
    case LOADER_OBJECT:
        break;
    case LOADER_MISSING:
        return es_fail(err, ES_WORK,
                       "set LD_LIBRARY_PATH, or load the module, that it runs "
                       "with here",
                       "--libs: %.200s: not found", o.name);
    case LOADER_STRANGE:
    default:
        return es_fail(err, ES_WORK, "bring its libraries as a folder, with -r",
                       "--libs: %s says what is not understood: \"%.100s\"",
                       loader, line);
    }
    if (loader_list_is_libc(o.name) || is_excluded(o.path, exclude)
        || is_same_file(o.path, loader))
        return 0;
    if (is_reached(&o))
        return add(l, o.path, err);
    notice("--libs: %s is not brought: the program looks for it there alone",
           o.name);
    return 0;
}

static int take_list(struct libs *l,
                     char *text,
                     const char *loader,
                     const char *exclude,
                     struct es_error *err)
{
    char *rest = text, *line;

    while ((line = strsep(&rest, "\n")) != NULL)
        if (take_line(l, line, loader, exclude, err) < 0)
            return -1;
    return 0;
}

int libs_find(struct libs *l,
              const char *program,
              const char *destination,
              const char *exclude,
              struct es_error *err)
{
    char loader[PATH_MAX], real[PATH_MAX];
    struct answer a = {0};
    int rc;

    errno = 0;
    memset(l, 0, sizeof *l);
    if (strlen(destination) + sizeof SUFFIX > DESTINATION_MAX
        || strchr(destination, ':'))
        return es_fail(err, ES_USAGE, "give a shorter one, without a colon",
                       "--libs: DST \"%.80s\" cannot be in LD_LIBRARY_PATH",
                       destination);
    snprintf(l->destination, sizeof l->destination, "%s" SUFFIX, destination);
    rc = find_loader(loader, program, err);
    if (rc <= 0)
        return rc;
    if (check_loader(loader, program, err) < 0)
        return -1;
    if (!realpath(program, real)) /* $ORIGIN is where it really is */
        return es_fail(err, ES_WORK, "give a file that can be read", "%s: %s",
                       program, strerror(errno));
    rc = ask_loader(&a, loader, real, err);
    if (rc == 0)
        rc = take_list(l, a.text, loader, exclude, err);
    answer_clear(&a);
    return rc;
}

static int add_folder(char list[LIBS_LIST_MAX],
                      const char *folder,
                      struct es_error *err)
{
    size_t len = strlen(list);
    int n = snprintf(list + len, LIBS_LIST_MAX - len, "%s%s", len ? ":" : "",
                     folder);

    return (size_t)n < LIBS_LIST_MAX - len
               ? 0
               : es_fail(err, ES_USAGE, "bring the programs to shorter paths",
                         "--libs: the paths are too long for LD_LIBRARY_PATH");
}

int libs_add(struct libs *l,
             char list[LIBS_LIST_MAX],
             const char *source,
             const char *destination,
             const char *exclude,
             struct es_error *err)
{
    struct stat st;

    if (stat(source, &st) == 0 && S_ISDIR(st.st_mode))
        return 0;
    if (libs_find(l, source, destination, exclude, err) == 0)
        return l->n > 0 && add_folder(list, l->destination, err) < 0 ? -1 : 1;
    if (errno != ENOEXEC)
        return -1;
    *err = (struct es_error){0};
    return 0;
}

void libs_clear(struct libs *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->path[i]);
    free(l->path);
    memset(l, 0, sizeof *l);
}
