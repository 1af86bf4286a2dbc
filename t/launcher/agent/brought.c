/* SPDX-License-Identifier: BSD-2-Clause */
/* What a node makes of a command whose program was brought. */
#include "launcher/agent/brought.h"
#include "launcher/exec/template.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

static char tmpdir[] = "TMPDIR=/scratch/job.7", others[] = "A=1";
static char before[] = "LD_LIBRARY_PATH=/user", nothing[] = "LD_LIBRARY_PATH=";
static char *const own[] = {tmpdir, NULL};

/* A list that template_free() takes. */
static char **list(char *first, char *second)
{
    char *words[] = {first, second, NULL};
    char **copy = calloc(3, sizeof *copy);

    if (!copy)
        bail("no memory");
    for (size_t i = 0; words[i]; i++)
        copy[i] = strdup(words[i]);
    return copy;
}

static const struct {
    const char *name, *program, *word;
} programs[] = {
    {"none: the word stays", "", "./app"},
    {"it is where it was brought", "/tmp/app", "/tmp/app"},
    {"by the node's name", "/tmp/{node}/app", "/tmp/n7/app"},
    {"in the job's folder", "$TMPDIR/app.{node}", "/scratch/job.7/app.n7"},
    {"what else is in braces stays", "/tmp/{x}", "/tmp/{x}"},
};

static void test_programs(void)
{
    char app[] = "./app", word[] = "{node}";

    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        struct msg_command c = {.dir = "/"};
        struct es_error err = {0};
        char **words = list(app, word);

        strcpy(c.program, programs[i].program);
        ok(brought_program(words, &c, "n7", own, &err) == 0
               && strcmp(words[0], programs[i].word) == 0
               && strcmp(words[1], "{node}") == 0 && !words[2],
           "%s", programs[i].name);
        template_free(words);
    }
}

static const struct {
    const char *name, *libs;
    char *env;
    const char *entry;
} paths[] = {
    {"no libraries: nothing is set", "", others, NULL},
    {"no libraries: what is there stays", "", before, "LD_LIBRARY_PATH=/user"},
    {"their folder", "/tmp/app_libs", others, "LD_LIBRARY_PATH=/tmp/app_libs"},
    {"before what is there", "/tmp/app_libs", before,
     "LD_LIBRARY_PATH=/tmp/app_libs:/user"},
    {"an empty list names no folder", "/a", nothing, "LD_LIBRARY_PATH=/a"},
    {"each as it is here", "$TMPDIR/a:/{node}/b", before,
     "LD_LIBRARY_PATH=/scratch/job.7/a:/n7/b:/user"},
};

static const char *entry_of(char **env)
{
    for (; *env; env++)
        if (strncmp(*env, "LD_", 3) == 0)
            return *env;
    return NULL;
}

static void test_paths(void)
{
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        struct msg_command c = {.dir = "/"};
        struct es_error err = {0};
        char **env = list(tmpdir, paths[i].env);
        const char *entry;
        int rc;

        strcpy(c.libs, paths[i].libs);
        rc = brought_libs(&env, &c, "n7", own, &err);
        entry = entry_of(env);
        ok(rc == 0
               && (paths[i].entry ? entry && strcmp(entry, paths[i].entry) == 0
                                  : !entry)
               && strcmp(env[0], tmpdir) == 0,
           "%s", paths[i].name);
        template_free(env);
    }
}

static void test_long(void)
{
    char app[] = "./app", long_dir[1100] = "TMPDIR=/";
    char *const far[] = {long_dir, NULL};
    struct msg_command c = {.dir = "/"};
    struct es_error err = {0};
    char **words = list(app, others), **env = list(others, tmpdir);

    memset(long_dir + strlen(long_dir), 'x', 1000);
    strcpy(c.program, "$TMPDIR/");
    memset(c.program + 8, 'y', DESTINATION_MAX - 9);
    memcpy(c.libs, c.program, sizeof c.libs - 1);
    ok(brought_program(words, &c, "n7", far, &err) == -1 && err.kind == ES_WORK
           && strcmp(words[0], app) == 0,
       "a program's path that gets too long here is an error: %s", err.what);
    err = (struct es_error){0};
    ok(brought_libs(&env, &c, "n7", far, &err) == -1 && err.kind == ES_WORK
           && !entry_of(env),
       "so is that of libraries: %s", err.what);
    template_free(words);
    template_free(env);
}

int main(void)
{
    test_programs();
    test_paths();
    test_long();
    return done();
}
