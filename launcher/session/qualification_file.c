/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/qualification_file.h"

#include <stdlib.h>
#include <string.h>

struct named_row { /* of the file */
    const char *name;
    size_t row;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct named_row *)a)->name,
                  ((const struct named_row *)b)->name);
}

/* In the order of the names, owned by the caller; NULL if memory ran out. */
static struct named_row *sort_rows(const struct metrics_file *m)
{
    struct named_row *r = calloc(m->n, sizeof *r);

    for (size_t i = 0; r && i < m->n; i++)
        r[i] = (struct named_row){m->name[i], i};
    if (r)
        qsort(r, m->n, sizeof *r, compare_names);
    return r;
}

/* The row of the file that has this node's name, or NULL. */
static const struct named_row *find(const struct named_row *row,
                                    size_t n,
                                    const char *name)
{
    const struct named_row key = {name, 0};

    return bsearch(&key, row, n, sizeof key, compare_names);
}

/* The nodes of the file in the order of the session, ranked. */
int qualification_take_file(struct qualification *q, struct es_error *err)
{
    const struct metrics_file *m = q->setup->file;
    struct metrics_file mine = {q->n, NULL, q->counted, NULL};
    struct named_row *rows = sort_rows(m);
    const struct config_profile *profile = q->setup->profile;
    int rc = 0;

    mine.utilization = calloc(q->n, sizeof *mine.utilization);
    if (!mine.utilization || !rows)
        rc = es_no_memory(err);
    for (size_t i = 0; rc == 0 && i < q->n; i++) {
        const struct named_row *r =
            find(rows, m->n, session_node(q->session, i)->name);

        if (!r) {
            rc = es_fail(err, ES_USAGE, "give every node of the allocation",
                         "%s: node %s is missing", q->setup->file_name,
                         session_node(q->session, i)->name);
            break;
        }
        memcpy(q->measured[i], m->measured[r->row], sizeof q->measured[i]);
        memcpy(mine.utilization[i], m->utilization[r->row],
               sizeof mine.utilization[i]);
    }
    memcpy(q->counted, q->measured, q->n * sizeof *q->counted);
    if (rc == 0
        && metrics_file_rank(&mine, &profile->profile, q->setup->probe->rank_by,
                             q->metric)
               < 0)
        rc = es_fail(err, ES_USAGE, "give another --profile, or measure more",
                     "%s: no node has any load by the profile %s",
                     q->setup->file_name, profile->name);
    free(rows);
    free(mine.utilization);
    return rc;
}
