/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any lines behind the head of a graph's journal, with their sums: what is
 * heard of are tasks and files that there are, and times that can be.  With a
 * first byte of '!' the head is given, too.
 */
#include "launcher/graph/graph_journal.h"

#include "folder.h"
#include "record_text.h"

#include <math.h>

#define RUN "0123456789abcdef"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct graph_file graph;
static struct graph_work work;
static const struct graph_input inputs[3]; /* of three files */
static char log_path[4096], *head; /* what a new journal of it begins with */
static size_t head_len;
static int log_fd = -1;

static void must(int holds)
{
    if (!holds)
        abort();
}

static void on_done(void *arg,
                    uint32_t task,
                    double seconds,
                    const struct exchange_file made[])
{
    (void)arg;
    must(made != NULL);
    must(task < work.tasks && isfinite(seconds) && seconds >= 0);
}

static void on_delivered(void *arg,
                         uint32_t file,
                         const struct exchange_file *made)
{
    (void)arg;
    must(made != NULL);
    must(file < work.files);
}

static const struct graph_journal_events events = {on_done, on_delivered, NULL};

/* A graph of two tasks and three files, and its journal's head. */
static void start(void)
{
    static const char text[] =
        "{\"tasks\":["
        "{\"id\":\"a\",\"time\":1,\"command\":\"x\",\"outputs\":[\"f\"]},"
        "{\"id\":\"b\",\"time\":1,\"command\":\"y\",\"inputs\":[\"f\",\"u\"],"
        "\"outputs\":[\"r\"]}],"
        "\"edges\":[{\"from\":\"a\",\"to\":\"b\",\"comm\":1}]}";
    static const struct graph_reading how = {.rate = 1e6, .ccr = 1};
    char run[GRAPH_RUN_NAME] = RUN;
    struct graph_journal j;
    struct es_error err = {0};
    struct stat st;

    folder_fill(folder_file("graph"), text, strlen(text));
    (void)folder_path(log_path, "graph");
    must(graph_file_read(&graph, log_path, &how, &err) == 0);
    must(graph_work_read(&work, log_path, &graph, &err) == 0);
    log_fd = folder_file("journal");
    (void)folder_path(log_path, "journal");
    must(graph_journal_open(&j, log_path, 0, &work, inputs, run, &events, &err)
         == 0);
    graph_journal_close(&j);
    must(fstat(log_fd, &st) == 0);
    head_len = (size_t)st.st_size;
    head = malloc(head_len);
    must(head && pread(log_fd, head, head_len, 0) == (ssize_t)head_len);
}

static void fill(const uint8_t *data, size_t size)
{
    int has_head = size > 0 && *data == '!';
    size_t len, at = has_head ? 0 : head_len;
    char *text = record_text(data + has_head, size - (size_t)has_head, &len);

    folder_fill(log_fd, head, at);
    must(pwrite(log_fd, text, len, (off_t)at) == (ssize_t)len);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char run[GRAPH_RUN_NAME] = "f";
    struct es_error err = {0};
    struct graph_journal j;

    if (log_fd < 0)
        start();
    fill(data, size);
    if (graph_journal_open(&j, log_path, 1, &work, inputs, run, &events, &err)
        < 0)
        must(err.what[0] && err.mend[0]);
    else
        must(run[0] && strspn(run, "0123456789abcdef") == strlen(run));
    graph_journal_close(&j);
    return 0;
}
