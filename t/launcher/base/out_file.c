/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that commands write. */
#include "launcher/base/out_file.h"
#include "launcher/base/spool.h"
#include "tree.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static struct es_error err;
static char named[600];

static const char *content(const char *name)
{
    static char text[64];
    FILE *file = fopen(tree_path(name), "r");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;

    text[n] = '\0';
    if (file)
        fclose(file);
    return file ? text : NULL;
}

/* Files in our folder, hidden ones, too. */
static int count_files(void)
{
    DIR *list = opendir(tree_root);
    int n = -2; /* . and .. */

    if (!list)
        bail("%s", tree_root);
    while (readdir(list))
        n++;
    closedir(list);
    return n;
}

static int opens(struct out_file *f, const char *name, enum out_lock lock)
{
    err = (struct es_error){0};
    snprintf(named, sizeof named, "%s",
             name[0] == '/' ? name : tree_path(name));
    return out_file_open(f, "--gather", named, lock, &err);
}

static void test_whole(void)
{
    struct out_file f;

    ok(opens(&f, "new", OUT_LOCKED) == 0 && write_all(f.fd, "one", 3) == 0
           && !content("new"),
       "it is written to, and is not there");
    is_int(out_file_commit(&f, 1, &err), 0, "it is committed");
    is_str(content("new"), "one", "and is there, whole");
    is_int(count_files(), 1, "and nothing beside it");
    tree_put("new.part", "the user's");
    ok(opens(&f, "new", OUT_LOCKED) == 0 && write_all(f.fd, "two", 3) == 0,
       "another one");
    is_str(content("new"), "one", "leaves it as it was");
    out_file_abandon(&f);
    is_str(content("new"), "one", "also when it is given up");
    is_str(content("new.part"), "the user's", "no file of the user is touched");
    is_int(count_files(), 2, "and nothing else is there");
    f = (struct out_file){0};
    out_file_abandon(&f);
    ok(f.fd == 0, "none is given up");
}

static void test_like_before(void)
{
    int is_root = geteuid() == 0;
    struct out_file f;
    struct stat st;

    tree_put("old", "old");
    if (chmod(tree_path("old"), 0640) < 0
        || (is_root && chown(tree_path("old"), 12345, 12346) < 0))
        bail("%s", strerror(errno));
    ok(opens(&f, "old", OUT_UNLOCKED) == 0 && write_all(f.fd, "new", 3) == 0
           && out_file_commit(&f, 0, &err) == 0,
       "a file of before is replaced");
    ok(stat(tree_path("old"), &st) == 0 && (st.st_mode & 07777) == 0640,
       "its mode stays");
    ok(!is_root || (st.st_uid == 12345 && st.st_gid == 12346), "and its owner");
}

static void test_links(void)
{
    const char *to[] = {"far/file", "far/none", "far/again", NULL};
    struct out_file f;
    struct stat st;
    char name[600];

    tree_put("far/file", "old");
    snprintf(name, sizeof name, "%s", tree_path("far/again"));
    if (symlink("../far/../far/last", name) < 0)
        bail("no link");
    for (int i = 0; to[i]; i++) {
        snprintf(name, sizeof name, "%s", tree_path("link"));
        (void)unlink(name);
        if (symlink(i == 1 ? tree_path(to[i]) : to[i], name) < 0)
            bail("no link");
        ok(opens(&f, "link", OUT_LOCKED) == 0 && write_all(f.fd, "new", 3) == 0
               && out_file_commit(&f, 1, &err) == 0,
           "a link to %s", to[i]);
        ok(lstat(tree_path("link"), &st) == 0 && S_ISLNK(st.st_mode),
           "stays one");
        is_str(content(to[i]), "new", "and the file is where it leads to");
    }
    ok(lstat(tree_path("far/again"), &st) == 0 && S_ISLNK(st.st_mode)
           && content("far/last"),
       "so does one that leads to another one");
    snprintf(name, sizeof name, "%s", tree_path("loop"));
    ok(symlink("loop", name) == 0 && opens(&f, "loop", OUT_LOCKED) == -1
           && strstr(err.what, strerror(ELOOP)),
       "one that leads nowhere is refused");
    ok(symlink("file", tree_path("far/file/")) < 0
           && opens(&f, "far/", OUT_LOCKED) == -1 && err.kind == ES_USAGE
           && strstr(err.what, strerror(EISDIR)),
       "a folder, too");
}

static void test_as_it_is(void)
{
    struct out_file f;
    char text[8] = "";
    struct stat st;
    int fd;

    ok(opens(&f, "/dev/full", OUT_LOCKED) == 0 && write_all(f.fd, "x", 1) < 0
           && out_file_commit(&f, 1, &err) == 0,
       "a device is written to");
    snprintf(named, sizeof named, "%s", tree_path("pipe"));
    if (mkfifo(named, 0600) < 0 || (fd = open(named, O_RDWR | O_CLOEXEC)) < 0)
        bail("no pipe");
    ok(opens(&f, "pipe", OUT_LOCKED) == 0 && write_all(f.fd, "one", 3) == 0
           && out_file_commit(&f, 1, &err) == 0 && read(fd, text, 3) == 3
           && stat(named, &st) == 0 && S_ISFIFO(st.st_mode),
       "and a pipe, which stays one");
    close(fd);
    fd = open(tree_path("into"), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    snprintf(named, sizeof named, "/dev/fd/%d", fd);
    ok(write_all(fd, "a", 1) == 0
           && out_file_open(&f, NULL, named, OUT_LOCKED, &err) == 0
           && write_all(f.fd, "b", 1) == 0 && out_file_commit(&f, 1, &err) == 0,
       "and what is open already");
    is_str(content("into"), "ab", "behind what is in it");
    close(fd);
    ok(out_file_open(&f, NULL, "-", OUT_LOCKED, &err) == 0 && f.fd > 2
           && out_file_commit(&f, 1, &err) == 0
           && fcntl(STDOUT_FILENO, F_GETFD) >= 0,
       "- is stdout, which stays open");
}

static void test_refused(void)
{
    struct out_file f;

    ok(opens(&f, "no/such", OUT_LOCKED) == -1 && err.kind == ES_USAGE
           && strstr(err.what, "--gather: ") && strstr(err.what, named)
           && strstr(err.what, "No such file"),
       "a file in no folder is refused, by its name");
    ok(out_file_open(&f, NULL, "", OUT_LOCKED, &err) == -1,
       "and one without a name");
    ok(opens(&f, tree_root, OUT_LOCKED) == -1
           && strstr(err.what, "Is a directory"),
       "and a folder");
    if (geteuid() != 0)
        return;
    tree_put("sticky/his", "his");
    if (chmod(tree_path("sticky"), 01777) < 0
        || chown(tree_path("sticky/his"), 12345, (gid_t)-1) < 0)
        bail("%s", strerror(errno));
    ok(opens(&f, "sticky/his", OUT_LOCKED) == -1
           && strstr(err.what, "another user has created it"),
       "and another user's where all may write");
}

/* A process that has it locked, until it is killed. */
static pid_t start_other(const char *name)
{
    struct out_file f;
    int ready[2];
    char c;
    pid_t pid;

    if (pipe(ready) < 0)
        bail("no pipe");
    pid = fork();
    if (pid == 0) {
        if (opens(&f, name, OUT_LOCKED) == 0)
            (void)!write(ready[1], "x", 1);
        for (;;)
            pause();
    }
    if (pid < 0 || read(ready[0], &c, 1) != 1)
        bail("no process");
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static void test_lock(void)
{
    struct out_file f;
    char who[40];
    pid_t pid = start_other("shared");

    snprintf(who, sizeof who, "pid %d on ", (int)pid);
    ok(opens(&f, "shared", OUT_LOCKED) == -1 && err.kind == ES_USAGE
           && strstr(err.what, "another run is writing it")
           && strstr(err.what, who),
       "who comes second is refused, and told by whom");
    ok(symlink("shared", tree_path("other")) == 0
           && opens(&f, "other", OUT_LOCKED) == -1,
       "by another name, too");
    ok(opens(&f, "beside", OUT_LOCKED) == 0
           && out_file_commit(&f, 0, &err) == 0,
       "another file is free");
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    ok(access(tree_path(".shared.evenstep-lock"), F_OK) == 0,
       "who is killed leaves its lock");
    ok(opens(&f, "shared", OUT_LOCKED) == 0, "which is no obstacle");
    is_int(out_file_commit(&f, 0, &err), 0, "to who comes later");
    ok(access(tree_path(".shared.evenstep-lock"), F_OK) < 0,
       "and goes away with that");
}

static int draw_all(FILE *out, const void *arg)
{
    (void)arg;
    for (int i = 0; i < 5000; i++) /* more than stdio keeps */
        fprintf(out, "<line x=\"1\"/>\n");
    fprintf(out, "</svg>\n");
    return 0;
}

static int draw_nothing(FILE *out, const void *arg)
{
    (void)out;
    (void)arg;
    return -1;
}

static void test_array(void)
{
    struct out_file f;

    setenv("SLURM_ARRAY_JOB_ID", "12", 1);
    setenv("SLURM_ARRAY_TASK_ID", "3", 1);
    ok(opens(&f, "of-array", OUT_LOCKED) == 0
           && out_file_commit(&f, 0, &err) == 0,
       "a task of an array writes a file");
    if (getxattr(tree_path("of-array"), "user.evenstep.array", NULL, 0) <= 0)
        return; /* this file system has no attributes */
    is_int(opens(&f, "of-array", OUT_LOCKED), 0, "and may again");
    out_file_abandon(&f);
    setenv("SLURM_ARRAY_TASK_ID", "33", 1);
    ok(opens(&f, "of-array", OUT_LOCKED) == -1 && err.kind == ES_USAGE
           && strstr(err.what, "task 3 of this job array has written it")
           && strstr(err.mend, "$SLURM_ARRAY_TASK_ID"),
       "another one may not");
    setenv("SLURM_ARRAY_JOB_ID", "1", 1);
    is_int(opens(&f, "of-array", OUT_LOCKED), 0, "of another array it may");
    out_file_abandon(&f);
    unsetenv("SLURM_ARRAY_JOB_ID");
    unsetenv("SLURM_ARRAY_TASK_ID");
    is_int(opens(&f, "of-array", OUT_LOCKED), 0, "and one of no array");
    out_file_abandon(&f);
}

/* Is the picture there, to its end? */
static int is_whole(const char *name)
{
    FILE *file = fopen(name, "r");
    char end[16] = "";
    int is = file && fseek(file, -7, SEEK_END) == 0
             && fread(end, 1, 7, file) == 7 && strcmp(end, "</svg>\n") == 0;

    if (file)
        fclose(file);
    return is;
}

static void test_printed(void)
{
    snprintf(named, sizeof named, "%s", tree_path("a.svg"));
    is_int(out_file_write("--svg", named, draw_all, NULL, &err), 0,
           "a picture is written to a file");
    ok(is_whole(named), "and is whole");
    ok(out_file_write("--svg", "/dev/full", draw_all, NULL, &err) == -1
           && err.kind == ES_WORK,
       "a full disk is an error");
    ok(out_file_write("--svg", named, draw_nothing, NULL, &err) == -1,
       "so is a picture that cannot be drawn");
    ok(out_file_write("--svg", "/no/such/a.svg", draw_all, NULL, &err) == -1
           && err.kind == ES_WORK,
       "and a file that cannot be made");
    ok(is_whole(named), "which all leave the one of before");
}

int main(void)
{
    tree_make();
    test_whole();
    test_like_before();
    test_links();
    test_as_it_is();
    test_refused();
    test_lock();
    test_array();
    test_printed();
    tree_remove();
    return done();
}
