/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/tree_links.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

int tree_links_init(struct tree_links *l, char *const path[], size_t n)
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

int tree_links_relative(const struct tree_links *l,
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

void tree_links_clear(struct tree_links *l)
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
