/* SPDX-License-Identifier: BSD-2-Clause */
/* A way down through many folders, and back: few of them are open. */
#include "pmix_bcast/folder_path.h"
#include "tap.h"
#include "tree.h"

#include <dirent.h>

#define DEPTH 300

static int open_files(void)
{
    DIR *list = opendir("/proc/self/fd");
    int n = 0;

    if (!list)
        bail("no /proc: %s", strerror(errno));
    while (readdir(list))
        n++;
    closedir(list);
    return n;
}

static int open_in(int at, const char *name)
{
    int fd = openat(at, name, FOLDER_OPEN);

    if (fd < 0)
        bail("%s: %s", name, strerror(errno));
    return fd;
}

/* Folders "d", each in the one before, which is there already or is made. */
static void go_down(struct folder_path *p, int depth)
{
    if (folder_path_enter(p, open_in(AT_FDCWD, tree_root)) != 0)
        bail("no way");
    for (int i = 0; i < depth; i++) {
        int at = folder_path_fd(p);

        if ((mkdirat(at, "d", 0700) < 0 && errno != EEXIST)
            || folder_path_add(p, "d") != 0
            || strcmp(folder_path_next(p), "d") != 0
            || folder_path_enter(p, open_in(at, "d")) != 0)
            bail("level %d", i);
    }
}

static void test_depth(void)
{
    struct folder_path p = {0};
    int before = open_files(), why = 0, levels = 0;
    struct stat root, there;

    go_down(&p, DEPTH);
    ok(open_files() - before < 100, "of %d folders few are open", DEPTH);
    while (why == 0 && p.n > 1) {
        why = folder_path_leave(&p);
        levels += why == 0 && strcmp(folder_path_now(&p), "d") == 0
                  && folder_path_next(&p) == NULL
                  && folder_path_now(&p) == NULL;
    }
    is_int(levels, DEPTH, "each is found again on the way back");
    ok(stat(tree_root, &root) == 0 && fstat(folder_path_fd(&p), &there) == 0
           && root.st_ino == there.st_ino,
       "up to the first");
    ok(folder_path_leave(&p) == 0 && p.n == 0 && open_files() == before,
       "in the end none is open");
    folder_path_clear(&p);
    go_down(&p, DEPTH);
    folder_path_clear(&p);
    ok(p.n == 0 && open_files() == before, "nor if it is given up far down");
}

/* ".." leads elsewhere then: not to what others have put there. */
static void test_moved(void)
{
    struct folder_path p = {0};
    int why = 0, left = 0;
    char path[2 * DEPTH + 100];
    size_t len = (size_t)snprintf(path, sizeof path, "%s", tree_root);

    go_down(&p, DEPTH);
    for (int i = 0; i < 200; i++)
        len += (size_t)snprintf(path + len, sizeof path - len, "/d");
    if (rename(path, tree_path("moved")) < 0)
        bail("%s: %s", path, strerror(errno));
    while (why == 0 && p.n > 1) {
        why = folder_path_leave(&p);
        left += why == 0;
    }
    is_int(why, ESTALE, "a folder that was moved meanwhile is noticed");
    is_int(left, DEPTH - 200, "where it was moved");
    folder_path_clear(&p);
}

static void test_names(void)
{
    struct folder_path p = {0};
    char name[20];
    int same = 0;

    go_down(&p, 0);
    ok(!folder_path_next(&p), "nothing is to be visited at first");
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "%d", i * i);
        if (folder_path_add(&p, name) != 0)
            bail("%s", name);
    }
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "%d", i * i);
        same += strcmp(folder_path_next(&p), name) == 0;
    }
    ok(same == 1000 && !folder_path_next(&p), "then each name once, in order");
    folder_path_clear(&p);
}

int main(void)
{
    tree_make();
    test_names();
    test_depth();
    test_moved();
    tree_remove();
    return done();
}
