/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/brought.h"
#include "launcher/agent/node_destination.h"
#include "launcher/agent/node_env.h"
#include "launcher/exec/template.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY "LD_LIBRARY_PATH="

/* why: an errno of node_destination.h */
static int cannot_fill(int why, const char *what, struct es_error *err)
{
    if (why == ENOMEM)
        return es_no_memory(err);
    return es_fail(err, ES_WORK, "give a shorter destination",
                   "the path of %s gets too long on this node", what);
}

int brought_program(char **words,
                    const struct msg_command *c,
                    const char *node,
                    char *const own[],
                    struct es_error *err)
{
    char path[DESTINATION_MAX], *word;

    if (!c->program[0])
        return 0;
    memcpy(path, c->program, sizeof path);
    if (node_destination_fill(path, node, own) < 0)
        return cannot_fill(errno, "the program that was brought", err);
    word = strdup(path);
    if (!word)
        return es_no_memory(err);
    free(words[0]);
    words[0] = word;
    return 0;
}

static const char *list_of(char *const env[])
{
    for (; *env; env++)
        if (strncmp(*env, ENTRY, strlen(ENTRY)) == 0)
            return *env + strlen(ENTRY);
    return "";
}

int brought_libs(char ***env,
                 const struct msg_command *c,
                 const char *node,
                 char *const own[],
                 struct es_error *err)
{
    char folders[LIBS_LIST_MAX], *entry = NULL;
    const char *before = list_of(*env);
    size_t size;
    FILE *to;
    int why, rc;

    if (!c->libs[0])
        return 0;
    to = open_memstream(&entry, &size);
    if (!to)
        return es_no_memory(err);
    memcpy(folders, c->libs, sizeof folders);
    fputs(ENTRY, to);
    why = node_env_folders(to, folders, node, own) < 0 ? errno : 0;
    /* An empty list has no colon behind it: that would be the folder of the
     * command. */
    fprintf(to, "%s%s", before[0] ? ":" : "", before);
    rc = fclose(to) == 0 && (why || template_put(env, entry) == 0)
             ? 0
             : es_no_memory(err);
    free(entry);
    return why ? cannot_fill(why, "its libraries", err) : rc;
}
