/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/node_destination.h"
#include "launcher/base/step_dir.h"
#include "launcher/exec/template.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TMPDIR_ENTRY "TMPDIR="

/* What follows the variable's name: "/..."; NULL if it does not begin so. */
static const char *behind_variable(const char *destination)
{
    static const char *const written[] = {"$TMPDIR/", "${TMPDIR}/"};

    for (size_t i = 0; i < sizeof written / sizeof written[0]; i++)
        if (strncmp(destination, written[i], strlen(written[i])) == 0)
            return destination + strlen(written[i]) - 1;
    return NULL;
}

static const char *find_folder(char *const env[])
{
    for (; env && *env; env++)
        if (strncmp(*env, TMPDIR_ENTRY, strlen(TMPDIR_ENTRY)) == 0
            && (*env)[strlen(TMPDIR_ENTRY)] == '/')
            return *env + strlen(TMPDIR_ENTRY);
    return "/tmp";
}

static int is_long(void)
{
    errno = ENAMETOOLONG;
    return -1;
}

static int fill_folder(char destination[DESTINATION_MAX], char *const env[])
{
    const char *rest = behind_variable(destination);
    char out[DESTINATION_MAX];
    int n;

    if (!rest)
        return 0;
    n = snprintf(out, sizeof out, "%s%s", find_folder(env), rest);
    if (n < 0 || (size_t)n >= sizeof out)
        return is_long();
    memcpy(destination, out, (size_t)n + 1);
    return 0;
}

static int fill_node(char destination[DESTINATION_MAX], const char *node)
{
    struct msg_run none = {0};
    char *words[] = {destination, NULL};
    char **filled = template_argv(words, &none, node);
    int rc = 0;

    if (!filled)
        return -1;
    if (strlen(filled[0]) < DESTINATION_MAX)
        memcpy(destination, filled[0], strlen(filled[0]) + 1);
    else
        rc = is_long();
    template_free(filled);
    return rc;
}

int node_destination_fill(char destination[DESTINATION_MAX],
                          const char *node,
                          char *const env[])
{
    if (fill_folder(destination, env) < 0 || fill_node(destination, node) < 0)
        return -1;
    return step_dir_here(destination, DESTINATION_MAX) < 0 ? is_long() : 0;
}
