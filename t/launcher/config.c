/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/config.h"
#include "tap.h"

#include <fcntl.h>

static const struct {
    const char *name, *text, *what, *mend;
} bad[] = {
    {"an unknown key", "probe {\n bugdet_ms = 1\n}\n",
     "f.conf:2: no such option 'bugdet_ms'", "see etc/evenstep.conf"},
    {"an unknown section", "nonsense {\n}\n",
     "f.conf:1: no such option 'nonsense'", "see etc/evenstep.conf"},
    {"a number with a tail", "probe { budget_ms = 100x }\n",
     "f.conf:1: invalid integer value for option 'budget_ms'",
     "see etc/evenstep.conf"},
    {"a budget that is too small", "probe { budget_ms = 49 }\n",
     "f.conf: probe: budget_ms is out of range", "give 50 to 5000"},
    {"a budget that is too large", "probe { budget_ms = 5001 }\n",
     "f.conf: probe: budget_ms is out of range", "give 50 to 5000"},
    {"an answer that is none", "plugin { on_error = \"maybe\" }\n",
     "f.conf: plugin: on_error is out of range", "\"continue\" or \"fail\""},
    {"a path that is not full", "plugin { agent_path = \"bin/a\" }\n",
     "f.conf: plugin: agent_path is out of range", "the full path"},
    {"an unknown policy", "policy \"odd\" { }\n",
     "f.conf: policy \"odd\" is unknown", "see etc/evenstep.conf"},
    {"another policy's key", "policy \"canon\" { gain = 0.5 }\n",
     "f.conf: policy \"canon\" has no key gain", "see etc/evenstep.conf"},
    {"a gain over 1", "policy \"even\" { gain = 1.5 }\n",
     "f.conf: policy \"even\": gain is out of range", "0.01 to 1"},
    {"an infinite gain", "policy \"even\" { gain = inf }\n",
     "f.conf: policy \"even\": gain is out of range", "0.01 to 1"},
    {"a section that stays open", "probe { budget_ms = 100\n",
     "f.conf: a section or comment is open at its end", "close it"},
    {"a comment that stays open", "probe { budget_ms = 100 }\n/* on\n",
     "f.conf: a section or comment is open at its end", "close it"},
};

static struct config builtin(void)
{
    struct config c;
    struct es_error err = {0};

    unsetenv("EVENSTEP_CONF");
    if (config_load(&c, "/dev/null", &err) == 0)
        bail("/dev/null is no regular file");
    ok(strstr(err.what, "configuration /dev/null"), "a device is refused");
    return c;
}

static void test_bad(const struct config *base)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct config c = *base;
        struct es_error err = {0};
        int rc = config_read(&c, "f.conf", bad[i].text, &err);

        ok(rc == -1 && err.kind == ES_USAGE && strstr(err.what, bad[i].what)
               && strstr(err.mend, bad[i].mend),
           "%s is refused", bad[i].name);
        if (!strstr(err.what, bad[i].what))
            diag("  said \"%s: %s\"", err.what, err.mend);
        if (memcmp(&c, base, sizeof c) != 0)
            ok(0, "%s changes nothing", bad[i].name);
    }
}

static void test_good(const struct config *base)
{
    struct config c = *base;
    struct es_error err = {0};

    setenv("LC_ALL", "de_DE.UTF-8", 1);
    is_int(config_read(&c, "f.conf",
                       "# a comment\nplugin { on_error = \"fail\"\n"
                       " agent_path = \"/opt/a\" }\n"
                       "policy \"even\" { gain = 0.5 }\n"
                       "policy \"canon\" { step = 7 }\n",
                       &err),
           0, "a file with some of the keys is read");
    ok(c.fail_on_error && strcmp(c.agent_path, "/opt/a") == 0,
       "its plugin part");
    is_int(c.budget_ms, base->budget_ms, "what it does not say stays");
    is_near(c.policy[0][0], 0.5, 0, "half is a half in Germany, too");
    is_int(
        config_read(&c, "g.conf", "plugin { on_error = \"continue\" }\n", &err),
        0, "a second file on top of it");
    ok(!c.fail_on_error && strcmp(c.agent_path, "/opt/a") == 0,
       "changes what it says, and no more");
    is_int(config_read(&c, "e.conf", "", &err), 0, "an empty file is fine");
}

/* What is printed can be read again, to the same values. */
static void test_printed(const struct config *base)
{
    char text[8192] = "", path[] = "/tmp/evenstep-config.XXXXXX";
    struct config c = *base, again = *base;
    struct es_error err = {0};
    int saved = dup(STDOUT_FILENO), fd = mkstemp(path), rc;

    c.fail_on_error = 1;
    c.budget_ms = 1234;
    c.policy[0][0] = 0.123456789;
    fflush(stdout);
    dup2(fd, STDOUT_FILENO);
    rc = config_print(&c);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    if (rc < 0 || pread(fd, text, sizeof text - 1, 0) <= 0)
        bail("nothing was printed");
    close(fd);
    unlink(path);
    is_int(config_read(&again, path, text, &err), 0, "what is printed is read");
    ok(memcmp(&again, &c, sizeof c) == 0, "to the same values");
}

static void test_files(void)
{
    struct config c;
    struct es_error err = {0};

    setenv("EVENSTEP_CONF", "/no/such/file", 1);
    ok(config_load(&c, NULL, &err) == -1
           && strstr(err.what, "/no/such/file: No such file"),
       "a file that EVENSTEP_CONF names must be there");
    setenv("EVENSTEP_CONF", "/tmp", 1);
    is_int(config_load(&c, NULL, &err), -1, "a directory is refused");
    unsetenv("EVENSTEP_CONF");
    is_int(config_load(&c, "/no/such/site.conf", &err), -1,
           "so must one that the site names");
}

int main(void)
{
    struct config base = builtin();

    test_bad(&base);
    test_good(&base);
    test_printed(&base);
    test_files();
    return done();
}
