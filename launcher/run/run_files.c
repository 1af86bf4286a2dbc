/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_files.h"
#include "launcher/base/named_files.h"
#include "launcher/exec/file_name.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct checking {
    const struct run_options *o;
    struct named_files files;
    struct es_error *err;
};

/* --- files of pieces ------------------------------------------------------ */

static int check_name(struct checking *c,
                      const char *option,
                      const char *name,
                      const char *of,
                      const char *path)
{
    if (!path || strcmp(path, "-") == 0 || !file_name_may_be(name, path))
        return 0;
    return es_fail(c->err, ES_USAGE, "name it unlike that",
                   "--%s %.80s: a piece may have the file of %s, %.200s",
                   option, name, of, path);
}

static int check_names(struct checking *c, const char *of, const char *path)
{
    if (c->o->output && check_name(c, "stdout", c->o->output, of, path) < 0)
        return -1;
    for (uint32_t i = 0; i < c->o->n_returned; i++)
        if (check_name(c, "return", c->o->returned[i], of, path) < 0)
            return -1;
    return 0;
}

static int check_options(struct checking *c)
{
    for (const struct option *o = run_options_table; o->type != OPTION_END;
         o++) {
        const char *path = NULL;
        char of[40];

        if (o->file == OPTION_NO_FILE)
            continue;
        memcpy(&path, (const char *)c->o + o->offset, sizeof path);
        snprintf(of, sizeof of, "--%s", o->name);
        if (check_names(c, of, path) < 0)
            return -1;
    }
    for (uint32_t i = 0; c->o->output && i < c->o->n_returned; i++)
        if (file_name_clash(c->o->output, c->o->returned[i]))
            return es_fail(c->err, ES_USAGE, "name them unlike each other",
                           "--stdout and --return: %.80s may be one file",
                           c->o->output);
    return 0;
}

/* --- what is read --------------------------------------------------------- */

static int check_read(struct checking *c,
                      const char *option,
                      const char *what,
                      const char *path)
{
    char of[40];

    snprintf(of, sizeof of, "%s%s", option ? "--" : "", option ? option : what);
    if (named_files_read(&c->files, option, what, path, c->err) < 0)
        return -1;
    return check_names(c, of, path);
}

/* Behind an interpreter is the text of the program, or what it reads. */
static int looks_read(const char *word)
{
    struct stat st;

    return word && word[0] != '-' && strpbrk(word, "./")
           && stat(word, &st) == 0;
}

static int check_command(struct checking *c, char *const command[])
{
    if (!command[0])
        return 0;
    if (strchr(command[0], '/')
        && check_read(c, NULL, "the program", command[0]) < 0)
        return -1;
    return looks_read(command[1])
               ? check_read(c, NULL, "what the program reads", command[1])
               : 0;
}

/* SRC of SRC:DST. */
static int check_source(struct checking *c, const char *text)
{
    char source[DESTINATION_MAX];

    snprintf(source, sizeof source, "%.*s", (int)strcspn(text, ":"), text);
    return source[0] ? check_read(c, "bcast", NULL, source) : 0;
}

int run_files_check(const struct run_options *o, struct es_error *err)
{
    struct checking c = {.o = o, .err = err};

    if (named_files_of_options(&c.files, run_options_table, o, err) < 0
        || check_options(&c) < 0)
        return -1;
    for (size_t i = 0; i < o->n_queues; i++)
        if (check_read(&c, "queue", NULL, o->queue[i]) < 0)
            return -1;
    for (size_t i = 0; i < o->n_bcast; i++)
        if (check_source(&c, o->bcast[i]) < 0)
            return -1;
    return 0;
}

int run_files_check_programs(const struct run_options *o, struct es_error *err)
{
    struct checking c = {.o = o, .err = err};

    if (named_files_of_options(&c.files, run_options_table, o, err) < 0)
        return -1;
    for (size_t i = 0; i < o->types.n; i++)
        if (check_command(&c, o->types.type[i].command) < 0)
            return -1;
    return 0;
}
