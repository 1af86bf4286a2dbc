/* SPDX-License-Identifier: BSD-2-Clause */
/* A file that nobody sees before it is whole. */
#include "launcher/base/hidden_file.h"
#include "launcher/base/spool.h"
#include "tap.h"
#include "tree.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Files in a folder, hidden ones, too. */
static int count_files(const char *folder)
{
    DIR *list = opendir(folder);
    int n = -2; /* . and .. */

    if (!list)
        return -1;
    while (readdir(list))
        n++;
    closedir(list);
    return n;
}

static const char *content(const char *path)
{
    static char text[64];
    FILE *file = fopen(path, "r");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;

    text[n] = '\0';
    if (file)
        fclose(file);
    return file ? text : NULL;
}

static void test_shown(void)
{
    char path[700], folder[600];
    struct hidden_file f;
    struct stat st;

    snprintf(folder, sizeof folder, "%s", tree_path("new"));
    snprintf(path, sizeof path, "%s/er/file", folder);
    ok(hidden_file_open(&f, path, 0777) == 0, "folders are made");
    ok(write_all(f.fd, "one", 3) == 0 && access(path, F_OK) < 0,
       "it is written to, and is not there");
    ok(hidden_file_show(&f, 1) == 0 && f.fd == 0, "it is shown");
    is_str(content(path), "one", "with what was written");
    ok(stat(path, &st) == 0 && (st.st_mode & 0100), "and its mode");
    ok(hidden_file_open(&f, path, 0666) == 0 && write_all(f.fd, "t", 1) == 0,
       "another one of that name");
    is_str(content(path), "one", "leaves it as it is");
    ok(hidden_file_show(&f, 0) == 0, "until it is shown, too");
    is_str(content(path), "t", "and takes its place");
    snprintf(folder, sizeof folder, "%s", tree_path("new/er"));
    is_int(count_files(folder), 1, "nothing else is left");
}

static void test_dropped(void)
{
    char path[700], folder[600];
    struct hidden_file f;

    snprintf(folder, sizeof folder, "%s", tree_path("drop"));
    snprintf(path, sizeof path, "%s/file", folder);
    if (hidden_file_open(&f, path, 0666) < 0 || write_all(f.fd, "x", 1) < 0)
        bail("cannot write");
    hidden_file_drop(&f);
    hidden_file_drop(&f);
    is_int(count_files(folder), 0, "nothing stays of one that is dropped");
}

static void test_refused(void)
{
    char path[600], name[300];
    struct hidden_file f;

    snprintf(path, sizeof path, "%s", tree_path("pipe"));
    if (mkfifo(path, 0600) < 0)
        bail("no pipe");
    ok(hidden_file_open(&f, path, 0666) < 0 && errno == EEXIST && f.fd == 0,
       "a pipe is not replaced");
    ok(hidden_file_open(&f, tree_path("new"), 0666) < 0 && errno == EEXIST,
       "nor is a folder");
    ok(hidden_file_open(&f, tree_path("pipe/file"), 0666) < 0, "nor gone into");
    ok(hidden_file_open(&f, tree_path("new/"), 0666) < 0, "a name is needed");
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    ok(hidden_file_open(&f, name, 0666) < 0 && errno == ENAMETOOLONG,
       "that is not too long");
}

/* One that came there meanwhile, and is no file. */
static void test_taken(void)
{
    char path[600];
    struct hidden_file f;

    snprintf(path, sizeof path, "%s", tree_path("taken"));
    if (hidden_file_open(&f, path, 0666) < 0 || mkdir(path, 0700) < 0)
        bail("cannot open");
    ok(hidden_file_show(&f, 0) < 0 && errno == EEXIST && f.fd == 0,
       "a folder that came meanwhile stays");
}

/* What outlives its process. */
static void test_kept(void)
{
    char path[700];
    struct hidden_file f;

    snprintf(path, sizeof path, "%s", tree_path("kept"));
    is_int(hidden_file_recover(path), 0, "nothing was kept");
    if (hidden_file_open(&f, path, 0666) < 0 || write_all(f.fd, "k", 1) < 0)
        bail("cannot write");
    ok(hidden_file_keep(&f) == 0 && access(path, F_OK) < 0
           && access(tree_path(".kept.evenstep-part"), F_OK) == 0,
       "one that is kept is hidden still");
    ok(hidden_file_show(&f, 0) == 0 && access(path, F_OK) == 0
           && access(tree_path(".kept.evenstep-part"), F_OK) < 0,
       "until it is shown");
    if (hidden_file_open(&f, path, 0666) < 0 || write_all(f.fd, "new", 3) < 0
        || hidden_file_keep(&f) < 0)
        bail("cannot keep");
    close(f.fd); /* as if we were killed */
    close(f.dir);
    is_str(content(path), "k", "what was there is there");
    is_int(hidden_file_recover(path), 1, "what was kept is found again");
    is_str(content(path), "new", "and shown");
    is_int(hidden_file_recover(path), 0, "once");
    if (hidden_file_open(&f, path, 0666) < 0 || hidden_file_keep(&f) < 0)
        bail("cannot keep");
    hidden_file_drop(&f);
    is_int(hidden_file_recover(path), 0, "what is dropped is not kept");
    tree_put(".ke.evenstep-part", "");
    tree_put(".other.evenstep-part", "");
    tree_put(".kept.part", "");
    hidden_file_sweep(tree_root, "ke");
    ok(access(tree_path(".ke.evenstep-part"), F_OK) < 0, "a part is swept");
    ok(access(tree_path(".other.evenstep-part"), F_OK) == 0
           && access(tree_path(".kept.part"), F_OK) == 0,
       "and no file else");
}

/* It is beside what a link leads to. */
static void test_linked(void)
{
    char path[700];
    struct hidden_file f;
    struct stat st;

    tree_put("far/file", "old");
    snprintf(path, sizeof path, "%s", tree_path("link"));
    if (symlink("far/file", path) < 0 || chmod(tree_path("far/file"), 0640) < 0)
        bail("no link");
    ok(hidden_file_open(&f, path, 0666) == 0 && write_all(f.fd, "new", 3) == 0,
       "one is opened by a link");
    hidden_file_like_old(&f);
    ok(hidden_file_show(&f, 1) == 0 && lstat(path, &st) == 0
           && S_ISLNK(st.st_mode),
       "which stays one");
    is_str(content(tree_path("far/file")), "new", "and the file is behind it");
    ok(stat(path, &st) == 0 && (st.st_mode & 07777) == 0640,
       "with the mode of before");
    ok(hidden_file_open(&f, path, 0666) == 0 && hidden_file_keep(&f) == 0,
       "what is kept");
    close(f.fd);
    close(f.dir);
    is_int(hidden_file_recover(path), 1, "is found by it, too");
    is_str(content(tree_path("far/file")), "", "behind it");
}

/* Who was there first in /tmp does not get what root writes. */
static void test_of_others(void)
{
    char path[700];
    struct hidden_file f;
    struct stat st;

    if (geteuid() != 0)
        return;
    tree_put("sticky/file", "his");
    snprintf(path, sizeof path, "%s", tree_path("sticky/file"));
    if (chown(path, 12345, 12345) < 0 || chmod(path, 0666) < 0
        || chmod(tree_path("sticky"), 01777) < 0)
        bail("%s", path);
    ok(hidden_file_open(&f, path, 0600) == 0,
       "in place of another user's file");
    hidden_file_like_old(&f);
    ok(hidden_file_show(&f, 0) == 0 && stat(path, &st) == 0 && st.st_uid == 0
           && st.st_gid == 0 && (st.st_mode & 07777) == 0600,
       "where all may write comes one of our own");
}

int main(void)
{
    tree_make();
    test_shown();
    test_dropped();
    test_refused();
    test_taken();
    test_kept();
    test_linked();
    test_of_others();
    tree_remove();
    return done();
}
