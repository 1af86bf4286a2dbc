/* SPDX-License-Identifier: BSD-2-Clause */
/* What a program prints, and what its meter makes of it. */
#include "launcher/meter/outside_meter.h"
#include "launcher/config/meter_option.h"
#include "tap.h"

static void test_bad(void)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"", "--meter: \"\" is not allowed"},
        {"pieces", "--meter: \"pieces\" is not allowed"},
        {"cmd", "--meter: \"cmd\" is not allowed"},
        {"cmd:", "--meter: \"\" has 0 groups"},
        {"cmd:[0-9]+", "--meter: \"[0-9]+\" has 0 groups"},
        {"cmd:(a)(b)(c)", "--meter: \"(a)(b)(c)\" has 3 groups"},
        {"cmd:(a", "--meter: \"(a\": "},
    };
    struct meter_option o = {0};
    char text[600] = "cmd:(";

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct es_error err = {0};

        ok(meter_option_take(&o, rows[i].text, &err) < 0 && err.kind == ES_USAGE
               && o.kind == OUTSIDE_NONE
               && strncmp(err.what, rows[i].message, strlen(rows[i].message))
                      == 0,
           "\"%s\": %s", rows[i].text, err.what);
    }
    memset(text + 5, 'a', 590);
    text[595] = ')';
    ok(meter_option_take(&o, text, NULL) < 0, "one that is too long");
}

static void test_options(void)
{
    struct meter_option o;

    ok(meter_option_take(&o, "units", NULL) == 0 && o.kind == OUTSIDE_UNITS,
       "units");
    ok(meter_option_take(&o, "cpu", NULL) == 0 && o.kind == OUTSIDE_CPU, "cpu");
    ok(meter_option_take(&o, "cmd:(a):(b)", NULL) == 0
           && o.kind == OUTSIDE_OUTPUT && strcmp(o.pattern, "(a):(b)") == 0,
       "cmd:, and the pattern is what comes behind");
}

static void test_output(void)
{
    static const char of[] = "row ([0-9]+) of ([0-9]+)", one[] = "at ([^ %]+)";
    static const struct {
        const char *what, *pattern, *text;
        double fraction;
        int misuse;
    } rows[] = {
        {"nothing", of, "", 0, 0},
        {"a line that has not ended", of, "row 1 of 4", 0, 0},
        {"done and total", of, "row 1 of 4\n", 0.25, 0},
        {"the last line counts", of, "row 1 of 4\nrow 3 of 4\nx\n", 0.75, 0},
        {"a bar that is redrawn", of, "row 1 of 4\rrow 2 of 4\r", 0.5, 0},
        {"other lines", of, "rows: 4 of 4\nhello\n\n\n", 0, 0},
        {"beyond the total", of, "row 1 of 4\nrow 5 of 4\n", 0.25, 1},
        {"backwards", of, "row 2 of 4\nrow 1 of 4\n", 0.5, 1},
        {"a total of 0", of, "row 0 of 0\n", 0, 1},
        {"the same again is no misuse", of, "row 2 of 4\nrow 2 of 4\n", 0.5, 0},
        {"a fraction", one, "at 0.125 \n", 0.125, 0},
        {"a percentage", one, "at 12.5%\n", 0.125, 0},
        {"a fraction above 1", one, "at 2 \n", 0, 1},
        {"a percentage above 100", one, "at 101%\n", 0, 1},
        {"what is no number", one, "at nan \nat inf \nat 0x1 \nat -1 \n", 0, 0},
        {"a number too long", one,
         "at 0.000000000000000000000000000000000001 \n", 0, 0},
        {"a group that does not take part", "a([0-9])?", "a\n", 0, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct outside_meter whole, bytes;

        if (outside_meter_init(&whole, OUTSIDE_OUTPUT, rows[i].pattern) < 0
            || outside_meter_init(&bytes, OUTSIDE_OUTPUT, rows[i].pattern) < 0)
            bail("no pattern");
        outside_meter_begin(&whole, 1);
        outside_meter_begin(&bytes, 1);
        outside_meter_read(&whole, OUTSIDE_OUT, rows[i].text,
                           strlen(rows[i].text));
        for (const char *p = rows[i].text; *p; p++) {
            outside_meter_read(&bytes, OUTSIDE_ERR, p, 1);
            outside_meter_read(&bytes, OUTSIDE_OUT, "x", 1); /* between */
        }
        ok(whole.fraction == rows[i].fraction
               && whole.misuse == (uint64_t)rows[i].misuse
               && bytes.fraction == rows[i].fraction
               && bytes.misuse == (uint64_t)rows[i].misuse,
           "%s, at once or byte by byte", rows[i].what);
        outside_meter_clear(&whole);
        outside_meter_clear(&bytes);
    }
}

static void test_slices(void)
{
    struct outside_meter m;
    char text[3 * OUTSIDE_LINE];

    if (outside_meter_init(&m, OUTSIDE_OUTPUT, "([0-9]+)%") < 0)
        bail("no pattern");
    outside_meter_begin(&m, 4);
    outside_meter_read(&m, OUTSIDE_OUT, "50%\n9", 5);
    outside_meter_end(&m);
    ok(m.fraction == 1, "a slice that has ended is done, whatever it said");
    outside_meter_begin(&m, 4);
    outside_meter_read(&m, OUTSIDE_OUT, "5%\n", 3);
    ok(m.fraction == 0.05 && m.misuse == 0, "the next one begins anew");
    memset(text, 'x', sizeof text);
    memcpy(text + sizeof text - 4, "90%\n", 4);
    outside_meter_read(&m, OUTSIDE_OUT, text, sizeof text);
    ok(m.fraction == 0.05, "of a long line only the beginning is looked at");
    outside_meter_read(&m, OUTSIDE_OUT, "\0\xff\0 60%\n", 8);
    outside_meter_read(&m, OUTSIDE_OUT, "60%\n", 4);
    ok(m.fraction == 0.6, "bytes that are no text do no harm");
    outside_meter_clear(&m);
    ok(outside_meter_init(&m, OUTSIDE_OUTPUT, "(") < 0, "no pattern, no meter");
}

static void test_cpu(void)
{
    struct outside_meter m;

    if (outside_meter_init(&m, OUTSIDE_CPU, "") < 0)
        bail("no meter");
    outside_meter_begin(&m, 10);
    outside_meter_cpu(&m, 4);
    ok(m.fraction == 0, "of the first slice nobody knows what it takes");
    outside_meter_cpu(&m, 5);
    outside_meter_end(&m);
    outside_meter_begin(&m, 20);
    outside_meter_cpu(&m, 2.5);
    ok(m.fraction == 0.25, "then it is as of those before, by the unit");
    outside_meter_cpu(&m, 2);
    ok(m.fraction == 0.25, "a process that has gone takes nothing back");
    outside_meter_cpu(&m, 50);
    ok(m.fraction > 0.9 && m.fraction < 1, "but it is done only at its end");
    outside_meter_read(&m, OUTSIDE_OUT, "1%\n", 3);
    outside_meter_end(&m);
    ok(m.fraction == 1, "what it prints is nothing to it");
    outside_meter_clear(&m);
}

int main(void)
{
    test_bad();
    test_options();
    test_output();
    test_slices();
    test_cpu();
    return done();
}
