/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that a user names for output, and what is not written to. */
#include "launcher/base/user_file.h"
#include "tree.h"

#include <string.h>
#include <unistd.h>

#define OTHER 12345 /* a user's number that is not ours */

static long size_of(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? (long)st.st_size : -1;
}

static void test_create(void)
{
    const char *why = NULL;
    char path[600];
    int fd;

    snprintf(path, sizeof path, "%s", tree_path("new"));
    fd = user_file_create(path, 0, &why);
    ok(fd >= 0 && !why && size_of(path) == 0, "a new file is made");
    ok(fcntl(fd, F_GETFD) & FD_CLOEXEC, "which no command inherits");
    close(fd);
    tree_put("old", "what was there before");
    snprintf(path, sizeof path, "%s", tree_path("old"));
    fd = user_file_create(path, 0, &why);
    ok(fd >= 0 && !why && size_of(path) == 0, "one that is there is emptied");
    close(fd);
    fd = user_file_create(path, 0, &why);
    ok(fd >= 0 && user_file_create(path, 0, &why) == -1
           && strcmp(why, "another run is writing it") == 0,
       "two do not write it at once");
    close(fd);
    fd = user_file_create("/dev/null", 0, &why);
    ok(fd >= 0 && !why, "a device is written to as it is");
    close(fd);
    fd = user_file_create(path, O_EXCL, &why);
    ok(fd == -1 && why, "with O_EXCL one that is there is refused");
    fd = user_file_create("/no/such/file", 0, &why);
    ok(fd == -1 && why && strcmp(why, strerror(ENOENT)) == 0,
       "where there is no folder it says so");
}

/* Opened by a link, "link", or by its name. */
static const char *why_not(const char *name,
                           mode_t mode,
                           uid_t folder,
                           uid_t of)
{
    char path[600];
    const char *why = NULL;
    int fd;

    tree_put("shared/file", "theirs");
    (void)unlink(tree_path("shared/link"));
    if (symlink("file", tree_path("shared/link")) < 0)
        bail("no link");
    snprintf(path, sizeof path, "%s", tree_path(name));
    if (chown(tree_path("shared"), folder, (gid_t)-1) < 0
        || chmod(tree_path("shared"), mode) < 0
        || lchown(path, of, (gid_t)-1) < 0)
        bail("%s: %s", path, strerror(errno));
    fd = user_file_open(path, 0, &why);
    if (fd >= 0)
        close(fd);
    if (lchown(path, 0, (gid_t)-1) < 0 || size_of(path) != 6)
        bail("%s is not as it was", path);
    return why;
}

static void test_of_others(void)
{
    const char *why, *name[] = {"shared/file", "shared/link"};

    if (geteuid() != 0) {
        skip("files of another user", "needs root");
        return;
    }
    for (int i = 0; i < 2; i++) {
        ok(why_not(name[i], 01777, 0, OTHER) != NULL,
           "where everybody may make files another user's %s is refused",
           name[i]);
        ok(!why_not(name[i], 01777, 0, 0), "one's own is not");
        ok(!why_not(name[i], 01777, OTHER, OTHER),
           "nor is the folder's owner's");
        ok(!why_not(name[i], 0755, 0, OTHER),
           "nor one in a folder that is not everybody's");
        ok(!why_not(name[i], 0777, 0, OTHER),
           "nor where everybody may replace the %s itself", name[i]);
    }
    why = NULL;
    if (chmod(tree_path("shared"), 01777) < 0
        || chown(tree_path("shared"), 0, (gid_t)-1) < 0
        || chown(tree_path("shared/file"), OTHER, (gid_t)-1) < 0)
        bail("%s", strerror(errno));
    ok(user_file_create(tree_path("shared/file"), 0, &why) == -1 && why
           && size_of(tree_path("shared/file")) == 6,
       "what is refused stays as it is");
}

/* Of /dev/stdout a link in /proc comes last. */
static void test_open_ones(void)
{
    const char *why = NULL;
    int fd, to, own;
    char name[40];

    tree_put("open", "before\n");
    fd = open(tree_path("open"), O_RDWR | O_APPEND | O_CLOEXEC);
    to = open(tree_path("open"), O_RDWR | O_CLOEXEC);
    if (fd < 0 || to < 0)
        bail("no file");
    snprintf(name, sizeof name, "/dev/fd/%d", fd);
    own = user_file_create(name, 0, &why);
    ok(own >= 0 && !why && write(own, "x", 1) == 1
           && lseek(fd, 0, SEEK_CUR) == 8 && size_of(tree_path("open")) == 8,
       "what is open already is neither emptied nor opened anew");
    close(own);
    snprintf(name, sizeof name, "/proc/%d/fd/%d", (int)getppid(), 999);
    ok(user_file_open(name, 0, &why) == -1 && why,
       "one that is not is missing");
    close(fd);
    close(to);
}

static void test_sync(void)
{
    char here[600];

    tree_put("synced", "x");
    is_int(user_file_sync_name(tree_path("synced")), 0,
           "a name is put on the disk");
    if (!getcwd(here, sizeof here) || chdir(tree_root) < 0)
        bail("chdir");
    is_int(user_file_sync_name("synced"), 0,
           "also one in the folder that we are in");
    if (chdir(here) < 0)
        bail("chdir");
    ok(user_file_sync_name("/no/such/file") == -1 && errno == ENOENT,
       "not one in a folder that is not there");
}

int main(void)
{
    tree_make();
    test_create();
    test_of_others();
    test_open_ones();
    test_sync();
    tree_remove();
    return done();
}
