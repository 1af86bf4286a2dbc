/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In slurmstepd and its tasks: which file becomes their environment, what is
 * said where it does not, and which task ends.  A task is a child, as with
 * Slurm, and says by its exit status what it has seen.
 */
#include "spank_plugin/plugin_remote.h"
#include "fake_spank.h"
#include "spank_plugin/plugin_options.h"
#include "spank_plugin/plugin_place.h"
#include "tap.h"

#include <fcntl.h>
#include <sched.h>
#include <slurm/slurm.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

static struct place place;
static char user[96], step[128], file[160];

enum task { TASK_RAN = 10, TASK_HAS_IT, TASK_COMPLAINED, TASK_REMARKED };

static void prepare(const char *promise)
{
    char value[64];

    fake_spank_clear();
    fake_spank.context = S_CTX_REMOTE;
    fake_spank.uid = geteuid();
    fake_spank.job = 3900000000u + (uint32_t)getpid() % 100000;
    fake_spank.step = 1;
    if (plugin_place_find(&fake_spank.handle, &place) < 0)
        bail("no place");
    snprintf(user, sizeof user, PLACE_BASE "/%s", place.user_dir);
    snprintf(step, sizeof step, "%s/%s", user, place.step_dir);
    snprintf(file, sizeof file, "%s/env", step);
    snprintf(value, sizeof value, "%s:%s", promise ? promise : "",
             place.step_dir);
    if (promise)
        (void)spank_setenv(&fake_spank.handle, PROMISE, value, 1);
}

static void write_file(const char *text)
{
    int fd = -1;

    /* Another step of this user may take the directory away in between. */
    for (int i = 0; i < 1000 && fd < 0; i++) {
        (void)mkdir(user, 0700);
        (void)mkdir(step, 0700);
        fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    }
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        bail("no file");
    close(fd);
}

/* Start a task: its exit status. */
static int task(void)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        plugin_remote_refuse(&fake_spank.handle);
        plugin_remote_task(&fake_spank.handle);
        if (fake_spank_env(PROMISE))
            _exit(99); /* its own sruns would be misled */
        _exit(fake_spank.errors              ? TASK_COMPLAINED
              : fake_spank.remarks           ? TASK_REMARKED
              : fake_spank_env("EVENSTEP_A") ? TASK_HAS_IT
                                             : TASK_RAN);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        bail("no task");
    return WEXITSTATUS(status);
}

/* Only the first component of a step hears that it is refused. */
static void test_component(void)
{
    static const struct {
        const char *demand, *tasks, *promise, *mark;
        int end;
    } table[] = {
        {"required", "3", NULL, NULL, 1},
        {"required", "1", NULL, NULL, TASK_RAN}, /* not heterogeneous */
        {"required", NULL, NULL, NULL, TASK_RAN},
        {"required", "3", "on", NULL, TASK_COMPLAINED}, /* of another srun */
        {"required", "3", NULL, "1", 1}, /* nor does a variable help */
        {"on", "3", NULL, NULL, TASK_RAN},
        {NULL, "3", NULL, NULL, TASK_RAN},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        prepare(table[i].promise);
        fake_spank.tasks = 1;
        plugin_options_register(&fake_spank.handle);
        if (table[i].demand)
            (void)fake_spank.option[0].cb(0, table[i].demand, 1);
        if (table[i].tasks)
            (void)spank_setenv(&fake_spank.handle, "SLURM_NTASKS",
                               table[i].tasks, 1);
        if (table[i].mark)
            (void)spank_setenv(&fake_spank.handle, "EVENSTEP_COMPANION",
                               table[i].mark, 1);
        ok(task() == table[i].end, "a component, %s, one of %s tasks%s",
           table[i].demand ? table[i].demand : "unasked",
           table[i].tasks ? table[i].tasks : "?",
           table[i].mark ? ", by its variable evenstep's own" : "");
        plugin_options_clear();
    }
}

static void test_promise(void)
{
    is_int(plugin_remote_promise(7, 2, 0), 0, "a promise is made");
    is_str(getenv(PROMISE), "on:7.2", "of this step");
    is_int(plugin_remote_promise(7, 3, 1), 0,
           "another, of a step that needs it");
    is_str(getenv(PROMISE), "required:7.3", "takes its place");
}

static void test_environment(void)
{
    prepare(NULL);
    plugin_remote_set_environment(&fake_spank.handle);
    ok(!fake_spank_env("EVENSTEP_A") && fake_spank.errors == 0,
       "no file: nothing is set, nothing said");
    is_int(task(), TASK_RAN, "nor by a task, which runs");
    write_file("EVENSTEP_A=1 2\nEVENSTEP_B=\n");
    plugin_remote_set_environment(&fake_spank.handle);
    is_str(fake_spank_env("EVENSTEP_A"), "1 2",
           "a variable of the file is set");
    is_str(fake_spank_env("EVENSTEP_B"), "", "so is an empty one");
    write_file("EVENSTEP_A=other\n");
    is_int(task(), TASK_HAS_IT, "a task takes what slurmstepd has found");
    write_file("EVENSTEP_A=3\nPATH=/x\n");
    prepare(NULL);
    plugin_remote_set_environment(&fake_spank.handle);
    ok(!fake_spank_env("EVENSTEP_A") && fake_spank.errors == 0,
       "a file with another's variable is left out as a whole");
    is_int(task(), TASK_REMARKED,
           "who has not asked for evenstep reads of it with -v only");
    prepare("on");
    is_int(task(), TASK_COMPLAINED, "who has reads it");
    fake_spank.task = 1;
    is_int(task(), TASK_RAN, "once: the other tasks of the node say nothing");
    fake_spank.task = 0;
    prepare("required");
    is_int(task(), 1, "and where it is required no task starts");
    write_file("EVENSTEP_A=4\n");
    is_int(task(), TASK_HAS_IT, "a task finds what slurmstepd has not");
    if (geteuid() == 0) {
        fake_spank.uid = 12345;
        plugin_remote_set_environment(&fake_spank.handle);
        ok(!fake_spank_env("EVENSTEP_A"), "with root's rights none is read");
    } else {
        skip("with root's rights none is read", "needs root");
    }
}

static void test_missing(void)
{
    prepare("on");
    (void)unlink(file);
    is_int(task(), TASK_COMPLAINED, "a promised file is missed");
    (void)spank_setenv(&fake_spank.handle, PROMISE, "on:1.1", 1);
    is_int(task(), TASK_RAN, "the promise of another step is none");
    (void)spank_setenv(&fake_spank.handle, PROMISE, "on", 1);
    is_int(task(), TASK_RAN, "nor is what names no step");
    prepare("required");
    is_int(task(), 1, "where it is required no task starts");
}

static void test_refused(void)
{
    prepare(NULL);
    (void)spank_setenv(&fake_spank.handle, REFUSED, "1", 1);
    is_int(task(), 1, "a task of a refused step ends");
}

static void test_log(void)
{
    char long_one[1000];

    prepare(NULL);
    plugin_remote_log(&fake_spank.handle);
    is_int(fake_spank.remarks + fake_spank.errors, 0, "all went well");
    plugin_remote_failed(place.job, place.step, "n2: no\nluck");
    (void)spank_setenv(&fake_spank.handle, FAILED, getenv(FAILED), 1);
    plugin_remote_log(&fake_spank.handle);
    ok(fake_spank.errors == 0
           && strstr(fake_spank.said, " runs without evenstep: n2: no?luck"),
       "why the step runs without, as one line for the log");
    (void)spank_setenv(&fake_spank.handle, REFUSED, "1", 1);
    plugin_remote_log(&fake_spank.handle);
    ok(strstr(fake_spank.said, " is not started: n2: no?luck"),
       "or is not started");
    memset(long_one, 'x', sizeof long_one);
    long_one[sizeof long_one - 1] = '\0';
    plugin_remote_failed(place.job, place.step, long_one);
    (void)spank_setenv(&fake_spank.handle, FAILED, getenv(FAILED), 1);
    plugin_remote_log(&fake_spank.handle);
    ok(strstr(fake_spank.said, long_one), "a long reason is whole");
    is_int(task(), 1, "(it was refused)");
    prepare(NULL);
    plugin_remote_failed(place.job, place.step + 1, "no luck");
    (void)spank_setenv(&fake_spank.handle, FAILED, getenv(FAILED), 1);
    plugin_remote_log(&fake_spank.handle);
    is_int(fake_spank.remarks + fake_spank.errors, 0,
           "that of another step is not told");
    is_int(task(), TASK_RAN, "a task runs");
    plugin_remote_task(&fake_spank.handle);
    ok(!fake_spank_env(FAILED), "nor handed on by a task");
    (void)unsetenv(FAILED);
}

static void test_clean(void)
{
    prepare(NULL);
    write_file("EVENSTEP_A=1\n");
    plugin_remote_clean(&fake_spank.handle);
    ok(access(step, F_OK) < 0, "the step's directory goes with the step");
    plugin_remote_clean(&fake_spank.handle);
    fake_spank.step = SLURM_EXTERN_CONT;
    plugin_remote_clean(&fake_spank.handle);
    is_int(fake_spank.errors, 0, "where there is none nothing is said");
}

/* As with job_container/tmpfs: the task has a /dev/shm of its own, in which
 * the agent has written. */
static void test_private(void)
{
    const char *what = "what a task has sent of its own /dev/shm is cleaned";
    char there[64] = "/tmp/evenstep-shm.XXXXXX", path[160];
    int status;
    pid_t pid;

    prepare("on");
    plugin_remote_prepare(&fake_spank.handle); /* before any task */
    if (geteuid() != 0 || !mkdtemp(there)) {
        skip(what, "needs root");
        return;
    }
    pid = fork();
    if (pid == 0) {
        if (unshare(CLONE_NEWNS) < 0
            || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0
            || mount(there, PLACE_BASE, NULL, MS_BIND, NULL) < 0)
            _exit(98);
        write_file("EVENSTEP_A=1\n");
        plugin_remote_task(&fake_spank.handle);
        _exit(fake_spank_env("EVENSTEP_A") ? TASK_HAS_IT : TASK_RAN);
    }
    (void)waitpid(pid, &status, 0);
    snprintf(path, sizeof path, "%s/%s/%s", there, place.user_dir,
             place.step_dir);
    if (WEXITSTATUS(status) == 98) {
        skip(what, "needs a mount name space");
    } else {
        ok(WEXITSTATUS(status) == TASK_HAS_IT && access(path, F_OK) == 0,
           "a task finds the file in its own /dev/shm");
        plugin_remote_clean(&fake_spank.handle);
        ok(access(path, F_OK) < 0, "%s", what);
    }
    (void)rmdir(there);
}

/* How a task has ended stands in the file that its agent has made. */
static void test_exit(void)
{
    struct {
        uint32_t rank, status;
        int64_t ns;
    } told[2] = {0};
    char exits[160];
    int fd;

    prepare("on");
    write_file("EVENSTEP_A=1\n");
    snprintf(exits, sizeof exits, "%s/ended", step);
    fake_spank.rank = 3;
    fake_spank.status = 9;
    plugin_remote_exit(&fake_spank.handle);
    ok(access(exits, F_OK) < 0, "no agent has made it: nothing is written");
    fd = open(exits, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    plugin_remote_exit(&fake_spank.handle);
    fake_spank.rank = 1;
    fake_spank.status = 3 << 8;
    plugin_remote_exit(&fake_spank.handle);
    ok(pread(fd, told, sizeof told, 0) == sizeof told && told[0].rank == 3
           && told[0].status == 9 && told[1].rank == 1
           && told[1].status == 3 << 8,
       "rank and status of each task that ends are added");
    ok(told[0].ns > 0 && told[1].ns >= told[0].ns, "and when that was");
    (void)fchmod(fd, 0622);
    plugin_remote_exit(&fake_spank.handle);
    (void)fchmod(fd, 0600);
    (void)spank_unsetenv(&fake_spank.handle, PROMISE);
    plugin_remote_exit(&fake_spank.handle);
    ok(lseek(fd, 0, SEEK_END) == sizeof told,
       "not where others may write, nor of a step without evenstep");
    close(fd);
    plugin_remote_clean(&fake_spank.handle);
    ok(access(exits, F_OK) < 0, "it goes with the step");
}

int main(void)
{
    (void)alarm(300);
    test_promise();
    test_component();
    test_environment();
    test_missing();
    test_refused();
    test_log();
    test_clean();
    test_private();
    test_exit();
    return done();
}
