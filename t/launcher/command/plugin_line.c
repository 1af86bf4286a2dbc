/* SPDX-License-Identifier: BSD-2-Clause */
/* What the plugin is told of a step: whether it may start, once. */
#include "launcher/command/plugin_line.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct es_error err = {ES_ENV, "it is broken", "mend it"};
static int out; /* stdout, as it was */
static FILE *file;

/* What is written to stdout from now on is ours. */
static void begin(void)
{
    file = tmpfile();
    (void)fflush(stdout);
    out = dup(STDOUT_FILENO);
    if (!file || out < 0 || dup2(fileno(file), STDOUT_FILENO) < 0)
        _exit(1); /* there is no way to say it */
}

/* Until now; what was not flushed is lost, as it is for the plugin. */
static const char *end(void)
{
    static char text[2000];
    ssize_t n = pread(fileno(file), text, sizeof text - 1, 0);

    text[n > 0 ? n : 0] = '\0';
    (void)fflush(stdout);
    (void)dup2(out, STDOUT_FILENO);
    close(out);
    (void)fclose(file);
    return text;
}

#define WHAT ": it is broken: mend it"

static const struct {
    const char *name;
    enum on_error on;
    int lacks_input;
    const char *line;
} failures[] = {
    {"as the site has it, the step starts anyway", ON_ERROR_INPUT, 0,
     "continue" WHAT "\n"},
    {"but not without its input", ON_ERROR_INPUT, 1,
     "fail" WHAT "; the step is not started without its input\n"},
    {"a site may let it start in any case", ON_ERROR_CONTINUE, 1,
     "continue" WHAT "\n"},
    {"or in none", ON_ERROR_FAIL, 0, "fail" WHAT "\n"},
    {"for which there is no other reason", ON_ERROR_FAIL, 1, "fail" WHAT "\n"},
};

static void test_failures(void)
{
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        struct plugin_line l = {0};

        begin();
        plugin_line_failed(&l, failures[i].on, failures[i].lacks_input, &err);
        is_str(end(), failures[i].line, failures[i].name);
    }
}

static void test_once(void)
{
    struct plugin_line l = {0}, other = {0};

    begin();
    plugin_line_ready(&l);
    plugin_line_failed(&l, ON_ERROR_FAIL, 1, &err);
    plugin_line_ready(&l);
    is_str(end(), "ready\n", "only the first line is written");
    ok(l.is_written, "and that is known");
    begin();
    plugin_line_failed(&other, ON_ERROR_CONTINUE, 0, &err);
    plugin_line_ready(&other);
    is_str(end(), "continue" WHAT "\n", "also if it is of a failure");
}

/* A name may have any bytes; the plugin reads up to the first newline. */
static void test_any_bytes(void)
{
    struct plugin_line l = {0}, longest = {0};
    struct es_error odd = {ES_WORK, "a\nb\033[1m: no such file", "mend it"},
                    full;
    const char *line;

    begin();
    plugin_line_failed(&l, ON_ERROR_FAIL, 0, &odd);
    is_str(end(), "fail: a\\nb\\033[1m: no such file: mend it\n",
           "a name with a newline does not end the line");
    memset(&full, '\n', sizeof full);
    full.what[sizeof full.what - 1] = '\0';
    memset(full.mend, 'm', sizeof full.mend);
    full.mend[sizeof full.mend - 1] = '\0';
    begin();
    plugin_line_failed(&longest, ON_ERROR_INPUT, 1, &full);
    line = end();
    ok(strlen(line) < PLUGIN_LINE_MAX, "the longest is one that it takes");
    ok(strstr(line, full.mend) && strstr(line, "without its input\n"),
       "and says how to mend it");
}

int main(void)
{
    test_failures();
    test_any_bytes();
    test_once();
    return done();
}
