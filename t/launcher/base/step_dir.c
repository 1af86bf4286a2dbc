/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In a /dev/shm of its own, so that nobody's step directories are touched.
 * Without the right to have one the test is skipped.
 */
#include "launcher/base/step_dir.h"
#include "launcher/base/step_env.h"
#include "launcher/base/user_dir.h"
#include "tap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char user[64], path[200];

static const char *below(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", user, name);
    return path;
}

static void write_file(const char *name, const char *text)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        bail("%s: %s", name, strerror(errno));
    close(fd);
}

/* A mount name space, as another user's root if we are none. */
static int own_shm(void)
{
    uid_t uid = getuid();
    gid_t gid = getgid();
    char map[64];

    if (unshare(CLONE_NEWNS) < 0) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
            return -1;
        snprintf(map, sizeof map, "%u %u 1", uid, uid);
        write_file("/proc/self/uid_map", map);
        write_file("/proc/self/setgroups", "deny");
        snprintf(map, sizeof map, "%u %u 1", gid, gid);
        write_file("/proc/self/gid_map", map);
    }
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return -1;
    return mount("none", USER_DIR_BASE, "tmpfs", 0, "size=256k,mode=1777");
}

/* What is in a file, NULL if there is none; valid until the next call. */
static const char *read_file(const char *name)
{
    static char text[300];
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n < 0 ? NULL : text;
}

static const char *content(const char *name)
{
    return read_file(below(name));
}

static mode_t mode_of(const char *name)
{
    struct stat st;

    return lstat(name, &st) == 0 ? st.st_mode & 07777 : 0;
}

/* Entries of a directory, "." and ".." left out; -1 if there is none. */
static int entries(const char *name)
{
    DIR *dir = opendir(name);
    int n = -2;

    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return dir ? n : -1;
}

/* What stands in the place of the user's directory keeps nobody from having
 * one, and nothing happens to it. */
static void test_private(const char *what)
{
    char file[STEP_PATH_MAX], again[STEP_PATH_MAX], *end;

    ok(step_dir_put("1.0", "f", "x", 1) == 0, "%s: a file is put", what);
    if (step_dir_path(file, "1.0", "f") < 0)
        bail("no path");
    ok(strncmp(file, user, strlen(user)) == 0 && file[strlen(user)] == '.'
           && strcmp(read_file(file), "x") == 0,
       "%s: in a directory of another name", what);
    ok(step_dir_put("1.0", "g", "y", 1) == 0
           && step_dir_path(again, "1.0", "f") == 0 && strcmp(file, again) == 0,
       "%s: which is found again", what);
    ok(step_dir_put("2.0", "f", "y", 1) == 0
           && step_dir_path(again, "2.0", "f") == 0
           && strncmp(file, again, strlen(user) + 9) == 0,
       "%s: by the next step, too", what);
    step_dir_remove("2.0");
    end = strstr(file, "/1.0");
    *end = '\0';
    ok(mode_of(file) == 0700, "%s: it is the user's alone", what);
    step_dir_remove("1.0");
    ok(entries(file) == -1, "%s: it goes with the last", what);
}

static void test_refused(void)
{
    char real[] = USER_DIR_BASE "/elsewhere", victim[] = USER_DIR_BASE "/vic";
    int taken = 0;

    mkdir(real, 0700);
    if (symlink(real, user) < 0)
        bail("no link");
    test_private("a link");
    is_int(entries(real), 0, "nothing is written behind it");
    unlink(user);
    write_file(user, "x");
    test_private("a file");
    unlink(user);
    mkdir(user, 0700);
    for (mode_t others = 1; others <= 077; others++) {
        chmod(user, 0700 | others);
        taken += step_dir_put("1.0", "f", "x", 1) != 0 || entries(user) != 0;
        step_dir_remove("1.0");
    }
    is_int(taken, 0, "one that others may enter, read or write is not taken");
    rmdir(user);
    mkdir(user, 0700);
    if (symlink(real, below("1.0")) < 0)
        bail("no link");
    is_int(step_dir_put("1.0", "f", "x", 1), ENOTDIR,
           "a link instead of the step's directory is not followed");
    write_file(victim, "kept");
    step_dir_remove("1.0");
    ok(access(victim, F_OK) == 0 && access(real, F_OK) == 0,
       "nor when it is removed");
    mkdir(user, 0700);
    unlink(below("1.0"));
    mkdir(below("1.0"), 0700);
    if (symlink(victim, below("1.0/.f")) < 0
        || symlink(victim, below("1.0/f")) < 0)
        bail("no link");
    is_int(step_dir_put("1.0", "f", "mine", 4), 0, "links in it are replaced");
    ok(mode_of(victim) == 0600 && entries(below("1.0")) == 1
           && strcmp(content("1.0/f"), "mine") == 0,
       "by the file itself");
    is_str(read_file(victim), "kept", "and what they led to is as it was");
    unlink(victim);
    rmdir(real);
    step_dir_remove("1.0");
}

/* Owned by somebody else; needs root. */
static void test_others(void)
{
    static const char private[] = USER_DIR_BASE "/evenstep-0.00000000";

    if (getuid() != 0 || mkdir(user, 0700) < 0 || chown(user, 12345, 0) < 0
        || mkdir(private, 0700) < 0 || chown(private, 12345, 0) < 0) {
        rmdir(user);
        skip("another user's directory is not taken", "needs root");
        return;
    }
    test_private("another user's directory");
    ok(entries(user) == 0 && entries(private) == 0,
       "theirs are left alone, whatever they are called");
    rmdir(user);
    rmdir(private);
}

/* One that was made while the plain name was taken stays the step's. */
static void test_found_again(void)
{
    char before[STEP_PATH_MAX], after[STEP_PATH_MAX];

    write_file(user, "x");
    step_dir_put("1.0", "f", "x", 1);
    (void)step_dir_path(before, "1.0", "f");
    unlink(user);
    mkdir(user, 0700);
    step_dir_put("1.0", "g", "x", 1);
    ok(step_dir_path(after, "1.0", "f") == 0 && strcmp(before, after) == 0,
       "a step stays where it is when the plain name is free again");
    step_dir_remove("1.0");
    is_int(entries(USER_DIR_BASE), 0, "and nothing is left of either");
}

static void test_anywhere(void)
{
    char any[200], here[STEP_PATH_MAX], other[] = "/tmp/evenstep-*/1.0/f";

    step_dir_put("1.0", "f", "x", 1);
    (void)step_dir_path(here, "1.0", "f");
    ok(step_dir_anywhere(any, sizeof any, "1.0", "f") == 0
           && step_dir_here(any, sizeof any) == 0 && strcmp(any, here) == 0,
       "a path for any node is the file's own on this one");
    (void)step_dir_anywhere(any, sizeof any, "2.0", "f");
    is_int(step_dir_here(any, sizeof any), -1, "but not of a step unknown");
    ok(step_dir_here(other, sizeof other) == 0
           && strcmp(other, "/tmp/evenstep-*/1.0/f") == 0,
       "and any other path stays");
    step_dir_remove("1.0");
}

static void test_env(void)
{
    char want[300], dir[STEP_PATH_MAX];

    is_int(step_env_put("1.0", "A=1\nB=2\n", 8), 0, "an environment is put");
    (void)step_dir_path(dir, "1.0", "");
    snprintf(want, sizeof want,
             "EVENSTEP_DIR=%s\nEVENSTEP_SOCKET=%s/socket\nA=1\nB=2\n", dir,
             dir);
    is_str(content("1.0/env"), want, "with the paths on this node before it");
    step_dir_remove("1.0");
}

static void test_put(void)
{
    static const char nul[] = {'a', 0, 'b'};
    mode_t old = umask(0);

    is_int(step_dir_put("17.2", "metrics.json", "{}", 2), 0, "a file is put");
    is_str(content("17.2/metrics.json"), "{}", "and there");
    ok(mode_of(user) == 0700 && mode_of(below("17.2")) == 0700
           && mode_of(below("17.2/metrics.json")) == 0600,
       "for its user alone, whatever the umask");
    umask(old);
    is_int(step_dir_put("17.2", "metrics.json", "[1]", 3), 0, "put again");
    is_str(content("17.2/metrics.json"), "[1]", "it is replaced");
    is_int(step_dir_put("17.2", "empty", "", 0), 0, "an empty file is put");
    is_str(content("17.2/empty"), "", "and there");
    step_dir_put("17.2", "nul", nul, sizeof nul);
    ok(content("17.2/nul") && memcmp(content("17.2/nul"), nul, 3) == 0,
       "any byte may be in one");
    write_file(below("17.2/.metrics.json"), "half of a killed one");
    is_int(step_dir_put("17.2", "metrics.json", "{}", 2), 0,
           "what one that was killed left is replaced");
    is_int(entries(below("17.2")), 3, "and nothing is left beside");
    step_dir_put("18.0", "f", "x", 1);
    step_dir_remove("17.2");
    ok(entries(below("17.2")) == -1 && entries(user) == 1,
       "a step's directory goes, with all in it, and no other");
    step_dir_remove("17.2");
    step_dir_remove("18.0");
    is_int(entries(user), -1, "the user's goes with the last");
    step_dir_remove("18.0");
    ok(1, "what is not there may be removed");
}

static void test_no_room(void)
{
    static char much[1 << 19];

    step_dir_put("1.0", "f", "old", 3);
    is_int(step_dir_put("1.0", "f", much, sizeof much), ENOSPC,
           "a file that does not fit is told");
    is_str(content("1.0/f"), "old", "and the one of before is as it was");
    is_int(entries(below("1.0")), 1, "nothing half is left beside");
    step_dir_remove("1.0");
    ok(step_dir_put("1.0", "f", "x", 1) == 0, "with room again it fits");
    step_dir_remove("1.0");
}

static void test_sweep(void)
{
    pid_t gone = fork();
    char dead[40], alive[40];

    if (gone == 0)
        _exit(0);
    if (gone < 0 || waitpid(gone, NULL, 0) != gone)
        bail("no process");
    snprintf(dead, sizeof dead, "run-%d", (int)gone);
    snprintf(alive, sizeof alive, "run-%d", (int)getpid());
    step_dir_put(dead, "f", "x", 1);
    step_dir_put(alive, "f", "x", 1);
    step_dir_put("run-x", "f", "x", 1);
    step_dir_put("1.0", "f", "x", 1);
    step_dir_sweep("run-");
    ok(entries(below(dead)) == -1 && entries(user) == 3,
       "what a killed one has left is swept away, and nothing else");
    step_dir_remove("1.0");
    step_dir_remove("run-x");
    step_dir_remove(alive);
    step_dir_sweep("run-");
    ok(1, "nothing may be there");
}

int main(void)
{
    int before;

    if (own_shm() < 0)
        skip_all("needs a mount name space of its own");
    snprintf(user, sizeof user, USER_DIR_BASE "/evenstep-%u",
             (unsigned)getuid());
    before = entries("/proc/self/fd");
    test_refused();
    test_others();
    test_found_again();
    test_anywhere();
    test_env();
    test_put();
    test_no_room();
    test_sweep();
    is_int(entries("/proc/self/fd"), before, "no file is left open");
    is_int(entries(USER_DIR_BASE), 0, "and nothing left in " USER_DIR_BASE);
    return done();
}
