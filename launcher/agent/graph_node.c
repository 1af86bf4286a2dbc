/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/graph_node.h"
#include "launcher/agent/graph_tasks.h"
#include "launcher/agent/job_memory.h"
#include "launcher/base/aside.h"
#include "launcher/exec/work_folder.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

/* A file that is on its way. */
struct coming {
    LIST_ENTRY(coming) next;
    uint32_t token, from;
};

struct graph_node {
    struct graph_node_setup s;
    struct work_folder folder;
    struct exchange *exchange;
    struct graph_tasks *tasks;
    LIST_HEAD(coming_list, coming) coming;
    int keep, stopping;
    struct aside *opening; /* what is in the store is looked at */
    struct graph_opened opened;
    struct es_error error; /* of that */
};

/* --- files ---------------------------------------------------------------- */

static int on_open(void *arg, uint32_t file)
{
    const struct graph_node *g = arg;

    return work_folder_read(&g->folder, file);
}

static void graph_send_brought(struct graph_node *g,
                               uint32_t token,
                               uint32_t from,
                               int64_t elapsed_ns,
                               const char *why)
{
    struct graph_brought m = {
        .token = token, .from = from, .elapsed_ns = (uint64_t)elapsed_ns};
    struct writer w = {0};

    snprintf(m.why, sizeof m.why, "%s", why ? why : "");
    graph_write_brought(&w, &m);
    g->s.send(g->s.arg, GRAPH_MSG_BROUGHT, &w);
}

static void on_fetched(void *arg,
                       uint32_t from,
                       uint32_t file,
                       int64_t elapsed_ns,
                       const char *why)
{
    struct graph_node *g = arg;
    struct coming *c = LIST_FIRST(&g->coming);

    while (c && (c->token != file || c->from != from))
        c = LIST_NEXT(c, next);
    if (!c)
        return;
    if (!why && graph_tasks_hold(g->tasks, file) < 0)
        why = "out of memory";
    graph_send_brought(g, file, from, elapsed_ns, why);
    LIST_REMOVE(c, next);
    free(c);
    if (!why)
        graph_tasks_start(g->tasks);
}

/* NULL: it calls us. */
static const struct endpoint *endpoint_of(const struct graph_node *g,
                                          uint32_t rank)
{
    return rank == FRONT_END ? NULL : &g->s.wireup->agent[rank];
}

static void fetch(struct graph_node *g, const struct graph_bring *m)
{
    struct coming *c = calloc(1, sizeof *c);
    char path[sizeof g->folder.path];

    if (!c) {
        graph_send_brought(g, m->token, m->from, 0, "out of memory");
        return;
    }
    *c = (struct coming){.token = m->token, .from = m->from};
    LIST_INSERT_HEAD(&g->coming, c, next);
    if (work_folder_path(&g->folder, m->token, path, sizeof path) == 0
        && exchange_fetch(g->exchange, m->from, endpoint_of(g, m->from),
                          &m->file, path)
               == 0)
        return;
    LIST_REMOVE(c, next);
    free(c);
    graph_send_brought(g, m->token, m->from, 0, strerror(errno));
}

static int told_bring(struct graph_node *g, const uint8_t *body, size_t len)
{
    struct graph_bring m;

    if (graph_read_bring(&m, body, len) < 0 || m.token >= GRAPH_TOKENS_MAX
        || (m.is_file && m.file.number != m.token)
        || (m.from >= g->s.wireup->size && m.from != FRONT_END))
        return -1;
    if (m.is_file && !graph_tasks_holds(g->tasks, m.token)) {
        fetch(g, &m);
        return 0;
    }
    if (graph_tasks_hold(g->tasks, m.token) < 0)
        return -1;
    if (m.is_file)
        graph_send_brought(g, m.token, m.from, 0, NULL);
    graph_tasks_start(g->tasks);
    return 0;
}

/* --- start and end -------------------------------------------------------- */

/* How many tasks may run at once: CPUs that we may use. */
static uint32_t count_cores(const struct graph_node *g)
{
    cpu_set_t set;

    if (g->s.throttle || sched_getaffinity(0, sizeof set, &set) < 0
        || CPU_COUNT(&set) < 1)
        return 1;
    return (uint32_t)CPU_COUNT(&set);
}

static int open_exchange(struct graph_node *g, uint32_t port)
{
    struct exchange_setup x = {.base = g->s.base,
                               .secret = g->s.secret,
                               .self = g->s.wireup->rank,
                               .open = on_open,
                               .fetched = on_fetched,
                               .arg = g};
    struct endpoint front = {.port = (uint16_t)port};

    snprintf(front.address, sizeof front.address, "%s", g->s.front_address);
    g->exchange = exchange_create(&x);
    if (!g->exchange || exchange_call(g->exchange, FRONT_END, &front) < 0)
        return -1;
    mesh_set_exchange(g->s.mesh, g->exchange);
    return 0;
}

/* Aside: what is there may be large. */
static void list_store(void *arg)
{
    struct graph_node *g = arg;

    if (work_folder_list(&g->folder, &g->opened.file, &g->opened.files,
                         &g->error)
        == 0)
        g->opened.room = g->opened.file;
}

/* Home knows what it should be, and says what of it is here. */
static void graph_send_opened(void *arg)
{
    struct graph_node *g = arg;
    struct writer w = {0};

    if (g->error.kind != ES_OK)
        snprintf(g->opened.why, sizeof g->opened.why, "%.500s", g->error.what);
    graph_write_opened(&w, &g->opened);
    free(g->opened.room);
    g->opened.room = NULL;
    aside_destroy(g->opening);
    g->opening = NULL;
    g->s.send(g->s.arg, GRAPH_MSG_OPENED, &w);
}

static int open_all(struct graph_node *g, const struct graph_open *open)
{
    if (work_folder_open(&g->folder, open->folder, open->run, g->s.node,
                         &g->error)
            < 0
        || (g->keep && work_folder_keep(&g->folder, &g->error) < 0))
        return -1;
    if (open_exchange(g, open->port) < 0)
        return es_fail(&g->error, ES_ENV, "let the nodes reach the front end",
                       "no way to the front end: %s", strerror(errno));
    g->opening = aside_start(g->s.base, list_store, graph_send_opened, g);
    return g->opening ? 0
                      : es_fail(&g->error, ES_ENV, "free some memory",
                                "no thread: %s", strerror(errno));
}

struct graph_node *graph_node_start(const struct graph_node_setup *setup,
                                    const struct graph_open *open)
{
    struct graph_node *g = calloc(1, sizeof *g);
    struct graph_tasks_setup tasks = {.base = setup->base,
                                      .node = setup->node,
                                      .environ = setup->environ,
                                      .throttle = setup->throttle,
                                      .keep = (int)open->keep,
                                      .send = setup->send,
                                      .idle = setup->idle,
                                      .arg = setup->arg};

    if (!g)
        return NULL;
    g->s = *setup;
    g->keep = (int)open->keep;
    g->folder = WORK_FOLDER_CLOSED;
    LIST_INIT(&g->coming);
    tasks.folder = &g->folder;
    g->tasks = graph_tasks_create(&tasks);
    if (!g->tasks) {
        free(g);
        return NULL;
    }
    g->opened.cores = count_cores(g);
    g->opened.memory = job_memory(g->s.environ, "/proc", "/sys");
    work_folder_sweep(open->folder, setup->node);
    if (open_all(g, open) < 0)
        graph_send_opened(g);
    return g;
}

int graph_node_receive(struct graph_node *g,
                       enum graph_kind kind,
                       const uint8_t *body,
                       size_t len)
{
    if (!g->exchange || g->stopping)
        return kind == GRAPH_MSG_CLOSE ? 0 : -1;
    switch (kind) {
    case GRAPH_MSG_TASK:
        return graph_tasks_receive(g->tasks, body, len);
    case GRAPH_MSG_DROP:
        return graph_tasks_drop(g->tasks, body, len);
    case GRAPH_MSG_BRING:
        return told_bring(g, body, len);
    case GRAPH_MSG_CLOSE:
        g->keep = 0;
        return len == 0 ? 0 : -1;
    default:
        return -1;
    }
}

unsigned graph_node_stop(struct graph_node *g)
{
    if (!g)
        return 0;
    g->stopping = 1;
    return graph_tasks_stop(g->tasks);
}

void graph_node_destroy(struct graph_node *g)
{
    struct coming *c;

    if (!g)
        return;
    graph_tasks_destroy(g->tasks);
    while ((c = LIST_FIRST(&g->coming)) != NULL) {
        LIST_REMOVE(c, next);
        free(c);
    }
    aside_destroy(g->opening);
    free(g->opened.room);
    mesh_set_exchange(g->s.mesh, NULL);
    exchange_destroy(g->exchange);
    work_folder_close(&g->folder, g->keep);
    free(g);
}
