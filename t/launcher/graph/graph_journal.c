/* SPDX-License-Identifier: BSD-2-Clause */
/* What a journal of a task graph says is heard, and nothing that cannot be. */
#include "launcher/graph/graph_journal.h"
#include "tree.h"

#include <string.h>
#include <xxhash.h>

#define RUN "0123456789abcdef"
#define ONE                                                                    \
    "[3,\"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\"]"
#define MADE "\"outputs\":[" ONE "]"

static struct graph_file graph;
static struct graph_work work;
static const struct graph_input inputs[1]; /* of one file */
static char log_path[600];

struct heard {
    int done, delivered;
    double seconds;
    uint64_t bytes;
};

static void on_done(void *arg,
                    uint32_t task,
                    double seconds,
                    const struct exchange_file made[])
{
    struct heard *h = arg;

    h->bytes = made[0].bytes;
    h->done += task < work.tasks;
    h->seconds = seconds;
}

static void on_delivered(void *arg,
                         uint32_t file,
                         const struct exchange_file *made)
{
    struct heard *h = arg;

    h->bytes = made->bytes;
    h->delivered += file < work.files;
}

static void make_graph(void)
{
    static const char text[] =
        "{\"tasks\":[{\"id\":\"a\",\"time\":1,\"command\":\"x\","
        "\"outputs\":[\"r\"]}],\"edges\":[]}";
    static const struct graph_reading how = {.rate = 1e6, .ccr = 1};
    struct es_error err;

    tree_put("graph.json", text);
    if (graph_file_read(&graph, tree_path("graph.json"), &how, &err) < 0
        || graph_work_read(&work, tree_path("graph.json"), &graph, &err) < 0)
        bail("%s", err.what);
}

static int open_journal(struct heard *h, int resume, char run[GRAPH_RUN_NAME])
{
    const struct graph_journal_events on = {on_done, on_delivered, h};
    struct graph_journal j;
    int rc =
        graph_journal_open(&j, log_path, resume, &work, inputs, run, &on, NULL);

    graph_journal_close(&j);
    return rc;
}

/* What is heard of one line, of which the sum is right, behind the head. */
static struct heard hear(const char *line)
{
    size_t len = strlen(line) - 1;
    struct heard h = {0};
    char run[GRAPH_RUN_NAME] = RUN;
    FILE *file;

    (void)remove(log_path);
    if (open_journal(&h, 0, run) < 0)
        bail("no journal");
    file = fopen(log_path, "a");
    if (!file || fwrite(line, 1, len, file) != len
        || fprintf(file, ",\"sum\":\"%016jx\"}\n",
                   (uintmax_t)XXH3_64bits(line, len))
               < 0
        || fclose(file) != 0)
        bail("%s: %s", log_path, strerror(errno));
    strcpy(run, "f");
    if (open_journal(&h, 1, run) < 0 || strcmp(run, RUN) != 0)
        bail("it is not gone on with");
    return h;
}

int main(void)
{
    struct heard h;

    tree_make();
    snprintf(log_path, sizeof log_path, "%s", tree_path("journal"));
    make_graph();
    h = hear("{\"type\":\"done\",\"task\":\"a\",\"seconds\":1.5," MADE "}");
    ok(h.done == 1 && h.seconds > 1.4 && h.seconds < 1.6 && h.bytes == 3,
       "a task that is done is heard of");
    h = hear("{\"type\":\"delivered\",\"file\":\"r\",\"made\":" ONE "}");
    ok(h.delivered == 1 && h.bytes == 3, "a result that was delivered, too");
    h = hear("{\"type\":\"done\",\"task\":\"b\",\"seconds\":1.5," MADE "}");
    is_int(h.done, 0, "a task that there is not, is not");
    h = hear("{\"type\":\"done\",\"task\":\"a\",\"seconds\":-1," MADE "}");
    is_int(h.done, 0, "nor one that took less than no time");
    h = hear("{\"type\":\"done\",\"task\":\"a\"," MADE "}");
    is_int(h.done, 0, "or does not say how long");
    h = hear("{\"type\":\"done\",\"task\":\"a\",\"seconds\":1.5}");
    is_int(h.done, 0, "or what it has made");
    graph_work_clear(&work);
    graph_file_clear(&graph);
    tree_remove();
    return done();
}
