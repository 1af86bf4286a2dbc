/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/metrics_file.h"
#include "launcher/base/text_file.h"
#include "launcher/base/user_file.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_SHOWN 80 /* bytes of the file that a message repeats */

/* Of what the file says, as much as fits into one line of a message. */
static void shorten(char shown[TEXT_SHOWN], const char *text)
{
    size_t i = 0;

    for (; i < TEXT_SHOWN - 1 && text[i]; i++)
        shown[i] = (char)(text[i] >= ' ' && text[i] <= '~' ? text[i] : '?');
    shown[i] = '\0';
}

/* --- one node ------------------------------------------------------------- */

/* Where in which file. */
struct place {
    const char *file;
    size_t node;
    const char *within; /* the node: "" or "CU: " */
};

static int read_number(double row[ELEMENTS],
                       const struct place *at,
                       const char *key,
                       const json_t *value,
                       struct es_error *err)
{
    enum element e = strlen(key) == 1 ? element_of(*key) : ELEMENTS;
    double v = json_number_value(value);
    char shown[TEXT_SHOWN], what[64] = "no number", mend[64];

    if (e == ELEMENTS) {
        shorten(shown, key);
        return es_fail(err, ES_USAGE,
                       "give C, M, I, B, S or G, or W, X, Y or Z",
                       "%s: nodes[%zu]: %s\"%s\" is no element", at->file,
                       at->node, at->within, shown);
    }
    if (json_is_number(value) && v >= 0 && v <= METRICS_VALUE_MAX) {
        row[e] = v;
        return 0;
    }
    if (json_is_number(value))
        snprintf(what, sizeof what, "%g is out of range", v);
    snprintf(mend, sizeof mend, "give a number from 0 to %g",
             METRICS_VALUE_MAX);
    return es_fail(err, ES_USAGE, mend, "%s: nodes[%zu]: %s%s: %s", at->file,
                   at->node, at->within, key, what);
}

static int take_utilization(double row[ELEMENTS],
                            const struct place *at,
                            json_t *all,
                            struct es_error *err)
{
    const struct place in = {at->file, at->node, "CU: "};
    const char *key;
    json_t *value;

    if (!json_is_object(all))
        return es_fail(err, ES_USAGE, "give {\"C\": 30}, in percent points",
                       "%s: nodes[%zu]: CU: no object", at->file, at->node);
    json_object_foreach(all, key, value)
    {
        if (read_number(row, &in, key, value, err) < 0)
            return -1;
    }
    return 0;
}

/* A word of ASCII, as host names are, that fits. */
static int is_name(const char *text)
{
    size_t len = strlen(text);

    for (size_t i = 0; i < len; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return 0;
    return len > 0 && len < NODE_NAME_MAX;
}

/* seen: an object with a key a name so far. */
static int take_name(char name[NODE_NAME_MAX],
                     const struct place *at,
                     const json_t *value,
                     json_t *seen,
                     struct es_error *err)
{
    const char *text = json_string_value(value);

    if (!text)
        return es_fail(err, ES_USAGE, "give every node one",
                       "%s: nodes[%zu]: no name", at->file, at->node);
    if (!is_name(text))
        return es_fail(err, ES_USAGE, "give the name of a host",
                       "%s: nodes[%zu]: the name is none", at->file, at->node);
    if (json_object_get(seen, text))
        return es_fail(err, ES_USAGE, "leave one of them out",
                       "%s: nodes[%zu]: \"%s\" is there already", at->file,
                       at->node, text);
    if (json_object_set_new(seen, text, json_true()) < 0)
        return es_no_memory(err);
    strcpy(name, text); /* is_name() has looked at its length */
    return 0;
}

static int take_node(struct metrics_file *m,
                     const struct place *at,
                     json_t *node,
                     json_t *seen,
                     struct es_error *err)
{
    const char *key;
    json_t *value;
    int rc = take_name(m->name[at->node], at, json_object_get(node, "name"),
                       seen, err);

    for (int e = 0; e < ELEMENTS; e++)
        m->utilization[at->node][e] = (double)NAN;
    json_object_foreach(node, key, value)
    {
        if (rc < 0)
            return -1;
        if (strcmp(key, "CU") == 0)
            rc = take_utilization(m->utilization[at->node], at, value, err);
        else if (strcmp(key, "name") != 0)
            rc = read_number(m->measured[at->node], at, key, value, err);
    }
    return rc;
}

/* --- all ------------------------------------------------------------------ */

static int is_all_zero(const struct metrics_file *m)
{
    for (size_t i = 0; i < m->n; i++)
        for (int e = 0; e < ELEMENTS; e++)
            if (m->measured[i][e] > 0)
                return 0;
    return 1;
}

static int allocate_rows(struct metrics_file *m, size_t n)
{
    m->n = n;
    m->name = calloc(n, sizeof *m->name);
    m->measured = calloc(n, sizeof *m->measured);
    m->utilization = calloc(n, sizeof *m->utilization);
    return m->name && m->measured && m->utilization ? 0 : -1;
}

static int take_nodes(struct metrics_file *m,
                      const char *name,
                      const json_t *nodes,
                      struct es_error *err)
{
    size_t n = json_array_size(nodes); /* 0 of what is no list */
    struct place at = {name, 0, ""};
    json_t *seen;
    int rc = 0;

    if (n == 0)
        return es_fail(err, ES_USAGE, "give {\"nodes\": [...]}",
                       json_is_array(nodes) ? "%s: nodes: the list is empty"
                                            : "%s: nodes: no such list",
                       name);
    if (n > METRICS_NODES_MAX)
        return es_fail(err, ES_USAGE, "give 1 to 65536 nodes",
                       "%s: nodes: %zu are too many", name, n);
    seen = json_object();
    if (!seen || allocate_rows(m, n) < 0)
        rc = es_no_memory(err);
    for (; rc == 0 && at.node < n; at.node++)
        rc = take_node(m, &at, json_array_get(nodes, at.node), seen, err);
    if (rc == 0 && is_all_zero(m))
        rc = es_fail(err, ES_USAGE, "give what was measured",
                     "%s: every element of every node is 0", name);
    json_decref(seen);
    return rc;
}

/* --- text ----------------------------------------------------------------- */

struct source {
    FILE *file;
    size_t len; /* bytes that have come */
    int error;  /* errno of reading */
};

/* For jansson, to which -1 is the end of the text: load_metrics() looks why. */
static size_t more(void *buf, size_t len, void *source)
{
    struct source *s = source;
    size_t n = fread(buf, 1, len, s->file);

    if (n == 0 && ferror(s->file))
        s->error = errno;
    s->len += n;
    return s->error || s->len > METRICS_FILE_MAX ? (size_t)-1 : n;
}

/* What is in the file, owned by the caller; NULL with err. */
static json_t *load_metrics(const char *name, FILE *file, struct es_error *err)
{
    struct source s = {.file = file};
    json_error_t at;
    char shown[TEXT_SHOWN];
    json_t *all;

    text_file_skip_mark(file);
    all = json_load_callback(more, &s, JSON_REJECT_DUPLICATES, &at);
    if (all && !s.error && s.len <= METRICS_FILE_MAX)
        return all;
    shorten(shown, at.text);
    if (s.error)
        es_fail(err, ES_USAGE, "give a file that can be read", "%s: %s", name,
                strerror(s.error));
    else if (s.len > METRICS_FILE_MAX)
        es_fail(err, ES_USAGE, "give fewer nodes", "%s: longer than %u bytes",
                name, METRICS_FILE_MAX);
    else if (s.len == 0 && feof(file))
        es_fail(err, ES_USAGE, "give {\"nodes\": [...]}", "%s: is empty", name);
    else if (!at.text[0]) /* so does jansson say it */
        es_no_memory(err);
    else
        es_fail(err, ES_USAGE, "give JSON that is whole", "%s:%d:%d: %s", name,
                at.line, at.column, shown);
    json_decref(all);
    return NULL;
}

int metrics_file_load(struct metrics_file *m,
                      const char *name,
                      FILE *file,
                      struct es_error *err)
{
    json_t *all = load_metrics(name, file, err);
    int rc = -1;

    *m = (struct metrics_file){0};
    if (all)
        rc = take_nodes(m, name, json_object_get(all, "nodes"), err);
    if (rc < 0)
        metrics_file_clear(m);
    json_decref(all);
    return rc;
}

int metrics_file_read(struct metrics_file *m,
                      const char *path,
                      struct es_error *err)
{
    const char *in = user_file_in(path);
    FILE *file = in ? fopen(in, "re") : NULL;
    int rc;

    *m = (struct metrics_file){0};
    if (!file)
        return es_fail(err, ES_USAGE, "give a file that can be read", "%s: %s",
                       path, strerror(errno));
    rc = metrics_file_load(m, path, file, err);
    (void)fclose(file); /* was only read */
    return rc;
}

void metrics_file_clear(struct metrics_file *m)
{
    free(m->name);
    free(m->measured);
    free(m->utilization);
    *m = (struct metrics_file){0};
}

static json_t *node_to_json(const char *name, const double row[ELEMENTS])
{
    json_t *node = json_pack("{s:s}", "name", name);

    for (int e = 0; e < ELEMENTS; e++) {
        const char key[] = {element_letter((enum element)e), '\0'};

        if (e >= ELEMENT_SITE && !(row[e] > 0))
            continue; /* none of this site's */
        if (json_object_set_new(node, key, json_real(row[e])) < 0) {
            json_decref(node);
            return NULL;
        }
    }
    return node;
}

char *metrics_file_text(const char *const name[],
                        const double measured[][ELEMENTS],
                        size_t n)
{
    json_t *nodes = json_array(), *all = json_pack("{s:O}", "nodes", nodes);
    char *text = NULL;
    size_t i = 0;

    while (i < n
           && json_array_append_new(nodes, node_to_json(name[i], measured[i]))
                  == 0)
        i++;
    if (all && i == n)
        text = json_dumps(all, JSON_COMPACT);
    json_decref(all);
    json_decref(nodes);
    return text;
}

int metrics_file_rank(struct metrics_file *m,
                      const struct profile *p,
                      enum rank_by by,
                      struct metric metric[])
{
    int given = 0;

    if (rank_by_rank(by, m->measured, p, metric, m->n) < 0)
        return -1;
    for (size_t i = 0; i < m->n; i++)
        for (int e = 0; e < ELEMENTS; e++)
            if (!isnan(m->utilization[i][e])) {
                metric[i].CU[e] = m->utilization[i][e];
                given = 1;
            }
    /* not without need: JL of the same CU, but scaled twice, rounds twice */
    return given ? metric_load(metric, p, m->n) : 0;
}
