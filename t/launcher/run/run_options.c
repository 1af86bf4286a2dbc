/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_options.h"
#include "launcher/base/options.h"
#include "launcher/commands.h"
#include "policy/kinds.h"
#include "tap.h"

static struct config config;
static struct run_options o;
static struct es_error err;

/* Parse "run" and the words of line. */
static int parse(const char *line)
{
    static char copy[300];
    static char *argv[32];
    int argc = 0, rc;
    char *rest = copy;

    snprintf(copy, sizeof copy, "run %s", line);
    while (argc < 31 && (argv[argc] = strsep(&rest, " ")) != NULL)
        argc++;
    argv[argc] = NULL;
    memset(&o, 0, sizeof o);
    memset(&err, 0, sizeof err);
    rc = options_parse(&command_run, &o, argc, argv, &err);
    o.command = argv + 1;
    return rc == 0 ? run_options_settle(&o, &config, &err) : rc;
}

static const struct {
    const char *line, *what, *mend;
} bad[] = {
    {"-- true", "no work", "give --range BEGIN:END"},
    {"--range 0:5", "no command", "give it after --"},
    {"--range 5 -- true", "--range: \"5\" is no range", "BEGIN:END"},
    {"--range a:5 -- true", "--range: \"a:5\" is no range", "whole numbers"},
    {"--range -1:5 -- true", "--range: \"-1:5\" is no range", "whole numbers"},
    {"--range 5:5 -- true", "--range: 5:5 is empty", "below the end"},
    {"--range 6:5 -- true", "--range: 6:5 is reversed", "below the end"},
    {"--range 0:18446744073709551616 -- true", "is out of range", "below 2^63"},
    {"--range 0:9223372036854775808 -- true", "is out of range", "below 2^63"},
    {"-xy --range 0:5 -- true", "-x: no such option", "--help"},
    {"--grain 0 --range 0:5 -- true", "--grain: \"0\" is out of range",
     "from 1"},
    {"--repeat 0 --range 0:5 -- true", "--repeat: \"0\" is out of", "from 1"},
    {"--repeat x --range 0:5 -- true", "--repeat: \"x\" is no whole", "from 1"},
    {"--policy odd --range 0:5 -- true", "--policy: \"odd\" is unknown",
     "give one of: even canon static"},
    {"--policy even:gain=2 --range 0:5 -- true", "gain: \"2\" is out of range",
     "from 0.01 to 1"},
    {"--policy even:gain=nan --range 0:5 -- true", "is out of range", "from"},
    {"--policy even:gain --range 0:5 -- true", "\"gain\" has no value",
     "key=value"},
    {"--policy static:gain=1 --range 0:5 -- true",
     "static has no parameter \"gain\"", "--help"},
    {"--threshold x --range 0:5 -- true", "--threshold: \"x\"", "percent"},
    {"--threshold -1 --range 0:5 -- true", "--threshold: \"-1\"", "percent"},
    {"--threshold nan% --range 0:5 -- true", "--threshold: \"nan%\"",
     "percent"},
    {"--libs --range 0:5 -- true", "--libs: there is no --bcast or --exec",
     "give --bcast SRC:DST, too"},
    {"--exclude-libs /lib --exec /x --range 0:5 -- true",
     "--exclude-libs: there is no --libs", "give --libs, too"},
    {"--exec /x --joinable 2 --range 0:5 -- true", "exclude each other",
     "give one of them"},
    {"--exec  --range 0:5 -- true", "DST \"\" names no file", "whole name"},
    {"--profile odd --range 0:5 -- true", "--profile: \"odd\" is unknown",
     "give one of:"},
    {"--local 0 --range 0:5 -- true", "--local: \"0\" is out of range", "1 to"},
    {"--local x --range 0:5 -- true", "--local: \"x\" is no number", "1 to"},
    {"--local 2=80 --range 0:5 -- true", "are not 2 numbers",
     "--local 2=80,20"},
    {"--local 2=80,20,5 --range 0:5 -- true", "are not 2 numbers", "agent"},
    {"--local 2=80,0 --range 0:5 -- true", "are not 2 numbers", "agent"},
    {"--local 2=80,20, --range 0:5 -- true", "are not 2 numbers", "agent"},
    {"--local 2= --range 0:5 -- true", "are not 2 numbers", "agent"},
    {"--local 2 --srun -N2 --range 0:5 -- true", "exclude each other",
     "one of"},
    {"--range :5 -- true", "--range: \":5\" is no range", "whole numbers"},
    {"--range 0: -- true", "--range: \"0:\" is no range", "whole numbers"},
    {"--range 1:2:3 -- true", "--range: \"1:2:3\" is no range", "whole"},
    {"--range 0x0:5 -- true", "--range: \"0x0:5\" is no range", "whole"},
    {"--range 0:5.5 -- true", "--range: \"0:5.5\" is no range", "whole"},
    {"--range 00000000000000000000000000000000000000000:5 -- true",
     "is no range", "BEGIN:END"},
    {"--grain -1 --range 0:5 -- true", "--grain: \"-1\" is out of", "from 1"},
    {"--repeat 1.5 --range 0:5 -- true", "--repeat: \"1.5\" is no", "from 1"},
    {"--repeat 18446744073709551616 --range 0:5 -- true",
     "--repeat: \"18446744073709551616\" is out of range", "from 1"},
    {"--policy : --range 0:5 -- true", "--policy: \"\" is unknown",
     "give one of: even canon static"},
    {"--policy EVEN --range 0:5 -- true", "--policy: \"EVEN\" is unknown",
     "give one of: even canon static"},
    {"--policy even: --range 0:5 -- true", "\"\" has no value", "key=value"},
    {"--policy even:gain= --range 0:5 -- true", "gain: \"\" is out of range",
     "from 0.01 to 1"},
    {"--policy even:gain=0.5x --range 0:5 -- true",
     "gain: \"0.5x\" is out of range", "from 0.01 to 1"},
    {"--policy even:gain=0.5,jump=x --range 0:5 -- true",
     "jump: \"x\" is out of range", "from 0.01 to 100"},
    {"--policy even:gain=0.5, --range 0:5 -- true", "\"\" has no value",
     "key=value"},
    {"--policy even:=1 --range 0:5 -- true", "even has no parameter \"\"",
     "--help"},
    {"--policy canon:step=0 --range 0:5 -- true", "step: \"0\" is out of range",
     "from 0.001 to 100"},
    {"--threshold % --range 0:5 -- true", "--threshold: \"%\"", "percent"},
    {"--threshold 5%% --range 0:5 -- true", "--threshold: \"5%%\"",
     "percent with a %"},
    {"--threshold inf --range 0:5 -- true", "--threshold: \"inf\"", "percent"},
    {"--threshold 1e10 --range 0:5 -- true", "--threshold: \"1e10\"",
     "percent"},
    {"--threshold 0,5 --range 0:5 -- true", "--threshold: \"0,5\"", "percent"},
    {"--local 1025 --range 0:5 -- true", "--local: \"1025\" is out of range",
     "1 to 1024"},
    {"--local -1 --range 0:5 -- true", "--local: \"-1\" is out of", "1 to"},
    {"--local =80 --range 0:5 -- true", "--local: \"=80\" is no number",
     "1 to"},
    {"--local 2=80,x --range 0:5 -- true", "are not 2 numbers", "agent"},
    {"--local 2=80;20 --range 0:5 -- true", "are not 2 numbers", "agent"},
    {"--local 2=,20 --range 0:5 -- true", "are not 2 numbers", "agent"},
    {"--local 2=80,20.5 --range 0:5 -- true", "are not 2 numbers", "agent"},
    {"--local 2=80,100001 --range 0:5 -- true", "are not 2 numbers", "agent"},
    {"--srun -N2 --local 2 --range 0:5 -- true", "exclude each other",
     "one of"},
    {"--odd --range 0:5 -- true", "--odd: no such option", "--help"},
    {"--rnage 0:5 -- true", "--rnage: no such option", "did you mean --range?"},
    {"--re 2 --range 0:5 -- true", "--re: no such option", "--help"},
    {"--help=yes", "--help: it has no value", "leave it out"},
    {"-x", "-x: no such option", "--help"},
    {"--range 0:5 -\303\251 -- true", "-\303\251: no such option", "--help"},
    {"--range", "--range: a value is missing", "give --range B:E"},
    {"--range 0:5 --gather", "--gather: a value is missing", "--gather FILE"},
};

/* Of --exec: the command line is well, and the program is not. */
static const struct {
    const char *command, *why, *mend;
    enum es_kind kind;
} not_to_run[] = {
    {"nowhere-to-be-found", "No such file", "of this host", ES_USAGE},
    {"./nowhere", "No such file", "of this host", ES_USAGE},
    {"/tmp", "Is a directory", "of this host", ES_WORK},
    {"/etc/passwd", "Permission denied", "chmod +x", ES_WORK},
    {"/dev/null", "Permission denied", "chmod +x", ES_WORK},
};

static void test_exec(void)
{
    char line[100], what[100];

    for (size_t i = 0; i < sizeof not_to_run / sizeof not_to_run[0]; i++) {
        snprintf(line, sizeof line, "--exec /x --range 0:5 -- %s",
                 not_to_run[i].command);
        snprintf(what, sizeof what, "--exec: %s: %s", not_to_run[i].command,
                 not_to_run[i].why);
        ok(parse(line) == -1 && err.kind == not_to_run[i].kind
               && strstr(err.what, what) == err.what
               && strstr(err.mend, not_to_run[i].mend),
           "%s: %s", err.what, err.mend);
    }
    is_int(parse("--exec /tmp/x --range 0:5 -- true"), 0, "--exec is taken");
    ok(strcmp(strrchr(o.exec.source, '/'), "/true") == 0
           && strcmp(o.exec.destination, "/tmp/x") == 0
           && strcmp(o.command[0], "true") == 0,
       "its program is the command's, found by PATH; the command stays");
    is_int(parse("--exec /tmp/{node}/ --range 0:5 -- /bin/true"), 0,
           "a slash at the end is taken");
    is_str(o.exec.destination, "/tmp/{node}/true",
           "the program keeps its name in that folder");
}

static void test_bad(void)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int rc = parse(bad[i].line);

        ok(rc == -1 && err.kind == ES_USAGE && strstr(err.what, bad[i].what)
               && strstr(err.mend, bad[i].mend),
           "\"%s\" is refused", bad[i].line);
        if (rc == -1
            && !(strstr(err.what, bad[i].what)
                 && strstr(err.mend, bad[i].mend)))
            diag("  said \"%s: %s\"", err.what, err.mend);
    }
}

static void test_good(void)
{
    is_int(parse("--range 3:9223372036854775807 -- a -b --range x"), 0,
           "a range to the last number, and a command with options");
    ok(o.work.begin == 3 && o.work.end == INT64_MAX && o.work.repeat == 1
           && o.grain == 1 && o.local.n == 0,
       "the range, and what is not said");
    ok(strcmp(o.command[0], "a") == 0 && strcmp(o.command[2], "--range") == 0
           && !o.command[4],
       "the command's options stay with it");
    ok(strcmp(o.policy->name, "even") == 0
           && o.threshold.unit == THRESHOLD_PERCENT && o.threshold.value == 5,
       "even, at 5 percent");
    is_int(parse("--range 0:5 --threshold 0.5 --policy canon:step=2.5 true"), 0,
           "seconds, another policy, no --");
    ok(o.threshold.unit == THRESHOLD_SECONDS && o.threshold.value == 0.5
           && strcmp(o.policy->name, "canon") == 0 && o.policy_value[0] == 2.5,
       "are taken");
    config.policy[1][0] = 9;
    parse("--range 0:5 --policy canon -- true");
    is_near(o.policy_value[0], 9, 0, "the configuration's value is taken");
    parse("--range 0:5 --policy canon:step=3 -- true");
    is_near(o.policy_value[0], 3, 0, "the option's goes before it");
    ok(parse("--range 0:5 --local 2=80,20 -- true") == 0 && o.local.n == 2
           && o.local.has_speeds && o.local.speed[0] == 80
           && o.local.speed[1] == 20,
       "agents with speeds");
    ok(parse("--range 0:5 --local 3 -- true") == 0 && o.local.n == 3
           && !o.local.has_speeds,
       "and without");
    ok(parse("--range 0:5 --local 2=80,20 --local 3 -- true") == 0
           && o.local.n == 3 && !o.local.has_speeds,
       "the last --local counts, speeds and all");
    ok(parse("--range 0:5 --local 1024 -- true") == 0 && o.local.n == LOCAL_MAX,
       "the most agents");
    ok(parse("--range 0:5 --repeat 3 --repeat 4 --grain 16 -- true") == 0
           && o.work.repeat == 4 && o.grain == 16,
       "the last of an option counts");
    ok(parse("--range 0:5 --gather g --report r --metrics equal -- true") == 0
           && strcmp(o.gather, "g") == 0 && strcmp(o.report, "r") == 0
           && o.metrics == METRICS_EQUAL,
       "files and metrics");
    ok(parse("--range 0:5 --metrics cached --profile io -- true") == 0
           && o.metrics == METRICS_CACHED && strcmp(o.profile->name, "io") == 0,
       "the cache and a profile");
    ok(parse("--range 0:5 --metrics m.json -- true") == 0
           && o.metrics == METRICS_OF_FILE
           && strcmp(o.metrics_file, "m.json") == 0 && o.profile,
       "a metrics file, and the profile that is the default");
    ok(parse("--range=0:5 --srun=-N2 true") == 0 && strcmp(o.srun, "-N2") == 0,
       "a value behind an equals sign");
    ok(parse("--range 0:5 --policy even:gain=1,jump=0.01 -- true") == 0
           && o.policy_value[0] == 1 && o.policy_value[1] == 0.01,
       "parameters at their bounds");
    config.policy[0][0] = 0.25;
    ok(parse("--range 0:5 --policy canon --policy even -- true") == 0
           && strcmp(o.policy->name, "even") == 0 && o.policy_value[0] == 0.25,
       "a policy named later has its own configuration");
}

static const struct {
    const char *text;
    double value;
    enum threshold_unit unit;
} thresholds[] = {
    {"5%", 5, THRESHOLD_PERCENT},       {"0.5", 0.5, THRESHOLD_SECONDS},
    {"0", 0, THRESHOLD_SECONDS},        {"0%", 0, THRESHOLD_PERCENT},
    {"1e-3", 0.001, THRESHOLD_SECONDS}, {"250%", 250, THRESHOLD_PERCENT},
    {"1e9", 1e9, THRESHOLD_SECONDS},    {"auto", 0, THRESHOLD_AUTO},
};

static void test_thresholds(void)
{
    char line[80];

    setenv("LC_ALL", "de_DE.UTF-8", 1);
    for (size_t i = 0; i < sizeof thresholds / sizeof thresholds[0]; i++) {
        snprintf(line, sizeof line, "--range 0:5 --threshold %s -- true",
                 thresholds[i].text);
        ok(parse(line) == 0 && o.threshold.value == thresholds[i].value
               && o.threshold.unit == thresholds[i].unit,
           "--threshold %s", thresholds[i].text);
    }
}

static uint64_t ahead_of(const char *line)
{
    if (parse(line) < 0)
        bail("%s: %s", line, err.what);
    return o.ahead;
}

/* Lines of a queue are works of their own; iterations are not. */
static void test_ahead(void)
{
    is_int((intmax_t)ahead_of("--queue - -- true"), 2, "of a queue");
    is_int((intmax_t)ahead_of("--range 0:5 --repeat 9 -- true"), 0,
           "of iterations");
    is_int((intmax_t)ahead_of("--queue - --ahead 0 -- true"), 0, "as asked");
    is_int((intmax_t)ahead_of("--range 0:5 --ahead 7 -- true"), 7, "likewise");
    is_int((intmax_t)ahead_of("--range 0:5 --ahead auto -- true"), 0, "auto");
    is_int((intmax_t)ahead_of("--queue - --persistent -- true"), 0,
           "a program that stays");
    is_int((intmax_t)ahead_of("--queue - --pieces 4 -- true"), 0,
           "not by cost");
    is_int((intmax_t)ahead_of("--queue - --policy canon -- true"), 0,
           "nor by another policy");
    is_int((intmax_t)ahead_of("--queue - --dry-run -- true"), 2,
           "a dry run is as the run");
}

/* Help names options, and how it ends. */
static void test_help(void)
{
    static const char *const known[] = {
        "--range",     "--repeat",  "--grain",   "--policy",
        "--threshold", "--metrics", "--gather",  "--report",
        "--srun",      "--local",   "--profile",
    };
    static char text[16384];
    FILE *to = tmpfile();
    int saved = dup(STDOUT_FILENO), rc;

    if (!to || saved < 0)
        bail("no file");
    fflush(stdout);
    dup2(fileno(to), STDOUT_FILENO);
    rc = parse("--help");
    dup2(saved, STDOUT_FILENO);
    close(saved);
    is_int(rc, 1, "help is not an error");
    if (pread(fileno(to), text, sizeof text - 1, 0) <= 0)
        bail("no help");
    fclose(to);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        ok(strstr(text, known[i]) != NULL, "help names %s", known[i]);
    ok(strstr(text, "exit status") != NULL, "and the exit status");
}

int main(void)
{
    const struct policy_kind *kind;

    for (size_t i = 0; (kind = kinds_at(i)) != NULL; i++)
        policy_defaults(kind, config.policy[i]);
    config.profiles = 1;
    strcpy(config.profile[0].name, "io");
    test_exec();
    test_bad();
    test_good();
    test_thresholds();
    test_ahead();
    test_help();
    return done();
}
