/* SPDX-License-Identifier: BSD-2-Clause */
/* What only the old tree has comes into the new one, and nothing else does. */
#include "pmix_bcast/tree_merge.h"
#include "pmix_bcast/tree_source.h"
#include "tree.h"

#include <sys/stat.h>

static struct tree_progress progress;
static struct tree_merge m;

static int open_folder(const char *name)
{
    int fd = open(tree_path(name), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        bail("%s: %s", name, strerror(errno));
    return fd;
}

/* The new tree is its own index's source. */
static int merge(void)
{
    char path[600], *at = path;
    const struct tree_wish wish = {.source = &at, .n = 1};
    struct tree_source s;
    struct es_error err = {0};
    int why;

    snprintf(path, sizeof path, "%s", tree_path("new"));
    if (tree_source_open(&s, &wish, &err) < 0)
        bail("%s", err.what);
    m = (struct tree_merge){.index = &s.index,
                            .from = open_folder("old"),
                            .to = open_folder("new"),
                            .progress = &progress};
    why = tree_merge(&m);
    close(m.from);
    close(m.to);
    tree_source_close(&s);
    return why;
}

static int is_text(const char *name, const char *text)
{
    char got[100] = "";
    int fd = open(tree_path(name), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, got, sizeof got - 1);

    if (fd >= 0)
        close(fd);
    return n >= 0 && strcmp(got, text) == 0;
}

static int is_one_file(const char *a, const char *b)
{
    struct stat x, y;

    return lstat(tree_path(a), &x) == 0 && lstat(tree_path(b), &y) == 0
           && x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

static void make_trees(void)
{
    static const struct timespec old[2] = {{1000, 0}, {2000, 0}};

    tree_put("new/both", "new");
    tree_put("new/in/deep/new", "n");
    tree_put("old/both", "old");
    tree_put("old/mine", "kept");
    tree_put("old/in/deep/mine", "deep");
    tree_put("old/own/folder/x", "x");
    tree_put("old/a\xff\nb", "odd");
    if (symlink("/nowhere", tree_path("old/link")) < 0
        || mkfifo(tree_path("old/pipe"), 0600) < 0
        || chmod(tree_path("old/own/folder"), 0710) < 0
        || utimensat(AT_FDCWD, tree_path("old/own/folder"), old, 0) < 0)
        bail("no trees: %s", strerror(errno));
}

static void test_merge(void)
{
    struct stat st;

    is_int(merge(), 0, "two trees are merged");
    ok(is_text("new/both", "new"), "what both have is the new one's");
    ok(is_text("new/mine", "kept") && is_one_file("new/mine", "old/mine"),
       "what only the old one has is there, as a second name");
    ok(is_text("new/in/deep/mine", "deep") && is_text("new/in/deep/new", "n"),
       "in folders of both, too");
    ok(is_text("new/own/folder/x", "x"), "and whole folders");
    ok(lstat(tree_path("new/own/folder"), &st) == 0
           && (st.st_mode & 07777) == 0710 && st.st_mtime == 2000,
       "with their permissions and times");
    ok(is_text("new/a\xff\nb", "odd"), "under names of any bytes");
    ok(is_one_file("new/link", "old/link")
           && is_one_file("new/pipe", "old/pipe"),
       "links and pipes, too");
    ok(is_text("old/both", "old") && is_text("old/mine", "kept"),
       "the old tree is as it was");
    ok(atomic_load(&progress.steps) > 0 && !m.path[0],
       "it has told that something is done, and of nothing that failed");
}

static void test_faults(void)
{
    is_int(merge(), EEXIST, "what is there already, and not in the index");
    is_str(m.path, "pipe", "is named"); /* indexes have no pipes */
    (void)unlink(tree_path("old/pipe"));
    is_int(merge(), 0, "without that it can be done again");
    tree_put("new/in/file", "was a folder");
    tree_put("old/in/file/x", "x");
    is_int(merge(), EISDIR, "a folder where the new tree has a file");
    is_str(m.path, "in/file", "is named");
    atomic_store(&progress.cancel, 1);
    is_int(merge(), ECANCELED, "it can be cancelled");
    atomic_store(&progress.cancel, 0);
}

int main(void)
{
    tree_make();
    make_trees();
    test_merge();
    test_faults();
    tree_remove();
    return done();
}
