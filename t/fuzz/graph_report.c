/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text as a report of times: refused with its reason, or a table, whose rows
 * then go to a graph of each kind. */
#include "launcher/graph/graph_report.h"
#include "launcher/graph/graph_file.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const graphs[] = {
    "digraph snakemake_dag { 0[label = \"all\"]; 1[label = \"map\\ns: A\"];"
    "2[label = \"map_b\"]; 1 -> 2; 2 -> 0 }",
    "digraph { v0 [shape=point,xlabel=\"c\"]; v1 [label=\"A\"];"
    "v2 [label=\"W:B\"]; v0 -> v1; v1 -> v2 }",
    "{\"rules\":[{\"command\":\"x\",\"outputs\":[\"a\"]},"
    "{\"command\":\"y\",\"inputs\":[\"a\"],\"outputs\":[\"b\"]}]}",
};

static void use(struct graph_times *t)
{
    const struct graph_reading how = {1e6, 1, 1, t};

    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++) {
        struct es_error err = {0};
        struct graph_file f;
        int rc = graph_file_parse(&f, "fuzz", graphs[i], &how, &err);

        if (rc == 0 ? !f.graph : !err.what[0] || !err.mend[0])
            abort();
        graph_file_clear(&f);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct es_error err = {0};
    struct graph_times t;
    char *text = malloc(size + 1);

    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    if (graph_times_init(&t, &err) < 0)
        abort();
    if (graph_report_parse(&t, "map A.tsv", text, &err) == 0)
        use(&t);
    else if (!err.what[0] || !err.mend[0])
        abort();
    graph_times_clear(&t);
    free(text);
    return 0;
}
