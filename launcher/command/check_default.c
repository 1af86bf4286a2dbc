/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/check_default.h"
#include "launcher/base/notice.h"
#include "launcher/base/slurm_conf.h"
#include "launcher/config/config_file.h"
#include "launcher/session/survey.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX    4 /* of files that include files */
#define BLANK        " \t\r"
#define LIST_OF_SITE "default=on:"

struct looking {
    char *partitions; /* Slurm's, a line each; NULL: not asked yet */
    int depth;
};

static void look_in(struct looking *l, const char *path);

/* Beside the file that includes it, if it is no whole path. */
static void look_in_all(struct looking *l, const char *from, const char *name)
{
    const char *slash = strrchr(from, '/');
    int beside = name[0] != '/' && slash;
    char pattern[PATH_MAX];
    glob_t found;

    (void)snprintf(pattern, sizeof pattern, "%.*s%s",
                   beside ? (int)(slash + 1 - from) : 0, from, name);
    if (l->depth == DEPTH_MAX || glob(pattern, 0, NULL, &found) != 0)
        return;
    l->depth++;
    for (size_t i = 0; i < found.gl_pathc; i++)
        look_in(l, found.gl_pathv[i]);
    l->depth--;
    globfree(&found);
}

static int is_partition(const struct looking *l, const char *name)
{
    size_t len = strlen(name);
    const char *at = l->partitions;

    while ((at = strstr(at, name)) != NULL) {
        if ((at == l->partitions || at[-1] == '\n')
            && (at[len] == '\n' || at[len] == '\0'))
            return 1;
        at += len;
    }
    return 0;
}

static void compare(struct looking *l, const char *path, char *list)
{
    char *save = NULL;

    if (!l->partitions)
        l->partitions = survey_partitions(NULL);
    if (!l->partitions)
        return; /* without Slurm the check fails by itself */
    for (char *name = strtok_r(list, ",", &save); name;
         name = strtok_r(NULL, ",", &save))
        if (!is_partition(l, name))
            notice("warning: %s: " LIST_OF_SITE "%s: Slurm has no such "
                   "partition: see `sinfo -o %%R`",
                   path, name);
}

static void look_at_line(struct looking *l, const char *path, char *line)
{
    char *save = NULL, *word = strtok_r(line, BLANK, &save);
    int is_ours = 0;

    if (!word || word[0] == '#')
        return;
    if (strcmp(word, "include") == 0) {
        word = strtok_r(NULL, BLANK, &save);
        if (word)
            look_in_all(l, path, word);
        return;
    }
    for (; word; word = strtok_r(NULL, BLANK, &save)) {
        is_ours |= strstr(word, "evenstep") != NULL;
        if (is_ours && strncmp(word, LIST_OF_SITE, strlen(LIST_OF_SITE)) == 0)
            compare(l, path, word + strlen(LIST_OF_SITE));
    }
}

static void look_in(struct looking *l, const char *path)
{
    char *text = config_file_text(path), *save = NULL;

    for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line;
         line = strtok_r(NULL, "\n", &save))
        look_at_line(l, path, line);
    free(text);
}

/* PlugStackConfig, or beside slurm.conf. */
void check_default(void)
{
    const char *conf = slurm_conf_path();
    char named[PATH_MAX];
    struct looking l = {.depth = 0};

    if (!conf)
        return;
    (void)slurm_conf_find("PlugStackConfig", named, sizeof named);
    look_in_all(&l, conf, named[0] ? named : "plugstack.conf");
    free(l.partitions);
}
