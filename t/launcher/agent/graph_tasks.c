/* SPDX-License-Identifier: BSD-2-Clause */
/* The tasks of a node: real commands, in a folder below /tmp. */
#include "launcher/agent/graph_tasks.h"
#include "launcher/exec/work_folder.h"
#include "loop.h"
#include "tap.h"
#include "tree.h"

#include <stdlib.h>
#include <string.h>

#define DONE_MAX 8
#define MADE     100u /* token of task i that it is done: MADE + i */

extern char **environ;

static struct work_folder folder;
static struct graph_done end_of[DONE_MAX];
static char said[DONE_MAX][64];
static unsigned n_done, idles;

/* What a task answers; of its texts a copy. */
static void on_send(void *arg, enum graph_kind kind, struct writer *w)
{
    struct graph_done *m = &end_of[n_done];

    (void)arg;
    if (kind != GRAPH_MSG_DONE || n_done == DONE_MAX
        || graph_read_done(m, w->buf, w->len) < 0)
        bail("message %d is none of a task's", (int)kind);
    snprintf(said[n_done], sizeof said[0], "%.*s", (int)m->out_len,
             (const char *)m->out);
    free(m->room);
    m->room = NULL;
    n_done++;
    writer_clear(w);
}

static void on_idle(void *arg)
{
    (void)arg;
    idles++;
}

static struct graph_tasks *start(void)
{
    const struct graph_tasks_setup setup = {.base = base,
                                            .folder = &folder,
                                            .node = "n0",
                                            .environ = environ,
                                            .send = on_send,
                                            .idle = on_idle};
    struct graph_tasks *g = graph_tasks_create(&setup);

    if (!g)
        bail("no tasks");
    n_done = idles = 0;
    return g;
}

struct order {
    uint32_t id, core, order;
    const char *line; /* for the shell */
    uint32_t waits;   /* for a token; 0: for none */
    const char *output;
    uint32_t number; /* of the output; 0: as the task */
};

static int give(struct graph_tasks *g, const struct order *o)
{
    char shell[] = "/bin/sh", c[] = "-c", line[200], name[64];
    char *argv[] = {shell, c, line, NULL};
    uint32_t token[] = {o->waits};
    struct graph_named output = {o->number ? o->number : o->id, name};
    struct graph_task m = {.id = o->id,
                           .cores = 1,
                           .core = o->core,
                           .order = o->order,
                           .makes = MADE + o->id,
                           .argv = argv,
                           .token = token,
                           .tokens = o->waits > 0,
                           .output = &output,
                           .outputs = o->output != NULL};
    struct writer w = {0};
    int rc;

    snprintf(line, sizeof line, "%s", o->line);
    snprintf(name, sizeof name, "%s", o->output ? o->output : "");
    snprintf(m.name, sizeof m.name, "task %u", o->id);
    graph_write_task(&w, &m);
    rc = graph_tasks_receive(g, w.buf, w.len);
    writer_clear(&w);
    return rc;
}

static int drop(struct graph_tasks *g, uint32_t id)
{
    struct writer w = {0};
    int rc;

    graph_write_drop(&w, id);
    rc = graph_tasks_drop(g, w.buf, w.len);
    writer_clear(&w);
    return rc;
}

/* Forget what is left, and wait for what runs. */
static void end(struct graph_tasks *g)
{
    if (graph_tasks_stop(g) > 0)
        until(idles > 0);
    graph_tasks_destroy(g);
}

static void test_one(void)
{
    struct graph_tasks *g = start();

    is_int(
        give(g, &(struct order){.id = 1,
                                .line = "echo made >out; echo $EVENSTEP_TASK "
                                        "$EVENSTEP_NODE",
                                .output = "out"}),
        0, "a task that waits for nothing is taken");
    until(n_done == 1);
    ok(n_done == 1 && end_of[0].id == 1 && end_of[0].status == 0,
       "it ends well");
    is_str(said[0], "task 1 n0\n", "it knows its name and its node");
    ok(graph_tasks_holds(g, MADE + 1), "the node holds that it is done");
    ok(graph_tasks_holds(g, 1), "and its output");
    ok(!graph_tasks_holds(g, 2), "but no other");
    end(g);
}

static void test_waits(void)
{
    struct graph_tasks *g = start();

    (void)give(g, &(struct order){.id = 1, .line = "true", .waits = 7});
    (void)give(g, &(struct order){.id = 2, .core = 1, .line = "true"});
    until(n_done == 1);
    is_int(end_of[0].id, 2, "a task with an input that is not here waits");
    is_int(graph_tasks_hold(g, 7), 0, "the input comes");
    graph_tasks_start(g);
    until(n_done == 2);
    is_int(end_of[1].id, 1, "then it runs");
    (void)give(g, &(struct order){.id = 3, .line = "true", .waits = MADE + 4});
    (void)give(g, &(struct order){.id = 4, .core = 1, .line = "true"});
    until(n_done == 4);
    ok(n_done == 4 && end_of[2].id == 4 && end_of[3].id == 3,
       "what a task makes lets the one that waits for it run");
    end(g);
}

/* All wait for 7, so that they are there together. */
static void test_order(void)
{
    struct graph_tasks *g = start();

    for (uint32_t i = 1; i <= 4; i++)
        (void)give(
            g, &(struct order){
                   .id = i, .order = (i * 3) % 5, .line = "true", .waits = 7});
    (void)graph_tasks_hold(g, 7);
    graph_tasks_start(g);
    until(n_done == 4);
    ok(n_done == 4 && end_of[0].id == 2 && end_of[1].id == 4
           && end_of[2].id == 1 && end_of[3].id == 3,
       "a core does its tasks in their order, not as they came");
    end(g);
}

static void test_failures(void)
{
    struct graph_tasks *g = start();

    (void)give(g, &(struct order){.id = 1,
                                  .line = "echo why >&2; exit 3",
                                  .output = "out"});
    until(n_done == 1);
    ok(n_done == 1 && end_of[0].status == 3 && end_of[0].files == 0
           && end_of[0].err_len == 4,
       "a failure is told with its status and its stderr");
    ok(!graph_tasks_holds(g, MADE + 1) && !graph_tasks_holds(g, 1),
       "and makes nothing");
    (void)give(g, &(struct order){.id = 2, .line = "true", .output = "out"});
    until(n_done == 2);
    ok(n_done == 2 && end_of[1].status != 0
           && strcmp(end_of[1].missing, "out") == 0,
       "an output that is not there is named");
    (void)give(g, &(struct order){.id = 3, .line = "kill -KILL $$"});
    until(n_done == 3);
    ok(n_done == 3 && end_of[2].signal == 9, "a signal is told");
    end(g);
}

static void test_drop(void)
{
    struct graph_tasks *g = start();

    (void)give(g, &(struct order){.id = 1, .line = "sleep 600"});
    (void)give(g, &(struct order){.id = 2, .line = "true"});
    (void)give(g, &(struct order){.id = 3, .line = "true"});
    is_int(drop(g, 2), 0, "a task that waits is dropped");
    is_int(drop(g, 1), 0, "so is one that runs");
    is_int(drop(g, 9), 0, "one that is not there is no mistake");
    until(n_done == 1);
    ok(n_done == 1 && end_of[0].id == 3, "of both nothing is heard");
    end(g);
}

static void test_stop(void)
{
    struct graph_tasks *g = start();

    (void)give(g, &(struct order){.id = 1, .line = "sleep 600"});
    (void)give(g, &(struct order){.id = 2, .line = "true"});
    (void)give(g, &(struct order){.id = 3, .core = 1, .line = "sleep 600"});
    is_int(graph_tasks_stop(g), 2, "two are still running at the end");
    until(idles > 0);
    ok(idles == 1 && n_done == 0, "then all have ended, and nothing is told");
    graph_tasks_destroy(g);
    is_int(graph_tasks_stop(NULL), 0, "nobody has nothing running");
    graph_tasks_destroy(NULL);
}

static void test_protocol(void)
{
    struct graph_tasks *g = start();

    is_int(give(g, &(struct order){.id = 1, .core = 65536, .line = "true"}), -1,
           "a core that no node has");
    is_int(give(g, &(struct order){.id = GRAPH_TOKENS_MAX, .line = "true"}), -1,
           "a token above the limit");
    is_int(give(g, &(struct order){.id = 1,
                                   .line = "true",
                                   .output = "out",
                                   .number = GRAPH_TOKENS_MAX}),
           -1, "an output above it");
    is_int(graph_tasks_receive(g, (const uint8_t *)"x", 1), -1,
           "half a message");
    is_int(graph_tasks_drop(g, (const uint8_t *)"x", 1), -1, "half a drop");
    is_int(graph_tasks_stop(g), 0, "nothing of it runs");
    graph_tasks_destroy(g);
}

int main(void)
{
    struct es_error err = {0};

    tree_make();
    base = event_base_new();
    if (!base || work_folder_open(&folder, tree_root, "run", "n0", &err) < 0)
        bail("no folder: %s", err.what);
    test_one();
    test_waits();
    test_order();
    test_failures();
    test_drop();
    test_stop();
    test_protocol();
    work_folder_close(&folder, 0);
    ok(rmdir(tree_root) == 0, "nothing is left in the folder");
    event_base_free(base);
    return done();
}
