/* SPDX-License-Identifier: BSD-2-Clause */
/* What is mounted is seen, of whatever file system it is. */
#include "pmix_bcast/mounts.h"
#include "own_mounts.h"
#include "tap.h"
#include "tree.h"

static int open_root(void)
{
    int fd = open(tree_root, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        bail("%s: %s", tree_root, strerror(errno));
    return fd;
}

static const char *within(const char *folder)
{
    static char path[100];
    int fd = open(tree_path(folder), O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        bail("%s: %s", folder, strerror(errno));
    snprintf(path, sizeof path, "none");
    (void)mounts_within(fd, path, sizeof path);
    close(fd);
    return path;
}

static void test_none(int root)
{
    ok(!mounts_is_point(root, "a") && !mounts_is_point(root, "file"),
       "a folder and a file are no mount points");
    ok(!mounts_is_point(root, "link") && !mounts_is_point(root, "nowhere"),
       "nor is a link that leads to one, or what is not there");
    is_str(within("a"), "none", "nothing is mounted within a folder");
}

static void test_points(int root)
{
    own_mounts_memory("a/b/deep");
    ok(!mounts_is_point(root, "a"), "a mount further down is not on a name");
    is_str(within("a"), "b/deep", "but within it");
    is_str(within("a/b/deep"), "none", "not within itself");
    is_str(within("a/bc"), "none", "nor in a folder of a longer name");
    own_mounts_end("a/b/deep");
    is_str(within("a"), "none", "until it is gone");
    own_mounts_bind("other", "a/b/deep");
    is_str(within("a"), "b/deep", "a folder of the same file system is seen");
    own_mounts_end("a/b/deep");
    own_mounts_bind("file", "a/odd \\ \nname");
    is_str(within("a"), "odd \\ \nname", "so is a file, under any name");
    own_mounts_end("a/odd \\ \nname");
    own_mounts_bind("other", "a");
    ok(mounts_is_point(root, "a"), "a folder on a folder is on its name");
    is_str(within("a"), "none", "and not within what is mounted there");
    own_mounts_end("a");
    own_mounts_bind("other/file", "file");
    ok(mounts_is_point(root, "file"), "and a file on a file");
    own_mounts_end("file");
}

/* Other mounts of the same file system are as they are. */
static void test_elsewhere(void)
{
    own_mounts_bind("a", "other");
    own_mounts_memory("other/b");
    is_str(within("other"), "b", "a mount in a second view of a folder");
    is_str(within("a"), "none", "is not in the first");
    own_mounts_end("other/b");
    own_mounts_end("other");
}

int main(void)
{
    int root;

    if (!own_mounts_begin())
        skip_all("needs a mount name space");
    tree_make();
    tree_put("a/b/deep/x", "");
    tree_put("a/bc/x", "");
    tree_put("a/odd \\ \nname", "");
    tree_put("file", "");
    tree_put("other/file", "other");
    if (symlink("/proc", tree_path("link")) < 0)
        bail("no link");
    root = open_root();
    test_none(root);
    test_points(root);
    test_elsewhere();
    close(root);
    tree_remove();
    return done();
}
