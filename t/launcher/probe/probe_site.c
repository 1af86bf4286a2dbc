/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe/probe_site.h"
#include "launcher/probe/probe_crew.h"
#include "tap.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct probe_result measure(const char *command, int less)
{
    struct probe_site site = {.name = "own", .unit = "u", .less = less};
    struct probe_result r = {0};

    snprintf(site.command, sizeof site.command, "%s", command);
    site.budget_ms = 1500;
    probe_site_measure(&site, &r);
    return r;
}

static const struct {
    const char *name, *command;
    int less;
    double value;
} good[] = {
    {"a number", "echo 12.5", 0, 12.5},
    {"one without a newline", "printf 3e2", 0, 300},
    {"blanks around it, and words on standard error",
     "echo warning >&2; echo; echo '  7  '", 0, 7},
    {"none left is a number, too", "echo 0", 0, 0},
    {"what is less", "echo 0.25", 1, 0.25},
    {"its input is empty", "cat; echo 1", 0, 1},
};

static const struct {
    const char *name, *command, *why;
    int less;
} bad[] = {
    {"nothing", ":", "printed nothing", 0},
    {"NaN", "echo nan", "no number of 0 or more", 0},
    {"infinity", "echo inf", "no number of 0 or more", 0},
    {"less than nothing", "echo -1", "no number of 0 or more", 0},
    {"two numbers", "echo 1 2", "no single number", 0},
    {"two lines", "echo 1; echo 2", "no single number", 0},
    {"a word", "echo many", "no single number", 0},
    {"a number with a unit", "echo 12GB", "no single number", 0},
    {"10 MB", "head -c 10000000 /dev/zero", "more than a number", 0},
    {"no end", "yes", "more than a number", 0},
    {"0, of which less is better", "echo 0", "above 0, of which less", 1},
    {"a failure", "echo 1; echo no server >&2; exit 3",
     "ended with status 3: no server", 0},
    {"no such command", "/none/such", "ended with status 127: ", 0},
    {"a signal", "kill -SEGV $$", "ended by signal 11", 0},
};

static void test_good(void)
{
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct probe_result r = measure(good[i].command, good[i].less);

        if (!ok(r.state == PROBE_MEASURED && probe_result_holds(&r),
                "%s is measured", good[i].name))
            diag("%s", r.what);
        is_near(r.value, good[i].value, 0, "as it is printed");
        ok(strcmp(r.name, "own") == 0 && strcmp(r.unit, "u") == 0
               && r.less == good[i].less,
           "with its name, unit and sense");
    }
}

static void test_bad(void)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct probe_result r = measure(bad[i].command, bad[i].less);

        if (!ok(r.state == PROBE_NOT_MEASURED && strstr(r.what, bad[i].why)
                    && probe_result_holds(&r),
                "%s: not measured, and why", bad[i].name))
            diag("%s", r.what);
        is_str(r.name, "own", "its name stays");
    }
}

/* Of a command that hangs with a child, both are ended. */
static void test_hang(void)
{
    char command[200], path[] = "probe_site.XXXXXX";
    int fd = mkstemp(path);
    struct probe_result r;
    char text[20] = "";
    FILE *file;

    if (fd < 0)
        bail("no file");
    close(fd);
    snprintf(command, sizeof command, "sleep 1000 & echo $! > %s; wait", path);
    r = measure(command, 0);
    ok(r.state == PROBE_NOT_MEASURED && strstr(r.what, "longer than 1500 ms"),
       "a command that hangs: not measured, and why");
    file = fopen(path, "re");
    ok(file && fgets(text, sizeof text, file) && atoi(text) > 1,
       "it had a child");
    for (int i = 0; i < 500 && kill(atoi(text), 0) == 0; i++)
        usleep(10000); /* until init has reaped it */
    is_int(kill(atoi(text), 0), -1, "that is ended, too");
    if (file)
        fclose(file);
    unlink(path);
}

int main(void)
{
    test_good();
    test_bad();
    test_hang();
    return done();
}
