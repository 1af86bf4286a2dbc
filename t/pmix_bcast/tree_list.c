/* SPDX-License-Identifier: BSD-2-Clause */
/* What a list of paths has of a tree. */
#include "pmix_bcast/tree_list.h"
#include "fault.h"
#include "tap.h"

#include <stdio.h>

static struct tree_list list;
static struct es_error err;

static int take_in(const char *text, size_t len, int end)
{
    FILE *in = tmpfile();
    int rc;

    if (!in || fwrite(text, 1, len, in) != len)
        bail("no file for the list");
    rewind(in);
    tree_list_clear(&list);
    err = (struct es_error){0};
    rc = tree_list_read(&list, in, end, &err);
    (void)fclose(in); /* was only read */
    return rc;
}

static int take(const char *text)
{
    return take_in(text, strlen(text), '\n');
}

static void test_has(void)
{
    is_int(take("lib/python/numpy\nbin\n\nshare/a b\n"), 0, "a list is read");
    is_int((int)list.n, 3, "without its empty lines");
    is_int(tree_list_has(&list, "bin"), LIST_YES, "what it names");
    is_int(tree_list_has(&list, "bin/sub/tool"), LIST_YES,
           "and all that is in that");
    is_int(tree_list_has(&list, "lib"), LIST_ON_THE_WAY, "a folder above");
    is_int(tree_list_has(&list, "lib/python"), LIST_ON_THE_WAY, "at any depth");
    is_int(tree_list_has(&list, "lib/python/scipy"), LIST_NO,
           "but not what is beside it");
    is_int(tree_list_has(&list, "binary"), LIST_NO,
           "nor what begins with a name");
    is_int(tree_list_has(&list, "bi"), LIST_NO, "or is the beginning of one");
    is_int(tree_list_has(&list, "share/a b"), LIST_YES, "names with spaces");
}

static void test_check(void)
{
    (void)take("a\nb/c\n");
    (void)tree_list_has(&list, "a");
    is_int(tree_list_check(&list, &err), -1, "what was never seen is missed");
    ok(strstr(err.what, "b/c") != NULL, "by its name: %s", err.what);
    (void)tree_list_has(&list, "b");
    is_int(tree_list_check(&list, &err), -1, "its folder is not enough");
    (void)tree_list_has(&list, "b/c");
    is_int(tree_list_check(&list, &err), 0, "all were seen");
    is_int(take(""), 0, "an empty list is one");
    is_int(tree_list_has(&list, "a"), LIST_NO, "of nothing");
    is_int(tree_list_check(&list, &err), 0, "nothing is missed of it");
}

static void test_ends(void)
{
    is_int(take_in("a\nb\0c", 5, '\0'), 0, "NUL behind each");
    is_int((int)list.n, 2, "the last may lack it");
    is_int(tree_list_has(&list, "a\nb"), LIST_YES, "a name has a newline");
    is_int(tree_list_has(&list, "a"), LIST_NO, "and is one name");
}

static void test_bad(void)
{
    static const char *const bad[] = {"/etc/passwd\n", "../up\n", "a/../../b\n",
                                      "a/..\n"};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ok(take(bad[i]) < 0 && err.what[0],
           "a path out of the tree is refused: %.*s", (int)strlen(bad[i]) - 1,
           bad[i]);
    is_int(take("a..b\n..c/d\n"), 0, "two dots in a name are none");
}

static void test_memory(void)
{
    int rc = -1;
    long n = 0;

    for (; rc < 0 && n < 40; n++) {
        fault_at = n;
        rc = take("a\nb\nc\n");
        fault_at = -1;
    }
    ok(rc == 0 && n > 1 && list.n == 3,
       "without memory there is no list, nor a leak");
    tree_list_clear(&list);
}

int main(void)
{
    test_has();
    test_check();
    test_ends();
    test_bad();
    test_memory();
    return done();
}
