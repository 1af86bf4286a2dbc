/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_file.h"
#include "launcher/graph/graph_text.h"
#include "launcher/graph/graph_wfold.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- what is none --------------------------------------------------------- */

static int begins(const char *text, const char *word)
{
    size_t n = strlen(word);

    return strncasecmp(text, word, n) == 0 && !isalnum((unsigned char)text[n])
           && text[n] != '_';
}

/* `graph TB`, not followed by what Graphviz would have. */
static int is_mermaid(const char *text)
{
    static const char *const words[] = {"flowchart", "stateDiagram",
                                        "sequenceDiagram", "%%"};
    size_t n = strspn(text + strcspn(text, " \t\r\n"), " \t");
    const char *second = text + strcspn(text, " \t\r\n") + n;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncasecmp(text, words[i], strlen(words[i])) == 0)
            return 1;
    return begins(text, "graph") && n > 0
           && (begins(second, "TB") || begins(second, "TD")
               || begins(second, "BT") || begins(second, "LR")
               || begins(second, "RL"))
           && second[2 + strspn(second + 2, " \t\r\n")] != '{';
}

/* A digraph that stands where a line begins, as behind lines of a log. */
static const char *find_digraph(const char *text)
{
    for (;;) {
        text += strspn(text, " \t\r\n");
        if (begins(text, "digraph") || begins(text, "strict"))
            return text;
        text = strchr(text, '\n');
        if (!text)
            return NULL;
    }
}

/* Whatever begins in a way that Graphviz knows, its parser is to judge. */
static int is_dot(const char *first)
{
    return begins(first, "digraph") || begins(first, "strict")
           || begins(first, "graph") || strncmp(first, "//", 2) == 0
           || strncmp(first, "/*", 2) == 0 || *first == '#';
}

static int fail_unknown(const char *name,
                        const char *first,
                        struct es_error *err)
{
    const char *mend = "give JSON, or what `snakemake --dag` or `nextflow "
                       "-with-dag FILE.dot` writes";
    const char *colon = strchr(first, ':');

    if (is_mermaid(first))
        return es_fail(err, ES_USAGE,
                       "give Graphviz DOT, for example of `snakemake --dag "
                       "dot` or `nextflow -with-dag FILE.dot`",
                       "%s: is a Mermaid diagram", name);
    if (*first == '<')
        return es_fail(err, ES_USAGE, mend, "%s: is HTML or XML", name);
    if (colon && colon < first + strcspn(first, "\n")
        && strncmp(first + strcspn(first, "\n"), "\n\t", 2) == 0)
        return es_fail(err, ES_USAGE, "give the rules as Makeflow's JSON",
                       "%s: is a Makefile", name);
    return es_fail(err, ES_USAGE, mend,
                   "%s: is no graph: it is neither JSON nor a digraph of "
                   "Graphviz",
                   name);
}

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
    if (graph_wfold_update(all) < 0)
        rc = es_no_memory(err);
    else if (json_object_get(all, "workflow"))
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
    else if (rc == 0
             && (*first == '{' || (*first == '[' && !find_digraph(first))))
        rc = read_json(&d, text, how, err);
    else if (rc == 0 && *first >= '0' && *first <= '9' && !find_digraph(first))
        rc = graph_read_stg(&d, text, how, err);
    else if (rc == 0 && is_dot(first) && !is_mermaid(first))
        rc = graph_read_dot(&d, text, how, err);
    else if (rc == 0)
        rc = *first != '<' && find_digraph(first)
                 ? graph_read_dot(&d, find_digraph(first), how, err)
                 : fail_unknown(name, first, err);
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
