/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_file.h"
#include "pmix_bcast/array.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ_MIN (64u << 10) /* bytes */

/* --- formats -------------------------------------------------------------- */

static int read_json(struct graph_draft *d,
                     const char *text,
                     const struct graph_reading *how,
                     struct es_error *err)
{
    json_error_t at;
    json_t *all = json_loads(text, JSON_REJECT_DUPLICATES, &at);
    int rc;

    if (!all)
        return es_fail(err, ES_USAGE, "give JSON that is whole", "%s:%d:%d: %s",
                       d->name, at.line, at.column, at.text);
    if (json_object_get(all, "workflow"))
        rc = graph_read_wfformat(d, all, how, err);
    else
        rc = graph_read_own(d, all, err);
    json_decref(all);
    return rc;
}

int graph_file_parse(struct graph_file *f,
                     const char *name,
                     const char *text,
                     const struct graph_reading *how,
                     struct es_error *err)
{
    const char *first = text + strspn(text, " \t\r\n");
    struct graph_draft d;
    int rc = draft_init(&d, name, err);

    *f = (struct graph_file){0};
    if (rc == 0 && !*first)
        rc = es_fail(err, ES_USAGE, "give a graph", "%s: is empty", name);
    else if (rc == 0 && strchr("{[", *first))
        rc = read_json(&d, text, how, err);
    else if (rc == 0 && *first >= '0' && *first <= '9')
        rc = graph_read_stg(&d, text, how, err);
    else if (rc == 0)
        rc = graph_read_dot(&d, text, err);
    if (rc == 0)
        rc = draft_finish(&d, f, err);
    draft_clear(&d);
    return rc;
}

/* --- files ---------------------------------------------------------------- */

/* All that is in the file, with a 0 behind; *err is filled if that fails. */
static char *slurp(FILE *file, const char *path, struct es_error *err)
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
            es_fail(err, ES_USAGE, "give a text", "%s: has a byte 0 in it",
                    path);
            break;
        }
        if (room >= GRAPH_FILE_MAX) {
            es_fail(err, ES_USAGE, "give a smaller graph",
                    "%s: longer than %u bytes", path, GRAPH_FILE_MAX);
            break;
        }
    }
    free(text);
    return NULL;
}

int graph_file_read(struct graph_file *f,
                    const char *path,
                    const struct graph_reading *how,
                    struct es_error *err)
{
    FILE *file = fopen(path, "re");
    char *text;
    int rc = -1;

    *f = (struct graph_file){0};
    if (!file)
        return es_fail(err, ES_USAGE, "give a file that can be read", "%s: %s",
                       path, strerror(errno));
    text = slurp(file, path, err);
    if (text)
        rc = graph_file_parse(f, path, text, how, err);
    free(text);
    (void)fclose(file); /* was only read */
    return rc;
}

void graph_file_clear(struct graph_file *f)
{
    graph_destroy(f->graph);
    json_decref(f->ids);
    *f = (struct graph_file){0};
}
