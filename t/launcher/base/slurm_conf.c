/* SPDX-License-Identifier: BSD-2-Clause */
/* What slurm.conf says, by the rules of slurm.conf(5). */
#include "launcher/base/slurm_conf.h"
#include "tree.h"

#include <string.h>

/* The value of Key in this slurm.conf; NULL: the files do not tell. */
static const char *value_in(const char *text)
{
    static char value[32];

    tree_put("etc/slurm.conf", text);
    setenv("SLURM_CONF", tree_path("etc/slurm.conf"), 1);
    return slurm_conf_find("Key", value, sizeof value) == 0 ? value : NULL;
}

static void test_lines(void)
{
    static const struct {
        const char *text, *want, *what;
    } cases[] = {
        {"Key=value\n", "value", "a key has the value behind its sign"},
        {"Key = value\n", "value", "blanks around the sign do not matter"},
        {"  kEY=value", "value", "nor does the key's case"},
        {"Other=1 Key=value More=2\n", "value", "several may be on a line"},
        {"Key=1\nKey=2\n", "2", "the last one holds"},
        {"Other=1\n", "", "one that is not there is empty"},
        {"", "", "also in an empty file"},
        {"#Key=1\n", "", "a comment says nothing"},
        {"Key=1#2\n", "1", "nor does one behind a value"},
        {"Key=1\\#2\n", "1\\#2", "but for a # behind a \\"},
        {"MyKey=1\n", "", "another key's end is no key"},
        {"KeyOther=1\n", "", "nor is another key's beginning"},
        {"MyKey=1 Key=2\n", "2", "which does not hide the key"},
        {"Other=1 \\\nKey=2\n", "2", "a \\ joins a line to the next"},
        {"#Other=1 \\\nKey=2\n", "", "also in a comment"},
        {"Key=a\\\nb\\\nc\n", "abc", "and the next to that"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        is_str(value_in(cases[i].text), cases[i].want, cases[i].what);
}

static void test_not_told(void)
{
    char value[32] = "before";

    ok(!value_in("Key=\"a b\"\n"), "a value in quotes is not understood");
    ok(!value_in("Key=0123456789012345678901234567890123456789\n"),
       "nor is one that does not fit");
    ok(!value_in("Include %c.conf\n"), "nor a name that Slurm fills in");
    ok(!value_in("Include none.conf\nKey=1\n"),
       "where a file is not there, the rest is not told");
    setenv("SLURM_CONF", tree_path("none"), 1);
    ok(slurm_conf_find("Key", value, sizeof value) == -1 && !value[0],
       "nor anything without slurm.conf itself");
}

static void test_include(void)
{
    char text[1000];

    tree_put("etc/more.conf", "Key=more\n");
    tree_put("etc/below/deep.conf", "Include ../more.conf\n");
    is_str(value_in("Include more.conf\n"), "more",
           "a file beside slurm.conf is read");
    is_str(value_in("Key=1\ninclude\tmore.conf\n"), "more",
           "in its place: the last one holds");
    is_str(value_in("Include more.conf\nKey=1\n"), "1", "either way");
    is_str(value_in("Include below/deep.conf\n"), "more",
           "a file's own files are beside it");
    snprintf(text, sizeof text, "Include %s\n", tree_path("etc/more.conf"));
    is_str(value_in(text), "more", "a full path is one");
    ok(!value_in("Include slurm.conf\n"), "a file that includes itself ends");
    is_str(value_in("IncludeNot=1 Key=2\n"), "2",
           "a key that begins so is a key");
}

int main(void)
{
    tree_make();
    test_lines();
    test_not_told();
    test_include();
    tree_remove();
    return done();
}
