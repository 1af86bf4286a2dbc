/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/config/config_file.h"
#include "fault.h"
#include "launcher/config/policy_option.h"
#include "policy/kinds.h"
#include "tap.h"

#include <fcntl.h>
#include <stddef.h>

static const struct {
    const char *name, *text, *where, *what, *mend;
} bad[] = {
    {"an unknown key", "probe {\n bugdet_ms = 1\n}\n",
     "f.conf:2:", "no such option 'bugdet_ms'", "see evenstep.conf(5)"},
    {"an unknown section", "\nnonsense {\n}\n",
     "f.conf:2:", "no such option 'nonsense'", "see evenstep.conf(5)"},
    {"a file that includes another", "include(\"/etc/passwd\")\n",
     "f.conf:1:", "no such option 'include'", "see evenstep.conf(5)"},
    {"a key without a value", "probe {\n budget_ms\n}\n", "f.conf:3:", "",
     "see evenstep.conf(5)"},
    {"a section without a brace", "probe budget_ms = 100\n", "f.conf:1:",
     "missing opening brace for section 'probe'", "see evenstep.conf(5)"},
    {"a brace too many", "probe { }\n}\n",
     "f.conf:2:", "unexpected closing brace", "see evenstep.conf(5)"},
    {"a list where one number is due", "probe { budget_ms = {1, 2} }\n",
     "f.conf:1:", "unexpected token '{'", "see evenstep.conf(5)"},
    {"a number with a tail", "probe { budget_ms = 100x }\n", "f.conf:1:",
     "invalid integer value for option 'budget_ms'", "see evenstep.conf(5)"},
    {"a number of 20 digits", "probe { budget_ms = 99999999999999999999 }\n",
     "f.conf:1:", "integer value for option 'budget_ms' is out of range",
     "see evenstep.conf(5)"},
    {"a budget that is too small", "probe {\n budget_ms = 199\n}\n",
     "f.conf:2:", "budget_ms is out of range", "give 200 to 10000"},
    {"a budget that is too large", "probe {\n budget_ms = 10001\n}\n",
     "f.conf:2:", "budget_ms is out of range", "give 200 to 10000"},
    {"a ttl over a year", "probe {\n ttl = 31622401\n}\n",
     "f.conf:2:", "ttl is out of range", "give 0 to 31622400 seconds"},
    {"a cache beside us", "probe {\n cache = \"here\"\n}\n",
     "f.conf:2:", "cache is out of range", "give the full path of a directory"},
    {"an element of no letter that there is",
     "probe {\n element \"V\" { }\n}\n", "f.conf:2:", "\"V\" is no element",
     "give C, M, I, B, S or G"},
    {"two elements in one", "probe {\n element \"CM\" { }\n}\n",
     "f.conf:2:", "\"CM\" is no element", "W, X, Y or Z for yours"},
    {"an element of the site's without a command",
     "probe {\n element \"X\" { unit = a }\n}\n",
     "f.conf:", "element \"X\" has no command", "prints a number"},
    {"a command of the CPU", "probe { element \"C\" { command = \"x\" } }\n",
     "f.conf:1:", "element \"C\" has no command", "\"W\", \"X\""},
    {"a budget of the CPU alone",
     "probe { element \"C\" { budget_ms = 300 } }\n",
     "f.conf:1:", "element \"C\" has no budget_ms", "\"W\", \"X\""},
    {"a command of two lines",
     "probe {\n element \"W\" { command = \"a\\nb\" }\n}\n",
     "f.conf:2:", "element \"W\": command is out of range", "give one line"},
    {"an empty command", "probe {\n element \"W\" { command = \"\" }\n}\n",
     "f.conf:2:", "element \"W\": command is out of range", "give one line"},
    {"a name of 24 bytes",
     "probe {\n element \"W\" { name = \"123456789012345678901234\" }\n}\n",
     "f.conf:2:", "element \"W\": name is out of range", "1 to 23 bytes"},
    {"a unit of 16 bytes",
     "probe {\n element \"W\" { unit = \"1234567890123456\" }\n}\n",
     "f.conf:2:", "element \"W\": unit is out of range", "1 to 15 bytes"},
    {"neither more nor less",
     "probe {\n element \"W\" { better = \"worse\" }\n}\n",
     "f.conf:2:", "better is out of range", "give \"more\" or \"less\""},
    {"a site's budget that is too large",
     "probe {\n element \"W\" { budget_ms = 10001 }\n}\n",
     "f.conf:2:", "budget_ms is out of range", "give 200 to 10000"},
    {"an element twice", "probe { element \"C\" { }\nelement \"C\" { } }\n",
     "f.conf:2:", "duplicate title", "see evenstep.conf(5)"},
    {"a scratch of the CPU", "probe { element \"C\" { scratch = \"/x\" } }\n",
     "f.conf:1:", "element \"C\" has no scratch", "give it in element \"S\""},
    {"a rule of ranking that there is not", "probe { rank_by = alike }\n",
     "f.conf:1:", "rank_by is out of range", "give \"different\" or \"all\""},
    {"an outlier below 0", "probe { element \"C\" { outlier = -1 } }\n",
     "f.conf:1:", "outlier is out of range",
     "give 1 to 1000 deviations, or 0 for never"},
    {"an outlier that is no number",
     "probe { element \"C\" { outlier = nan } }\n", "f.conf:1:",
     "outlier is out of range", "give 1 to 1000 deviations, or 0 for never"},
    {"a measure that is neither", "probe { element \"C\" { measure = 2 } }\n",
     "f.conf:1:", "invalid boolean value for option 'measure'",
     "give on or off"},
    {"a budget of -1", "probe {\n budget_ms = -1\n}\n",
     "f.conf:2:", "budget_ms is out of range", "give 200 to 10000"},
    {"more branches than nodes can be", "bcast {\n branches = 65537\n}\n",
     "f.conf:2:", "bcast: branches is out of range", "give 1 to 65536"},
    {"a chunk that is too small", "bcast { chunk = 1023 }\n",
     "f.conf:1:", "bcast: chunk is out of range", "give 1024 to 4194304"},
    {"a chunk that is too large", "bcast { chunk = 4194305 }\n",
     "f.conf:1:", "bcast: chunk is out of range", "give 1024 to 4194304"},
    {"the fourth line", "# a\n// b\n/* c\n*/ x = 1\n",
     "f.conf:4:", "no such option 'x'", "see evenstep.conf(5)"},
    {"no time to come", "agents {\n timeout = 4\n}",
     "f.conf:2:", "agents: timeout is out of range", "give 5 to 86400 seconds"},
    {"more than a day to stay", "agents {\n linger = 86401\n}",
     "f.conf:2:", "agents: linger is out of range", "give 1 to 86400 seconds"},
    {"more than a day between questions", "slurm {\n drain_interval = 86401\n}",
     "f.conf:2:", "slurm: drain_interval is out of range",
     "give 1 to 86400 seconds, or 0 for never"},
    {"too much with the order", "bcast { small = 65537 }\n",
     "f.conf:1:", "bcast: small is out of range", "give 0 to 65536"},
    {"a scheme that is none", "bcast {\n scheme = \"magic\"\n}", "f.conf:2:",
     "bcast: scheme is out of range", "give \"overlap\" or \"strict\""},
    {"ports the wrong way round", "bcast { port_range = \"2000-1999\" }\n",
     "f.conf:1:", "bcast: port_range is out of range", "give \"LOW-HIGH\""},
    {"an interface that is none", "bcast { interface = \"ib0,10.0/8\" }\n",
     "f.conf:1:", "bcast: interface is no such list", "give names and"},
    {"folders that depend on where one is",
     "bcast { exclude_libs = \"/lib,usr\" }\n",
     "f.conf:1:", "bcast: exclude_libs is no list of folders", "give folders"},
    {"no folders", "bcast { exclude_libs = \"\" }\n",
     "f.conf:1:", "bcast: exclude_libs is no list of folders", "or \"none\""},
    {"ports with a tail", "bcast { port_range = \"2000-2001,\" }\n",
     "f.conf:1:", "bcast: port_range is out of range", "give \"LOW-HIGH\""},
    {"an unknown actuator", "power { actuator = \"fan\" }\n",
     "f.conf:1:", "power: actuator is out of range", "give off, rapl, cpufreq"},
    {"an unknown aggregate", "power {\n aggregate = \"skew\" }\n",
     "f.conf:2:", "power: aggregate is out of range", "give min, mean"},
    {"no cap", "power {\n cap = 0\n}\n",
     "f.conf:2:", "power: cap is out of range", "give 0.01 to 1e9"},
    {"watts of CPU time", "power { cap = 300 }\n", "f.conf:1:",
     "power: cap is out of range for actuator off", "give a part of the CPUs"},
    {"a start above the ceiling", "power { start = 1.1 }\n",
     "f.conf:1:", "power: start is out of range", "give 0.01 to 1"},
    {"no floor", "power { floor = 0 }\n",
     "f.conf:1:", "power: floor is out of range", "give 0.01 to 1"},
    {"a bound that is no number", "power { bound = nan }\n",
     "f.conf:1:", "power: bound is out of range", "give 0 to 1"},
    {"no gain", "power { gain = 0 }\n",
     "f.conf:1:", "power: gain is out of range", "give 0.01 to 1"},
    {"a budget without a number", "power { budget \"s1\" { } }\n",
     "f.conf:1:", "power: budget \"s1\" is out of range", "give most = 0.001"},
    {"a budget of nothing", "power { budget \"s1\" { most = 0 } }\n",
     "f.conf:1:", "power: budget \"s1\" is out of range", "give most = 0.001"},
    {"a budget without end", "power { budget \"s1\" { most = inf } }\n",
     "f.conf:1:", "power: budget \"s1\" is out of range", "give most = 0.001"},
    {"a budget for no rack", "power { budget \"a b\" { most = 5 } }\n",
     "f.conf:1:", "power: budget: that is no rack",
     "give the name of a switch"},
    {"a budget twice",
     "power { budget \"a\" { most = 5 } budget \"a\" { most = 6 } }\n",
     "f.conf:1:", "found duplicate title 'a'", "see"},
    {"no interval", "power { interval_ms = 0 }\n",
     "f.conf:1:", "power: interval_ms is out of range", "give 1 to 10000"},
    {"a port below 1024", "bcast { port_range = \"1023-2000\" }\n",
     "f.conf:1:", "bcast: port_range is out of range", "give \"LOW-HIGH\""},
    {"less than no watts", "energy {\n idle = -1\n}\n", "f.conf:2:",
     "energy: idle is out of range", "give a number from 0 to 1e6"},
    {"watts that are no number", "energy { base = nan }\n", "f.conf:1:",
     "energy: base is out of range", "give a number from 0 to 1e6"},
    {"a way to wire up that is none", "\nwireup = \"udp\"\n",
     "f.conf:2:", "wireup is out of range", "give \"auto\", \"pmix\" or"},
    {"encryption that is neither", "encrypt = maybe\n",
     "f.conf:1:", "value for option 'encrypt'", "give on or off"},
    {"an answer that is none", "plugin {\n\n on_error = \"maybe\"\n}\n",
     "f.conf:3:", "on_error is out of range",
     "\"input\", \"continue\" or \"fail\""},
    {"an answer in capitals", "plugin { on_error = \"Fail\" }\n", "f.conf:1:",
     "on_error is out of range", "\"input\", \"continue\" or \"fail\""},
    {"a meter that is none", "plugin { meter = \"pmu\" }\n",
     "f.conf:1:", "meter is out of range", "\"mpi\", \"cpu\" or \"none\""},
    {"a path that is not full", "plugin {\n agent_path = \"bin/a\"\n}\n",
     "f.conf:2:", "agent_path is out of range", "the full path"},
    {"an empty path", "plugin { agent_path = \"\" }\n",
     "f.conf:1:", "agent_path is out of range", "the full path"},
    {"parameters of a policy for the tasks of a step",
     "plugin { policy = \"rl:minSize=2\" }\n", "f.conf:1:",
     "plugin: policy is out of range", "give one of: even canon static"},
    {"no policy for them", "plugin { policy = \"\" }\n", "f.conf:1:",
     "plugin: policy is out of range", "give one of: even canon static"},
    {"a threshold that is none", "plugin {\n threshold = \"often\"\n}\n",
     "f.conf:2:", "plugin: threshold is out of range", "percent with a %"},
    {"an unknown policy", "\npolicy \"odd\" { }\n", "f.conf:2:",
     "policy \"odd\" is unknown", "give a set of parameters a kind"},
    {"an unknown policy with a key", "policy \"odd\" { gain = 0.5 }\n",
     "f.conf:1:", "policy \"odd\" is unknown",
     "give a set of parameters a kind"},
    {"a set that is its own kind", "policy \"odd\" {\n kind = \"odd\"\n}\n",
     "f.conf:2:", "policy \"odd\": its kind is itself",
     "give one of: even canon"},
    {"a set of a set",
     "policy \"one\" { kind = \"rl\" }\n"
     "policy \"two\" { kind = \"one\" }\n",
     "f.conf:2:", "policy \"two\": kind \"one\" is unknown",
     "give one of: even canon"},
    {"a set of an unknown kind", "policy \"odd\" { kind = \"bogus\" }\n",
     "f.conf:1:", "policy \"odd\": kind \"bogus\" is unknown",
     "give one of: even canon"},
    {"a kind of another kind", "policy \"even\" { kind = \"canon\" }\n",
     "f.conf:1:", "policy \"even\" is a kind of its own",
     "give the section another name"},
    {"a set with a key of another kind",
     "policy \"odd\" { kind = \"canon\"\n gain = 0.5 }\n",
     "f.conf:2:", "policy \"odd\" has no key gain", "see evenstep.conf(5)"},
    {"likewise, before its kind",
     "policy \"odd\" { gain = 0.5\n kind = \"canon\" }\n",
     "f.conf:2:", "policy \"odd\" has no key gain", "see evenstep.conf(5)"},
    {"a set with no number, before its kind",
     "policy \"odd\" { gain = nan kind = \"even\" }\n",
     "f.conf:1:", "policy \"odd\": gain is out of range", "give a number"},
    {"a set with a value out of range",
     "policy \"odd\" {\n kind = \"even\"\n gain = 7\n}\n",
     "f.conf:3:", "policy \"odd\": gain is out of range", "0.01 to 1"},
    {"a set whose name is none", "policy \"o d\" { kind = \"even\" }\n",
     "f.conf:1:", "policy: the name is out of range", "a-z, 0-9, - and _"},
    {"tasks of a step with a set that is not there",
     "plugin { policy = \"prop2\" }\n",
     "f.conf:1:", "plugin: policy is out of range: \"prop2\" is unknown",
     "give one of: even"},
    {"a profile with a policy that is not there",
     "profile \"own\" {\n C = 1\n policy = \"prop2\"\n}\n", "f.conf:4:",
     "profile \"own\": policy is out of range: \"prop2\" is unknown",
     "give one of: even"},
    {"a policy without a name", "policy { gain = 0.5 }\n",
     "f.conf:1:", "missing title for section 'policy'", "see evenstep.conf(5)"},
    {"a policy named twice", "policy \"even\" { }\npolicy \"even\" { }\n",
     "f.conf:2:", "found duplicate title 'even'", "see evenstep.conf(5)"},
    {"another policy's key", "policy \"canon\" {\n gain = 0.5\n}\n",
     "f.conf:2:", "policy \"canon\" has no key gain", "see evenstep.conf(5)"},
    {"a gain over 1", "policy \"even\" {\n\n gain = 1.5\n}\n",
     "f.conf:3:", "policy \"even\": gain is out of range", "0.01 to 1"},
    {"a gain of 0", "policy \"even\" { gain = 0 }\n",
     "f.conf:1:", "policy \"even\": gain is out of range", "0.01 to 1"},
    {"an infinite gain", "policy \"even\" { gain = inf }\n",
     "f.conf:1:", "policy \"even\": gain is out of range", "0.01 to 1"},
    {"a gain of minus infinity", "policy \"even\" { gain = -inf }\n",
     "f.conf:1:", "policy \"even\": gain is out of range", "0.01 to 1"},
    {"a gain that is no number", "policy \"even\" {\n gain = nan\n}\n",
     "f.conf:2:", "policy \"even\": gain is out of range", "0.01 to 1"},
    {"a key of another policy that is no number",
     "policy \"canon\" { gain = nan }\n",
     "f.conf:1:", "policy \"canon\" has no key gain", "see evenstep.conf(5)"},
    {"a gain over all doubles", "policy \"even\" { gain = 1e400 }\n",
     "f.conf:1:", "floating point value for option 'gain' is out of range",
     "see evenstep.conf(5)"},
    {"a decimal comma", "policy \"even\" { gain = 1,5 }\n",
     "f.conf:1:", "unexpected token ','", "see evenstep.conf(5)"},
    {"a profile that sums to 0", "profile \"odd\" {\n C = 0\n G = 0\n}\n",
     "f.conf:4:", "profile \"odd\": nothing has influence", "C M I B S G"},
    {"a profile without a key", "\nprofile \"cpu\" { }\n",
     "f.conf:2:", "profile \"cpu\": nothing has influence", "C M I B S G"},
    {"an influence over 1", "profile \"cpu\" {\n C = 1.1\n}\n",
     "f.conf:2:", "profile \"cpu\": C is out of range", "0 to 1"},
    {"a negative influence", "profile \"cpu\" { C = 1\n M = -0.1 }\n",
     "f.conf:2:", "profile \"cpu\": M is out of range", "0 to 1"},
    {"an influence that is no number", "profile \"cpu\" { G = nan }\n",
     "f.conf:1:", "profile \"cpu\": G is out of range", "0 to 1"},
    {"an influence on no element", "profile \"cpu\" { V = 1 }\n",
     "f.conf:1:", "no such option 'V'", "see evenstep.conf(5)"},
    {"a need that is no size",
     "profile \"a\" { C = 1 need { M = \"much\" } }\n",
     "f.conf:1:", "need: M is out of range", "give bytes, as \"8GiB\""},
    {"a need of CPUs", "profile \"a\" { C = 1 need { C = \"8GB\" } }\n",
     "f.conf:1:", "no such option 'C'", "see evenstep.conf(5)"},
    {"a profile without a name", "profile { C = 1 }\n", "f.conf:1:",
     "missing title for section 'profile'", "see evenstep.conf(5)"},
    {"a profile named by a blank", "profile \" \" { C = 1 }\n",
     "f.conf:1:", "profile: the name is out of range", "at most 31"},
    {"a profile with a name of 32 bytes",
     "profile \"abcdefghijklmnopqrstuvwxyz012345\" { C = 1 }\n",
     "f.conf:1:", "profile: the name is out of range", "at most 31"},
    {"a profile named twice", "profile a { C = 1 }\nprofile a { C = 1 }\n",
     "f.conf:2:", "found duplicate title 'a'", "see evenstep.conf(5)"},
    {"our own mark of the end", "\n__end = 1\n",
     "f.conf:2:", "no such option '__end'", "see evenstep.conf(5)"},
    {"a section that stays open", "probe { budget_ms = 300\n",
     "f.conf:", "a section or comment is open at its end", "close it"},
    {"a comment that stays open", "probe { budget_ms = 300 }\n/* on\n",
     "f.conf:", "a section or comment is open at its end", "close it"},
    {"a text that stays open", "plugin { on_error = \"fail\n",
     "f.conf:", "premature end of file", "see evenstep.conf(5)"},
};

static struct config builtin(void)
{
    static struct config c;
    struct es_error err = {0};

    unsetenv("EVENSTEP_CONF");
    if (config_load(&c, "/dev/null", &err) == 0)
        bail("/dev/null is no regular file");
    ok(strstr(err.what, "configuration /dev/null"), "a device is refused");
    return c;
}

/* etc/evenstep.conf, owned by the caller. */
static char *shipped(void)
{
    const char *src = getenv("EVENSTEP_SRC");
    char path[4096], *text = calloc(1, 65536);
    FILE *fp;

    snprintf(path, sizeof path, "%s/etc/evenstep.conf", src ? src : ".");
    fp = fopen(path, "r");
    if (!fp || !text || fread(text, 1, 65535, fp) == 0)
        bail("%s", path);
    fclose(fp);
    return text;
}

static void test_bad(const struct config *base)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct config c = *base;
        struct es_error err = {0};
        int rc = config_read(&c, "f.conf", bad[i].text, &err);

        int says = strncmp(err.what, bad[i].where, strlen(bad[i].where)) == 0
                   && strstr(err.what, bad[i].what)
                   && strstr(err.mend, bad[i].mend);

        ok(rc == -1 && err.kind == ES_USAGE && says,
           "%s is refused, with its place", bad[i].name);
        if (!says)
            diag("  said \"%s: %s\"", err.what, err.mend);
        if (memcmp(&c, base, sizeof c) != 0)
            ok(0, "%s changes nothing", bad[i].name);
    }
    ok(config_read(&(struct config){0}, "f.conf", "x = 1", NULL) == -1,
       "who wants no message gets none");
}

static void test_newer(const struct config *base)
{
    static const char old[] = "wireup = \"tcp\"\npower { watts_of = 3 }\n",
                      newer[] = "# a site\nversion = \"9.1\"\n"
                                "foo = { 1, \"}\" } encrypt = on\n"
                                "power { watts_of = 3 /* more */ cap = 0.5 }\n"
                                "bar \"x\" {\n a = 1\n b { c = 2 }\n}\n"
                                "agents { linger = 7 foo += { 2 } }\n",
                      value[] = "version = \"9.1\"\nwireup = \"new\"\n",
                      open[] = "version = \"9.1\"\nfoo { a = 1\n",
                      none[] = "version = \"soon\"\n";
    struct config c = *base;
    struct es_error err = {0};

    is_int(config_read(&c, "f.conf", newer, &err), 0,
           "of a file for a newer evenstep unknown keys are left out");
    ok(c.encrypt && c.power.cap == 0.5 && c.linger_s == 7, "others are read");
    is_int(config_read(&c, "f.conf", old, &err), -1, "not of another file");
    is_int(config_read(&c, "f.conf", value, &err), -1, "nor unknown values");
    is_int(config_read(&c, "f.conf", open, &err), -1, "nor what has no end");
    is_int(config_read(&c, "f.conf", none, &err), -1,
           "what is no release is refused");
}

/* A file that was cut off in a section says so, wherever it was cut. */
static void test_truncated(const struct config *base)
{
    char *whole = shipped(), *part = strdup(whole);
    size_t inside = 0, taken = 0;
    int depth = 0, comment = 0, text = 0;

    for (size_t i = 0; part && whole[i]; i++) {
        struct config c = *base;

        if (depth > 0 && !comment) {
            inside++;
            part[i] = '\0';
            taken += config_read(&c, "cut.conf", part, NULL) == 0;
            part[i] = whole[i];
        }
        text ^= !comment && whole[i] == '"';
        comment = !text && (whole[i] == '#' || (comment && whole[i] != '\n'));
        if (!comment && !text)
            depth += (whole[i] == '{') - (whole[i] == '}');
    }
    ok(inside > 100 && depth == 0, "the shipped file is cut at %zu places",
       inside);
    is_int((intmax_t)taken, 0, "and refused at each");
    free(part);
    free(whole);
}

/* What is shipped says the built-in values, all of them. */
static void test_shipped(const struct config *base)
{
    char *text = shipped();
    struct config c = *base;
    struct es_error err = {0};
    const struct policy_kind *kind;

    c.wireup = WIREUP_PMIX;
    c.on_error = ON_ERROR_FAIL;
    strcpy(c.step_policy, "static");
    c.step_threshold.unit = THRESHOLD_AUTO;
    c.step_patience_s = 1;
    c.step_meter = STEP_METERS;
    strcpy(c.power.actuator, "rapl");
    c.step_report = 2;
    c.linger_s = 60;
    c.timeout_s = 90;
    c.slurm.drain_interval_s = 1;
    c.slurm.job_comment = 2;
    c.probe.budget_ms = 1;
    c.probe.ttl_s = 1;
    c.probe.cache[0] = 'x';
    c.probe.rank_by = RANK_BY_ALL;
    memset(c.policy, 0, sizeof c.policy);
    for (size_t i = 0; i < c.profiles; i++)
        c.profile[i].profile = (struct profile){{0}};
    is_int(config_read(&c, "etc/evenstep.conf", text, &err), 0,
           "the shipped file is read");
    ok(c.wireup == base->wireup && c.on_error == base->on_error
           && memcmp(&c.probe, &base->probe, sizeof c.probe) == 0
           && strcmp(c.step_policy, base->step_policy) == 0
           && c.step_patience_s == base->step_patience_s
           && c.step_meter == base->step_meter
           && c.step_report == base->step_report && c.linger_s == base->linger_s
           && c.timeout_s == base->timeout_s
           && c.slurm.drain_interval_s == base->slurm.drain_interval_s
           && c.slurm.job_comment == base->slurm.job_comment
           && c.step_threshold.unit == base->step_threshold.unit
           && c.step_threshold.value == base->step_threshold.value
           && c.agent_path[0] == '\0',
       "its plugin, slurm and probe parts say what is built in");
    ok(strcmp(base->power.actuator, "off") == 0
           && strcmp(c.power.actuator, "off") == 0,
       "so does its actuator: root limits nothing until the site says so");
    for (size_t i = 0; (kind = kinds_at(i)) != NULL; i++)
        for (size_t k = 0; k < kind->n_params; k++)
            ok(c.policy[i][k] == kind->params[k].def, "so does %s of %s",
               kind->params[k].key, kind->name);
    is_int((intmax_t)c.profiles, (intmax_t)base->profiles,
           "it has no profile that is not built in");
    for (size_t i = 0; i < c.profiles; i++)
        ok(memcmp(&c.profile[i], &base->profile[i], sizeof c.profile[i]) == 0,
           "so does profile %s", c.profile[i].name);
    free(text);
}

/* The profiles that are shipped, the site's own, and how many there can be. */
static void test_profiles(const struct config *base)
{
    struct config c = *base;
    struct es_error err = {0};
    char text[64];

    for (size_t i = 0; profile_at(i); i++)
        ok(strcmp(base->profile[i].name, profile_at(i)->name) == 0
               && profile_sum(&base->profile[i].profile) > 0
               && profile_sum(&base->profile[i].profile) <= 1 + 1e-9,
           "%s is built in", profile_at(i)->name);
    ok(config_read(&c, "p.conf",
                   "profile \"cpu\" { C = 1 }\n"
                   "profile \"my-own_1\" { S = 0.5 G = 0.25 }\n",
                   &err)
               == 0
           && c.profiles == base->profiles + 1,
       "a site changes one and adds one");
    is_near(c.profile[0].profile.influence[ELEMENT_C], 1, 0,
            "what it changes is in place");
    is_near(c.profile[0].profile.influence[ELEMENT_M], 0, 0,
            "as a whole: what the section does not give is 0");
    ok(memcmp(&c.profile[1], &base->profile[1], sizeof c.profile[1]) == 0,
       "the others stay");
    ok(strcmp(c.profile[base->profiles].name, "my-own_1") == 0
           && c.profile[base->profiles].profile.influence[ELEMENT_G] == 0.25,
       "what it adds comes last");
    for (size_t i = c.profiles; i < PROFILES_MAX; i++) {
        snprintf(text, sizeof text, "profile p%zu { C = 1 }", i);
        if (config_read(&c, "p.conf", text, &err) < 0)
            bail("%s", err.what);
    }
    is_int((intmax_t)c.profiles, PROFILES_MAX, "it adds some more");
    ok(config_read(&c, "p.conf", "profile one-more { C = 1 }", &err) == -1
           && err.kind == ES_USAGE && c.profiles == PROFILES_MAX
           && strcmp(err.what, "p.conf: there are too many profiles") == 0,
       "but not one too many");
}

static void test_good(const struct config *base)
{
    struct config c = *base;
    struct es_error err = {0};

    setenv("LC_ALL", "de_DE.UTF-8", 1);
    is_int(config_read(&c, "f.conf",
                       "# a comment\nplugin { on_error = \"fail\"\n"
                       " agent_path = \"/opt/a\" }\n"
                       "/* another */ policy \"even\" { gain = 0.5 }\n"
                       "policy canon { step = 7 } // the last\n",
                       &err),
           0, "a file with some of the keys is read");
    ok(c.on_error == ON_ERROR_FAIL && strcmp(c.agent_path, "/opt/a") == 0,
       "its plugin part");
    is_int(c.probe.budget_ms, base->probe.budget_ms,
           "what it does not say stays");
    is_near(c.policy[0][0], 0.5, 0, "half is a half in Germany, too");
    is_near(c.policy[0][1], base->policy[0][1], 0,
            "what a policy's section does not say stays");
    is_near(c.policy[1][0], 7, 0, "another policy's is its own");
    is_int(
        config_read(&c, "g.conf", "plugin { on_error = \"continue\" }\n", &err),
        0, "a second file on top of it");
    ok(c.on_error == ON_ERROR_CONTINUE && strcmp(c.agent_path, "/opt/a") == 0,
       "changes what it says, and no more");
    ok(config_read(&c, "l.conf", "probe { budget_ms = 200 }", &err) == 0
           && c.probe.budget_ms == 200,
       "the least budget is allowed");
    ok(config_read(&c, "l.conf", "probe { budget_ms = 10000 }", &err) == 0
           && c.probe.budget_ms == 10000,
       "so is the largest");
    is_int(config_read(&c, "e.conf", "", &err), 0, "an empty file is fine");
    is_int(config_read(&c, "e.conf", "# no more", &err), 0,
           "so is one that ends in a comment's line");
    ok(err.kind == ES_OK, "none of them left a message");
}

/* Sets of parameters: the order of sections does not matter, a second file's
 * takes the place of the first one's. */
static void test_sets(const struct config *base)
{
    struct config c = *base;
    struct policy_option o;

    is_int(config_read(&c, "f.conf",
                       "plugin { policy = \"prop2\" }\n"
                       "profile \"own\" { C = 1 policy = \"quick\" }\n"
                       "policy \"prop2\" { proportionalityFactor = 2\n"
                       " kind = \"proportional\" }\n"
                       "policy \"quick\" { kind = \"even\" }\n"
                       "policy \"even\" { gain = 0.5 jump = 0.3 }\n",
                       NULL),
           0, "sets may come after those that name them");
    is_str(c.step_policy, "prop2", "the plugin's is one");
    is_str(c.profile[c.profiles - 1].policy, "quick", "and a profile's");
    is_int(
        policy_option_parse(&o, &c, "prop2:initialSize=3", POLICY_STRICT, NULL),
        0, "--policy takes one, and more parameters");
    is_str(o.name, "prop2", "its name is known");
    is_str(o.kind->name, "proportional", "with its kind");
    is_near(o.value[policy_param_find(o.kind, "proportionalityFactor")], 2, 0,
            "its value");
    is_near(o.value[policy_param_find(o.kind, "initialSize")], 3, 0,
            "what --policy says besides");
    is_near(o.value[policy_param_find(o.kind, "performanceCacheSize")], 2000, 0,
            "and the kind's for the rest");
    is_int(policy_option_parse(&o, &c, "quick", POLICY_STRICT, NULL), 0,
           "another");
    is_near(o.value[0], 0.5, 0, "goes by what the file gives its kind");
    is_int(config_read(&c, "g.conf",
                       "policy \"prop2\" { kind = \"rl\" }\n"
                       "plugin { policy = \"quick\" }\n",
                       NULL),
           0, "a second file replaces one, and names the other");
    is_int((intmax_t)c.sets, 2, "there still are two");
    ok(policy_option_parse(&o, &c, "prop2", POLICY_STRICT, NULL) == 0
           && strcmp(o.kind->name, "rl") == 0,
       "one of another kind");
    ok(policy_option_parse(&o, NULL, "prop2", POLICY_STRICT, NULL) < 0,
       "without a configuration there is none");
}

/* 64 sets fit, and no more. */
static void test_many_sets(const struct config *base)
{
    struct config c = *base;
    struct es_error err = {0};
    char text[8192] = "";
    size_t len = 0;

    for (int i = 0; i < POLICY_SETS_MAX; i++)
        len += (size_t)snprintf(text + len, sizeof text - len,
                                "policy \"p%d\" { kind = \"even\" }\n", i);
    is_int(config_read(&c, "f.conf", text, NULL), 0, "64 sets are taken");
    ok(config_read(&c, "g.conf", "policy \"q\" { kind = \"even\" }", &err) < 0
           && strstr(err.what, "too many sets"),
       "one more is told");
}

/* What config_print() says, owned by the caller. */
static char *printed(const struct config *c)
{
    FILE *to = tmpfile();
    char *text = calloc(1, 16384);
    int saved = dup(STDOUT_FILENO), rc;

    if (!to || !text || saved < 0)
        bail("no file");
    fflush(stdout);
    dup2(fileno(to), STDOUT_FILENO);
    rc = config_print(c);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    if (rc < 0 || pread(fileno(to), text, 16383, 0) <= 0)
        bail("nothing was printed");
    fclose(to);
    return text;
}

static const struct print {
    const char *name, *path;
    double gain;
    struct threshold_rule threshold;
} prints[] = {
    {"nothing special",
     "/opt/evenstep/evenstep-agent",
     0.3,
     {THRESHOLD_AUTO, 0}},
    {"no path", "", 0.123456789, {THRESHOLD_PERCENT, 0.1 + 0.2}},
    {"a third", "/a", 1.0 / 3, {THRESHOLD_SECONDS, 1.0 / 3}},
    {"a sum of doubles", "/a", 0.1 + 0.2, {THRESHOLD_SECONDS, 1.0 / 3}},
    {"blanks in the path",
     "/opt/even step/agent",
     0.3,
     {THRESHOLD_SECONDS, 1.0 / 3}},
    {"braces and a hash in the path",
     "/opt/{a}#b",
     0.3,
     {THRESHOLD_SECONDS, 1.0 / 3}},
    {"a quote in the path", "/opt/\"a\"", 0.3, {THRESHOLD_SECONDS, 1.0 / 3}},
    {"a backslash in the path",
     "/opt/a\\nb",
     0.3,
     {THRESHOLD_SECONDS, 1.0 / 3}},
    {"a dollar in the path",
     "/opt/${LC_ALL}/a",
     0.3,
     {THRESHOLD_SECONDS, 1.0 / 3}},
};

/* Not one value as it is without a file. */
static void set_all(struct config *c, const struct print *like)
{
    c->on_error = ON_ERROR_FAIL;
    strcpy(c->step_policy, "prop2");
    c->step_threshold = like->threshold;
    c->step_patience_s = 7;
    c->step_meter = STEP_METER_CPU;
    c->step_report = 1;
    c->slurm.drain_interval_s = 8;
    c->slurm.job_comment = 1;
    c->probe.budget_ms = 1234;
    c->probe.rank_by = RANK_BY_ALL;
    c->probe.ttl_s = 77;
    strcpy(c->probe.cache, "/a cache");
    strcpy(c->probe.scratch, like->path[0] ? "/local \\ 'x'" : "");
    c->probe.elements &= ~PROBE_BIT(ELEMENT_S);
    c->probe.outlier[ELEMENT_G] = 4.25;
    c->probe.site[2] =
        (struct probe_site){"licences", "seats", "a \"b\" \\ 'c'", 1, 250};
    c->probe.elements |= PROBE_BIT(ELEMENT_SITE + 2);
    c->bcast = (struct config_bcast){
        .branches = 7,
        .chunk = 65536,
        .small = 99,
        .strict = 1,
        .ports = {60001, 60999},
        .interface = "ib0,10.1.0.0/16",
        .rails = 1,
        .threads = THREADS_AUTO,
        .cache = "/fast/cache",
        .cache_bytes = UINT64_C(3000000),
        .exclude_libs = "/lib,/usr/lib,/lib64,/usr/lib64,/x's"};
    c->power = (struct config_power){.actuator = "rapl",
                                     .cap = 300.5,
                                     .floor = 0.1,
                                     .band = 1,
                                     .gain = 0.03,
                                     .interval_ms = 250,
                                     .aggregate = AGGREGATE_MEAN,
                                     .budgets = 2,
                                     .budget = {{"s1", 2400.1}, {"Rack-2", 7}}};
    c->policy[0][0] = like->gain;
    c->profile[0].profile.influence[ELEMENT_I] = like->gain;
    c->profile[c->profiles] = (struct config_profile){
        .name = "own", .profile = {{[ELEMENT_S] = like->gain}}};
    c->profile[c->profiles].need[ELEMENT_M] = 123456789;
    c->profile[c->profiles].need[ELEMENT_G] = 1e18;
    c->profile[c->profiles++].profile.influence[ELEMENT_SITE + 2] = 0.25;
    strcpy(c->profile[c->profiles - 1].policy, "canon");
    c->set[c->sets] = (struct config_set){.name = "prop2",
                                          .kind = kinds_find("proportional")};
    policy_defaults(c->set[c->sets].kind, c->set[c->sets].value);
    c->set[c->sets++].value[1] = 2;
    strcpy(c->agent_path, like->path);
}

static int is_same(const struct config *again, const struct config *c)
{
    return strcmp(again->agent_path, c->agent_path) == 0
           && again->on_error == ON_ERROR_FAIL
           && strcmp(again->step_policy, c->step_policy) == 0
           && again->step_patience_s == c->step_patience_s
           && again->step_meter == STEP_METER_CPU && again->step_report == 1
           && again->slurm.drain_interval_s == 8
           && again->slurm.job_comment == 1
           && again->step_threshold.unit == c->step_threshold.unit
           && again->step_threshold.value == c->step_threshold.value
           && memcmp(&again->probe, &c->probe, sizeof c->probe) == 0
           && memcmp(&again->bcast, &c->bcast, sizeof c->bcast) == 0
           && strcmp(again->power.actuator, "rapl") == 0
           && memcmp(&again->power.cap, &c->power.cap,
                     sizeof c->power - offsetof(struct config_power, cap))
                  == 0
           && again->profiles == c->profiles
           && memcmp(again->profile, c->profile, sizeof c->profile) == 0
           && memcmp(again->policy, c->policy, sizeof c->policy) == 0
           && again->sets == c->sets
           && memcmp(again->set, c->set, sizeof c->set) == 0;
}

static void test_full(const struct config *base)
{
    int full, saved;

    fflush(stdout);
    saved = dup(STDOUT_FILENO);
    full = open("/dev/full", O_WRONLY);
    dup2(full, STDOUT_FILENO);
    close(full);
    full = config_print(base);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    is_int(full, -1, "a device that is full is told");
}

/* What is printed can be read again, to the same values. */
static void test_printed(const struct config *base)
{
    for (size_t i = 0; i < sizeof prints / sizeof prints[0]; i++) {
        struct config c = *base, again = *base;
        struct es_error err = {0};
        char *text;

        set_all(&c, &prints[i]);
        text = printed(&c);
        ok(config_read(&again, "printed", text, &err) == 0
               && is_same(&again, &c),
           "%s is printed so that it reads the same", prints[i].name);
        if (err.kind)
            diag("  said \"%s: %s\"", err.what, err.mend);
        free(text);
    }
}

/* A file of our own with these bytes; its name in path. */
static void make_file(char path[], const void *bytes, size_t len, off_t size)
{
    int fd;

    strcpy(path, "/tmp/evenstep-config.XXXXXX");
    fd = mkstemp(path);
    if (fd < 0 || write(fd, bytes, len) != (ssize_t)len
        || (size > 0 && ftruncate(fd, size) < 0))
        bail("no file");
    close(fd);
}

static void test_files(void)
{
    static const char hole[] = "probe { budget_ms = 100 }\n\0nonsense\n";
    struct config c;
    struct es_error err = {0};
    char site[64], own[64];

    setenv("EVENSTEP_CONF", "/no/such/file", 1);
    make_file(site, "", 0, 0);
    ok(config_load(&c, site, &err) == -1 && err.kind == ES_USAGE
           && strstr(err.what, "/no/such/file: No such file"),
       "a file that EVENSTEP_CONF names must be there");
    setenv("EVENSTEP_CONF", "/tmp", 1);
    ok(config_load(&c, site, &err) == -1 && err.kind == ES_USAGE
           && strstr(err.what, "configuration /tmp: "),
       "a directory is refused");
    unlink(site);
    unsetenv("EVENSTEP_CONF");
    ok(config_load(&c, "/no/such/site.conf", &err) == -1
           && strstr(err.what, "/no/such/site.conf: No such file"),
       "one that is named as the site's must be there");
    make_file(site, "", 0, (1 << 20) + 1);
    ok(config_load(&c, site, &err) == -1 && strstr(err.mend, "1 MiB"),
       "a file over 1 MiB is refused");
    unlink(site);
    make_file(site, hole, sizeof hole - 1, 0);
    is_int(config_load(&c, site, &err), -1,
           "a file with a NUL in it is refused, not cut short there");
    unlink(site);
    make_file(site, "probe { budget_ms = 0 }\n", 24, 0);
    ok(config_load(&c, site, &err) == -1 && strstr(err.what, site),
       "an error names the site's file");
    unlink(site);

    make_file(site, "probe { budget_ms = 300 }\nplugin { on_error = fail }\n",
              52, 0);
    make_file(own, "probe { budget_ms = 200 }\n", 26, 0);
    setenv("EVENSTEP_CONF", own, 1);
    err = (struct es_error){0};
    ok(config_load(&c, site, &err) == 0 && c.probe.budget_ms == 200
           && c.on_error == ON_ERROR_FAIL,
       "the user's file goes before the site's, key by key");
    setenv("EVENSTEP_CONF", "", 1);
    ok(config_load(&c, site, &err) == 0 && c.probe.budget_ms == 300,
       "an empty EVENSTEP_CONF names none");
    fault_at = 0;
    ok(config_load(&c, site, &err) == -1 && strstr(err.what, site),
       "without memory a file is refused");
    fault_at = -1;
    unlink(site);
    unlink(own);
}

int main(void)
{
    struct config base = builtin();

    test_bad(&base);
    test_newer(&base);
    test_truncated(&base);
    test_shipped(&base);
    test_profiles(&base);
    test_good(&base);
    test_sets(&base);
    test_many_sets(&base);
    test_printed(&base);
    test_full(&base);
    test_files();
    return done();
}
