/* SPDX-License-Identifier: BSD-2-Clause */
/* What users and sites may give, and what comes of it. */
#include "spank_plugin/plugin_options.h"
#include "fake_spank.h"
#include "tap.h"

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
    AGENTS,
    OPTIONS
};

static int give(int option, const char *value, int remote)
{
    fake_spank.errors = 0;
    return fake_spank.option[option].cb(fake_spank.option[option].val, value,
                                        remote);
}

static void test_register(void)
{
    static const char *const names[OPTIONS] = {
        "evenstep",        "evenstep-profile", "evenstep-bcast",
        "evenstep-probe",  "evenstep-power",   "evenstep-meter",
        "evenstep-report", "evenstep-libs",    "evenstep-lend",
        "evenstep-agents"};
    int tagged = 1;

    plugin_options_register(&fake_spank.handle);
    is_int(fake_spank.options, OPTIONS, "ten options are registered");
    for (int i = 0; i < OPTIONS; i++) {
        is_str(fake_spank.option[i].name, names[i], names[i]);
        is_int(fake_spank.option[i].has_arg,
               i == EVENSTEP || (i >= REPORT && i < AGENTS) ? 2 : 1,
               "its argument");
        tagged &= strncmp(fake_spank.option[i].usage, "[evenstep] ", 11) == 0;
    }
    ok(tagged, "srun --help says whose they are");
    fake_spank_clear();
    fake_spank.refuse_option = PROBE;
    plugin_options_register(&fake_spank.handle);
    ok(fake_spank.errors == 1 && fake_spank.options == OPTIONS - 1
           && strstr(fake_spank.said, "--evenstep-probe"),
       "one that another plugin has: it is named, the others are there");
    fake_spank_clear();
    plugin_options_register(&fake_spank.handle);
}

static void test_demand(void)
{
    static const struct {
        const char *value;
        enum plugin_demand demand;
    } table[] = {{NULL, DEMAND_ON},     {"", DEMAND_ON},
                 {"(null)", DEMAND_ON}, {"on", DEMAND_ON},
                 {"off", DEMAND_NONE},  {"required", DEMAND_REQUIRED}};

    is_int(plugin_options_get().demand, DEMAND_UNSAID, "nothing is asked for");
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        ok(give(EVENSTEP, table[i].value, 0) == 0
               && plugin_options_get().demand == table[i].demand,
           "--evenstep=%s", table[i].value ? table[i].value : "nothing");
        plugin_options_clear();
    }
    for (int i = PROFILE; i < LIBS; i++) { /* which needs a file */
        (void)give(i, i == BCAST ? "a:/b" : i == METER ? "none" : "off", 0);
        is_int(plugin_options_get().demand, DEMAND_ON,
               "another option implies --evenstep");
        (void)give(EVENSTEP, "off", 0);
        is_int(plugin_options_get().demand, DEMAND_NONE,
               "but for --evenstep=off");
        plugin_options_clear();
    }
}

static void test_good(void)
{
    struct plugin_options o;

    ok(give(PROFILE, "cpu_2-x", 0) == 0 && give(BCAST, "a b:/c d", 0) == 0
           && give(PROBE, "fresh", 0) == 0 && give(POWER, "boost", 0) == 0
           && give(METER, "cpu", 0) == 0 && give(REPORT, "a b", 0) == 0,
       "good values are taken");
    o = plugin_options_get();
    is_str(o.profile, "cpu_2-x", "a profile");
    is_str(o.bcast[0], "a b:/c d", "a file");
    ok(!o.bcast[1], "and no second one");
    is_str(o.probe, "fresh", "a way to probe");
    is_str(o.power, "boost", "a way to steer");
    is_str(o.meter, "cpu", "a meter");
    is_str(o.report, "a b", "a file for the report");
    ok(o.timeout_s == 660 && o.may_add_s == 600,
       "with a file to bring the start may take longer");
    (void)give(PROFILE, "io", 0);
    is_str(plugin_options_get().profile, "io", "the last one counts");
    (void)give(REPORT, NULL, 0);
    is_str(plugin_options_get().report, "", "a report and no file");
    (void)give(REPORT, "(null)", 0);
    is_str(plugin_options_get().report, "", "likewise through a job");
    (void)give(POWER, "save", 0);
    is_str(plugin_options_get().power, "save", "a third way to steer");
    plugin_options_clear();
    o = plugin_options_get();
    ok(!o.profile && !o.bcast[0] && !o.probe && !o.power && !o.meter
           && !o.report && o.timeout_s == 60,
       "all is forgotten");
}

static void test_lend(void)
{
    ok(give(LEND, "yes", 0) == -1 && fake_spank.errors == 1
           && strstr(fake_spank.said, "give on or off"),
       "--evenstep-lend=yes is refused");
    is_int(give(LEND, NULL, 0), 0, "--evenstep-lend alone is on");
    is_str(plugin_options_get().lend, "on", "and says so");
    is_int(plugin_options_get().demand, DEMAND_ON, "it implies --evenstep");
    (void)give(LEND, "off", 0);
    is_str(plugin_options_get().lend, "off", "off takes it back");
}

static void test_libs(void)
{
    ok(give(LIBS, "yes", 0) == -1 && fake_spank.errors == 1
           && strstr(fake_spank.said, "give on or off"),
       "--evenstep-libs=yes is refused");
    ok(give(LIBS, NULL, 0) == 0 && !plugin_options_get().libs
           && plugin_options_get().demand == DEMAND_UNSAID,
       "--evenstep-libs without a file to bring asks for nothing");
    (void)give(BCAST, "a:/x", 0);
    is_int(plugin_options_get().libs, 1, "with one it does");
    (void)give(LIBS, "off", 0);
    is_int(plugin_options_get().libs, 0, "off takes it back");
    (void)give(LIBS, "(null)", 0);
    is_int(plugin_options_get().libs, 1, "likewise through a job");
    plugin_options_clear();
}

/* Of evenstep's own srun; it switches off nothing that was asked for. */
static void test_agents(void)
{
    static const struct {
        int option;
        const char *value;
        enum plugin_demand demand;
    } stronger[] = {{EVENSTEP, "required", DEMAND_REQUIRED},
                    {PROFILE, "cpu", DEMAND_ON},
                    {POWER, "pair", DEMAND_ON},
                    {REPORT, "", DEMAND_ON}};
    static char on[] = "default=on", off[] = "default=off"; /* they are kept */
    char *word = on;

    plugin_options_clear();
    plugin_options_set_arguments(1, &word, 1);
    (void)give(AGENTS, "energy", 0);
    is_int(plugin_options_get().demand, DEMAND_NONE,
           "a step of agents is not attended, whatever is the default");
    is_str(plugin_options_get().agents, "energy", "it says what it wants");
    for (size_t i = 0; i < sizeof stronger / sizeof stronger[0]; i++) {
        plugin_options_clear();
        (void)give(AGENTS, "none", 0);
        (void)give(stronger[i].option, stronger[i].value, 0);
        ok(plugin_options_get().demand == stronger[i].demand
               && !plugin_options_get().agents,
           "--%s is stronger", fake_spank.option[stronger[i].option].name);
    }
    plugin_options_clear();
    word = off;
    plugin_options_set_arguments(1, &word, 1);
}

static void test_environ(void)
{
    static const char *const gone[] = {
        "_SLURM_SPANK_OPTION_evenstep_evenstep",
        "_SLURM_SPANK_OPTION_evenstep_evenstep_power",
        "_SLURM_SPANK_OPTION_evenstep_evenstep_agents"};
    int left = 0;

    for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++)
        (void)spank_setenv(&fake_spank.handle, gone[i], "on", 1);
    (void)spank_setenv(&fake_spank.handle, "_SLURM_SPANK_OPTION_other_power",
                       "on", 1);
    plugin_options_drop_environ(&fake_spank.handle);
    for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++)
        left += fake_spank_env(gone[i]) != NULL;
    is_int(left, 0, "options of ours are taken out of a step's environment");
    is_str(fake_spank_env("_SLURM_SPANK_OPTION_other_power"), "on",
           "those of others are not ours to take");
}

static void test_bcasts(void)
{
    char text[16];
    struct plugin_options o;

    ok(give(BCAST, "a:/x", 0) == 0 && give(BCAST, "b:$TMPDIR/y", 0) == 0
           && give(BCAST, "c:${TMPDIR}/z", 0) == 0
           && give(BCAST, "d:/x", 0) == 0,
       "--evenstep-bcast, four times");
    o = plugin_options_get();
    is_str(o.bcast[0], "d:/x", "of two for one place the last");
    is_str(o.bcast[1], "b:$TMPDIR/y", "a second one, into TMPDIR");
    is_str(o.bcast[2], "c:${TMPDIR}/z", "a third");
    ok(!o.bcast[3], "and no more");
    for (int i = 3; i < BCAST_MAX; i++) {
        (void)snprintf(text, sizeof text, "a:/%d", i);
        (void)give(BCAST, text, 0);
    }
    o = plugin_options_get();
    is_str(o.bcast[BCAST_MAX - 1], text, "as many as there may be");
    ok(give(BCAST, "a:/more", 0) == -1 && fake_spank.errors == 1
           && strstr(fake_spank.said, "more than 16 times"),
       "one more is refused");
    ok(give(BCAST, "a:$TMPDIR/", 0) == -1 && give(BCAST, "a:$HOME/x", 0) == -1,
       "no name in TMPDIR, another variable");
    plugin_options_clear();
    ok(!plugin_options_get().bcast[0], "all are forgotten");
}

static void test_bad(void)
{
    static const char long_name[] =
        "a23456789b23456789c23456789d23456789e23456789f23456789g23456789h";
    static const struct {
        int option;
        const char *value;
    } table[] = {{EVENSTEP, "yes"}, {EVENSTEP, "ON"}, {PROFILE, ""},
                 {PROFILE, "-x"},   {PROFILE, "a b"}, {PROFILE, "a/b"},
                 {PROFILE, NULL},   {BCAST, "a"},     {BCAST, ":/b"},
                 {BCAST, "a:b"},    {BCAST, "a:/"},   {PROBE, "new"},
                 {PROBE, ""},       {POWER, "on"},    {PROFILE, long_name},
                 {METER, "MPI"},    {METER, NULL},    {AGENTS, "all"}};

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const char *value = table[i].value ? table[i].value : "";

        ok(give(table[i].option, table[i].value, 0) == -1
               && fake_spank.errors == 1
               && strstr(fake_spank.said,
                         fake_spank.option[table[i].option].name),
           "--%s=%s is refused by name",
           fake_spank.option[table[i].option].name, value);
        ok(give(table[i].option, table[i].value, 1) == 0
               && fake_spank.errors == 0,
           "on a node it is left out in silence");
    }
    ok(give(PROFILE, long_name + 1, 0) == 0, "63 letters are not too many");
    ok(fake_spank.option[0].cb(OPTIONS, "on", 0) == -1
           && fake_spank.option[0].cb(-1, "on", 0) == -1
           && fake_spank.option[0].cb(OPTIONS, "on", 1) == 0,
       "a number that is none of ours");
    plugin_options_clear();
    is_int(plugin_options_get().demand, DEMAND_UNSAID, "nothing bad was kept");
}

static int argument(char *text, int complain)
{
    fake_spank.errors = 0;
    plugin_options_set_arguments(1, &text, complain);
    return fake_spank.errors;
}

static void test_site(void)
{
    static char *good[] = {"config=/etc/e", "default=on:a,b", "launcher=/opt/e",
                           "timeout=7"};
    static char *bad[] = {"config=e",      "default=yes",
                          "launcher=e",    "timeout=",
                          "timeout=0",     "timeout=3601",
                          "timeout=-1",    "timeout= 5",
                          "timeout=5s",    "timeout=99999999999999999999",
                          "conf=/e",       "",
                          "default=on:",   "default=on:,a",
                          "default=on:a,", "default=on:a,,b",
                          "default=off:a", "default="};
    struct plugin_options o = plugin_options_get();

    ok(!o.config && o.launcher[0] == '/' && strcmp(o.by_default, "off") == 0,
       "there is a program without any, and nothing is attended");
    plugin_options_set_arguments(4, good, 1);
    o = plugin_options_get();
    is_str(o.config, "/etc/e", "config=");
    is_str(o.launcher, "/opt/e", "launcher=");
    ok(o.timeout_s == 7 && o.may_add_s < 0, "timeout=, however long it says");
    is_str(o.by_default, "on:a,b", "default=");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ok(argument(bad[i], 1) == 1 && strstr(fake_spank.said, bad[i]),
           "\"%s\" is left out by name", bad[i]);
        is_int(argument(bad[i], 0), 0, "in silence on a node");
    }
    o = plugin_options_get();
    ok(o.timeout_s == 7 && strcmp(o.config, "/etc/e") == 0
           && strcmp(o.launcher, "/opt/e") == 0
           && strcmp(o.by_default, "on:a,b") == 0,
       "what was left out has changed nothing");
    ok(argument("timeout=3600", 1) == 0
           && plugin_options_get().timeout_s == 3600
           && argument("timeout=1", 1) == 0
           && plugin_options_get().timeout_s == 1,
       "the bounds are allowed");
    (void)argument("default=off", 1);
    is_str(plugin_options_get().by_default, "off", "default=off");
    ok(argument("default=ON", 1) == 1
           && strstr(fake_spank.said,
                     "'default=ON' is left out: give default=on, off or "
                     "on:PARTITION[,PARTITION...], as default=on:large,gpu"),
       "what was expected is said with an example");
}

int main(void)
{
    fake_spank_clear();
    test_register();
    test_demand();
    test_good();
    test_libs();
    test_lend();
    test_agents();
    test_environ();
    test_bcasts();
    test_bad();
    test_site();
    return done();
}
