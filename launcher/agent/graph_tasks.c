/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/graph_tasks.h"
#include "launcher/base/aside.h"
#include "launcher/exec/execution.h"
#include "launcher/exec/work_folder.h"
#include "launcher/probe/topology.h"
#include "pmix_bcast/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define CORES_MAX 65536u /* of a node */
#define CPUS_MAX  8192   /* as many as Linux can have, NR_CPUS of x86-64 */

#define CPUS_BYTES CPU_ALLOC_SIZE(CPUS_MAX)

/* A task that waits or runs; when it has run its outputs are taken, aside. */
struct work {
    TAILQ_ENTRY(work) next;
    struct graph_tasks *all;
    struct graph_task task;
    struct execution *execution; /* NULL: it waits */
    int dropped;
    char *said; /* the end of its stdout */
    size_t said_len;
    struct graph_done done;
    char *err; /* the end of its stderr */
    struct aside *aside;
    int taken; /* as work_folder_take() has it */
    int is_directory;
    struct es_error error;
};

TAILQ_HEAD(work_list, work);

struct core {
    struct work_list waiting; /* by order */
    struct work *running;
};

struct graph_tasks {
    struct graph_tasks_setup s;
    struct core *core;
    uint32_t cores;
    int has_wide;              /* a task of several cores has come */
    struct topology *topology; /* to bind tasks; NULL: not needed yet */
    int is_unbound;            /* there is none */
    uint8_t *here;             /* by token */
    size_t tokens;
    unsigned running;
    int stopping;
};

/* --- tokens --------------------------------------------------------------- */

int graph_tasks_holds(const struct graph_tasks *g, uint32_t token)
{
    return token < g->tokens && g->here[token];
}

int graph_tasks_hold(struct graph_tasks *g, uint32_t token)
{
    size_t before = g->tokens;
    uint8_t *grown = array_grow(g->here, &g->tokens, token + (size_t)1,
                                sizeof *grown, GRAPH_TOKENS_MAX);

    if (!grown)
        return -1;
    memset(grown + before, 0, g->tokens - before);
    g->here = grown;
    g->here[token] = 1;
    return 0;
}

static int is_ready(const struct graph_tasks *g, const struct graph_task *t)
{
    for (uint32_t i = 0; i < t->tokens; i++)
        if (!graph_tasks_holds(g, t->token[i]))
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

static void graph_send_done(struct graph_tasks *g, const struct graph_done *m)
{
    struct writer w = {0};

    graph_write_done(&w, m);
    g->s.send(g->s.arg, GRAPH_MSG_DONE, &w);
}

/* A task that cannot be started is one that failed, with the reason. */
static void refuse_task(struct graph_tasks *g, uint32_t id, const char *why)
{
    struct graph_done m = {.id = id, .status = 126};

    m.err = (const uint8_t *)why;
    m.err_len = strlen(why);
    graph_send_done(g, &m);
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

/* The task is over. */
static void end_work(struct work *w)
{
    struct graph_tasks *g = w->all;

    for (uint32_t c = 0; c < w->task.cores; c++)
        g->core[w->task.core + c].running = NULL;
    g->running--;
    if (!w->dropped && !g->stopping) {
        w->done.out = (const uint8_t *)w->said;
        w->done.out_len = w->said_len;
        graph_send_done(g, &w->done);
    }
    work_folder_end(g->s.folder, w->task.id);
    free_work(w);
    graph_tasks_start(g);
    if (g->stopping && g->running == 0)
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

    w->taken = work_folder_take(w->all->s.folder, &w->task, w->all->s.keep,
                                w->done.file, &w->error);
    if (w->taken > 0)
        w->is_directory = work_folder_has_directory(
            w->all->s.folder, w->task.id, w->task.output[w->taken - 1].name);
}

/* What it made is in the store. */
static void on_taken(void *arg)
{
    struct work *w = arg;
    const struct graph_task *t = &w->task;
    int rc = w->taken;

    if (rc == 0) {
        w->done.files = t->outputs;
        rc = graph_tasks_hold(w->all, t->makes);
        for (uint32_t i = 0; i < t->outputs; i++)
            rc |= graph_tasks_hold(w->all, t->output[i].number);
        if (rc < 0)
            es_no_memory(&w->error);
    }
    if (rc > 0) {
        w->done.status = 1;
        snprintf(w->done.missing, sizeof w->done.missing, "%s%s",
                 t->output[rc - 1].name, w->is_directory ? "/" : "");
    } else if (rc < 0) {
        w->done.files = 0;
        fail_with(w, w->error.what);
    }
    end_work(w);
}

static void on_task_end(void *arg, const struct execution_end *end)
{
    struct work *w = arg;
    struct graph_tasks *g = w->all;

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
static char **task_environ(const struct graph_tasks *g, const char *task)
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

/* The CPUs of the task's cores, to be freed; NULL: it may run on all. */
static cpu_set_t *cpus_of(struct graph_tasks *g, const struct graph_task *t)
{
    cpu_set_t *one = CPU_ALLOC(CPUS_MAX), *all = CPU_ALLOC(CPUS_MAX);
    struct es_error err;
    int bound = one && all && t->of > 0 && !g->s.throttle && !g->is_unbound;

    if (bound && !g->topology) {
        g->topology = topology_load(&err);
        g->is_unbound = !g->topology;
        bound = !g->is_unbound;
    }
    if (bound)
        CPU_ZERO_S(CPUS_BYTES, all);
    for (uint32_t i = 0; bound && i < t->cores; i++) {
        const struct topology_part part = {.i = (t->core + i) % t->of,
                                           .n = t->of};

        bound = topology_part(g->topology, &part, one, CPUS_BYTES);
        CPU_OR_S(CPUS_BYTES, all, all, one);
    }
    if (one)
        CPU_FREE(one);
    if (all && !bound) {
        CPU_FREE(all);
        all = NULL;
    }
    return all;
}

static int start_work(struct graph_tasks *g, struct work *w)
{
    cpu_set_t *cpus = cpus_of(g, &w->task);
    char **env = task_environ(g, w->task.name);
    struct execution_spec spec = {.argv = w->task.argv,
                                  .envp = env,
                                  .throttle = g->s.throttle,
                                  .cpus = cpus,
                                  .cpus_bytes = CPUS_BYTES};
    struct es_error err = {0};
    char path[sizeof g->s.folder->path];
    int rc = -1;

    if (!env)
        es_no_memory(&err);
    else if (work_folder_begin(g->s.folder, &w->task, path, sizeof path, &err)
             == 0) {
        spec.dir = path;
        rc = execution_start(&w->execution, g->s.base, &spec, on_said,
                             on_task_end, w, &err);
    }
    if (env) {
        free(env[0]);
        free(env[1]);
    }
    free(env);
    if (cpus)
        CPU_FREE(cpus);
    if (rc < 0)
        refuse_task(g, w->task.id, err.what);
    return rc;
}

/* Do they share a core? */
static int overlap(const struct work *a, const struct work *b)
{
    return a->task.core < b->task.core + b->task.cores
           && b->task.core < a->task.core + a->task.cores;
}

/* Are all cores of the task free, and does none wait for a task before it? */
static int is_its_turn(const struct graph_tasks *g, const struct work *w)
{
    for (uint32_t c = 0; c < w->task.cores; c++)
        if (g->core[w->task.core + c].running)
            return 0;
    for (uint32_t c = 0; g->has_wide && c < g->cores; c++) {
        const struct work *other = TAILQ_FIRST(&g->core[c].waiting);

        for (; other && other->task.order < w->task.order;
             other = TAILQ_NEXT(other, next))
            if (overlap(w, other))
                return 0;
    }
    return 1;
}

/* Start the first of each core that can be. */
void graph_tasks_start(struct graph_tasks *g)
{
    for (uint32_t c = 0; c < g->cores && !g->stopping; c++) {
        struct core *core = &g->core[c];
        struct work *w;

        while ((w = TAILQ_FIRST(&core->waiting)) != NULL && is_its_turn(g, w)
               && is_ready(g, &w->task) && !(g->s.throttle && g->running > 0)) {
            TAILQ_REMOVE(&core->waiting, w, next);
            if (start_work(g, w) < 0) {
                work_folder_end(g->s.folder, w->task.id);
                free_work(w);
                continue;
            }
            for (uint32_t i = 0; i < w->task.cores; i++)
                core[i].running = w;
            g->running++;
        }
    }
}

/* --- orders --------------------------------------------------------------- */

static int make_cores(struct graph_tasks *g, uint32_t cores)
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

int graph_tasks_receive(struct graph_tasks *g, const uint8_t *body, size_t len)
{
    struct work *w = calloc(1, sizeof *w);

    if (!w || graph_read_task(&w->task, body, len) < 0) {
        free(w);
        return -1;
    }
    w->all = g;
    if (w->task.core >= CORES_MAX || w->task.cores > CORES_MAX
        || w->task.makes >= GRAPH_TOKENS_MAX
        || (w->task.core + w->task.cores > g->cores
            && make_cores(g, w->task.core + w->task.cores) < 0)) {
        free_work(w);
        return -1;
    }
    g->has_wide |= w->task.cores > 1;
    for (uint32_t i = 0; i < w->task.outputs; i++)
        if (w->task.output[i].number >= GRAPH_TOKENS_MAX) {
            free_work(w);
            return -1;
        }
    queue(&g->core[w->task.core], w);
    graph_tasks_start(g);
    return 0;
}

int graph_tasks_drop(struct graph_tasks *g, const uint8_t *body, size_t len)
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

/* --- start and end -------------------------------------------------------- */

struct graph_tasks *graph_tasks_create(const struct graph_tasks_setup *setup)
{
    struct graph_tasks *g = calloc(1, sizeof *g);

    if (g)
        g->s = *setup;
    return g;
}

static void drop_waiting(struct core *core)
{
    struct work *w;

    while ((w = TAILQ_FIRST(&core->waiting)) != NULL) {
        TAILQ_REMOVE(&core->waiting, w, next);
        free_work(w);
    }
}

/* Does a task run whose first core this is? */
static int begins_on(const struct graph_tasks *g, uint32_t core)
{
    return g->core[core].running && g->core[core].running->task.core == core;
}

unsigned graph_tasks_stop(struct graph_tasks *g)
{
    if (!g)
        return 0;
    g->stopping = 1;
    for (uint32_t c = 0; c < g->cores; c++) {
        drop_waiting(&g->core[c]);
        if (begins_on(g, c) && !g->core[c].running->aside)
            execution_stop(g->core[c].running->execution);
    }
    return g->running;
}

void graph_tasks_destroy(struct graph_tasks *g)
{
    if (!g)
        return;
    for (uint32_t i = 0; i < g->cores; i++) {
        drop_waiting(&g->core[i]);
        if (begins_on(g, i))
            free_work(g->core[i].running);
    }
    topology_destroy(g->topology);
    free(g->core);
    free(g->here);
    free(g);
}
