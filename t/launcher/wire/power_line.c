/* SPDX-License-Identifier: BSD-2-Clause */
/* What the guard of a node says, in words and in rubbish. */
#include "launcher/wire/power_line.h"
#include "tap.h"

#include <string.h>

#define FOREIGN "evenstep-power is of another version"

static const struct {
    const char *name, *text, *unit;
    uint64_t limit, floor, ceiling;
} powers[] = {
    {"what can be set", "power cgroup us/s 800000 100000 1000000", "us/s",
     800000, 100000, 1000000},
    {"that nothing can be", "off it is off: set actuator",
     "it is off: set actuator", 0, 0, 0},
    {"control characters in the reason", "off \033[2Jgone\n", "?[2Jgone?", 0, 0,
     0},
    {"one number too few", "power cgroup us/s 5 1", FOREIGN, 0, 0, 0},
    {"one word too many", "power cgroup us/s 5 1 9 1", FOREIGN, 0, 0, 0},
    {"a floor of 0", "power cgroup us/s 5 0 9", FOREIGN, 0, 0, 0},
    {"a floor above the limit", "power cgroup us/s 5 6 9", FOREIGN, 0, 0, 0},
    {"a limit above the ceiling", "power cgroup us/s 10 1 9", FOREIGN, 0, 0, 0},
    {"a negative floor", "power cgroup us/s 5 -18446744073709551615 9", FOREIGN,
     0, 0, 0},
    {"a number of 2^64", "power cgroup us/s 5 1 18446744073709551616", FOREIGN,
     0, 0, 0},
    {"a unit that plays with a terminal", "power cgroup \033[2J 5 1 9", FOREIGN,
     0, 0, 0},
};

static const struct {
    const char *name, *text, *why;
    uint64_t limit; /* where 70 is in force */
} answers[] = {
    {"a limit that was set", "set 60", "", 60},
    {"one that could not be", "error cpu.max: No such device",
     "cpu.max: No such device", 70},
    {"a limit that cannot be", "set 18446744073709551615", "", 70},
    {"no number", "set sixty", "", 70},
    {"nothing, as it has gone", "", "", 70},
    {"another word", "powerful", "", 70},
};

static void test_powers(void)
{
    struct power_line line;

    for (size_t i = 0; i < sizeof powers / sizeof powers[0]; i++) {
        power_line_read(&line, powers[i].text, 70);
        ok(line.kind == POWER_LINE_POWER
               && strcmp(line.power.unit, powers[i].unit) == 0
               && line.power.limit == powers[i].limit
               && line.power.floor == powers[i].floor
               && line.power.ceiling == powers[i].ceiling,
           "the agent hears %s", powers[i].name);
        ok(line.limit == powers[i].limit,
           "and takes that for what is in force");
    }
}

static void test_answers(void)
{
    struct power_line line;

    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        power_line_read(&line, answers[i].text, 70);
        ok(line.kind == POWER_LINE_LIMITED
               && strcmp(line.limited.text, answers[i].why) == 0
               && line.limited.limit == answers[i].limit
               && line.limit == answers[i].limit,
           "in answer it hears %s", answers[i].name);
    }
}

static void test_energies(void)
{
    static const struct {
        const char *name, *text, *why;
        uint64_t uj, ns;
    } rows[] = {
        {"what was counted", "energy 5000 1000000000", "", 5000, 1000000000},
        {"nothing yet", "energy 0 0", "", 0, 0},
        {"why nothing is", "noenergy it \033 jumped", "it ? jumped", 0, 0},
        {"a number too few", "energy 5000", FOREIGN, 0, 0},
        {"a word too many", "energy 1 2 3", FOREIGN, 0, 0},
        {"a negative number", "energy -1 5", FOREIGN, 0, 0},
        {"more than there is", "energy 18446744073709551615 5", FOREIGN, 0, 0},
        {"longer than there is", "energy 5 18446744073709551615", FOREIGN, 0,
         0},
    };
    struct power_line line;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        power_line_read(&line, rows[i].text, 70);
        ok(line.kind == POWER_LINE_ENERGY
               && line.energy.source
                      == (rows[i].why[0] ? ENERGY_NONE : ENERGY_COUNTED)
               && line.energy.uj == rows[i].uj && line.energy.ns == rows[i].ns
               && strcmp(line.energy.text, rows[i].why) == 0
               && line.limit == 70,
           "of energy it hears %s", rows[i].name);
    }
}

static void test_long(void)
{
    char text[1024] = "error ";
    struct power_line line;

    memset(text + 6, 'x', sizeof text - 7);
    power_line_read(&line, text, 70);
    is_int((long)strlen(line.limited.text), TEXT_MAX - 1,
           "a long reason is cut to what can be sent");
}

int main(void)
{
    test_powers();
    test_answers();
    test_energies();
    test_long();
    return done();
}
