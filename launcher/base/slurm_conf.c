/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rules of slurm.conf(5): a line holds one or more pairs "Key=Value".  The
 * case of a key does not matter, and its last value holds.  A # begins a
 * comment, a \ at the end of a line joins the next line to it, and "Include
 * FILE" stands for the lines of that file.
 */
#include "launcher/base/slurm_conf.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define DEPTH_MAX 8 /* of files that include files; Slurm has no limit */

struct search {
    const char *key;
    char *value;
    size_t size;
    int depth;
};

static int read_file(struct search *s, const char *path);

/* Cut the comment off: it begins at a # without a \ before it. */
static void cut_comment(char *line)
{
    for (char *at = line; (at = strchr(at, '#')) != NULL; at++)
        if (at == line || at[-1] != '\\') {
            *at = '\0';
            return;
        }
}

static char *trim(char *text)
{
    size_t len;

    text += strspn(text, " \t\r\n");
    len = strlen(text);
    while (len > 0 && isspace((unsigned char)text[len - 1]))
        text[--len] = '\0';
    return text;
}

/* Read an included file.  A relative path begins at the folder of the file that
 * includes it.  -1 also for a name that Slurm fills in (%c, the cluster's). */
static int include_file(struct search *s, const char *from, const char *name)
{
    const char *slash = strrchr(from, '/');
    char path[PATH_MAX];
    int n;

    if (strchr(name, '%') || s->depth == DEPTH_MAX)
        return -1;
    n = snprintf(path, sizeof path, "%.*s%s",
                 *name == '/' || !slash ? 0 : (int)(slash + 1 - from), from,
                 name);
    if (n < 0 || (size_t)n >= sizeof path)
        return -1;
    s->depth++;
    n = read_file(s, path);
    s->depth--;
    return n;
}

/* What stands behind "key =" in a line of pairs; NULL if it is not there. */
static char *find_key(char *line, const char *key)
{
    size_t len = strlen(key);

    for (char *at = line; (at = strcasestr(at, key)) != NULL; at += len) {
        char *sign = at + len + strspn(at + len, " \t");

        if ((at == line || isblank((unsigned char)at[-1])) && *sign == '=')
            return sign + 1;
    }
    return NULL;
}

static int read_pairs(struct search *s, const char *path, char *line)
{
    char *value;
    size_t len;

    cut_comment(line);
    line = trim(line);
    if (strncasecmp(line, "include", 7) == 0 && isblank((unsigned char)line[7]))
        return include_file(s, path, trim(line + 7));
    value = find_key(line, s->key);
    if (!value)
        return 0;
    value = trim(value);
    len = strcspn(value, " \t");
    if (len >= s->size || memchr(value, '"', len))
        return -1;
    memcpy(s->value, value, len);
    s->value[len] = '\0';
    return 0;
}

/* Does the line go on in the next?  Then cut its \ off. */
static int is_continued(char *line)
{
    size_t len = strcspn(line, "\n");

    if (len == 0 || line[len - 1] != '\\')
        return 0;
    line[len - 1] = '\0';
    return 1;
}

/* Read the next line and those that continue it; -1 at the end. */
static int next_line(FILE *file, char **line, size_t *cap)
{
    char *more = NULL, *whole;
    size_t more_cap = 0;
    int rc = getline(line, cap, file) < 0 ? -1 : 0;

    while (rc == 0 && is_continued(*line)
           && getline(&more, &more_cap, file) >= 0) {
        rc = asprintf(&whole, "%s%s", *line, more) < 0 ? -1 : 0;
        if (rc < 0)
            break;
        free(*line);
        *line = whole;
        *cap = strlen(whole) + 1;
    }
    free(more);
    return rc;
}

static int read_file(struct search *s, const char *path)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t cap = 0;
    int rc = 0;

    if (!file)
        return -1;
    while (rc == 0 && next_line(file, &line, &cap) == 0)
        rc = read_pairs(s, path, line);
    if (ferror(file))
        rc = -1;
    free(line);
    (void)fclose(file); /* only read */
    return rc;
}

const char *slurm_conf_path(void)
{
    static const char *const usual[] = {
        "/etc/slurm/slurm.conf", "/etc/slurm-llnl/slurm.conf",
        "/run/slurm/conf/slurm.conf", "/usr/local/etc/slurm.conf"};
    const char *named = getenv("SLURM_CONF");

    if (named && *named)
        return named;
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (access(usual[i], R_OK) == 0)
            return usual[i];
    return NULL;
}

int slurm_conf_find(const char *key, char *value, size_t size)
{
    struct search s = {.key = key, .value = value, .size = size};
    const char *path = slurm_conf_path();

    value[0] = '\0';
    if (path && read_file(&s, path) == 0)
        return 0;
    value[0] = '\0';
    return -1;
}
