/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_text.h"
#include "launcher/base/text_file.h"
#include "launcher/base/user_file.h"
#include "pmix_bcast/array.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ_MIN (64u << 10) /* bytes */

/* All that is in the file, with a 0 behind; *err is filled if that fails. */
/* What is compressed is known by its first bytes. */
static void fail_binary(const char *path,
                        const char *text,
                        struct es_error *err)
{
    static const struct {
        const char *magic, *what, *mend;
    } kinds[] = {
        {"\x1f\x8b", "gzip", "give what `gzip -dc` unpacks"},
        {"\x28\xb5\x2f\xfd", "zstd", "give what `zstd -dc` unpacks"},
        {"BZh", "bzip2", "give what `bzip2 -dc` unpacks"},
        {"\xfd\x37\x7a\x58", "xz", "give what `xz -dc` unpacks"},
    };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(text, kinds[i].magic, strlen(kinds[i].magic)) == 0) {
            es_fail(err, ES_USAGE, kinds[i].mend, "%s: is compressed by %s",
                    path, kinds[i].what);
            return;
        }
    es_fail(err, ES_USAGE, "give a text", "%s: is no text: a byte 0 is in it",
            path);
}

static char *slurp(FILE *file,
                   const char *path,
                   size_t most,
                   struct es_error *err)
{
    size_t room = 0, n = 0;
    char *text = NULL, *more;

    for (;;) {
        more = array_grow(text, &room, n + READ_MIN, 1, SIZE_MAX);
        if (!more) {
            (void)es_no_memory(err);
            break;
        }
        text = more;
        n += fread(text + n, 1, room - 1 - n, file);
        if (ferror(file)) {
            es_fail(err, ES_USAGE, "give a file that can be read", "%s: %s",
                    path, strerror(errno));
            break;
        }
        if (n < room - 1) {
            text[n] = '\0';
            if (strlen(text) == n)
                return text;
            fail_binary(path, text, err);
            break;
        }
        if (room >= most) {
            es_fail(err, ES_USAGE, "give a smaller file",
                    "%s: longer than %zu bytes", path, most);
            break;
        }
    }
    free(text);
    return NULL;
}

json_t *graph_text_json(const char *path)
{
    const char *in = user_file_in(path);
    FILE *file = in ? fopen(in, "re") : NULL;
    json_t *all;

    if (!file)
        return NULL;
    text_file_skip_mark(file);
    all = json_loadf(file, JSON_REJECT_DUPLICATES, NULL);
    (void)fclose(file); /* was only read */
    return all;
}

char *graph_text_read(const char *path, size_t most, struct es_error *err)
{
    const char *in = user_file_in(path);
    FILE *file = in ? fopen(in, "re") : NULL;
    char *text;

    if (!file) {
        es_fail(err, ES_USAGE, "give a file that can be read", "%s: %s", path,
                strerror(errno));
        return NULL;
    }
    text_file_skip_mark(file);
    text = slurp(file, path, most, err);
    (void)fclose(file); /* was only read */
    return text;
}
