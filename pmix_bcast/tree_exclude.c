/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/tree_exclude.h"
#include "pmix_bcast/tree_index.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#define PATTERN_MAX TREE_PATH_MAX

/* "**" is any text, with slashes or without. */
static int matches(const char *pattern, const char *text)
{
    const char *stars = strstr(pattern, "**"), *rest = stars;
    char front[PATTERN_MAX], begin[TREE_PATH_MAX + 2];
    size_t len = strlen(text);

    if (!stars)
        return fnmatch(pattern, text, FNM_PATHNAME) == 0;
    while (*rest == '*')
        rest++;
    snprintf(front, sizeof front, "%.*s", (int)(stars - pattern), pattern);
    for (size_t n = 0; n <= len; n++) {
        snprintf(begin, sizeof begin, "%.*s", (int)n, text);
        if (fnmatch(front, begin, FNM_PATHNAME) != 0)
            continue;
        for (size_t m = n; m <= len; m++)
            if (matches(rest, text + m))
                return 1;
    }
    return 0;
}

static int is(const char *pattern, const char *text)
{
    return strpbrk(pattern, "*?[") ? matches(pattern, text)
                                   : strcmp(pattern, text) == 0;
}

static size_t count_slashes(const char *text)
{
    size_t n = 0;

    for (; (text = strchr(text, '/')) != NULL; text++)
        n++;
    return n;
}

/* The last n names of the path; NULL: it has fewer. */
static const char *last_names(const char *path, size_t n)
{
    size_t has = count_slashes(path) + 1;

    if (has < n)
        return NULL;
    for (; has > n; has--)
        path = strchr(path, '/') + 1;
    return path;
}

/* From some name of the path to its end. */
static int is_from_some(const char *pattern, const char *path)
{
    const char *slash;

    while (!is(pattern, path)) {
        slash = strchr(path, '/');
        if (!slash)
            return 0;
        path = slash + 1;
    }
    return 1;
}

int tree_exclude_has(const char *pattern, const char *path, int is_folder)
{
    char bare[PATTERN_MAX], whole[TREE_PATH_MAX + 2];
    size_t len = strlen(pattern);
    const char *last;
    int has_all;

    if (len > 1 && pattern[len - 1] == '/') {
        if (!is_folder)
            return 0;
        len--;
    }
    if (len == 0 || len >= sizeof bare)
        return 0;
    snprintf(bare, sizeof bare, "%.*s", (int)len, pattern);
    has_all = strstr(bare, "**") != NULL;
    /* "**" at the start may be the slash before the path, and a folder is what is
     * within it, too, for "***" at the end. */
    snprintf(whole, sizeof whole, "%s%s%s",
             strncmp(bare, "**", 2) == 0 ? "/" : "", path,
             is_folder && len > 3 && strcmp(bare + len - 4, "/***") == 0 ? "/"
                                                                         : "");
    if (bare[0] == '/')
        return is(bare + 1, whole);
    if (has_all)
        return whole[0] == '/' ? is(bare, whole) : is_from_some(bare, whole);
    last = last_names(path, count_slashes(bare) + 1);
    return last && is(bare, last);
}
