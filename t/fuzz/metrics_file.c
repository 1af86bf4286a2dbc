/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text as a metrics file: refused in one line and nothing kept, or nodes
 * with names that differ and numbers that can be ranked. */
#include "launcher/session/metrics_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RANKED_MAX 64 /* nodes of a file that is looked at whole */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int is_amount(double v)
{
    return v >= 0 && v <= METRICS_VALUE_MAX;
}

static void look(const struct metrics_file *m)
{
    for (size_t i = 0; i < m->n; i++) {
        if (!m->name[i][0]
            || strnlen(m->name[i], NODE_NAME_MAX) >= NODE_NAME_MAX)
            abort();
        for (size_t k = 0; k < i; k++)
            if (strcmp(m->name[i], m->name[k]) == 0)
                abort();
        for (int e = 0; e < ELEMENTS; e++)
            if (!is_amount(m->measured[i][e])
                || !(isnan(m->utilization[i][e])
                     || is_amount(m->utilization[i][e])))
                abort();
    }
}

/* With influence on everything, what can have a load has 100 in all. */
static void rank(struct metrics_file *m)
{
    static const struct profile all = {{1, 1, 1, 1, 1, 1}};
    struct metric metric[RANKED_MAX];
    double sum = 0;

    if (metrics_file_rank(m, &all, RANK_BY_ALL, metric) < 0)
        return; /* the CU that it gives are 0 */
    for (size_t i = 0; i < m->n; i++)
        sum += metric[i].JL;
    if (!(fabs(sum - 100) < 1e-9))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FILE *file = fmemopen((void *)(uintptr_t)data, size, "r");
    struct es_error err = {0};
    struct metrics_file m;
    int rc;

    if (!file)
        return 0;
    rc = metrics_file_load(&m, "fuzz", file, &err);
    if (rc == 0 ? m.n == 0 || err.kind != ES_OK
                : m.n || m.name || !err.what[0] || !err.mend[0]
                      || strpbrk(err.what, "\n\r\033"))
        abort();
    if (rc == 0 && m.n <= RANKED_MAX) {
        look(&m);
        rank(&m);
    }
    metrics_file_clear(&m);
    fclose(file);
    return 0;
}
