/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/json_lines.h"
#include "launcher/base/text_file.h"
#include "launcher/base/user_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static int is_at_end(FILE *file)
{
    int c;

    do
        c = getc(file);
    while (c != EOF && isspace(c));
    (void)ungetc(c, file);
    return c == EOF;
}

int json_lines_read(const char *path,
                    int (*add)(void *arg, json_t *value),
                    void *arg,
                    size_t *n,
                    struct es_error *err)
{
    const char *in = user_file_in(path);
    FILE *file = in ? fopen(in, "re") : NULL;
    int rc = 0;

    *n = 0;
    if (!file)
        return es_fail(err, ES_USAGE, "name a file that you may read",
                       "report: %s: %s", path, strerror(errno));
    text_file_skip_mark(file);
    for (; rc == 0 && !is_at_end(file); ++*n)
        rc = add(arg, json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL));
    (void)fclose(file); /* it was only read */
    return rc;
}
