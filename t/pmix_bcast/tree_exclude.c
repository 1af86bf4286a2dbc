/* SPDX-License-Identifier: BSD-2-Clause */
/* Patterns of what is left out of a tree mean what they mean to rsync. */
#include "pmix_bcast/tree_exclude.h"
#include "tap.h"

#include <string.h>

/* With what is left out of it, as rsync 3.5.0 does by
 * rsync -a --exclude=PATTERN tree/ copy; of what is in a folder that is left out
 * nothing is said. */
static const struct {
    const char *path;
    int is_folder;
} tree[] = {
    {".git", 1},
    {".git/HEAD", 0},
    {".git/config", 0},
    {"a.o", 0},
    {"back\\slash", 0},
    {"build", 1},
    {"build/deep", 1},
    {"build/deep/build", 1},
    {"build/deep/build/f", 0},
    {"dir", 1},
    {"dir/p", 1},
    {"dir/p/q", 1},
    {"dir/p/q/x", 0},
    {"dir/p/x", 0},
    {"dir/x", 0},
    {"docs", 1},
    {"docs/a.pdf", 0},
    {"docs/b", 1},
    {"docs/b/c.pdf", 0},
    {"docs/b/c.txt", 0},
    {"name", 0},
    {"odd1", 0},
    {"odd[1]", 0},
    {"src", 1},
    {"src/.git", 1},
    {"src/.git/z", 0},
    {"sub", 1},
    {"sub/.git", 1},
    {"sub/.git/x", 0},
    {"sub/a.o", 0},
    {"sub/dir", 1},
    {"sub/dir/p", 1},
    {"sub/dir/p/x", 0},
    {"sub/dir/x", 0},
    {"sub/docs", 1},
    {"sub/docs/a.pdf", 0},
    {"sub/name", 1},
    {"sub/name/y", 0},
    {"sub/x", 1},
    {"sub/x/f", 0},
    {"wild", 1},
    {"wild/.hid", 1},
    {"wild/.hid/f", 0},
    {"x", 0},
};

static const struct {
    const char *pattern, *left_out;
} rules[] = {
    {".git", ".git src/.git sub/.git"},
    {".git/", ".git src/.git sub/.git"},
    {"/.git", ".git"},
    {"/.git/", ".git"},
    {"./.git", ""},
    {"src/.git", "src/.git"},
    {"*.o", "a.o sub/a.o"},
    {"/*.o", "a.o"},
    {"docs/*.pdf", "docs/a.pdf sub/docs/a.pdf"},
    {"/docs/*.pdf", "docs/a.pdf"},
    {"sub/docs", "sub/docs"},
    {"dir/x", "dir/x sub/dir/x"},
    {"/dir/x", "dir/x"},
    {"dir/**/x", "dir/p/q/x dir/p/x sub/dir/p/x"},
    {"/dir/**/x", "dir/p/q/x dir/p/x"},
    {"dir/**", "dir/p dir/x sub/dir/p sub/dir/x"},
    {"**/x",
     "dir/p/q/x dir/p/x dir/x sub/.git/x sub/dir/p/x sub/dir/x sub/x x"},
    {"**x", "dir/p/q/x dir/p/x dir/x sub/.git/x sub/dir/p/x sub/dir/x sub/x x"},
    {"dir/***", "dir sub/dir"},
    {"/dir/***", "dir"},
    {"name", "name sub/name"},
    {"name/", "sub/name"},
    {"/name", "name"},
    {"/name/", ""},
    {"sub/name/", "sub/name"},
    {"*",
     ".git a.o back\\slash build dir docs name odd1 odd[1] src sub wild x"},
    {"**",
     ".git a.o back\\slash build dir docs name odd1 odd[1] src sub wild x"},
    {"*/", ".git build dir docs src sub wild"},
    {"/*",
     ".git a.o back\\slash build dir docs name odd1 odd[1] src sub wild x"},
    {"/*/", ".git build dir docs src sub wild"},
    {"/*/*",
     ".git/HEAD .git/config build/deep dir/p dir/x docs/a.pdf docs/b src/.git sub/.git sub/a.o sub/dir sub/docs sub/name sub/x wild/.hid"},
    {"sub/*", "sub/.git sub/a.o sub/dir sub/docs sub/name sub/x"},
    {"sub/*/", "sub/.git sub/dir sub/docs sub/name sub/x"},
    {"odd[1]", "odd1"},
    {"odd\\[1]", "odd[1]"},
    {"back\\slash", "back\\slash"},
    {"back\\s*", ""},
    {"do?s", "docs sub/docs"},
    {"[ab].o", "a.o sub/a.o"},
    {"[!a]*",
     ".git back\\slash build dir docs name odd1 odd[1] src sub wild x"},
    {"sub/**/x", "sub/.git/x sub/dir/p/x sub/dir/x"},
    {"**/docs/**", "docs/a.pdf docs/b sub/docs/a.pdf"},
    {"**/b/", "docs/b"},
    {"b", "docs/b"},
    {".*", ".git src/.git sub/.git wild/.hid"},
    {"build", "build"},
    {"build/", "build"},
    {"/build/deep/", "build/deep"},
    {"deep/build", "build/deep/build"},
    {"build/**/f", "build/deep/build/f"},
    {"*/x", "dir/p/q/x dir/p/x dir/x sub/.git/x sub/dir/p/x sub/dir/x sub/x"},
    {"*/*/x", "dir/p/q/x dir/p/x sub/.git/x sub/dir/p/x sub/dir/x"},
    {"?",
     "build/deep/build/f dir/p dir/x docs/b src/.git/z sub/.git/x sub/dir/p sub/dir/x sub/name/y sub/x wild/.hid/f x"},
    {"dir/p", "dir/p sub/dir/p"},
    {"p/x", "dir/p/x sub/dir/p/x"},
    {"/p/x", ""},
    {"/", ""},
    {"x/", "sub/x"},
    {"**.pdf", "docs/a.pdf docs/b/c.pdf sub/docs/a.pdf"},
    {"docs**", "docs sub/docs"},
    {"/docs**c.txt", "docs/b/c.txt"},
    {"sub/***", "sub"},
    {"no/such", ""},
    {"**/", ".git build dir docs src sub wild"},
    {"", ""},
    {"[[:alpha:]]",
     "build/deep/build/f dir/p dir/x docs/b src/.git/z sub/.git/x sub/dir/p sub/dir/x sub/name/y sub/x wild/.hid/f x"},
    {"*/.git", "src/.git sub/.git"},
    {"/*/.git", "src/.git sub/.git"},
    {"***",
     ".git a.o back\\slash build dir docs name odd1 odd[1] src sub wild x"},
    {"dir/*", "dir/p dir/x sub/dir/p sub/dir/x"},
    {"dir/*/", "dir/p sub/dir/p"},
    {"**/.git/", ".git src/.git sub/.git"},
};

#define TREE (sizeof tree / sizeof tree[0])

static int was_left_out(const int out[TREE], const char *path)
{
    for (size_t i = 0; i < TREE; i++) {
        size_t len = strlen(tree[i].path);

        if (out[i] && strncmp(tree[i].path, path, len) == 0 && path[len] == '/')
            return 1;
    }
    return 0;
}

int main(void)
{
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        char got[1024] = "";
        int out[TREE] = {0};

        for (size_t j = 0; j < TREE; j++) {
            if (was_left_out(out, tree[j].path)
                || !tree_exclude_has(rules[i].pattern, tree[j].path,
                                     tree[j].is_folder))
                continue;
            out[j] = 1;
            snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s",
                     got[0] ? " " : "", tree[j].path);
        }
        is_str(got, rules[i].left_out, rules[i].pattern);
    }
    return done();
}
