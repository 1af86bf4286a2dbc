/* SPDX-License-Identifier: BSD-2-Clause */
/* Which texts slurmstepd takes for the environment of a step's tasks. */
#include "spank_plugin/env_file.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define NAME_64                                                                \
    "EVENSTEP_A23456789B23456789C23456789D23456789E23456789F234567890"

static const struct {
    const char *name, *text;
    size_t variables;
} good[] = {
    {"nothing", "", 0},
    {"one variable", "EVENSTEP_A=1\n", 1},
    {"two, of which the last has no newline", "EVENSTEP_A=1\nEVENSTEP_B=x", 2},
    {"no value", "EVENSTEP_A=\n", 1},
    {"a value with blanks and equals signs", "EVENSTEP_A= a=b =\n", 1},
    {"a value that is no ASCII", "EVENSTEP_A=\xc3\xa4\xff\n", 1},
    {"a name of 64 bytes", NAME_64 "=1\n", 1},
};

static const struct {
    const char *name, *text;
    size_t len; /* 0: up to its NUL */
    const char *why;
} bad[] = {
    {"a name of another kind", "LD_PRELOAD=/tmp/x\n", 0, "a line of it"},
    {"one behind a good line", "EVENSTEP_A=1\nPATH=/tmp\n", 0, "a line of it"},
    {"an empty line", "EVENSTEP_A=1\n\n", 0, "a line of it"},
    {"no equals sign", "EVENSTEP_A\n", 0, "a line of it"},
    {"the prefix alone", "EVENSTEP_=1\n", 0, "a line of it"},
    {"small letters", "EVENSTEP_a=1\n", 0, "a line of it"},
    {"a blank before the name", " EVENSTEP_A=1\n", 0, "a line of it"},
    {"a blank in the name", "EVENSTEP_A B=1\n", 0, "a line of it"},
    {"a name of 65 bytes", NAME_64 "1=1\n", 0, "a line of it"},
    {"a NUL in a value", "EVENSTEP_A=1\0002\n", 15, "NUL"},
    {"a NUL instead of a newline", "EVENSTEP_A=1\0LD_PRELOAD=x\n", 26, "NUL"},
};

static size_t count(const char *text, size_t len)
{
    size_t n = 0;

    for (size_t at = 0; at < len; n++) {
        at += strlen(text + at) + 1;
        at += strlen(text + at) + 1;
    }
    return n;
}

/* In memory of just its size, so that a look beyond it is seen; *n is how many
 * variables there are in it. */
static const char *cut(const char *text, size_t len, size_t *n)
{
    char *copy = malloc(len + 1);
    const char *why;

    if (!copy)
        bail("no memory");
    memcpy(copy, text, len + 1);
    why = env_file_cut(copy, len);
    *n = why ? 0 : count(copy, len);
    free(copy);
    return why;
}

static void test_tables(void)
{
    size_t n;

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        ok(!cut(good[i].text, strlen(good[i].text), &n)
               && n == good[i].variables,
           "%s is taken", good[i].name);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *why =
            cut(bad[i].text, bad[i].len ? bad[i].len : strlen(bad[i].text), &n);

        ok(why && strstr(why, bad[i].why), "%s is refused", bad[i].name);
    }
}

static void test_longest(void)
{
    char text[ENV_VALUE_LEN + 32] = "EVENSTEP_A=";
    size_t head = strlen(text), n;

    memset(text + head, 'x', ENV_VALUE_LEN + 1);
    ok(!cut(text, head + ENV_VALUE_LEN, &n), "4096 bytes are a value");
    ok(cut(text, head + ENV_VALUE_LEN + 1, &n) != NULL, "4097 are none");
}

int main(void)
{
    test_tables();
    test_longest();
    return done();
}
