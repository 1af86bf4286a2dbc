/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Task graphs from text: the same one in all four formats, and what is none.
 */
#include "launcher/graph/graph_file.h"
#include "fault.h"
#include "tap.h"

static const struct graph_reading how = {1000, 0.5, 2, NULL};

/* --- what is read --------------------------------------------------------- */

static const char own[] =
    "{\"tasks\":[{\"id\":1,\"time\":2},{\"id\":\"b\",\"time\":0.5},"
    "{\"id\":3,\"time\":0}],"
    "\"edges\":[{\"from\":1,\"to\":\"b\",\"comm\":4},"
    "{\"from\":1,\"to\":3,\"comm\":0}]}";
static const char dot[] = "digraph { 1 [time=2]; b [time=0.5]; 3 [time=0];"
                          "1 -> b [comm=4]; 1 -> 3 [comm=0] }";
static const char wfformat[] =
    "{\"workflow\":{\"specification\":{\"tasks\":["
    "{\"id\":\"1\",\"parents\":[],\"outputFiles\":[\"x\",\"y\",\"z\"]},"
    "{\"id\":\"b\",\"parents\":[\"1\"],\"inputFiles\":[\"z\",\"y\",\"in\"]},"
    "{\"id\":\"3\",\"parents\":[\"1\"],\"inputFiles\":[\"in\"]}],"
    "\"files\":[{\"id\":\"x\",\"sizeInBytes\":99},"
    "{\"id\":\"y\",\"sizeInBytes\":3000},{\"id\":\"z\",\"sizeInBytes\":1000},"
    "{\"id\":\"in\",\"sizeInBytes\":5}]},"
    "\"execution\":{\"tasks\":[{\"id\":\"b\",\"runtimeInSeconds\":0.5},"
    "{\"id\":\"1\",\"runtimeInSeconds\":2},"
    "{\"id\":\"3\",\"runtimeInSeconds\":0}]}}}";
static const char stg[] = "  2\n 0 0 0\n 1 6 1 0\n 2 2 2 0 1\n"
                          " 3 0 2 1 2\n# comment 1 2 3\n";

/* Times of 2 s each by the reading's guess, communication of 0.5 x 2 s. */
static const char makeflow[] =
    "{\"rules\":[{\"command\":\"m\",\"outputs\":[\"a\",\"b\"]},"
    "{\"command\":\"n\",\"inputs\":[\"b\",\"a\",\"in\"],\"outputs\":[\"c\"],"
    "\"resources\":{\"cores\":3,\"memory\":2}},"
    "{\"command\":\"n\",\"inputs\":[{\"dag_name\":\"c\"}]}]}";

static int is_the_graph(const char *text)
{
    struct graph_file f;
    struct es_error err = {0};
    const struct graph *g;
    int same;

    if (graph_file_parse(&f, "x", text, &how, &err) < 0) {
        diag("%s: %s", err.what, err.mend);
        return 0;
    }
    g = f.graph;
    same = g->tasks == 3 && g->edges == 2 && g->time[0] == 2000000000
           && g->time[1] == 500000000 && g->time[2] == 0
           && g->pred[g->pred_at[1]].task == 0
           && g->pred[g->pred_at[1]].comm == 4000000000
           && g->pred[g->pred_at[2]].comm == 0 && json_array_size(f.ids) == 3;
    graph_file_clear(&f);
    return same;
}

static void test_read(void)
{
    struct graph_file f;

    ok(is_the_graph(own), "evenstep's own JSON");
    ok(is_the_graph(dot), "the same in DOT");
    ok(is_the_graph(wfformat), "the same in WfFormat: an edge is the files of "
                               "one that the other takes");
    if (graph_file_parse(&f, "x", own, &how, NULL) < 0)
        bail("refused");
    ok(json_is_integer(json_array_get(f.ids, 0))
           && json_is_string(json_array_get(f.ids, 1)),
       "identifiers stay integers or strings");
    graph_file_clear(&f);
    if (graph_file_parse(&f, "x", stg, &how, NULL) < 0)
        bail("refused");
    ok(f.graph->tasks == 4 && f.graph->edges == 5
           && f.graph->time[1] == 6000000000,
       "a Standard Task Graph, with its dummies");
    is_int(f.graph->pred[f.graph->pred_at[2] + 1].comm, 2000000000,
           "its communication is CCR times the mean time");
    graph_file_clear(&f);
}

static void test_makeflow(void)
{
    struct es_error err = {0};
    struct graph_file f;
    const struct graph *g;

    if (graph_file_parse(&f, "x", makeflow, &how, &err) < 0)
        bail("%s", err.what);
    g = f.graph;
    ok(g->tasks == 3 && g->edges == 2 && g->time[1] == 2000000000
           && g->pred[0].comm == 1000000000 && g->need[1].cores == 3
           && g->need[1].memory > 2e6 && f.understood.guessed_given == 3,
       "Makeflow's rules: edges are their files, what is unknown is guessed");
    is_str(json_string_value(json_array_get(f.ids, 0)), "a",
           "a task is called as its first output");
    graph_file_clear(&f);
}

/* --- what is not ---------------------------------------------------------- */

#define TASKS(x) "{\"tasks\":[" x "]}"
#define ONE      "{\"id\":1,\"time\":2}"
#define EDGES(x) "{\"tasks\":[" ONE ",{\"id\":2,\"time\":2}],\"edges\":[" x "]}"
#define FLOW(tasks, files, run)                                                \
    "{\"workflow\":{\"specification\":{\"tasks\":[" tasks                      \
    "],\"files\":[" files "]},\"execution\":{\"tasks\":[" run "]}}}"

static const struct {
    const char *text, *what; /* without the file's name */
} bad[] = {
    {"", "is empty"},
    {" \n", "is empty"},
    {"{\"tasks\":[", "]"},
    {"[]", "tasks: no such list"},
    {"{}", "tasks: no such list"},
    {"{\"tasks\":[],\"tasks\":[]}", "duplicate object key"},
    {TASKS(""), "no tasks"},
    {TASKS("{\"time\":1}"), "tasks[0]: no id"},
    {TASKS("{\"id\":1.5,\"time\":1}"), "tasks[0]: no id"},
    {TASKS("{\"id\":\"\",\"time\":1}"), "tasks[0]: no id"},
    {TASKS("7"), "tasks[0]: no time"},
    {TASKS("{\"id\":1}"), "tasks[0]: no time"},
    {TASKS("{\"id\":1,\"time\":\"2\"}"), "tasks[0]: no time"},
    {TASKS("{\"id\":1,\"time\":-1}"), "tasks[0]: no time"},
    {TASKS("{\"id\":1,\"time\":1e10}"), "tasks[0]: no time"},
    {TASKS("{\"id\":1,\"time\":1e999}"), "real number overflow"},
    {TASKS(ONE "," ONE), "tasks[1]: task \"1\" is there already"},
    {TASKS(ONE ",{\"id\":\"1\",\"time\":2}"),
     "tasks[1]: task \"1\" is there already"},
    {EDGES("{\"to\":2,\"comm\":1}"), "edges[0].from: no id"},
    {EDGES("{\"from\":1,\"to\":3,\"comm\":1}"), "edges[0].to: no task \"3\""},
    {EDGES("{\"from\":1,\"to\":2}"), "edges[0].comm: no communication"},
    {EDGES("{\"from\":1,\"to\":2,\"comm\":-1}"),
     "edges[0].comm: no communication"},
    {EDGES("{\"from\":1,\"to\":1,\"comm\":1}"), "task \"1\" waits for itself"},
    {"{\"tasks\":[" ONE "],\"edges\":7}", "edges: no list"},
    {"{\"workflow\":{}}", "workflow.specification.tasks: no such list"},
    {FLOW("{\"id\":\"a\"}", "", ""), "tasks[0]: no runtimeInSeconds"},
    {FLOW("{\"id\":\"a\"}", "", "{\"id\":\"a\",\"runtimeInSeconds\":-1}"),
     "workflow.execution.tasks[0].runtimeInSeconds: no number from 0"},
    {FLOW("{\"id\":\"a\",\"parents\":[\"b\"]}",
          "",
          "{\"id\":\"a\",\"runtimeInSeconds\":1}"),
     "tasks[0].parents: no task \"b\""},
    {FLOW("{\"id\":\"a\",\"outputFiles\":[\"x\"]},"
          "{\"id\":\"b\",\"parents\":[\"a\"],\"inputFiles\":[\"x\"]}",
          "",
          "{\"id\":\"a\",\"runtimeInSeconds\":1},"
          "{\"id\":\"b\",\"runtimeInSeconds\":1}"),
     "x: no sizeInBytes"},
    {"{\"rules\":7}", "rules: no list"},
    {"{\"rules\":[7]}", "rules[0]: no rule"},
    {"{\"rules\":[{\"workflow\":\"x\"}]}", "rules[0]: a workflow within"},
    {"{\"rules\":[{\"outputs\":[7]}]}", "rules[0]: no name of a file"},
    {"{\"rules\":[{\"inputs\":[7]}]}", "rules[0].inputs: no name of a file"},
    {"{\"rules\":[{\"outputs\":[\"a\"]},{\"outputs\":[\"b\",\"a\"]}]}",
     "rules[1]: another rule makes"},
    {"{\"rules\":[{\"inputs\":[\"b\"],\"outputs\":[\"a\"]},"
     "{\"inputs\":[\"a\"],\"outputs\":[\"b\"]}]}",
     "waits for itself"},
    {"digraph snakemake_dag { 0[label=a]; 1[label=b]; 0 -> 1; 1 -> 0 }",
     "waits for itself"},
    {"digraph snakemake_dag { }", "no tasks"},
    {"digraph { v0 [xlabel=a] }", "no tasks"},
    {"digraph {", "DOT: syntax error"},
    {"digraph { a }", "node \"a\" [time]: no time"},
    {"digraph { a [time=x] }", "node \"a\" [time]: no time"},
    {"digraph { a [time=1]; b [time=1]; a -> b }",
     "edge \"a\" -> \"b\" [comm]: no communication"},
    {"digraph { a [time=1]; b [time=1]; a -> b [comm=1]; b -> a [comm=1] }",
     "waits for itself"},
    {"graph { a [time=1] }", "graph: its edges have no direction"},
    {"2\n0 0 0\n1 5 1 0\n2 3 1 1\n", "line 5: the file ends too early"},
    {"1\n0 0 0\n1 5 1 7\n2 3 1 1\n", "line 3: an unknown predecessor"},
    {"1\n0 0 0\n2 5 1 0\n1 3 1 1\n", "line 3: the ids do not count up"},
    {"1\n0 0 0\n1 -5 1 0\n2 3 1 1\n", "line 3: no whole number"},
    {"99999999\n", "line 1: no whole number, or out of range"},
};

static void test_bad(void)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const int is_dot = strncmp(bad[i].text, "digraph", 7) == 0;
        struct graph_reading bare = how;
        struct graph_file f;
        struct es_error err = {0};
        int refused;

        bare.guess = is_dot ? 0 : how.guess; /* it would do for a node */
        refused = graph_file_parse(&f, "x", bad[i].text, &bare, &err) < 0;
        if (!ok(refused && !f.graph && !f.ids && err.kind == ES_USAGE
                    && strncmp(err.what, "x:", 2) == 0
                    && strstr(err.what, bad[i].what) && err.mend[0],
                "refused: %s", bad[i].what))
            diag("%s: %s", err.what, err.mend);
    }
}

/* --- memory --------------------------------------------------------------- */

/* Fails each allocation in turn; jansson's and ours (R57). */
static void test_faults(const char *name, const char *text)
{
    struct graph_file f;
    struct es_error err;
    long n = 0;
    int rc, told = 1;

    do {
        err = (struct es_error){0};
        fault_at = n++;
        rc = graph_file_parse(&f, "x", text, &how, &err);
        fault_at = -1;
        told &= rc == 0 || (err.what[0] && !f.graph && !f.ids);
    } while (rc < 0 && n < 10000);
    graph_file_clear(&f);
    ok(rc == 0 && n > 10 && told,
       "%s: each of %ld allocations that fails is told", name, n - 1);
}

int main(void)
{
    test_read();
    test_makeflow();
    test_bad();
    test_faults("own", own);
    test_faults("WfFormat", wfformat);
    test_faults("STG", stg);
    test_faults("Makeflow", makeflow);
    return done();
}
