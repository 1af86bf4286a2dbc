/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The faults of disks in a mount name space of our own; without the right to
 * have one that part is skipped.
 */
#include "launcher/probe/probe_storage.h"
#include "launcher/probe/probe.h"
#include "tree.h"

#include <dirent.h>
#include <sched.h>
#include <sys/mount.h>

static struct probe_result measure(const char *scratch, int budget_ms)
{
    struct probe_setup setup;
    struct probe_result r = {0};

    probe_setup_init(&setup);
    setup.scratch = scratch;
    probe_storage_measure(&setup, budget_ms, &r);
    return r;
}

static int entries(const char *name)
{
    DIR *dir = opendir(name);
    int n = -2;

    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

static int not_measured(const struct probe_result *r, const char *why)
{
    return r->state == PROBE_NOT_MEASURED && strstr(r->what, why);
}

static void test_scratch(void)
{
    struct probe_result r;

    r = measure(tree_root, 60);
    ok(r.state == PROBE_MEASURED && r.value > 0.1, "a scratch is measured");
    ok(r.capacity_bytes > 0, "so is its room");
    diag("%.0f MB/s +- %.0f %%, %s", r.value, 100 * r.spread, r.what);
    is_int(entries(tree_root), 0, "nothing stays in it");
    r = measure(tree_root, 0);
    ok(r.state == PROBE_MEASURED && strncmp(r.what, "1 MiB written ", 14) == 0,
       "without time one block is written");
}

static void test_no_scratch(void)
{
    struct probe_result r = measure(tree_path("none"), 10);

    ok(not_measured(&r, "cannot be written: No such file or directory: name "
                        "another one by TMPDIR or by scratch"),
       "no directory: it is said, and what to do");
    tree_put("file", "x");
    r = measure(tree_path("file"), 10);
    ok(not_measured(&r, "Not a directory"), "nor is a file a scratch");
}

static int own_mounts(void)
{
    if (unshare(CLONE_NEWNS) < 0)
        return -1;
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

static void mount_disk(const char *options, unsigned long flags)
{
    if (mount("none", tree_root, "tmpfs", flags, options) < 0)
        bail("no tmpfs: %s", strerror(errno));
}

static void test_disks(void)
{
    static const char *const what[] = {"a read-only scratch is told",
                                       "so is a full one",
                                       "one that is nearly full is left alone",
                                       "little is written to a small one"};
    struct probe_result r;

    if (own_mounts() < 0) {
        for (size_t i = 0; i < sizeof what / sizeof what[0]; i++)
            skip(what[i], "needs a mount name space of its own");
        return;
    }
    mount_disk("size=30m", MS_RDONLY);
    r = measure(tree_root, 10);
    ok(not_measured(&r, "is read-only"), "%s", what[0]);
    umount(tree_root);
    mount_disk("size=4k", 0);
    tree_put("all", "there is");
    r = measure(tree_root, 10);
    ok(not_measured(&r, "is full"), "%s", what[1]);
    umount(tree_root);
    mount_disk("size=9m", 0);
    r = measure(tree_root, 10);
    ok(not_measured(&r, "is full"), "%s", what[2]);
    umount(tree_root);
    mount_disk("size=30m", 0);
    r = measure(tree_root, 1000);
    ok(r.state == PROBE_MEASURED && strncmp(r.what, "3 MiB written ", 14) == 0
           && entries(tree_root) == 0,
       "%s", what[3]);
    umount(tree_root);
}

int main(void)
{
    tree_make();
    test_scratch();
    test_no_scratch();
    test_disks();
    tree_remove();
    return done();
}
