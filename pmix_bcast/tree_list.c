/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/tree_list.h"
#include "pmix_bcast/array.h"
#include "pmix_bcast/tree_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- reading -------------------------------------------------------------- */

static int leads_out(const char *path)
{
    for (const char *up = strstr(path, ".."); up; up = strstr(up + 1, ".."))
        if ((up == path || up[-1] == '/') && (up[2] == '\0' || up[2] == '/'))
            return 1;
    return path[0] == '/';
}

/* Without "." and "//", and a slash at its end. */
static void tidy(char *path)
{
    char *to = path, *rest = path, *name;

    while ((name = strsep(&rest, "/")) != NULL) {
        size_t len = strlen(name);

        if (len == 0 || strcmp(name, ".") == 0)
            continue;
        if (to > path)
            *to++ = '/';
        memmove(to, name, len);
        to += len;
    }
    *to = '\0';
}

static int add(struct tree_list *l, const char *path, struct es_error *err)
{
    char **all = array_grow(l->path, &l->room, l->n + 1, sizeof *l->path,
                            TREE_ENTRIES_MAX);

    if (!all)
        return es_no_memory(err);
    l->path = all;
    all[l->n] = strdup(path);
    return all[l->n++] ? 0 : es_no_memory(err);
}

static int take(struct tree_list *l, char *line, int end, struct es_error *err)
{
    size_t len = strlen(line);

    if (len > 0 && line[len - 1] == end)
        line[len - 1] = '\0';
    if (line[0] == '\0')
        return 0;
    if (leads_out(line))
        return es_fail(err, ES_USAGE, "give paths from SRC on",
                       "--files-from: \"%.200s\" may lead out of SRC", line);
    tidy(line);
    return add(l, line, err);
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int tree_list_read(struct tree_list *l, FILE *in, int end, struct es_error *err)
{
    char *line = NULL;
    size_t size = 0;
    int rc = 0;

    *l = (struct tree_list){.n = 0};
    while (rc == 0 && (errno = 0, getdelim(&line, &size, end, in)) >= 0)
        rc = take(l, line, end, err);
    if (rc == 0 && ferror(in))
        rc = es_fail(err, ES_WORK, "give one that can be read",
                     "--files-from: %s", strerror(errno));
    free(line);
    if (rc < 0)
        return rc;
    if (l->n > 0)
        qsort(l->path, l->n, sizeof *l->path, by_bytes);
    l->found = calloc(l->n + 1, 1);
    return l->found ? 0 : es_no_memory(err);
}

void tree_list_clear(struct tree_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->path[i]);
    free(l->path);
    free(l->found);
    *l = (struct tree_list){.n = 0};
}

/* --- looking -------------------------------------------------------------- */

/* The first that is not below text, of which only len bytes count. */
static size_t find(const struct tree_list *l, const char *text, size_t len)
{
    size_t low = 0, high = l->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strncmp(l->path[middle], text, len);

        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int is_in(const struct tree_list *l, const char *path, size_t len)
{
    size_t i = find(l, path, len);
    int is = 0;

    for (; i < l->n && strncmp(l->path[i], path, len) == 0
           && l->path[i][len] == '\0';
         i++) {
        l->found[i] = 1;
        is = 1;
    }
    return is;
}

static int is_on_the_way(const struct tree_list *l, const char *path)
{
    char folder[TREE_PATH_MAX];
    int n = snprintf(folder, sizeof folder, "%s/", path);
    size_t i;

    if (n < 0 || (size_t)n >= sizeof folder)
        return 0;
    i = find(l, folder, (size_t)n);
    return i < l->n && strncmp(l->path[i], folder, (size_t)n) == 0;
}

enum tree_listed tree_list_has(const struct tree_list *l, const char *path)
{
    int is = is_in(l, "", 0); /* "." is all of it */

    for (const char *end = strchr(path, '/'); end; end = strchr(end + 1, '/'))
        is |= is_in(l, path, (size_t)(end - path));
    is |= is_in(l, path, strlen(path));
    if (is || path[0] == '\0')
        return is ? LIST_YES : LIST_ON_THE_WAY;
    return is_on_the_way(l, path) ? LIST_ON_THE_WAY : LIST_NO;
}

int tree_list_check(const struct tree_list *l, struct es_error *err)
{
    for (size_t i = 0; i < l->n; i++)
        if (!l->found[i])
            return es_fail(err, ES_WORK, "give what is in SRC",
                           "--files-from: %.200s: No such file or directory",
                           l->path[i]);
    return 0;
}
