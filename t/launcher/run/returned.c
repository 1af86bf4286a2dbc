/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of a piece as they come: in order, hidden, whole or not at all. */
#include "launcher/run/returned.h"
#include "tap.h"
#include "tree.h"

#include <dirent.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

static struct msg_file part(uint32_t file, uint64_t offset, const char *text)
{
    return (struct msg_file){.id = 1,
                             .file = file,
                             .offset = offset,
                             .bytes = (const uint8_t *)text,
                             .len = strlen(text)};
}

static int follows(const struct returned *r,
                   uint32_t file,
                   uint64_t offset,
                   const char *text)
{
    const struct msg_file m = part(file, offset, text);

    return returned_follows(r, &m);
}

static int add(struct returned *r,
               uint32_t file,
               uint64_t offset,
               const char *text,
               const char *name)
{
    const struct msg_file m = part(file, offset, text);
    struct es_error err;

    return returned_follows(r, &m) ? returned_add(r, &m, name, &err) : 1;
}

static int files_in_tree(void)
{
    DIR *list = opendir(tree_root);
    int n = -2; /* . and .. */

    while (list && readdir(list))
        n++;
    if (list)
        closedir(list);
    return n;
}

static void test_order(void)
{
    struct returned r = {0};
    char name[600];

    snprintf(name, sizeof name, "%s", tree_path("order"));
    ok(!follows(&r, 1, 0, "x"), "the second file before the first is refused");
    ok(!follows(&r, 0, 1, "x"), "and one that does not begin at its begin");
    ok(add(&r, 0, 0, "one", name) == 0, "the first one comes");
    ok(!follows(&r, 0, 0, "x"), "the same bytes again are refused");
    ok(!follows(&r, 0, 4, "x"), "and bytes with a gap before them");
    ok(!follows(&r, 0, 3, ""), "and none");
    ok(!follows(&r, 2, 0, "x"), "and a file that is not the next one");
    ok(!follows(&r, UINT32_MAX, 3, "x"), "and one that is none");
    ok(follows(&r, 0, 3, "x") && follows(&r, 1, 0, ""),
       "what comes next does, and an empty file, too");
    returned_clear(&r);
    is_int(files_in_tree(), 0, "nothing is left of what does not count");
}

static void test_files(void)
{
    struct returned r = {0};
    char first[600], second[600], text[16] = "";
    struct stat st;
    FILE *file;

    snprintf(first, sizeof first, "%s", tree_path("a/first"));
    snprintf(second, sizeof second, "%s", tree_path("second"));
    ok(add(&r, 0, 0, "one ", first) == 0 && add(&r, 0, 4, "two", first) == 0
           && add(&r, 1, 0, "", second) == 0,
       "two files come");
    ok(access(first, F_OK) < 0 && access(second, F_OK) < 0, "both are hidden");
    ok(returned_show(&r, 1) == 0 && r.n == 0 && !r.file, "they are shown");
    file = fopen(first, "r");
    ok(file && fgets(text, sizeof text, file), "the one is there");
    if (file)
        fclose(file);
    is_str(text, "one two", "whole");
    ok(stat(second, &st) == 0 && st.st_size == 0, "the other one is empty");
    returned_clear(&r);
}

static void test_refused(void)
{
    struct returned r = {0};
    struct es_error err = {0};
    struct msg_file m = part(0, 0, "x");
    char name[5000];
    int before;

    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    ok(returned_add(&r, &m, name, &err) < 0 && err.kind == ES_WORK && r.n == 0,
       "a name that is too long is refused");
    snprintf(name, sizeof name, "%s", tree_path("pipe"));
    if (mkfifo(name, 0600) < 0)
        bail("no pipe");
    ok(returned_add(&r, &m, name, &err) < 0 && r.n == 0,
       "what is in its place and no file stays");
    before = files_in_tree();
    snprintf(name, sizeof name, "%s", tree_path("late"));
    m.size = INT64_MAX;
    ok(returned_add(&r, &m, name, &err) < 0
           && strstr(err.what, "No space left"),
       "and one that the disk has no room for, at its first byte");
    returned_clear(&r);
    ok(files_in_tree() == before, "of which nothing stays");
    m.size = 1;
    ok(returned_add(&r, &m, name, &err) == 0 && mkdir(name, 0700) == 0
           && returned_show(&r, 0) < 0,
       "and what comes there meanwhile");
    returned_clear(&r);
}

/* A disk of 8 MB that only this process sees: 0, or -1 if we may have none. */
static int make_disk(const char *path)
{
    return mkdir(path, 0700) == 0 && unshare(CLONE_NEWNS) == 0
                   && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0
               ? mount("none", path, "tmpfs", 0, "size=8m")
               : -1;
}

static void test_two_at_once(void)
{
    struct returned a = {0}, b = {0};
    struct msg_file m = part(0, 0, "x");
    struct es_error err = {0};
    char disk[600], name[610];

    snprintf(disk, sizeof disk, "%s", tree_path("disk"));
    snprintf(name, sizeof name, "%s/a", disk);
    if (make_disk(disk) < 0) {
        skip("two files at once", "needs a mount name space");
        return;
    }
    m.size = 5000000;
    ok(returned_add(&a, &m, name, &err) == 0,
       "a file of 5 MB begins on a disk of 8 MB");
    ok(returned_add(&b, &m, name, &err) < 0
           && strstr(err.what, "No space left"),
       "a second one that begins beside it is refused at its first byte");
    returned_clear(&b);
    m.size = 2000000;
    ok(returned_add(&b, &m, name, &err) == 0, "one of 2 MB is not");
    returned_clear(&a);
    returned_clear(&b);
    if (umount(disk) < 0)
        bail("the disk stays");
}

int main(void)
{
    tree_make();
    test_order();
    test_files();
    test_refused();
    test_two_at_once();
    tree_remove();
    return done();
}
