/* SPDX-License-Identifier: BSD-2-Clause */
/* New folders for slices, and what others have left. */
#include "launcher/exec/scratch.h"
#include "pmix_bcast/own_folder.h"
#include "tap.h"
#include "tree.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

static int is_there(const char *name)
{
    struct stat st;

    return lstat(tree_path(name), &st) == 0;
}

static void make(const char *name, time_t age)
{
    char path[600];
    const struct utimbuf then = {time(NULL) - age, time(NULL) - age};

    snprintf(path, sizeof path, "%s", tree_path(name));
    if (mkdir(path, 0700) < 0 || utime(path, &then) < 0)
        bail("%s: %s", path, strerror(errno));
}

static void test_slices(void)
{
    struct scratch s = {0};
    struct es_error err;
    char one[SCRATCH_PATH_MAX], two[SCRATCH_PATH_MAX], root[SCRATCH_PATH_MAX];
    char inside[SCRATCH_PATH_MAX + 8];
    struct stat st;

    ok(scratch_begin(&s, "n0", 1, one, &err) == 0
           && scratch_begin(&s, "n0", 2, two, &err) == 0
           && strcmp(one, two) != 0,
       "each slice has a folder");
    ok(stat(one, &st) == 0 && (st.st_mode & 0777) == 0700, "of its own");
    snprintf(inside, sizeof inside, "%s/x", one);
    if (mkdir(inside, 0700) < 0 || chmod(inside, 0) < 0)
        bail("cannot make %s", inside);
    scratch_end(&s, 1);
    ok(access(one, F_OK) < 0 && access(two, F_OK) == 0,
       "it goes with all that is in it, and the other one stays");
    snprintf(inside, sizeof inside, "%s/x", two);
    if (mkdir(inside, 0700) < 0)
        bail("cannot make %s", inside);
    ok(scratch_begin(&s, "n0", 2, two, &err) == 0 && access(inside, F_OK) < 0,
       "one that begins again is empty");
    snprintf(root, sizeof root, "%s", s.path);
    scratch_close(&s);
    ok(access(root, F_OK) < 0, "in the end nothing is left");
    scratch_close(&s);
}

static void test_sweep(void)
{
    const struct utimbuf then = {time(NULL) - 1000, time(NULL) - 1000};
    int held;

    make("mine-1-n0", 1000);
    make("mine-1-n0/x", 1000);
    make("mine-2-n0", 0);
    make("mine-3-n1", 1000);
    make("other-1-n0", 1000);
    make("mine-4-n0", 1000);
    make("mine-4-n0/kept", 1000);
    make("mine-5-n0", 1000);
    /* What was made in them has changed their time. */
    if (utime(tree_path("mine-1-n0"), &then) < 0
        || utime(tree_path("mine-4-n0"), &then) < 0)
        bail("no time");
    held = own_folder_open(AT_FDCWD, tree_path("mine-5-n0"));
    if (held < 0 || flock(held, LOCK_EX) < 0)
        bail("no lock");
    own_folder_sweep(tree_root, "mine-", "n0", "kept");
    ok(!is_there("mine-1-n0"), "what an agent has left that was killed goes");
    ok(is_there("mine-2-n0"), "what is new stays: it may not be locked yet");
    ok(is_there("mine-3-n1"), "and what is another node's");
    ok(is_there("other-1-n0"), "and what is something else");
    ok(is_there("mine-4-n0"), "and what is kept");
    ok(is_there("mine-5-n0"), "and what is locked");
    close(held);
    own_folder_sweep(tree_root, "mine-", "n0", NULL);
    ok(!is_there("mine-4-n0") && !is_there("mine-5-n0"),
       "until it is not any more");
}

static void test_no_room(void)
{
    struct scratch s = {0};
    struct es_error err = {0};
    char path[SCRATCH_PATH_MAX];

    setenv("TMPDIR", "/nowhere", 1);
    ok(scratch_begin(&s, "n0", 1, path, &err) < 0 && err.kind == ES_ENV
           && strstr(err.what, "/nowhere"),
       "a TMPDIR that is not there is told: %s", err.what);
    scratch_close(&s);
}

int main(void)
{
    tree_make();
    setenv("TMPDIR", tree_root, 1);
    test_slices();
    test_sweep();
    test_no_room();
    tree_remove();
    return done();
}
