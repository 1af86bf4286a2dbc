/* SPDX-License-Identifier: BSD-2-Clause */
/* A folder goes with all that is in it, however deep that is; what is mounted
 * there stays. */
#include "pmix_bcast/own_folder.h"
#include "own_mounts.h"
#include "tap.h"
#include "tree.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

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

/* --- mounts ---------------------------------------------------------------- */

static int enter(const char *folder, const char *name)
{
    int at = open(tree_path(folder), O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = own_folder_enter(at, name), why = fd < 0 ? errno : 0;

    if (fd >= 0)
        close(fd);
    close(at);
    return why;
}

static void remove_with(const char *what)
{
    own_folder_remove(AT_FDCWD, tree_path("old"));
    ok(is_there("old/deep/in") && !is_there("old/beside"),
       "%s: what is beside it goes", what);
}

static void test_mounts(const char *kernel)
{
    struct stat st;

    diag("%s", kernel);
    tree_put("old/deep/in/x", "x");
    tree_put("old/beside/x", "x");
    tree_put("outside/mine", "mine");
    is_int(enter("old", "deep"), 0, "a folder is entered");
    is_int(enter("old", "nowhere"), ENOENT, "one that is not there is not");
    is_int(enter("old/beside", "x"), ENOTDIR, "nor a file");
    own_mounts_memory("old/deep/in");
    tree_put("old/deep/in/mine", "mine");
    if (chmod(tree_path("old/deep/in"), 0) < 0)
        bail("no mode");
    is_int(enter("old/deep", "in"), EXDEV, "a mount point is not entered");
    remove_with("memory that is mounted");
    ok(is_there("old/deep/in/mine") && stat(tree_path("old/deep/in"), &st) == 0
           && (st.st_mode & 07777) == 0,
       "what is mounted stays as it is");
    own_mounts_end("old/deep/in");
    own_mounts_bind("outside", "old/deep/in");
    tree_put("old/beside/x", "x");
    is_int(enter("old/deep", "in"), EXDEV,
           "nor one that is of the same file system");
    remove_with("a folder that is mounted");
    ok(is_there("outside/mine"), "which stays as it is");
    own_mounts_end("old/deep/in");
    own_folder_remove(AT_FDCWD, tree_path("old"));
    ok(!is_there("old"), "without mounts all of it goes");
}

/* Before 5.6, and where a container forbids it. */
static void forbid_openat2(int error)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {sizeof code / sizeof *code, code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0
        || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0)
        bail("no filter: %s", strerror(errno));
}

int main(void)
{
    tree_make();
    test_depth();
    test_width();
    if (own_mounts_begin()) {
        test_mounts("with openat2(2)");
        forbid_openat2(EPERM);
        test_mounts("where it is forbidden");
        forbid_openat2(ENOSYS);
        test_mounts("without it");
    } else {
        skip("what is mounted", "needs a mount name space");
    }
    tree_remove();
    return done();
}
