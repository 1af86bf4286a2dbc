/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/step_layout.h"
#include "pmix_bcast/conntable.h"
#include "pmix_bcast/wireup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char mend[] =
    "report this with what `sattach --layout JOB.STEP` prints";

/* Names in order, so that a line's node is found soon. */
struct index {
    const char *name;
    uint32_t node;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct index *)a)->name,
                  ((const struct index *)b)->name);
}

static struct index *make_index(const char *const *name, size_t n)
{
    struct index *index = calloc(n, sizeof *index);

    for (size_t i = 0; index && i < n; i++)
        index[i] = (struct index){name[i], (uint32_t)i};
    if (index)
        qsort(index, n, sizeof *index, by_name);
    return index;
}

/* The ranks of one node: decimal numbers between blanks. */
static int take_ranks(struct step_layout *l, char *text, uint32_t node)
{
    char *at = text, *end;

    while (*(at += strspn(at, " ")) != '\0') {
        unsigned long rank = strtoul(at, &end, 10);

        if (end == at || rank >= l->tasks || l->node_of[rank] != UINT32_MAX)
            return -1;
        l->node_of[rank] = node;
        at = end;
    }
    return 0;
}

static int read_layout_line(struct step_layout *l,
                            char *line,
                            const struct index *index,
                            size_t n)
{
    char name[NODE_NAME_MAX], *ranks = strchr(line, ':');
    const struct index key = {name, 0}, *found;

    if (sscanf(line, " Node %*u (%255[^)])", name) != 1)
        return 0; /* the heading, or an empty line */
    found = bsearch(&key, index, n, sizeof *index, by_name);
    if (!found || !ranks)
        return -1;
    return take_ranks(l, ranks + 1, found->node);
}

/* "7 tasks, 4 nodes (n[0-3])"; each takes a blank and a digit of the text. */
static int take_heading(struct step_layout *l, const char *text)
{
    const char *at = strstr(text, " tasks, ");
    unsigned tasks;

    while (at && at > text && at[-1] >= '0' && at[-1] <= '9')
        at--;
    if (!at || sscanf(at, "%9u tasks,", &tasks) != 1 || tasks == 0
        || tasks > CONNTABLE_TASKS_MAX || tasks > strlen(text) / 2)
        return -1;
    l->tasks = tasks;
    return 0;
}

static int take_text(struct step_layout *l,
                     char *text,
                     const struct index *index,
                     size_t n)
{
    char *rest = text, *line;

    l->node_of = malloc(l->tasks * sizeof *l->node_of);
    if (!l->node_of)
        return -1;
    memset(l->node_of, 0xff, l->tasks * sizeof *l->node_of);
    while ((line = strsep(&rest, "\n")) != NULL)
        if (read_layout_line(l, line, index, n) < 0)
            return -1;
    for (uint32_t t = 0; t < l->tasks; t++)
        if (l->node_of[t] == UINT32_MAX)
            return -1;
    return 0;
}

int step_layout_nodes(const char *text,
                      char *nodes,
                      size_t size,
                      uint32_t *n,
                      struct es_error *err)
{
    const char *at = strstr(text, " tasks, "), *end;
    int begin = 0;

    if (!at || sscanf(at, " tasks, %9u nodes (%n", n, &begin) != 1 || begin == 0
        || *n == 0)
        return es_fail(err, ES_ENV, mend, "sattach tells no nodes of the step");
    at += begin;
    end = strstr(at, ")\n");
    if (!end || end == at || (size_t)(end - at) >= size)
        return es_fail(err, ES_ENV, mend, "sattach tells no nodes of the step");
    memcpy(nodes, at, (size_t)(end - at));
    nodes[end - at] = '\0';
    return 0;
}

int step_layout_read(struct step_layout *l,
                     char *text,
                     const char *const *name,
                     size_t n,
                     struct es_error *err)
{
    struct index *index = make_index(name, n);
    int rc = -1;

    memset(l, 0, sizeof *l);
    if (!index)
        return es_no_memory(err);
    if (take_heading(l, text) < 0)
        es_fail(err, ES_ENV, mend, "sattach tells no layout of the step");
    else if (take_text(l, text, index, n) < 0)
        es_fail(err, ES_ENV, mend,
                "sattach's layout is not that of the step's nodes");
    else
        rc = 0;
    free(index);
    return rc;
}

void step_layout_clear(struct step_layout *l)
{
    free(l->node_of);
    memset(l, 0, sizeof *l);
}
