/* SPDX-License-Identifier: BSD-2-Clause */
/* A folder goes with all that is in it, however deep that is. */
#include "pmix_bcast/own_folder.h"
#include "tap.h"
#include "tree.h"

#include <stdlib.h>
#include <sys/resource.h>

static int is_there(const char *name)
{
    struct stat st;

    return lstat(tree_path(name), &st) == 0;
}

static int make_in(int at, const char *name)
{
    int fd = mkdirat(at, name, 0700) < 0
                 ? -1
                 : openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        bail("%s: %s", name, strerror(errno));
    return fd;
}

/* Folders within folders, with a file in each; some are closed to writing. */
static void make_deep(const char *name, const char *each, int depth)
{
    int at = make_in(AT_FDCWD, tree_path(name));

    for (int i = 0; i < depth; i++) {
        int next = make_in(at, each);
        int fd = openat(at, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

        if (fd < 0 || fchmod(at, i % 3 ? 0700 : 0500) < 0)
            bail("level %d: %s", i, strerror(errno));
        close(fd);
        close(at);
        at = next;
    }
    close(at);
}

static void test_depth(void)
{
    struct rlimit before, few;
    char each[201] = "";

    if (getrlimit(RLIMIT_NOFILE, &before) < 0)
        bail("no limit: %s", strerror(errno));
    few = before;
    few.rlim_cur = 128;
    make_deep("deep", "d", 1000);
    if (setrlimit(RLIMIT_NOFILE, &few) < 0)
        bail("no limit: %s", strerror(errno));
    own_folder_remove(AT_FDCWD, tree_path("deep"));
    ok(!is_there("deep"), "1000 folders within each other, with 128 files");
    memset(each, 'x', sizeof each - 1);
    make_deep("deep", each, 300);
    own_folder_remove(AT_FDCWD, tree_path("deep"));
    ok(!is_there("deep"), "and paths of 60000 bytes");
    (void)setrlimit(RLIMIT_NOFILE, &before);
}

static void test_width(void)
{
    char name[40];

    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "wide/%d/%d", i, i % 2);
        tree_put(name, "x");
        snprintf(name, sizeof name, "wide/f%d", i);
        tree_put(name, "x");
    }
    if (symlink("/nowhere", tree_path("wide/link")) < 0)
        bail("no link");
    own_folder_remove(AT_FDCWD, tree_path("wide"));
    ok(!is_there("wide"), "many files and folders beside each other");
    tree_put("one", "x");
    own_folder_remove(AT_FDCWD, tree_path("one"));
    ok(!is_there("one"), "a file alone");
    own_folder_remove(AT_FDCWD, tree_path("none"));
}

int main(void)
{
    tree_make();
    test_depth();
    test_width();
    tree_remove();
    return done();
}
