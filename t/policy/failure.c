/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/failure.h"
#include "tap.h"

#define RETRY FAILURE_RETRY
#define HALVE FAILURE_HALVE
#define OUT   FAILURE_LEAVE_OUT

static const struct {
    const char *what;
    struct failure_rule rule;
    unsigned failures, forgiven;
    uint64_t units, grain;
    int is_late;
    enum failure_verdict want;
} verdicts[] = {
    {"no retries: left out at once", {0, 0, 0}, 1, 0, 8, 1, 0, OUT},
    {"one retry, failed once", {1, 0, 0}, 1, 0, 8, 1, 0, RETRY},
    {"one retry, failed twice", {1, 0, 0}, 2, 0, 8, 1, 0, OUT},
    {"late once: tried again even without retries",
     {0, 0, 0},
     1,
     0,
     8,
     1,
     1,
     RETRY},
    {"late twice", {0, 0, 0}, 2, 0, 8, 1, 1, OUT},
    {"late twice, of two retries", {2, 0, 0}, 2, 0, 8, 1, 1, RETRY},
    {"more than a grain, with halves", {0, 1, 0}, 1, 0, 8, 4, 0, HALVE},
    {"a grain cannot be halved", {0, 1, 0}, 1, 0, 4, 4, 0, OUT},
    {"nor can what is less", {0, 1, 0}, 1, 0, 3, 4, 0, OUT},
    {"a half has one try", {2, 1, 0}, 4, 1, 8, 4, 0, HALVE},
    {"a grain has all", {2, 1, 0}, 5, 3, 4, 4, 0, RETRY},
    {"and no more than all", {2, 1, 0}, 6, 3, 4, 4, 0, OUT},
};

static void test_verdicts(void)
{
    for (size_t i = 0; i < sizeof verdicts / sizeof verdicts[0]; i++) {
        struct batch b = {.units = {10, 10 + verdicts[i].units},
                          .failures = verdicts[i].failures,
                          .forgiven = verdicts[i].forgiven};

        ok(failure_judge(&verdicts[i].rule, &b, verdicts[i].is_late,
                         verdicts[i].grain)
               == verdicts[i].want,
           "%s", verdicts[i].what);
    }
}

static void test_halves(void)
{
    const struct failure_rule rule = {1, 1, 0};

    for (uint64_t units = 4; units < 20; units++) {
        struct batch b = {.units = {30, 30 + units}, .failures = 2}, half[2];

        failure_halve(&rule, &b, 3, half);
        ok(half[0].units.begin == 30 && half[0].units.end == half[1].units.begin
               && half[1].units.end == 30 + units
               && half[1].units.begin % 3 == 0
               && half[0].units.begin < half[0].units.end
               && half[1].units.begin < half[1].units.end,
           "%ju units in threes are cut in two", (uintmax_t)units);
        for (int i = 0; i < 2; i++)
            is_int(half[i].failures - half[i].forgiven,
                   half[i].units.end - half[i].units.begin > 3 ? 1 : 0,
                   "a half of several grains has one try, a grain has all");
    }
}

int main(void)
{
    test_verdicts();
    test_halves();
    done();
}
