/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/step_layout.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"n2", "n0", "n1", "node-10.site"};
#define NAMES (sizeof names / sizeof names[0])

#define HEAD "Job step layout:\n\t3 tasks, 2 nodes (n[0-1])\n\n"

static const struct {
    const char *name, *text;
    uint32_t tasks, node_of[4];
} good[] = {
    {"as Slurm 22.05 prints it",
     HEAD "\tNode 0 (n0), 2 task(s): 0 2 \n\tNode 1 (n1), 1 task(s): 1 \n",
     3,
     {1, 2, 1}},
    {"a node without tasks",
     HEAD "\tNode 0 (n0), 3 task(s): 2 1 0 \n\tNode 1 (n2), 0 task(s): \n",
     3,
     {1, 1, 1}},
    {"a name with a dash and dots",
     "Job step layout:\n\t1 tasks, 1 nodes (node-10.site)\n\n"
     "\tNode 0 (node-10.site), 1 task(s): 0\n",
     1,
     {3}},
    {"ends without a newline",
     HEAD "\tNode 0 (n2), 1 task(s): 1\n\tNode 1 (n1), 2 task(s): 0 2",
     3,
     {2, 0, 2}},
};

static const struct {
    const char *name, *text, *what;
} bad[] = {
    {"nothing", "", "tells no layout"},
    {"another text", "slurm_load: Invalid job id\n", "tells no layout"},
    {"no task", "\t0 tasks, 1 nodes (n0)\n", "tells no layout"},
    {"more tasks than can be", "\t99999999 tasks, 1 nodes (n0)\n",
     "tells no layout"},
    {"more tasks than it has room to name",
     "\t16777216 tasks, 1 nodes (n0)\n\tNode 0 (n0), 1 task(s): 0\n",
     "tells no layout"},
    {"a node that is none of ours", HEAD "\tNode 0 (n7), 3 task(s): 0 1 2\n",
     "not that of the step's nodes"},
    {"a rank that is not there", HEAD "\tNode 0 (n0), 2 task(s): 0 1\n",
     "not that of the step's nodes"},
    {"a rank twice", HEAD "\tNode 0 (n0), 3 task(s): 0 1 1 2\n",
     "not that of the step's"},
    {"a rank too large", HEAD "\tNode 0 (n0), 3 task(s): 0 1 3\n",
     "not that of the step's nodes"},
    {"a negative rank", HEAD "\tNode 0 (n0), 3 task(s): 0 1 -1\n",
     "not that of the step's nodes"},
    {"a word among the ranks", HEAD "\tNode 0 (n0), 3 task(s): 0 one 2\n",
     "not that of the step's"},
    {"a line cut short", HEAD "\tNode 0 (n0), 3 ta", "not that of the step's"},
};

static void test_good(void)
{
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct step_layout l;
        struct es_error err = {0};
        char *text = strdup(good[i].text);

        ok(step_layout_read(&l, text, names, NAMES, &err) == 0
               && l.tasks == good[i].tasks
               && memcmp(l.node_of, good[i].node_of,
                         l.tasks * sizeof *l.node_of)
                      == 0,
           "%s", good[i].name);
        step_layout_clear(&l);
        free(text);
    }
}

static void test_bad(void)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct step_layout l;
        struct es_error err = {0};
        char *text = strdup(bad[i].text);

        ok(step_layout_read(&l, text, names, NAMES, &err) < 0
               && err.kind == ES_ENV && strstr(err.what, bad[i].what),
           "%s is refused", bad[i].name);
        step_layout_clear(&l);
        free(text);
    }
}

static void test_nodes(void)
{
    char nodes[16] = "";
    uint32_t n = 0;

    ok(step_layout_nodes(HEAD, nodes, sizeof nodes, &n, NULL) == 0 && n == 2
           && strcmp(nodes, "n[0-1]") == 0,
       "the heading tells the nodes");
    ok(step_layout_nodes(HEAD, nodes, 6, &n, NULL) < 0
           && step_layout_nodes(HEAD, nodes, 7, &n, NULL) == 0,
       "if there is room for them");
    ok(step_layout_nodes("", nodes, sizeof nodes, &n, NULL) < 0
           && step_layout_nodes("1 tasks, 0 nodes (n0)\n", nodes, sizeof nodes,
                                &n, NULL)
                  < 0
           && step_layout_nodes("1 tasks, 1 nodes ()\n", nodes, sizeof nodes,
                                &n, NULL)
                  < 0
           && step_layout_nodes("1 tasks, 1 nodes (n0", nodes, sizeof nodes, &n,
                                NULL)
                  < 0,
       "a heading without any does not");
}

int main(void)
{
    test_good();
    test_bad();
    test_nodes();
    return done();
}
