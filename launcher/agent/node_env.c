/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/node_env.h"
#include "launcher/agent/node_destination.h"
#include "launcher/base/step_env.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int node_env_folders(FILE *out,
                     char *folders,
                     const char *node,
                     char *const env[])
{
    char path[DESTINATION_MAX], *rest = folders;
    const char *one;

    for (int i = 0; (one = strsep(&rest, ":")) != NULL; i++) {
        if (strlen(one) >= sizeof path) {
            errno = ENAMETOOLONG;
            return -1;
        }
        strcpy(path, one);
        if (path[0] && node_destination_fill(path, node, env) < 0)
            return -1;
        fprintf(out, "%s%s", i > 0 ? ":" : "", path);
    }
    return 0;
}

static int fill_line(FILE *out, char *line, const char *node, char *const env[])
{
    static const char name[] = STEP_ENV_LIBS "=";
    int rc = 0;

    if (strncmp(line, name, sizeof name - 1) == 0) {
        fputs(name, out);
        rc = node_env_folders(out, line + sizeof name - 1, node, env);
    } else {
        fputs(line, out);
    }
    fputc('\n', out);
    return rc;
}

char *node_env_fill(const uint8_t *lines,
                    size_t len,
                    const char *node,
                    char *const env[],
                    size_t *out_len)
{
    char *text = strndup((const char *)lines, len), *rest = text, *line;
    char *made = NULL;
    FILE *out = text ? open_memstream(&made, out_len) : NULL;
    int rc = out ? 0 : -1, why = ENOMEM;

    while (rc == 0 && (line = strsep(&rest, "\n")) != NULL)
        if (line[0])
            rc = fill_line(out, line, node, env);
    if (out && rc < 0)
        why = errno;
    if (out && fclose(out) != 0)
        rc = -1;
    free(text);
    if (rc == 0)
        return made;
    free(made);
    errno = why;
    return NULL;
}
