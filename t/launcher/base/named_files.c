/* SPDX-License-Identifier: BSD-2-Clause */
/* What a command line writes is not what it reads. */
#include "launcher/base/named_files.h"
#include "tree.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct es_error err;

struct values {
    const char *in, *journal, *report, *word;
};

static const struct option table[] = {
    {OPTION_TEXT, "in", "none|FILE", OPTION_AT(struct values, in),
     .file = OPTION_READS},
    {OPTION_TEXT, "word", "FILE", OPTION_AT(struct values, word)},
    {OPTION_TEXT, "journal", "FILE", OPTION_AT(struct values, journal),
     .file = OPTION_WRITES},
    {OPTION_TEXT, "report", "FILE", OPTION_AT(struct values, report),
     .bare = "", .file = OPTION_WRITES},
    {.type = OPTION_END},
};

static int check(struct values v)
{
    struct named_files f;

    err = (struct es_error){0};
    return named_files_of_options(&f, table, &v, &err);
}

#define CHECK(...) check((struct values){__VA_ARGS__})

static void make(void)
{
    if (chdir(tree_root) < 0)
        bail("no folder");
    tree_put("file", "x");
    tree_put("far/other", "y");
    if (link("file", "hard") < 0 || symlink("file", "soft") < 0
        || symlink("far/new", "dangling") < 0 || symlink(".", "here") < 0
        || mkfifo("pipe", 0600) < 0)
        bail("%s", strerror(errno));
}

static void test_read(void)
{
    static const char *const names[] = {"file", "./file",      "hard",
                                        "soft", "far/../file", "here/file"};
    char whole[600];

    for (int i = 0; i < 6; i++)
        ok(CHECK(.in = "file", .report = names[i]) == -1 && err.kind == ES_USAGE
               && strstr(err.what, "--report ")
               && strstr(err.what, ": is the file of --in")
               && strcmp(err.mend, "name another") == 0,
           "%s is what is read", names[i]);
    snprintf(whole, sizeof whole, "%s", tree_path("file"));
    is_int(CHECK(.in = "soft", .journal = whole), -1, "by its whole path, too");
    is_int(CHECK(.in = "file", .report = "far/other"), 0, "another is not");
    is_int(CHECK(.in = "file", .report = "new"), 0, "nor a new one");
    is_int(CHECK(.in = "none", .report = "none"), 0, "a word is no file");
    is_int(CHECK(.in = "-", .report = "-"), 0, "- is none");
    is_int(CHECK(.word = "file", .report = "file"), 0,
           "nor what an option names that has no files");
    is_int(CHECK(.in = "/dev/null", .report = "/dev/null"), 0, "a device may");
    is_int(CHECK(.in = "pipe", .report = "pipe"), 0, "and a pipe");
    is_int(CHECK(.in = "no/file", .report = "no/file"), 0,
           "who opens it says that there is no such folder");
}

static void test_written(void)
{
    ok(CHECK(.journal = "new", .report = "here/new") == -1
           && strcmp(err.what, "--report here/new: is the file of --journal")
                  == 0,
       "two outputs that are not there yet: %s", err.what);
    is_int(CHECK(.journal = "far/new", .report = "dangling"), -1,
           "through a link that leads nowhere yet, too");
    is_int(CHECK(.journal = "new", .report = "far/new"), 0,
           "one name in two folders is two");
    is_int(CHECK(.journal = "file", .report = "hard"), -1, "and two that are");
}

static void test_empty(void)
{
    ok(CHECK(.journal = "") == -1 && strstr(err.what, "--journal")
           && err.kind == ES_USAGE,
       "an empty name is refused");
    is_int(CHECK(.in = ""), -1, "of what is read, too");
    is_int(CHECK(.report = ""), 0, "but where it has a meaning");
}

static void test_configuration(void)
{
    setenv("EVENSTEP_CONF", "far/other", 1);
    ok(CHECK(.report = "far/other") == -1
           && strstr(err.what, "is the configuration"),
       "nor is the configuration written to");
    unsetenv("EVENSTEP_CONF");
}

int main(void)
{
    tree_make();
    make();
    unsetenv("EVENSTEP_CONF");
    test_read();
    test_written();
    test_empty();
    test_configuration();
    tree_remove();
    return done();
}
