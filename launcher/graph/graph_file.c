/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_file.h"
#include "launcher/graph/graph_text.h"

#include <stdlib.h>
#include <string.h>

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
    else if (json_object_get(all, "rules"))
        rc = graph_read_makeflow(d, all, how, err);
    else
        rc = graph_read_own(d, all, err);
    if (rc == 0 && graph_watts_read(&d->watts, all) < 0)
        rc = draft_fail(d, "watts", "take it out: --learn writes it anew",
                        "are not what runs have measured", err);
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
        rc = graph_read_dot(&d, text, how, err);
    if (rc == 0)
        rc = draft_finish(&d, f, err);
    draft_clear(&d);
    return rc;
}

/* --- files ---------------------------------------------------------------- */

int graph_file_read(struct graph_file *f,
                    const char *path,
                    const struct graph_reading *how,
                    struct es_error *err)
{
    char *text = graph_text_read(path, GRAPH_FILE_MAX, err);
    int rc = -1;

    *f = (struct graph_file){0};
    if (text)
        rc = graph_file_parse(f, path, text, how, err);
    free(text);
    return rc;
}

void graph_file_clear(struct graph_file *f)
{
    graph_destroy(f->graph);
    json_decref(f->ids);
    *f = (struct graph_file){0};
}
