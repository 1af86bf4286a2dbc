/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph_node.h"
#include "launcher/execution.h"
#include "launcher/work_folder.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#define CORES_MAX  65536u     /* of a node */
#define TOKENS_MAX (1u << 25) /* files and tasks of a graph; a byte each */

/* A task that waits or runs. */
struct work {
    TAILQ_ENTRY(work) next;
    struct graph_node *node;
    struct graph_task task;
    struct execution *execution; /* NULL: it waits */
    int dropped;
    char *said; /* the end of its stdout */
    size_t said_len;
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
    execution_destroy(w->execution);
    free(w->task.room);
    free(w->said);
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

/* Put what it made into the store; fills in what is to be said of that. */
static void take_outputs(struct work *w, struct graph_done *m)
{
    struct graph_node *g = w->node;
    const struct graph_task *t = &w->task;
    struct es_error err = {0};
    int rc;

    m->room = calloc(t->outputs + (size_t)1, sizeof *m->file);
    m->file = m->room;
    rc = m->file ? work_folder_take(&g->folder, t, m->file, &err)
                 : es_fail(&err, ES_ENV, "free some memory", "out of memory");
    if (rc == 0) {
        m->files = t->outputs;
        rc = set_here(g, t->makes);
        for (uint32_t i = 0; i < t->outputs; i++)
            rc |= set_here(g, t->output[i].number);
    }
    if (rc > 0) {
        m->status = 1;
        snprintf(m->missing, sizeof m->missing, "%s", t->output[rc - 1].name);
    } else if (rc < 0) {
        m->status = 1;
        m->files = 0;
        w->said_len = 0;
        on_said(w, err.what, strlen(err.what));
    }
}

static void start_ready(struct graph_node *g);

static void on_end(void *arg, const struct execution_end *end)
{
    struct work *w = arg;
    struct graph_node *g = w->node;
    struct graph_done m = {
        .id = w->task.id,
        .status = (uint32_t)end->status,
        .signal = (uint32_t)end->signal,
        .exec_errno = (uint32_t)end->exec_errno,
        .elapsed_ns = (uint64_t)end->elapsed_ns,
        .err = (const uint8_t *)end->err_tail,
        .err_len = end->err_len,
    };

    g->core[w->task.core].running = NULL;
    g->running--;
    if (!w->dropped && !g->stopping) {
        if (m.status == 0)
            take_outputs(w, &m);
        m.out = (const uint8_t *)w->said;
        m.out_len = w->said_len;
        say_done(g, &m);
        free(m.room);
    }
    work_folder_end(&g->folder, w->task.id);
    free_work(w);
    if (!g->stopping)
        start_ready(g);
    else if (g->running == 0)
        g->s.idle(g->s.arg);
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
        es_fail(&err, ES_ENV, "free some memory", "out of memory");
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

static int list_store(struct graph_node *g,
                      struct graph_opened *m,
                      struct es_error *err)
{
    if (work_folder_list(&g->folder, &m->file, &m->files, err) < 0)
        return -1;
    m->room = m->file;
    for (uint32_t i = 0; i < m->files; i++)
        if (m->file[i].number >= TOKENS_MAX
            || set_here(g, m->file[i].number) < 0)
            return es_fail(err, ES_ENV, "free some memory", "out of memory");
    return 0;
}

struct graph_node *graph_node_start(const struct graph_node_setup *setup,
                                    const struct graph_open *open)
{
    struct graph_node *g = calloc(1, sizeof *g);
    struct graph_opened m = {0};
    struct es_error err = {0};
    struct writer w = {0};

    if (!g)
        return NULL;
    g->s = *setup;
    g->keep = (int)open->keep;
    LIST_INIT(&g->coming);
    m.cores = count_cores(g);
    work_folder_sweep(open->folder, setup->node);
    if (work_folder_open(&g->folder, open->folder, open->run, setup->node, &err)
            < 0
        || (g->keep && work_folder_keep(&g->folder, &err) < 0)
        || list_store(g, &m, &err) < 0)
        snprintf(m.why, sizeof m.why, "%.500s", err.what);
    else if (open_exchange(g, open->port) < 0)
        snprintf(m.why, sizeof m.why, "no way to the front end: %s",
                 strerror(errno));
    graph_write_opened(&w, &m);
    free(m.room);
    setup->say(setup->arg, GRAPH_MSG_OPENED, &w);
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
        if (g->core[c].running)
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
    mesh_set_exchange(g->s.mesh, NULL);
    exchange_destroy(g->exchange);
    work_folder_close(&g->folder, g->keep);
    free(g->core);
    free(g->here);
    free(g);
}
