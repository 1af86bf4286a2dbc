/* SPDX-License-Identifier: BSD-2-Clause */
/* In slurmstepd: the guard of a step's limits, here a script. */
#include "spank_plugin/plugin_power.h"
#include "fake_spank.h"
#include "spank_plugin/plugin_options.h"
#include "tap.h"

#include <signal.h>
#include <slurm/slurm.h>
#include <sys/stat.h>

static char folder[64], program[96], starts[96], words[96], tasks[96],
    launcher[110];

/* reply: what it says to each task, or exit. */
static void guard_is(const char *reply)
{
    FILE *f = fopen(program, "w");

    if (!f)
        bail("no program");
    fprintf(f,
            "#!/bin/sh\n"
            "echo x >>%s\n"
            "echo \"$*\" >%s\n"
            "while read line; do echo $line >>%s; %s; done\n",
            starts, words, tasks, reply);
    if (fclose(f) != 0 || chmod(program, 0700) < 0)
        bail("no program");
    (void)unlink(starts);
    (void)unlink(words);
    (void)unlink(tasks);
}

static const char *content(const char *path)
{
    static char text[512];
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;

    if (f)
        fclose(f);
    text[n] = '\0';
    return text;
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

static void prepare(const char *power, const char *reply)
{
    char *argument = launcher;

    fake_spank_clear();
    fake_spank.context = S_CTX_REMOTE;
    fake_spank.job = 7;
    fake_spank.step = 2;
    fake_spank.uid = 1000;
    fake_spank.pid = 4711;
    plugin_options_clear();
    plugin_options_register(&fake_spank.handle);
    plugin_options_set_arguments(1, &argument, 0);
    if (power)
        (void)fake_spank.option[POWER].cb(POWER, power, 1);
    guard_is(reply);
}

static void give(int option, const char *value)
{
    (void)fake_spank.option[option].cb(option, value, 1);
}

static void task(pid_t pid)
{
    fake_spank.pid = pid;
    plugin_power_task(&fake_spank.handle);
}

static int is_started(void)
{
    return access(words, F_OK) == 0;
}

/* Start it, and wait until it runs: then it answers at once. */
static void start(void)
{
    plugin_power_start(&fake_spank.handle);
    for (int i = 0; i < 6000 && !is_started(); i++)
        (void)usleep(10000);
}

static void test_good(void)
{
    prepare("pair", "echo ok");
    start();
    task(11);
    task(12);
    plugin_power_stop();
    is_str(content(words), "--job 7 --step 2 --uid 1000\n",
           "the guard is told which step it is");
    is_str(content(tasks), "11\n12\n", "it hears of each task");
    is_int(fake_spank.errors, 0, "nothing is said");
    task(13);
    plugin_power_stop();
    is_str(content(tasks), "11\n12\n", "after the step nobody asks it");
}

static void test_words(void)
{
    char cores[] = "0-3", *argument = "config=/etc/e";

    prepare("boost", "echo ok");
    plugin_options_set_arguments(1, &argument, 0);
    fake_spank.cores = cores;
    start();
    task(11);
    plugin_power_stop();
    is_str(content(words),
           "--job 7 --step 2 --uid 1000 --config /etc/e --cores 0-3\n",
           "configuration and cores are handed on");
}

static void test_none(void)
{
    prepare(NULL, "echo ok");
    plugin_power_start(&fake_spank.handle);
    task(11);
    ok(!is_started(), "without --evenstep-power there is no guard");
    prepare("off", "echo ok");
    plugin_power_start(&fake_spank.handle);
    task(11);
    ok(!is_started(), "nor with off");
    prepare("pair", "echo ok");
    fake_spank.step = SLURM_BATCH_SCRIPT;
    plugin_power_start(&fake_spank.handle);
    task(11);
    ok(!is_started(), "nor for a batch script");
    prepare("pair", "echo ok");
    give(EVENSTEP, "off");
    plugin_power_start(&fake_spank.handle);
    task(11);
    ok(!is_started(), "nor where nobody attends the step");
    prepare("pair", "echo ok");
    fake_spank.handle.of_a_step = 0;
    plugin_power_start(&fake_spank.handle);
    task(11);
    ok(!is_started() && fake_spank.errors == 0,
       "nor where Slurm does not tell which step it is");
}

/* Of evenstep's own agents srun has one option, and no other. */
static void test_agents(void)
{
    static const struct {
        const char *value, *words;
    } table[] = {
        {"none", ""},
        {"energy", "--job 7 --step 2 --uid 1000 --config /etc/e --energy\n"},
        {"limits", "--job 7 --step 2 --uid 1000 --config /etc/e\n"}};

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        prepare(NULL, "echo ok");
        give(AGENTS, table[i].value);
        if (table[i].words[0])
            start();
        else
            plugin_power_start(&fake_spank.handle);
        task(11);
        plugin_power_stop();
        is_str(content(words), table[i].words, table[i].value);
    }
    prepare(NULL, "echo ok");
    give(REPORT, "");
    start();
    task(11);
    plugin_power_stop();
    is_str(content(words), table[1].words, "a report has the energy");
}

/* Of the environment nothing counts, and one is enough. */
static void test_variables(void)
{
    static const char *const names[] = {
        "EVENSTEP_COMPANION", "EVENSTEP_GUARD", "EVENSTEP_ENERGY",
        "SLURM_SPANK__SLURM_SPANK_OPTION_evenstep_evenstep_agents",
        "_SLURM_SPANK_OPTION_evenstep_evenstep_power"};

    prepare(NULL, "echo ok");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        (void)spank_setenv(&fake_spank.handle, names[i], i < 3 ? "1" : "limits",
                           1);
    plugin_power_start(&fake_spank.handle);
    task(11);
    ok(!is_started(), "no variable starts it");
    prepare("pair", "echo ok");
    (void)spank_setenv(&fake_spank.handle, "EVENSTEP_COMPANION", "1", 1);
    start();
    ok(is_started(), "nor keeps one from starting it who asks for it");
    plugin_power_start(&fake_spank.handle);
    task(11);
    plugin_power_stop();
    is_str(content(starts), "x\n", "a step has one");
}

static void test_bad(void)
{
    prepare("pair", "echo no powercap here");
    start();
    task(11);
    ok(fake_spank.errors == 1 && strstr(fake_spank.said, "no powercap here"),
       "its reason is said");
    task(12);
    ok(fake_spank.errors == 1 && strcmp(content(tasks), "11\n") == 0,
       "once: it is not asked again");
    plugin_power_stop();

    prepare("pair", "exit");
    start();
    task(11);
    ok(fake_spank.errors == 1 && strstr(fake_spank.said, "has ended"),
       "so is its end");
    prepare("pair", ":");
    start();
    task(11);
    ok(fake_spank.errors == 1 && strstr(fake_spank.said, "does not answer"),
       "and its silence");
    prepare("pair", "echo ok");
    (void)unlink(program);
    plugin_power_start(&fake_spank.handle);
    task(11);
    ok(fake_spank.errors == 1 && strstr(fake_spank.said, program),
       "a guard that is not there is named");
    prepare(NULL, "echo too many");
    give(REPORT, "");
    start();
    task(11);
    ok(fake_spank.errors == 0 && strstr(fake_spank.said, "energy")
           && strstr(fake_spank.said, "too many"),
       "for a report alone it is no error");
}

int main(void)
{
    (void)alarm(300);
    (void)signal(SIGPIPE, SIG_IGN); /* as slurmstepd has it */
    snprintf(folder, sizeof folder, "/tmp/evenstep-power.XXXXXX");
    if (!mkdtemp(folder))
        bail("no folder");
    snprintf(program, sizeof program, "%s/evenstep-power", folder);
    snprintf(starts, sizeof starts, "%s/starts", folder);
    snprintf(words, sizeof words, "%s/words", folder);
    snprintf(tasks, sizeof tasks, "%s/tasks", folder);
    snprintf(launcher, sizeof launcher, "launcher=%s/evenstep", folder);
    test_good();
    test_words();
    test_none();
    test_agents();
    test_variables();
    test_bad();
    (void)unlink(program);
    (void)unlink(starts);
    (void)unlink(words);
    (void)unlink(tasks);
    (void)rmdir(folder);
    return done();
}
