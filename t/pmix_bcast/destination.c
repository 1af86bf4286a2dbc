/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files in a folder of the test's own; what is in it at the end of each case
 * is counted, so that nothing half-written is left.  All of it twice: where
 * files can be without a name, and where they cannot.
 */
#include "pmix_bcast/destination.h"
#include "tap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sodium.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>

static int nameless = 1;
static char folder[] = "/tmp/evenstep-destination-XXXXXX";
static char path[300];

static const char *in_folder(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* How many files there are. */
static int files(void)
{
    DIR *d = opendir(folder);
    int n = 0;

    if (!d)
        bail("%s", folder);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2; /* . and .. */
}

static int has(const char *name, const char *text)
{
    char got[100] = "";
    FILE *fp = fopen(in_folder(name), "r");
    size_t n;

    if (!fp)
        return 0;
    n = fread(got, 1, sizeof got - 1, fp);
    fclose(fp);
    return n == strlen(text) && strcmp(got, text) == 0;
}

static void put(const char *name, const char *text)
{
    FILE *fp = fopen(in_folder(name), "w");

    if (!fp || fputs(text, fp) == EOF || fclose(fp) != 0)
        bail("%s", name);
}

static void drop(const char *name)
{
    if (unlink(in_folder(name)) < 0)
        bail("%s: %s", name, strerror(errno));
}

/* All of it at once; what went wrong first. */
static int make(const char *name, const char *text, int force)
{
    struct destination d;
    int why = destination_open(&d, in_folder(name), strlen(text), force, NULL);

    if (why == 0)
        why = destination_write(&d, text, strlen(text), 0);
    if (why == 0)
        why = destination_finish(&d, 0600, NULL);
    destination_close(&d);
    return why;
}

static void test_whole(void)
{
    struct destination d;
    struct stat st;
    int64_t times[] = {0, -1500000000, 1234567890123456789};
    mode_t mask = umask(077);

    ok(destination_open(&d, in_folder("x"), 10, 0, NULL) == 0
           && files() == (nameless ? 0 : 1) && access(in_folder("x"), F_OK) < 0,
       "an open file has no name yet, or not its own");
    ok(fstat(d.fd, &st) == 0 && (st.st_mode & 07777) == 0600
           && st.st_size == 10,
       "it is its owner's, and has its length");
    ok(destination_write(&d, "56789", 5, 5) == 0
           && destination_write(&d, "01234", 5, 0) == 0,
       "its parts may come in any order");
    ok(destination_finish(&d, 0751, NULL) == 0 && files() == 1
           && has("x", "0123456789"),
       "finished it has its name, and just that");
    ok(fstat(d.fd, &st) == 0 && (st.st_mode & 07777) == 0751,
       "and its mode, whatever the umask");
    destination_close(&d);
    ok(d.fd == -1 && d.target.folder == -1 && has("x", "0123456789"),
       "it stays when it is closed");
    destination_close(&d);
    ok(files() == 1, "closing twice does no harm");
    drop("x");
    for (int i = 0; i < 3; i++) {
        if (destination_open(&d, in_folder("x"), 0, 0, NULL) != 0
            || destination_finish(&d, 0600, &times[i]) != 0)
            bail("cannot make x");
        destination_close(&d);
        ok(stat(in_folder("x"), &st) == 0
               && (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec
                      == times[i],
           "%lld ns since 1970 are kept", (long long)times[i]);
        drop("x");
    }
    umask(mask);
}

static void test_given_up(void)
{
    struct destination d;

    if (destination_open(&d, in_folder("x"), 100, 0, NULL) != 0)
        bail("cannot open x");
    (void)destination_write(&d, "half", 4, 0);
    destination_close(&d);
    is_int(files(), 0, "what is not finished is removed");
    put("x", "old");
    if (destination_open(&d, in_folder("x"), 100, 1, NULL) != 0)
        bail("cannot open x");
    destination_close(&d);
    ok(files() == 1 && has("x", "old"), "and what was there is as it was");
    drop("x");
}

static void test_there(void)
{
    struct destination a, b;
    struct stat st;

    put("x", "old");
    ok(make("x", "new", 0) == EEXIST && has("x", "old") && files() == 1,
       "what is there is not replaced");
    ok(make("x", "new", 1) == 0 && has("x", "new") && files() == 1,
       "but with force");
    drop("x");
    put("target", "target");
    if (symlink("target", in_folder("x")) < 0)
        bail("no link");
    ok(make("x", "new", 0) == EEXIST, "a link counts as there");
    ok(make("x", "new", 1) == 0 && has("target", "target") && has("x", "new")
           && lstat(in_folder("x"), &st) == 0 && S_ISREG(st.st_mode),
       "with force the link is replaced, not what it points to");
    drop("x");
    drop("target");
    if (symlink("nowhere", in_folder("x")) < 0)
        bail("no link");
    ok(make("x", "new", 0) == EEXIST && access(in_folder("nowhere"), F_OK) < 0,
       "nor is one followed that points nowhere");
    is_int(destination_open(&a, in_folder("x"), 1, 0, NULL), EEXIST,
           "and that is known at once");
    drop("x");
    if (destination_open(&a, in_folder("x"), 1, 0, NULL) != 0
        || destination_open(&b, in_folder("x"), 1, 0, NULL) != 0)
        bail("cannot open x");
    ok(destination_finish(&a, 0600, NULL) == 0
           && destination_finish(&b, 0600, NULL) == EEXIST,
       "of two at once the first has the name");
    destination_close(&a);
    destination_close(&b);
    is_int(files(), 1, "and the second leaves nothing");
    drop("x");
}

static void test_bad_names(void)
{
    static char longest[270];
    static const struct {
        const char *name, *path;
        int why;
    } cases[] = {
        {"no slash", "x", EINVAL},
        {"nothing", "", EINVAL},
        {"a folder that is not there", "/nowhere/x", ENOENT},
        {"a folder that is a file", "/dev/null/x", ENOTDIR},
        {"a slash at the end", "/tmp/", EISDIR},
        {"the root", "/", EISDIR},
        {"a dot", "/tmp/.", EISDIR},
        {"two dots", "/tmp/..", EISDIR},
        {"a folder", "/tmp", EISDIR},
        {"a name of 256 bytes", longest, ENAMETOOLONG},
    };
    struct destination d;

    memset(longest, 'x', 5 + 256);
    memcpy(longest, "/tmp/", 5);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int force = 0; force <= 1; force++) {
            int why = destination_open(&d, cases[i].path, 1, force, NULL);

            ok(why == cases[i].why && d.fd == -1 && d.target.folder == -1,
               "%s%s: %s", cases[i].name, force ? ", with force" : "",
               strerror(cases[i].why));
            destination_close(&d);
        }
    if (mkdir(in_folder("x"), 0700) < 0)
        bail("no folder");
    ok(make("x", "new", 1) == EISDIR && files() == 1,
       "a folder is not replaced, even with force");
    if (rmdir(in_folder("x")) < 0)
        bail("a folder is left");
    longest[5 + 255] = '\0';
    is_int(make(longest + 5, "x", 0), 0, "a name of 255 bytes is taken");
    drop(longest + 5);
}

/* It becomes a folder while we write. */
static void test_late_folder(void)
{
    struct destination d;

    if (destination_open(&d, in_folder("x"), 1, 1, NULL) != 0
        || mkdir(in_folder("x"), 0700) < 0)
        bail("no folder");
    ok(destination_finish(&d, 0600, NULL) == EISDIR,
       "a folder that comes meanwhile is not replaced");
    destination_close(&d);
    is_int(files(), 1, "and nothing is left beside it");
    if (rmdir(in_folder("x")) < 0)
        bail("a folder is left");
}

/* As a full disk would stop it, but for all users. */
static void test_limit(void)
{
    struct rlimit old, small;
    struct destination d;
    char bytes[100] = {0};

    if (getrlimit(RLIMIT_FSIZE, &old) < 0)
        bail("no limit");
    small = (struct rlimit){4096, old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &small) < 0)
        bail("cannot limit");
    ok(destination_open(&d, in_folder("x"), 4097, 0, NULL) == EFBIG
           && files() == 0,
       "no room: known at once, and nothing is left");
    if (destination_open(&d, in_folder("x"), 4096, 0, NULL) != 0)
        bail("cannot open x");
    ok(destination_write(&d, bytes, 100, 4000) == EFBIG,
       "no room later: known when it is written");
    destination_close(&d);
    (void)setrlimit(RLIMIT_FSIZE, &old);
    is_int(files(), 0, "and nothing is left");
}

/* How many files without a name are open here. */
static int held(void)
{
    DIR *d = opendir("/proc/self/fd");
    struct dirent *e;
    int n = 0;

    if (!d)
        bail("/proc/self/fd");
    while ((e = readdir(d)) != NULL) {
        char at[PATH_MAX] = "";

        if (readlinkat(dirfd(d), e->d_name, at, sizeof at - 1) > 0
            && strstr(at, "/x (deleted)"))
            n++;
    }
    closedir(d);
    return n;
}

/* To free a file in memory takes time. */
static void test_replaced(void)
{
    struct destination d;

    put("x", "old");
    if (destination_open(&d, in_folder("x"), 3, 1, NULL) != 0)
        bail("cannot open x");
    ok(destination_write(&d, "new", 3, 0) == 0
           && destination_finish(&d, 0600, NULL) == 0 && has("x", "new")
           && held() == 1,
       "what is replaced in memory is not freed when the new one has its name");
    destination_close(&d);
    is_int(held(), 0, "it is when that is closed");
    drop("x");
}

static void test_in_memory(void)
{
    struct destination d;

    if (mount("tmpfs", folder, "tmpfs", 0, "size=64k") < 0) {
        skip("a full disk, and what is replaced", "cannot mount a small one");
        return;
    }
    ok(destination_open(&d, in_folder("x"), 1 << 20, 0, NULL) == ENOSPC
           && files() == 0,
       "a full disk: known at once, and nothing is left");
    ok(make("x", "it fits", 0) == 0 && has("x", "it fits"), "less fits");
    test_replaced();
    if (umount(folder) < 0)
        bail("%s is still mounted", folder);
}

/* Nor is it tried: that would take all that others have left.  Where no room is
 * reserved it would seem to fit. */
static void test_too_large(void)
{
    struct destination d;
    struct statvfs fs;
    uint64_t more;

    if (statvfs(folder, &fs) < 0)
        bail("%s", folder);
    more = (uint64_t)fs.f_bavail * fs.f_frsize + (1u << 30);
    if (fs.f_blocks == 0)
        more = UINT64_MAX / 2; /* then the system says no */
    ok(destination_open(&d, in_folder("x"), more, 0, NULL) != 0 && files() == 0,
       "more than there is room for: known at once, and nothing is left");
}

/* From now on open files have names, and no room is reserved for them, as on
 * NFS: the kernel says so. */
static void need_names(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                 offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TMPFILE & ~O_DIRECTORY, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof code / sizeof code[0], code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0
        || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0)
        bail("no filter: %s", strerror(errno));
    nameless = 0;
}

static void test_all(void)
{
    test_whole();
    test_given_up();
    test_there();
    test_bad_names();
    test_late_folder();
    test_limit();
    test_in_memory();
    test_too_large();
}

int main(void)
{
    if (sodium_init() < 0 || !mkdtemp(folder))
        bail("no folder");
    test_all();
    need_names();
    test_all();
    is_int(rmdir(folder), 0, "nothing is left in the folder");
    return done();
}
