/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/graph_node.h"
#include "launcher/base/aside.h"
#include "launcher/exec/execution.h"
#include "launcher/exec/work_folder.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#define CORES_MAX  65536u     /* of a node */
#define TOKENS_MAX (1u << 25) /* files and tasks of a graph; a byte each */

/* A task that waits or runs; when it has run its outputs are taken, aside. */
struct work {
    TAILQ_ENTRY(work) next;
    struct graph_node *node;
    struct graph_task task;
    struct execution *execution; /* NULL: it waits */
    int dropped;
    char *said; /* the end of its stdout */
    size_t said_len;
    struct graph_done done;
    char *err; /* the end of its stderr */
    struct aside *aside;
    int taken; /* as work_folder_take() has it */
    struct es_error error;
};

TAILQ_HEAD(work_list, work);

struct core {
    struct work_list waiting; /* by order */
    struct work *running;
};

/* A file that is on its way. */
struct coming {
    LIST_ENTRY(coming) next;
    uint32_t token, from;
};

struct graph_node {
    struct graph_node_setup s;
    struct work_folder folder;
    struct exchange *exchange;
    struct core *core;
    uint32_t cores;
    uint8_t *here; /* by token */
    uint32_t tokens;
    LIST_HEAD(coming_list, coming) coming;
    unsigned running;
    int keep, stopping;
    struct aside *opening; /* what is in the store is looked at */
    struct graph_opened opened;
    struct es_error error; /* of that */
};

/* --- tokens --------------------------------------------------------------- */

static int is_here(const struct graph_node *g, uint32_t token)
{
    return token < g->tokens && g->here[token];
}

/* 0, or -1 if memory ran out. */
static int set_here(struct graph_node *g, uint32_t token)
{
    uint32_t room = g->tokens ? g->tokens : 1024;
    uint8_t *grown;

    while (room <= token)
        room *= 2;
    if (room > g->tokens) {
        grown = realloc(g->here, room);
        if (!grown)
            return -1;
        memset(grown + g->tokens, 0, room - g->tokens);
        g->here = grown;
        g->tokens = room;
    }
    g->here[token] = 1;
    return 0;
}

static int is_ready(const struct graph_node *g, const struct graph_task *t)
{
    for (uint32_t i = 0; i < t->tokens; i++)
        if (!is_here(g, t->token[i]))
            return 0;
    return 1;
}

/* --- tasks ---------------------------------------------------------------- */

static void free_work(struct work *w)
{
    aside_destroy(w->aside);
    execution_destroy(w->execution);
    free(w->task.room);
    free(w->done.room);
    free(w->said);
    free(w->err);
    free(w);
}

static void say_done(struct graph_node *g, const struct graph_done *m)
{
    struct writer w = {0};

    graph_write_done(&w, m);
    g->s.say(g->s.arg, GRAPH_MSG_DONE, &w);
}

/* A task that cannot be started is one that failed, with the reason. */
static void refuse(struct graph_node *g, uint32_t id, const char *why)
{
    struct graph_done m = {.id = id, .status = 126};

    m.err = (const uint8_t *)why;
    m.err_len = strlen(why);
    say_done(g, &m);
}

/* Keep the end of what a task says. */
static void on_said(void *arg, const void *buf, size_t len)
{
    struct work *w = arg;
    const char *text = buf;
    size_t over;

    if (!w->said)
        w->said = malloc(GRAPH_SAID_MAX);
    if (!w->said)
        return; /* it is only for people */
    if (len > GRAPH_SAID_MAX) {
        text += len - GRAPH_SAID_MAX;
        len = GRAPH_SAID_MAX;
    }
    over = w->said_len + len > GRAPH_SAID_MAX
               ? w->said_len + len - GRAPH_SAID_MAX
               : 0;
    memmove(w->said, w->said + over, w->said_len - over);
    memcpy(w->said + (w->said_len - over), text, len);
    w->said_len += len - over;
}

static void start_ready(struct graph_node *g);

/* The task is over. */
static void end_work(struct work *w)
{
    struct graph_node *g = w->node;

    g->core[w->task.core].running = NULL;
    g->running--;
    if (!w->dropped && !g->stopping) {
        w->done.out = (const uint8_t *)w->said;
        w->done.out_len = w->said_len;
        say_done(g, &w->done);
    }
    work_folder_end(&g->folder, w->task.id);
    free_work(w);
    if (!g->stopping)
        start_ready(g);
    else if (g->running == 0)
        g->s.idle(g->s.arg);
}

static void fail_with(struct work *w, const char *why)
{
    w->done.status = 1;
    w->said_len = 0;
    on_said(w, why, strlen(why));
}

/* Aside: a large output takes its time. */
static void take_outputs(void *arg)
{
    struct work *w = arg;

    w->taken = work_folder_take(&w->node->folder, &w->task, w->node->keep,
                                w->done.file, &w->error);
}

/* What it made is in the store. */
static void on_taken(void *arg)
{
    struct work *w = arg;
    const struct graph_task *t = &w->task;
    int rc = w->taken;

    if (rc == 0) {
        w->done.files = t->outputs;
        rc = set_here(w->node, t->makes);
        for (uint32_t i = 0; i < t->outputs; i++)
            rc |= set_here(w->node, t->output[i].number);
        if (rc < 0)
            es_no_memory(&w->error);
    }
    if (rc > 0) {
        w->done.status = 1;
        snprintf(w->done.missing, sizeof w->done.missing, "%s",
                 t->output[rc - 1].name);
    } else if (rc < 0) {
        w->done.files = 0;
        fail_with(w, w->error.what);
    }
    end_work(w);
}

static void on_end(void *arg, const struct execution_end *end)
{
    struct work *w = arg;
    struct graph_node *g = w->node;

    w->done = (struct graph_done){
        .id = w->task.id,
        .status = (uint32_t)end->status,
        .signal = (uint32_t)end->signal,
        .exec_errno = (uint32_t)end->exec_errno,
        .elapsed_ns = (uint64_t)end->elapsed_ns,
    };
    w->err = malloc(end->err_len + 1);
    if (w->err) { /* else it goes unheard: it is only for people */
        memcpy(w->err, end->err_tail, end->err_len);
        w->done.err = (const uint8_t *)w->err;
        w->done.err_len = end->err_len;
    }
    if (w->done.status == 0 && !w->dropped && !g->stopping) {
        w->done.room =
            calloc(w->task.outputs + (size_t)1, sizeof *w->done.file);
        w->done.file = w->done.room;
        if (w->done.file)
            w->aside = aside_start(g->s.base, take_outputs, on_taken, w);
        if (w->aside)
            return;
        fail_with(w, "out of memory");
    }
    end_work(w);
}

/* The environment of a task; the first two words are ours, to be freed. */
static char **task_environ(const struct graph_node *g, const char *task)
{
    char **env;
    size_t n = 0;

    while (g->s.environ[n])
        n++;
    env = calloc(n + 3, sizeof *env);
    if (!env)
        return NULL;
    memcpy(env + 2, g->s.environ, n * sizeof *env);
    if (asprintf(&env[0], "EVENSTEP_TASK=%s", task) < 0)
        env[0] = NULL;
    if (!env[0] || asprintf(&env[1], "EVENSTEP_NODE=%s", g->s.node) < 0) {
        free(env[0]);
        free(env);
        return NULL;
    }
    return env;
}

static int start_work(struct graph_node *g, struct work *w)
{
    char **env = task_environ(g, w->task.name);
    struct execution_spec spec = {
        .argv = w->task.argv, .envp = env, .throttle = g->s.throttle};
    struct es_error err = {0};
    char path[sizeof g->folder.path];
    int rc = -1;

    if (!env)
        es_no_memory(&err);
    else if (work_folder_begin(&g->folder, &w->task, path, sizeof path, &err)
             == 0) {
        spec.dir = path;
        rc = execution_start(&w->execution, g->s.base, &spec, on_said, on_end,
                             w, &err);
    }
    if (env) {
        free(env[0]);
        free(env[1]);
    }
    free(env);
    if (rc < 0)
        refuse(g, w->task.id, err.what);
    return rc;
}

/* Start the first of each core that can be. */
static void start_ready(struct graph_node *g)
{
    for (uint32_t c = 0; c < g->cores; c++) {
        struct core *core = &g->core[c];
        struct work *w;

        while (!core->running && (w = TAILQ_FIRST(&core->waiting)) != NULL
               && is_ready(g, &w->task) && !(g->s.throttle && g->running > 0)) {
            TAILQ_REMOVE(&core->waiting, w, next);
            if (start_work(g, w) < 0) {
                work_folder_end(&g->folder, w->task.id);
                free_work(w);
                continue;
            }
            core->running = w;
            g->running++;
        }
    }
}

/* --- orders --------------------------------------------------------------- */

static int make_cores(struct graph_node *g, uint32_t cores)
{
    struct core *grown = calloc(cores, sizeof *grown);

    if (!grown)
        return -1;
    for (uint32_t c = 0; c < cores; c++) {
        TAILQ_INIT(&grown[c].waiting);
        if (c >= g->cores)
            continue;
        grown[c].running = g->core[c].running;
        TAILQ_CONCAT(&grown[c].waiting, &g->core[c].waiting, next);
    }
    free(g->core);
    g->core = grown;
    g->cores = cores;
    return 0;
}

/* Most come in order, so the end is the place to begin. */
static void queue(struct core *core, struct work *w)
{
    struct work *before = TAILQ_LAST(&core->waiting, work_list);

    while (before && before->task.order > w->task.order)
        before = TAILQ_PREV(before, work_list, next);
    if (before)
        TAILQ_INSERT_AFTER(&core->waiting, before, w, next);
    else
        TAILQ_INSERT_HEAD(&core->waiting, w, next);
}

static int told_task(struct graph_node *g, const uint8_t *body, size_t len)
{
    struct work *w = calloc(1, sizeof *w);

    if (!w || graph_read_task(&w->task, body, len) < 0) {
        free(w);
        return -1;
    }
    w->node = g;
    if (w->task.core >= CORES_MAX || w->task.makes >= TOKENS_MAX
        || (w->task.core >= g->cores && make_cores(g, w->task.core + 1) < 0)) {
        free_work(w);
        return -1;
    }
    for (uint32_t i = 0; i < w->task.outputs; i++)
        if (w->task.output[i].number >= TOKENS_MAX) {
            free_work(w);
            return -1;
        }
    queue(&g->core[w->task.core], w);
    start_ready(g);
    return 0;
}

static int told_drop(struct graph_node *g, const uint8_t *body, size_t len)
{
    uint32_t id;

    if (graph_read_drop(&id, body, len) < 0)
        return -1;
    for (uint32_t c = 0; c < g->cores; c++) {
        struct work *w = g->core[c].running;

        if (w && w->task.id == id) {
            w->dropped = 1;
            if (!w->aside) /* else it has ended */
                execution_stop(w->execution);
            return 0;
        }
        TAILQ_FOREACH(w, &g->core[c].waiting, next)
        if (w->task.id == id) {
            TAILQ_REMOVE(&g->core[c].waiting, w, next);
            free_work(w);
            return 0;
        }
    }
    return 0; /* it has ended just now */
}

/* --- files ---------------------------------------------------------------- */

static int on_open(void *arg, uint32_t file)
{
    const struct graph_node *g = arg;

    return work_folder_read(&g->folder, file);
}

static void say_brought(struct graph_node *g,
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
    g->s.say(g->s.arg, GRAPH_MSG_BROUGHT, &w);
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
    if (!why && set_here(g, file) < 0)
        why = "out of memory";
    say_brought(g, file, from, elapsed_ns, why);
    LIST_REMOVE(c, next);
    free(c);
    if (!why && !g->stopping)
        start_ready(g);
}

/* NULL: it calls us. */
static const struct endpoint *endpoint_of(const struct graph_node *g,
                                          uint32_t rank)
{
    return rank == EXCHANGE_HOME ? NULL : &g->s.wireup->agent[rank];
}

static void fetch(struct graph_node *g, const struct graph_bring *m)
{
    struct coming *c = calloc(1, sizeof *c);
    char path[sizeof g->folder.path];

    if (!c) {
        say_brought(g, m->token, m->from, 0, "out of memory");
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
    say_brought(g, m->token, m->from, 0, strerror(errno));
}

static int told_bring(struct graph_node *g, const uint8_t *body, size_t len)
{
    struct graph_bring m;

    if (graph_read_bring(&m, body, len) < 0 || m.token >= TOKENS_MAX
        || (m.is_file && m.file.number != m.token)
        || (m.from >= g->s.wireup->size && m.from != EXCHANGE_HOME))
        return -1;
    if (m.is_file && !is_here(g, m.token)) {
        fetch(g, &m);
        return 0;
    }
    if (set_here(g, m.token) < 0)
        return -1;
    if (m.is_file)
        say_brought(g, m.token, m.from, 0, NULL);
    start_ready(g);
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
    struct endpoint home = {.port = (uint16_t)port};

    snprintf(home.address, sizeof home.address, "%s", g->s.home_address);
    g->exchange = exchange_create(&x);
    if (!g->exchange || exchange_call(g->exchange, EXCHANGE_HOME, &home) < 0)
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
static void say_opened(void *arg)
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
    g->s.say(g->s.arg, GRAPH_MSG_OPENED, &w);
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
    g->opening = aside_start(g->s.base, list_store, say_opened, g);
    return g->opening ? 0
                      : es_fail(&g->error, ES_ENV, "free some memory",
                                "no thread: %s", strerror(errno));
}

struct graph_node *graph_node_start(const struct graph_node_setup *setup,
                                    const struct graph_open *open)
{
    struct graph_node *g = calloc(1, sizeof *g);

    if (!g)
        return NULL;
    g->s = *setup;
    g->keep = (int)open->keep;
    g->folder = WORK_FOLDER_CLOSED;
    LIST_INIT(&g->coming);
    g->opened.cores = count_cores(g);
    work_folder_sweep(open->folder, setup->node);
    if (open_all(g, open) < 0)
        say_opened(g);
    return g;
}

int graph_node_told(struct graph_node *g,
                    enum graph_kind kind,
                    const uint8_t *body,
                    size_t len)
{
    if (!g->exchange || g->stopping)
        return kind == GRAPH_MSG_CLOSE ? 0 : -1;
    switch (kind) {
    case GRAPH_MSG_TASK:
        return told_task(g, body, len);
    case GRAPH_MSG_DROP:
        return told_drop(g, body, len);
    case GRAPH_MSG_BRING:
        return told_bring(g, body, len);
    case GRAPH_MSG_CLOSE:
        g->keep = 0;
        return len == 0 ? 0 : -1;
    default:
        return -1;
    }
}

static void drop_waiting(struct core *core)
{
    struct work *w;

    while ((w = TAILQ_FIRST(&core->waiting)) != NULL) {
        TAILQ_REMOVE(&core->waiting, w, next);
        free_work(w);
    }
}

unsigned graph_node_stop(struct graph_node *g)
{
    if (!g)
        return 0;
    g->stopping = 1;
    for (uint32_t c = 0; c < g->cores; c++) {
        drop_waiting(&g->core[c]);
        if (g->core[c].running && !g->core[c].running->aside)
            execution_stop(g->core[c].running->execution);
    }
    return g->running;
}

void graph_node_destroy(struct graph_node *g)
{
    struct coming *c;

    if (!g)
        return;
    for (uint32_t i = 0; i < g->cores; i++) {
        drop_waiting(&g->core[i]);
        if (g->core[i].running)
            free_work(g->core[i].running);
    }
    while ((c = LIST_FIRST(&g->coming)) != NULL) {
        LIST_REMOVE(c, next);
        free(c);
    }
    aside_destroy(g->opening);
    free(g->opened.room);
    mesh_set_exchange(g->s.mesh, NULL);
    exchange_destroy(g->exchange);
    work_folder_close(&g->folder, g->keep);
    free(g->core);
    free(g->here);
    free(g);
}
