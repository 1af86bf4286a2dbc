/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/exec/file_name.h"
#include "launcher/base/file_place.h"
#include "launcher/exec/template.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* How often the path goes up, that is to say, has "..". */
static size_t count_up(const char *path)
{
    size_t n = 0;

    while (*path) {
        size_t len = strcspn(path, "/");

        n += len == 2 && path[0] == '.' && path[1] == '.';
        path += len;
        path += *path == '/';
    }
    return n;
}

static int ends_well(const char *path)
{
    const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;

    return last[0] && strcmp(last, ".") != 0 && strcmp(last, "..") != 0;
}

static int has(const char *text, const char *field)
{
    const char *found, *at;

    while ((found = template_next(text, &at)) != NULL) {
        if (strcmp(found, field) == 0)
            return 1;
        text = at + strlen(found);
    }
    return 0;
}

/* Fields with nothing between them, or only digits: 1 and 12 look like 11 and 2. */
static int runs_together(const char *text)
{
    for (const char *at = text; (at = strchr(at, '}')) != NULL; at++)
        if (at[1 + strspn(at + 1, "0123456789")] == '{')
            return 1;
    return 0;
}

/* The length of a field that says where a piece lies; 0: there is none here. */
static size_t place_field(const char *text)
{
    static const char begin[] = "{begin}", end[] = "{end}";

    if (strncmp(text, begin, sizeof begin - 1) == 0)
        return sizeof begin - 1;
    return strncmp(text, end, sizeof end - 1) == 0 ? sizeof end - 1 : 0;
}

int file_name_clash(const char *a, const char *b)
{
    while (*a || *b) {
        size_t in_a = place_field(a), in_b = place_field(b);

        if ((in_a > 0) != (in_b > 0) || (in_a == 0 && *a != *b))
            return 0;
        a += in_a > 0 ? in_a : 1;
        b += in_b > 0 ? in_b : 1;
    }
    return 1;
}

/* The length of any field, in *all whether it may be any text. */
static size_t any_field(const char *text, int *all)
{
    const char *field;

    for (size_t i = 0; (field = template_field(i)) != NULL; i++)
        if (strncmp(text, field, strlen(field)) == 0) {
            *all =
                strcmp(field, "{label}") == 0 || strcmp(field, "{node}") == 0;
            return strlen(field);
        }
    return 0;
}

/* Is the name so?  A field has one byte at least. */
static int fits(const char *text, const char *name)
{
    int all = 0;
    size_t field;

    while ((field = any_field(text, &all)) == 0 && *text && *text == *name) {
        text++;
        name++;
    }
    if (field == 0)
        return *text == *name;
    for (; *name && (all ? *name != '/' : isdigit((unsigned char)*name));
         name++)
        if (fits(text + field, name + 1))
            return 1;
    return 0;
}

int file_name_may_be(const char *text, const char *path)
{
    struct file_place of, at;
    const char *why;

    if (file_place_find(&at, path, &why) < 0)
        return 0;
    file_place_close(&at);
    if (file_place_find(&of, text, &why) < 0)
        return fits(text, path); /* fields are in its folders */
    file_place_close(&of);
    return of.folder.st_dev == at.folder.st_dev
           && of.folder.st_ino == at.folder.st_ino && fits(of.name, at.name);
}

int file_name_check(const char *text,
                    const char *option,
                    enum frames frames,
                    int inside,
                    struct es_error *err)
{
    if (!ends_well(text) || strlen(text) >= FILE_NAME_MAX)
        return es_fail(err, ES_USAGE, "name a file, as out-{begin}",
                       "--%s: \"%.80s\" names no file", option, text);
    if (inside && (text[0] == '/' || count_up(text) > 0))
        return es_fail(err, ES_USAGE, "give a path below it, without ..",
                       "--%s: %.80s is not in the command's folder", option,
                       text);
    if (!has(text, "{begin}") && !has(text, "{end}"))
        return es_fail(err, ES_USAGE, "put {begin} into it",
                       "--%s: %.80s would be one file for all pieces", option,
                       text);
    if (runs_together(text))
        return es_fail(
            err, ES_USAGE, "put a letter or a - between them",
            "--%s: in %.80s fields run together: two pieces may have one "
            "name",
            option, text);
    if (has(text, "{frame}") || frames == FRAMES_ONE
        || (frames == FRAMES_LABELLED && has(text, "{label}")))
        return 0;
    return es_fail(err, ES_USAGE,
                   frames == FRAMES_MANY ? "put {frame} into it"
                                         : "put {frame} or {label} into it",
                   "--%s: %.80s would be one file for all frames", option,
                   text);
}

int file_name_fill(char name[FILE_NAME_MAX],
                   const char *text,
                   const char *option,
                   const struct msg_run *run,
                   const char *node,
                   struct es_error *err)
{
    char *const words[] = {(char *)text, NULL};
    char **filled = template_argv(words, run, node);
    int n;

    if (!filled)
        return es_no_memory(err);
    n = snprintf(name, FILE_NAME_MAX, "%s", filled[0]);
    template_free(filled);
    if (n < 0 || (size_t)n >= FILE_NAME_MAX)
        return es_fail(err, ES_USAGE, "give a shorter one",
                       "--%s: %.80s is too long", option, text);
    if (!ends_well(name) || count_up(name) != count_up(text)
        || (name[0] == '/') != (text[0] == '/'))
        return es_fail(err, ES_USAGE,
                       "give labels that are no path of their own",
                       "--%s: the label \"%.80s\" leads out of the folder",
                       option, run->label);
    return 0;
}
