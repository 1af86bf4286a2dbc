/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is believed of /dev/shm, where anybody can put anything, and what is
 * taken away.  The step is one that no job of this machine has.
 */
#include "spank_plugin/plugin_place.h"
#include "fake_spank.h"
#include "spank_plugin/env_file.h"
#include "tap.h"

#include <fcntl.h>
#include <slurm/slurm.h>
#include <sys/stat.h>

#define BASE PLACE_BASE "/"

static struct place place;
static char user[96], step[128], file[160], another[96];
static int users_before; /* the user's directory was there: another's step */

static void find(void)
{
    fake_spank_clear();
    fake_spank.uid = geteuid();
    fake_spank.job = 4000000000u + (uint32_t)getpid() % 100000;
    fake_spank.step = 1;
    if (plugin_place_find(&fake_spank.handle, &place) < 0)
        bail("no place");
    snprintf(user, sizeof user, BASE "%s", place.user_dir);
    snprintf(step, sizeof step, "%s/%s", user, place.step_dir);
    snprintf(file, sizeof file, "%s/env", step);
    snprintf(another, sizeof another, BASE "%s.%08x", place.user_dir,
             (unsigned)getpid());
}

static void write_file(const char *path, size_t bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_EXCL, 0600);

    if (fd < 0 || ftruncate(fd, (off_t)bytes) < 0)
        bail("no file");
    close(fd);
}

static void make_step(void)
{
    (void)mkdir(user, 0700);
    if (mkdir(step, 0700) < 0)
        bail("no directory %s", step);
}

static void remove_step(void)
{
    int base = open(PLACE_BASE, O_RDONLY | O_DIRECTORY);

    plugin_place_remove(&place, base);
    close(base);
}

/* Open env; NULL if it is there, else why it is not, "" if nothing is said. */
static const char *why(void)
{
    struct verdict v;
    int fd = plugin_place_open(&place, "env", &v);

    if (fd < 0)
        return v.what ? v.what : "";
    close(fd);
    return NULL;
}

static void test_find(void)
{
    char want[PLACE_NAME_SIZE];

    find();
    snprintf(want, sizeof want, "evenstep-%u", (unsigned)geteuid());
    is_str(place.user_dir, want, "the user's directory");
    snprintf(want, sizeof want, "%u.1", fake_spank.job);
    is_str(place.step_dir, want, "the step's below it");
    is_int(place.thorough, 0, "nobody looks further at first");
    fake_spank.step = SLURM_BATCH_SCRIPT;
    is_int(plugin_place_find(&fake_spank.handle, &place), -1,
           "a batch script has no directory");
    fake_spank.step = SLURM_EXTERN_CONT;
    is_int(plugin_place_find(&fake_spank.handle, &place), -1,
           "nor has the extern step");
    fake_spank.handle.of_a_step = 0;
    is_int(plugin_place_find(&fake_spank.handle, &place), -1,
           "nor what is no step");
    find();
}

static void test_open(void)
{
    is_str(why(), "", "no directory: nothing is wrong");
    make_step();
    is_str(why(), "", "no file: likewise");
    write_file(file, ENV_FILE_BYTES);
    is_str(why(), NULL, "a file is found");
    ok(truncate(file, ENV_FILE_BYTES + 1) == 0
           && strcmp(why(), "it is larger than 16384 bytes") == 0,
       "one that is too large is refused");
    ok(truncate(file, 1) == 0 && chmod(file, 0620) == 0 && why()
           && strstr(why(), "others can write to it"),
       "so is one that the group can write to");
    ok(chmod(file, 0602) == 0 && why() && strstr(why(), "others can write"),
       "or others");
    ok(chmod(file, 0644) == 0 && !why(), "that they can read it is no matter");
    ok(chmod(step, 0770) == 0 && why() && strstr(why(), "others can write"),
       "a directory that the group can write to is refused");
    (void)chmod(step, 0700);
}

static void test_kinds(void)
{
    (void)unlink(file);
    ok(symlink("/etc/passwd", file) == 0 && why()
           && strstr(why(), "symbolic link"),
       "a symbolic link is refused");
    (void)unlink(file);
    ok(mkfifo(file, 0600) == 0 && why() && strstr(why(), "not a regular file"),
       "a pipe is refused, and nobody waits in it");
    (void)unlink(file);
    ok(mkdir(file, 0700) == 0 && why() && strstr(why(), "not a regular file"),
       "a directory is refused");
    (void)rmdir(file);
    ok(rmdir(step) == 0 && symlink("/tmp", step) == 0 && why()
           && strstr(why(), "symbolic link"),
       "a link in the step's place is refused");
    (void)unlink(step);
}

static void test_owner(void)
{
    struct place mine = place;

    make_step();
    write_file(file, 1);
    place.uid = geteuid() + 1;
    ok(why() && strstr(why(), "is not the user's own"),
       "another's file is refused");
    place = mine;
}

static void test_another(void)
{
    char below[140], path[180];

    remove_step();
    snprintf(below, sizeof below, "%s/%s", another, place.step_dir);
    snprintf(path, sizeof path, "%s/env", below);
    if (mkdir(another, 0700) < 0 || mkdir(below, 0700) < 0)
        bail("no directory");
    write_file(path, 1);
    is_str(why(), "", "a second directory of the user's is not looked for");
    place.thorough = 1;
    is_str(why(), NULL, "but for a step that evenstep attends");
    (void)chmod(another, 0777);
    ok(why() && strstr(why(), "others can write"),
       "it is looked at like the first");
    (void)chmod(another, 0700);
    remove_step();
    ok(access(another, F_OK) < 0, "it is removed, too");
    place.thorough = 0;
}

static void test_remove(void)
{
    char other[160], deep[180];

    make_step();
    write_file(file, 1);
    snprintf(other, sizeof other, "%s.other", step);
    if (mkdir(other, 0700) < 0)
        bail("no directory");
    remove_step();
    ok(access(step, F_OK) < 0 && access(other, F_OK) == 0,
       "a step's directory goes, another step's stays");
    (void)rmdir(other);
    if (users_before)
        skip("the user's own goes with the last", "it has others' steps");
    else {
        make_step();
        remove_step();
        ok(access(user, F_OK) < 0, "the user's own goes with the last");
    }
    make_step();
    snprintf(deep, sizeof deep, "%s/folder", step);
    (void)mkdir(deep, 0700);
    remove_step();
    ok(access(deep, F_OK) == 0, "what is none of ours below it stays");
    (void)rmdir(deep);
    remove_step();
    ok(access(step, F_OK) < 0, "without it all goes");
}

/* A directory with a stranger's name: the test's own, for a user who is not
 * the test's. */
static void test_evict(void)
{
    struct place theirs = place;
    char path[96], command[200];

    theirs.uid = 3000000000u + (uid_t)getpid();
    snprintf(theirs.user_dir, sizeof theirs.user_dir, "evenstep-%u",
             (unsigned)theirs.uid);
    snprintf(path, sizeof path, BASE "%s", theirs.user_dir);
    plugin_place_evict(&theirs);
    ok(access(path, F_OK) < 0, "nothing is in the user's place");
    if (mkdir(path, 0700) < 0)
        bail("no directory");
    plugin_place_evict(&theirs);
    ok(access(path, F_OK) < 0, "what is not the user's makes room");
    snprintf(command, sizeof command, "rmdir " BASE "%s-*", theirs.user_dir);
    is_int(system(command), 0, "and keeps its content under another name");
    make_step();
    plugin_place_evict(&place);
    ok(access(step, F_OK) == 0, "what is the user's stays");
    remove_step();
}

int main(void)
{
    uid_t nobody = 3100000000u + (uid_t)getpid();

    (void)alarm(300);
    (void)umask(0);
    /* As a user who has no other step here, if we may choose. */
    if (geteuid() == 0 && setresuid(nobody, nobody, nobody) < 0)
        bail("no user");
    find();
    users_before = access(user, F_OK) == 0;
    test_find();
    test_open();
    test_kinds();
    test_owner();
    test_another();
    test_remove();
    test_evict();
    return done();
}
