/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In srun: what is started for which step, and what becomes of the step after
 * each answer.  The front end is a script that keeps its words.
 */
#include "spank_plugin/plugin_local.h"
#include "fake_spank.h"
#include "spank_plugin/plugin_options.h"
#include "spank_plugin/plugin_remote.h"
#include "spank_plugin/plugin_unasked.h"
#include "tap.h"

#include <fcntl.h>
#include <slurm/slurm.h>
#include <sys/stat.h>

static char folder[64], program[96], words[96], ended[96], launcher[110];

/* The launcher says its words into a file, the answer, and waits for the end
 * of its stdin. */
static void answer(const char *line)
{
    FILE *f = fopen(program, "w");

    if (!f)
        bail("no program");
    fprintf(f,
            "#!/bin/sh\n"
            "echo \"$*\" >%s\n"
            "%s\n"
            "while read line; do :; done\n"
            "echo ended >%s\n",
            words, line, ended);
    if (fclose(f) != 0 || chmod(program, 0700) < 0)
        bail("no program");
    (void)unlink(words);
    (void)unlink(ended);
}

static const char *content(const char *path)
{
    static char text[512];
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;

    if (f)
        fclose(f);
    text[n] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return text;
}

/* It ends by itself, and may be slow where much else runs. */
static void await_end(const char *what)
{
    for (int i = 0; i < 6000 && access(ended, F_OK) < 0; i++)
        (void)usleep(10000);
    ok(access(ended, F_OK) == 0, "%s", what);
}

enum {
    EVENSTEP,
    PROFILE,
    BCAST,
    PROBE,
    POWER,
    METER,
    REPORT,
    LIBS,
    LEND,
    AGENTS
};

static void give(int option, const char *value)
{
    if (fake_spank.option[option].cb(option, value, 0) < 0)
        bail("a value is refused");
}

/* srun of step 7.2 on 3 nodes; all that was given before is forgotten. */
static void prepare(const char *line)
{
    char *argument = launcher;

    fake_spank_clear();
    fake_spank.context = S_CTX_LOCAL;
    fake_spank.job = 7;
    fake_spank.step = 2;
    fake_spank.nodes = 3;
    plugin_options_clear();
    plugin_options_register(&fake_spank.handle);
    plugin_options_set_arguments(1, &argument, 1);
    unsetenv(REFUSED);
    unsetenv(PROMISE);
    unsetenv(FAILED);
    unsetenv("EVENSTEP_DEFAULT");
    unsetenv("SLURM_JOB_PARTITION");
    setenv("HOME", "/nonexistent", 1);
    unsetenv("XDG_CONFIG_HOME");
    answer(line);
}

static int run(void)
{
    int rc = plugin_local_start(&fake_spank.handle);

    plugin_local_stop();
    return rc;
}

static int is_refused(void)
{
    return getenv(REFUSED) != NULL;
}

static void test_ready(void)
{
    prepare("echo ready");
    is_int(run(), 0, "nobody asks for evenstep");
    ok(access(words, F_OK) < 0 && !getenv(PROMISE), "nothing is started");

    give(EVENSTEP, "on");
    is_int(plugin_local_start(&fake_spank.handle), 0, "a step is attended");
    is_str(content(words), "attend --job 7 --step 2 --nodes 3",
           "the front end is told of it");
    is_str(getenv(PROMISE), "on:7.2", "the tasks are promised the file");
    ok(!is_refused() && fake_spank.errors == 0, "nothing is said");
    ok(access(ended, F_OK) < 0, "the front end stays");
    plugin_local_stop();
    await_end("until the step is over");
}

static void test_words(void)
{
    char app[] = "./app", *command[] = {app, app, NULL};

    prepare("echo ready");
    give(EVENSTEP, "required");
    give(PROFILE, "io");
    give(PROBE, "fresh");
    give(POWER, "pair");
    give(BCAST, "a:/b");
    give(BCAST, "c:/d");
    give(METER, "mpi");
    give(REPORT, "a b");
    give(LIBS, "on");
    fake_spank.nodes = 0;
    fake_spank.argv = command;
    is_int(run(), 0, "a step with all options");
    is_str(
        content(words),
        "attend --job 7 --step 2 --bcast a:/b --bcast c:/d --profile io "
        "--probe fresh --libs --power pair --meter mpi --report=a b --command ./app --required",
        "the front end has them all");
    is_str(getenv(PROMISE), "required:7.2", "the promise says required");
}

/* --- what becomes of the step ------------------------------------------------ */

enum { NO = 0, YES = 1 };
static const struct {
    const char *name, *line;
    int refused_on, refused_required, refused_bcast;
    const char *said; /* on */
} answers[] = {
    {"a reason to go on", "echo continue: no room; exit", NO, YES, NO,
     "evenstep: no room"},
    {"a reason to stop", "echo fail: no file; exit", YES, YES, YES,
     "evenstep: no file"},
    {"nothing", "exit", NO, YES, YES, "ended before it was ready"},
    {"another word", "echo hello; exit", NO, YES, YES, "does not know"},
};

static void test_answers(void)
{
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        for (int how = 0; how < 3; how++) {
            static const char *const hows[] = {"on", "required", "bcast"};
            const int want[] = {answers[i].refused_on,
                                answers[i].refused_required,
                                answers[i].refused_bcast};

            prepare(answers[i].line);
            if (how == 2)
                give(BCAST, "a:/b");
            else
                give(EVENSTEP, hows[how]);
            ok(run() == 0 && is_refused() == want[how] && !getenv(PROMISE),
               "%s, %s: the step is %s", answers[i].name, hows[how],
               want[how] ? "refused" : "started");
            ok(fake_spank.errors == 1
                   && strstr(fake_spank.said, answers[i].said),
               "the user reads why");
        }
    }
}

static void test_late(void)
{
    char *argument[] = {"timeout=1"};

    prepare("");
    plugin_options_set_arguments(1, argument, 1);
    give(EVENSTEP, "required");
    ok(run() == 0 && is_refused()
           && strstr(fake_spank.said, "gave no answer within 1 s")
           && strstr(fake_spank.said, "--evenstep=required"),
       "no answer: a step that needs it is refused");
    argument[0] = "timeout=60";
    plugin_options_set_arguments(1, argument, 1);
}

static void test_missing(void)
{
    prepare("echo ready");
    give(EVENSTEP, "on");
    (void)unlink(program);
    ok(run() == 0 && !is_refused() && strstr(fake_spank.said, program)
           && strstr(fake_spank.said, "the step goes on without evenstep"),
       "a program that is not there: its name is said, the step goes on");
}

/* --- which steps -------------------------------------------------------------- */

/* What evenstep gives to the srun of its agents, against what a user gives. */
static void test_agents(void)
{
    char agent[] = "/opt/bin/evenstep-agent", *command[] = {agent, NULL};
    char on[] = "default=on", off[] = "default=off", *argument = on;

    prepare("echo ready");
    plugin_options_set_arguments(1, &argument, 1);
    setenv("EVENSTEP_COMPANION", "1", 1);
    ok(run() == 0 && access(words, F_OK) == 0,
       "a variable keeps no step from being attended");
    prepare("echo ready");
    give(AGENTS, "none");
    ok(run() == 0 && access(words, F_OK) < 0,
       "an srun of evenstep's own is left alone");
    give(EVENSTEP, "required");
    ok(run() == 0 && access(words, F_OK) == 0,
       "but not one that somebody has asked for");
    is_str(getenv(PROMISE), "required:7.2", "as it was asked for");
    unsetenv("EVENSTEP_COMPANION");
    prepare("echo ready");
    fake_spank.argv = command;
    ok(run() == 0 && access(words, F_OK) < 0,
       "nor are agents attended of an evenstep that gives no option");
    argument = off;
    plugin_options_set_arguments(1, &argument, 1);
}

static void test_steps(void)
{
    prepare("echo ready");
    give(EVENSTEP, "on");
    fake_spank.step = SLURM_INTERACTIVE_STEP;
    ok(run() == 0 && access(words, F_OK) < 0, "so is the shell of salloc");
    fake_spank.handle.of_a_step = 0;
    ok(run() == 0 && access(words, F_OK) < 0 && fake_spank.errors == 1
           && strstr(fake_spank.said, "ids of this step"),
       "a step without ids goes on without evenstep");
}

/* srun asks once for all components, and as if there was but the first. */
static void test_component(void)
{
    static const struct {
        int option;
        const char *value, *said;
    } table[] = {
        {EVENSTEP, "on", "the step goes on without evenstep"},
        {EVENSTEP, "required", "the step is not started"},
        {BCAST, "a:/b", "the step is not started without its input"},
    };

    setenv("SLURM_NTASKS", "3", 1);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        prepare("echo ready");
        give(table[i].option, table[i].value);
        fake_spank.tasks = 1;
        ok(run() == 0 && access(words, F_OK) < 0 && fake_spank.errors == 1
               && strstr(fake_spank.said, "a heterogeneous step")
               && strstr(fake_spank.said, table[i].said)
               && is_refused() == (i > 0),
           "one task of three: %s", table[i].said);
    }
    prepare("echo ready");
    give(EVENSTEP, "required");
    fake_spank.tasks = 3;
    ok(run() == 0 && !is_refused() && access(words, F_OK) == 0,
       "three of three: it is attended");
    unsetenv("SLURM_NTASKS");
}

/* --- those that say nothing ------------------------------------------------- */

static void set_site(const char *value)
{
    static char argument[64];
    char *arguments = argument;

    snprintf(argument, sizeof argument, "default=%s", value);
    plugin_options_set_arguments(1, &arguments, 1);
}

static int is_started(void)
{
    return run() == 0 && access(words, F_OK) == 0;
}

static void test_default(void)
{
    static const struct {
        const char *site, *partition, *user;
        uint32_t nodes;
        int started;
        const char *said;
    } table[] = {
        {"off", "main", NULL, 2, NO, ""},
        {"on", NULL, NULL, 2, YES, ""},
        {"on", NULL, NULL, 0, YES, ""},
        {"on", NULL, NULL, 1, NO, "not attended: it has one node; --evenstep"},
        {"on:a,main", "main", NULL, 2, YES, ""},
        {"on:main,b", "main", NULL, 2, YES, ""},
        {"on:mai,main2", "main", NULL, 2, NO, "does not name its partition"},
        {"on:main", NULL, NULL, 2, NO, "does not name its partition"},
        {"on", NULL, "off", 2, NO, "not attended: EVENSTEP_DEFAULT is off"},
        {"off", NULL, "off", 2, NO, "EVENSTEP_DEFAULT is off"},
        {"off", NULL, "on", 2, YES, ""},
        {"on:a", "main", "on", 2, YES, ""},
        {"off", NULL, "on", 1, NO, "it has one node"},
        {"on", NULL, "", 2, YES, ""},
        {"on", NULL, "no", 2, YES,
         "EVENSTEP_DEFAULT='no' is left out: give on or off"},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const char *user = table[i].user;

        prepare("echo ready");
        set_site(table[i].site);
        fake_spank.nodes = table[i].nodes;
        if (table[i].partition)
            setenv("SLURM_JOB_PARTITION", table[i].partition, 1);
        if (user)
            setenv("EVENSTEP_DEFAULT", user, 1);
        ok(is_started() == table[i].started
               && strstr(fake_spank.said, table[i].said)
               && fake_spank.errors == (user && strcmp(user, "no") == 0),
           "default=%s, %s, %s, %u nodes", table[i].site,
           table[i].partition ? table[i].partition : "no partition",
           user ? user : "unset", (unsigned)table[i].nodes);
        give(EVENSTEP, "on");
        ok(is_started(), "asked for, it is attended");
        give(EVENSTEP, "off");
        (void)unlink(words);
        ok(!is_started(), "refused, it is not");
    }
}

static void test_pty(void)
{
    prepare("echo ready");
    set_site("on");
    plugin_unasked_note();
    setenv("SLURM_PTY_PORT", "7", 1); /* as srun does */
    ok(!is_started() && strstr(fake_spank.said, "it has --pty"),
       "a step with --pty is not attended");
    plugin_unasked_note();
    ok(is_started(), "one started in that one is");
    setenv("SLURM_PTY_PORT", "8", 1);
    (void)unlink(words);
    ok(!is_started(), "but with a --pty of its own");
    give(EVENSTEP, "on");
    ok(is_started(), "unless it asks");
    unsetenv("SLURM_PTY_PORT");
    prepare("echo ready");
    setenv("SLURM_NTASKS", "3", 1);
    fake_spank.tasks = 1;
    ok(!is_started() && fake_spank.errors == 0
           && strstr(fake_spank.said, "it is heterogeneous"),
       "a heterogeneous step that has not asked hears nothing");
    unsetenv("SLURM_NTASKS");
    fake_spank.handle.of_a_step = 0;
    ok(!is_started() && fake_spank.errors == 0, "nor one without ids");
}

static void test_file(void)
{
    static const struct {
        const char *content;
        int started, errors;
    } table[] = {
        {"off\n", NO, 0},
        {"off", NO, 0},
        {"on\n", YES, 0},
        {"off\nmore\n", NO, 0},
        {"", YES, 1},
        {"no\n", YES, 1},
        {"a line that is longer than any word\n", YES, 1},
    };
    char base[100], path[120];

    snprintf(base, sizeof base, "%s/evenstep.d", folder);
    (void)mkdir(base, 0700);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        FILE *f;

        prepare("echo ready");
        setenv("XDG_CONFIG_HOME", base, 1);
        set_site("on");
        snprintf(path, sizeof path, "%s/evenstep", base);
        (void)mkdir(path, 0700);
        snprintf(path, sizeof path, "%s/evenstep/default", base);
        f = fopen(path, "w");
        if (!f || fputs(table[i].content, f) < 0 || fclose(f) != 0)
            bail("no file");
        ok(is_started() == table[i].started
               && fake_spank.errors == table[i].errors
               && (!fake_spank.errors || strstr(fake_spank.said, path)),
           "a file, row %zu", i);
        setenv("EVENSTEP_DEFAULT", "off", 1);
        (void)unlink(words);
        ok(!is_started(), "the variable stands before it");
    }
    unsetenv("EVENSTEP_DEFAULT");
    (void)unlink(path);
    if (mkfifo(path, 0600) < 0)
        bail("no fifo");
    fake_spank.errors = 0;
    ok(is_started() && fake_spank.errors == 0,
       "a pipe is none, and is not waited for");
    (void)unlink(path);
    if (geteuid() == 0) {
        int fd = open(path, O_WRONLY | O_CREAT, 0644);

        if (write(fd, "off\n", 4) != 4 || fchown(fd, 1, 1) < 0)
            bail("no file");
        (void)close(fd);
        (void)unlink(words);
        ok(is_started(), "nor is another user's");
        (void)unlink(path);
    }
    *strrchr(path, '/') = '\0';
    (void)rmdir(path);
    (void)rmdir(base);
    set_site("off");
}

static void test_again(void)
{
    prepare("echo ready");
    give(EVENSTEP, "on");
    (void)plugin_local_start(&fake_spank.handle);
    fake_spank.step = 3;
    (void)plugin_local_start(&fake_spank.handle);
    await_end("srun starts its step again: the front end of before ends");
    is_str(getenv(PROMISE), "on:7.3", "there is another for it");
    plugin_local_stop();
    plugin_local_stop(); /* there is none any more */
    is_int(fake_spank.errors, 0, "to stop twice does nothing");
}

int main(void)
{
    (void)alarm(300);
    snprintf(folder, sizeof folder, "/tmp/evenstep-local.XXXXXX");
    if (!mkdtemp(folder))
        bail("no folder");
    snprintf(program, sizeof program, "%s/evenstep", folder);
    snprintf(words, sizeof words, "%s/words", folder);
    snprintf(ended, sizeof ended, "%s/ended", folder);
    snprintf(launcher, sizeof launcher, "launcher=%s", program);
    test_ready();
    test_words();
    test_answers();
    test_late();
    test_missing();
    test_agents();
    test_steps();
    test_component();
    test_default();
    test_pty();
    test_file();
    test_again();
    (void)unlink(program);
    (void)unlink(words);
    (void)unlink(ended);
    (void)rmdir(folder);
    return done();
}
