/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/failures.h"
#include "tap.h"

#include <unistd.h>

static FILE *told; /* what is said on stderr */

static size_t told_lines(void)
{
    char text[8000];
    size_t n = 0, len;

    fflush(stderr);
    rewind(told);
    len = fread(text, 1, sizeof text - 1, told);
    text[len] = '\0';
    for (const char *at = text; *at; at++)
        n += *at == '\n';
    if (ftruncate(fileno(told), 0) < 0)
        bail("ftruncate");
    rewind(told);
    return n;
}

static void add(struct failures *f, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        failures_add(f, 1, (struct slice){i, i + 2}, "n1", "exited");
}

static void test_list(void)
{
    static const struct {
        uint64_t n;
        size_t lines;
        const char *what;
    } runs[] = {
        {1, 1, "2 units are left out: 1 command failed"},
        {FAILURES_TOLD, 10, "20 units are left out: 10 commands failed"},
        {FAILURES_TOLD + 1, 11, "22 units are left out: 11 commands failed"},
        {100000, 11, "200000 units are left out: 100000 commands failed"},
    };

    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        struct failures f = {0};
        struct es_error err = {0};

        add(&f, runs[i].n);
        ok(failures_end(&f, "mend", &err) == -1 && err.kind == ES_WORK
               && strcmp(err.what, runs[i].what) == 0
               && strcmp(err.mend, "mend") == 0,
           "%s", runs[i].what);
        is_int((int)told_lines(), (int)runs[i].lines, "the list is bounded");
    }
}

static void test_words(void)
{
    static const struct {
        struct record_rule rule;
        struct slice units;
        const char *noun, *range;
    } names[] = {
        {{.lines = 0}, {57, 58}, "line", "58"},
        {{.lines = 1, .header = 2}, {0, 2}, "lines", "3 to 4"},
        {{.lines = 4}, {57, 58}, "record", "58"},
        {{.start.given = 1}, {0, 9}, "records", "1 to 9"},
    };
    struct unit_words w = unit_words_of(NULL);
    struct failures f = {.words = unit_words_of(&names[0].rule)};
    struct es_error err = {0};
    char text[UNIT_RANGE_MAX];

    is_str(unit_words_range(&w, (struct slice){57, 58}, text), "57:58",
           "units of a range have no other name");
    is_str(unit_words_noun(&w, 1), "units", "but that");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        w = unit_words_of(&names[i].rule);
        is_str(unit_words_range(&w, names[i].units, text), names[i].range,
               "what an editor calls them");
        is_str(unit_words_noun(&w, names[i].units.end - names[i].units.begin),
               names[i].noun, "one or more");
    }
    add(&f, 1);
    f.units = 1;
    (void)failures_end(&f, "mend", &err);
    is_str(err.what, "1 line is left out: 1 command failed", "in messages");
}

static void test_one(void)
{
    struct failures f = {0};
    struct es_error err;
    char name[500];

    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    failures_add(&f, 0, (struct slice){7, 8}, name, name);
    ok(strlen(f.first[0].node) == sizeof f.first[0].node - 1
           && strlen(f.first[0].how) == sizeof f.first[0].how - 1,
       "names of any length are cut");
    failures_end(&f, "", &err);
    is_str(err.what, "1 unit is left out: 1 command failed", "one is one");
    (void)told_lines();
}

static void test_telling(void)
{
    struct failures f = {0};
    int n = 0;

    for (int i = 0; i < 1000; i++)
        n += failures_tell(&f);
    ok(n == FAILURES_TOLD && told_lines() == 1,
       "so many are told as they happen, and that there are more once");
}

int main(void)
{
    told = tmpfile();
    if (!told || dup2(fileno(told), STDERR_FILENO) < 0)
        bail("no temporary file");
    test_list();
    test_words();
    test_one();
    test_telling();
    return done();
}
