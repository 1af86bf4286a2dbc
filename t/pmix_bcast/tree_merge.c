/* SPDX-License-Identifier: BSD-2-Clause */
/* What only the old tree has comes into the new one, and nothing else does. */
#include "pmix_bcast/tree_merge.h"
#include "pmix_bcast/own_folder.h"
#include "pmix_bcast/tree_source.h"
#include "tree.h"

#include <sys/resource.h>
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
    tree_source_init(&s, NULL);
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

/* --- deep folders ---------------------------------------------------------- */

#define DEPTH 600

static int go_in(int at, const char *name, int make)
{
    int fd = make && mkdirat(at, name, 0700) < 0 && errno != EEXIST
                 ? -1
                 : openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (at >= 0)
        close(at);
    return fd;
}

/* The innermost of DEPTH folders, which are made where that is wanted. */
static int go_down(const char *name, const char *each, int make)
{
    int at = go_in(AT_FDCWD, tree_path(name), make);

    for (int i = 0; at >= 0 && i < DEPTH; i++)
        at = go_in(at, each, make);
    return at;
}

static void make_file_in(int at)
{
    int fd = openat(at, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0)
        bail("no file: %s", strerror(errno));
    close(fd);
    close(at);
}

static int has_file(const char *name, const char *each)
{
    int at = go_down(name, each, 0);
    int has = at >= 0 && faccessat(at, "file", F_OK, 0) == 0;

    if (at >= 0)
        close(at);
    return has;
}

static void test_depth(void)
{
    struct rlimit limit;
    char each[101] = "";

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        bail("no limit: %s", strerror(errno));
    limit.rlim_cur = 250;
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
        bail("no limit: %s", strerror(errno));
    close(go_down("new", "d", 1));
    make_file_in(go_down("old", "d", 1));
    is_int(merge(), 0, "600 folders in each other, of both trees");
    ok(has_file("new", "d"), "the innermost has what only the old one has");
    memset(each, 'x', sizeof each - 1);
    make_file_in(go_down("old", each, 1));
    is_int(merge(), 0, "600, which only the old one has");
    ok(has_file("new", each), "with a path of %d bytes", DEPTH * 101);
    /* As the index does not know it, the file cannot be made again. */
    own_folder_remove(AT_FDCWD, tree_path("new"));
    close(go_down("new", "d", 1));
    own_folder_remove(AT_FDCWD, tree_path("old/d"));
    close(go_down("old", "d", 1));
    is_int(mkfifoat(go_down("old", "d", 0), "pipe", 0600)
               || mkfifoat(go_down("new", "d", 0), "pipe", 0600),
           0, "a pipe in each");
    is_int(merge(), EEXIST, "what is there far down");
    ok(strlen(m.path) == 2 * DEPTH + 4 && strstr(m.path, "d/pipe"),
       "is named with all of its path");
}

int main(void)
{
    tree_make();
    make_trees();
    test_merge();
    test_faults();
    own_folder_remove(AT_FDCWD, tree_path("old"));
    own_folder_remove(AT_FDCWD, tree_path("new"));
    test_depth();
    own_folder_remove(AT_FDCWD, tree_root);
    return done();
}
