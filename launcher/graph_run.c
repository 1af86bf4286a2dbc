/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Phases: the agents come (session), they open their folders (OPENING), the
 * plan is made and run.  Each word of an agent changes the state
 * (graph_state.h), and what follows from that is sent.  After a loss the state
 * is reviewed, what has no place any more gets one, and everything that waits
 * is supplied anew.  Every end goes through finish().
 */
#include "launcher/graph_run.h"
#include "launcher/companion.h"
#include "launcher/graph_fault.h"
#include "launcher/graph_journal.h"
#include "launcher/graph_learn.h"
#include "launcher/graph_progress.h"
#include "launcher/graph_result.h"
#include "launcher/graph_state.h"
#include "launcher/notice.h"
#include "launcher/paths.h"
#include "launcher/session.h"
#include "launcher/signals.h"
#include "launcher/work_folder.h"
#include "pmix_bcast/mesh.h"
#include "policy/replan.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BRING_TRIES 8 /* of one file, before the run is given up */

enum phase { STARTING, OPENING, RUNNING, FINISHED };

/* A file of the user's: one that is taken, or a result. */
struct user_file {
    struct exchange_file file;
    uint32_t from; /* a result on its way: the node; else GRAPH_NOBODY */
};

struct graph_running {
    const struct graph_run_wish *o;
    const struct graph_file *f;
    struct es_error *err; /* of the command, filled when the run fails */
    struct event_base *base;
    struct signals signals;
    struct session *session;
    struct listener *listener;
    struct mesh *mesh;
    struct exchange *exchange;
    struct graph_work work;
    struct graph_state state;
    struct graph_journal journal;
    struct graph_progress progress;
    struct machine machine;
    struct user_file *user; /* by file */
    uint8_t *delivered;     /* by file */
    uint8_t *was_done;      /* by task: says the journal */
    uint32_t undelivered;   /* results */
    char run[GRAPH_RUN_NAME];
    uint32_t opened;
    struct schedule_sum planned;
    int64_t begin_ns;
    enum phase phase;
    int failed;
    int signal; /* that ended the run, or 0 */
    struct graph_measured measured;
    double messages_s; /* of all files on their way between nodes */
};

static int64_t now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t); /* fails for a bad id only */
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int no_memory(struct es_error *err)
{
    return es_fail(err, ES_ENV, "free some memory", "out of memory");
}

/* The end of the run, well or (with r->err filled) not. */
static void finish(struct graph_running *r, int failed)
{
    if (r->phase == FINISHED)
        return;
    r->phase = FINISHED;
    r->failed = failed;
    event_base_loopbreak(r->base);
}

static const char *node_name(const struct graph_running *r, uint32_t node)
{
    return session_node(r->session, node)->name;
}

static void say(struct graph_running *r,
                uint32_t node,
                enum graph_kind kind,
                struct writer *w)
{
    session_send(r->session, node, (enum protocol_type)(MSG_GRAPH + kind), w);
}

/* --- supplies: what a task waits for goes to its node --------------------- */

static void send_bring(struct graph_running *r,
                       uint32_t node,
                       uint32_t token,
                       uint32_t from,
                       const struct exchange_file *file)
{
    struct graph_bring m = {.token = token, .from = from};
    struct writer w = {0};

    if (file) {
        m.is_file = 1;
        m.file = *file;
        m.file.number = token;
    }
    graph_write_bring(&w, &m);
    say(r, node, GRAPH_MSG_BRING, &w);
}

/* Will the node itself have made the token when the place needs it? */
static int comes_by_itself(const struct graph_running *r,
                           const struct place *p,
                           uint32_t maker)
{
    uint32_t own = graph_state_waiting(&r->state, maker, p->node);

    return own != GRAPH_NOBODY
           && r->state.place[own].planned_finish <= p->planned_start;
}

/* See that the token is or comes to where the place is; 0, or -1 without
 * memory.  What is nowhere yet will be offered when it is. */
static int supply_one(struct graph_running *r,
                      const struct place *p,
                      uint32_t token)
{
    uint32_t maker = graph_state_maker(&r->state, token);
    struct holder h = {.node = p->node, .from = EXCHANGE_HOME};

    if (graph_state_holder(&r->state, token, p->node))
        return 0;
    if (maker == GRAPH_NOBODY) {
        h.file = r->user[token].file;
    } else if (!r->state.task[maker].done || comes_by_itself(r, p, maker)) {
        return 0;
    } else if (token >= r->work.files) {
        h.from = HOLDER_HERE;
    } else {
        const struct holder *source =
            graph_state_source(&r->state, token, p->node);

        if (!source)
            return 0;
        h.from = source->node;
        h.file = source->file;
    }
    send_bring(r, p->node, token, h.from,
               h.from == HOLDER_HERE ? NULL : &h.file);
    return graph_state_hold(&r->state, token, &h);
}

static int supply(struct graph_running *r, uint32_t place)
{
    struct place p = r->state.place[place];
    const struct task_state *t = &r->state.task[p.task];

    for (uint32_t i = 0; i < t->tokens; i++)
        if (supply_one(r, &p, t->token[i]) < 0)
            return no_memory(r->err);
    return 0;
}

/* All places that wait for a task's outputs; on one node, or GRAPH_NOBODY. */
static int supply_followers(struct graph_running *r,
                            uint32_t task,
                            uint32_t node)
{
    const struct graph *g = r->f->graph;

    for (uint32_t k = g->succ_at[task]; k < g->succ_at[task + 1]; k++) {
        uint32_t i = r->state.task[g->succ[k].task].first;

        for (; i != GRAPH_NOBODY; i = r->state.place[i].next)
            if (r->state.place[i].state == PLACE_WAITING
                && (node == GRAPH_NOBODY || r->state.place[i].node == node)
                && supply(r, i) < 0)
                return -1;
    }
    return 0;
}

/* --- places --------------------------------------------------------------- */

static struct graph_named *name_files(const struct graph_work *w,
                                      const uint32_t file[],
                                      uint32_t n)
{
    struct graph_named *named = calloc(n + (size_t)1, sizeof *named);

    for (uint32_t i = 0; named && i < n; i++)
        named[i] = (struct graph_named){file[i], w->file[file[i]].name};
    return named;
}

static int send_task(struct graph_running *r, uint32_t place)
{
    const struct place *p = &r->state.place[place];
    const struct graph_work_task *t = &r->work.task[p->task];
    const struct task_state *s = &r->state.task[p->task];
    struct graph_task m = {
        .id = place,
        .core = p->core,
        .order = r->f->graph->rank[p->task],
        .makes = graph_state_task_token(&r->state, p->task),
        .argv = t->argv,
        .token = s->token,
        .tokens = s->tokens,
        .input = name_files(&r->work, t->input, t->inputs),
        .output = name_files(&r->work, t->output, t->outputs),
        .inputs = t->inputs,
        .outputs = t->outputs,
    };
    struct writer w = {0};
    int rc = m.input && m.output ? 0 : no_memory(r->err);

    snprintf(m.name, sizeof m.name, "%s", t->name);
    if (rc == 0)
        graph_write_task(&w, &m);
    if (rc == 0 && w.len > MESSAGE_BODY_MAX)
        rc = es_fail(r->err, ES_USAGE, "put the command into a script",
                     "task \"%s\" is over 8 MiB", t->name);
    if (rc == 0)
        say(r, p->node, GRAPH_MSG_TASK, &w);
    else
        writer_clear(&w);
    free(m.input);
    free(m.output);
    return rc;
}

/* Add a place, and tell its node. */
static int add_place(struct graph_running *r, const struct place *p)
{
    uint32_t i = graph_state_add(&r->state, p);

    if (i == GRAPH_NOBODY)
        return no_memory(r->err);
    return send_task(r, i) < 0 || supply(r, i) < 0 ? -1 : 0;
}

/* --- after a loss --------------------------------------------------------- */

/* Where what a task has made is; at least one node, as a plan needs it. */
static void add_done(const struct graph_running *r,
                     uint32_t v,
                     struct instance x[],
                     uint32_t *n)
{
    const struct graph_work_task *t = &r->work.task[v];
    const struct token_state *file =
        t->outputs ? &r->state.token[t->output[0]] : NULL;
    uint32_t before = *n, node = 0;

    for (uint32_t i = 0; file && i < file->holders; i++)
        if (file->holder[i].from == HOLDER_HERE)
            x[(*n)++] = (struct instance){v, file->holder[i].node, 0, 0, 0};
    while (!r->state.usable[node])
        node++; /* there is one, else we were not here */
    if (*n == before)
        x[(*n)++] = (struct instance){v, node, 0, 0, 0};
}

/* What is known of where tasks are: those done, and those that wait. */
static struct instance *list_instances(const struct graph_running *r,
                                       uint32_t *n)
{
    const struct graph_state *s = &r->state;
    size_t room = s->waiting + 2 * (size_t)s->graph->tasks;
    struct instance *x;

    for (uint32_t i = 0; i < r->work.files; i++)
        room += s->token[i].holders;
    x = calloc(room, sizeof *x);
    *n = 0;
    for (uint32_t v = 0; x && v < s->graph->tasks; v++)
        if (s->task[v].done)
            add_done(r, v, x, n);
    for (uint32_t i = 0; x && i < s->places; i++) {
        const struct place *p = &s->place[i];

        if (p->state == PLACE_WAITING && !s->task[p->task].done)
            x[(*n)++] = (struct instance){p->task, p->node, p->core, 0, 0};
    }
    return x;
}

static int place_anew(struct graph_running *r,
                      const struct instance x[],
                      uint32_t n)
{
    int64_t now = now_ns() - r->begin_ns;

    for (uint32_t i = 0; i < n; i++) {
        struct place p = {.task = x[i].task,
                          .node = x[i].processor,
                          .core = x[i].core,
                          .planned_start = now + x[i].start,
                          .planned_finish = now + x[i].finish};

        if (!r->state.task[p.task].done
            && graph_state_waiting(&r->state, p.task, GRAPH_NOBODY)
                   == GRAPH_NOBODY
            && add_place(r, &p) < 0)
            return -1;
    }
    return 0;
}

/* The nodes that the plan was allowed to use; if none of them is left, all. */
static uint8_t *list_usable(const struct graph_running *r)
{
    uint32_t nodes = r->state.nodes, left = 0;
    uint8_t *usable = calloc(nodes, 1);

    for (uint32_t i = 0; usable && i < r->machine.processors; i++) {
        usable[i] = r->state.usable[i];
        left += usable[i];
    }
    if (usable && left == 0)
        memcpy(usable, r->state.usable, nodes);
    return usable;
}

/* Find places for the tasks that have none. */
static int replan(struct graph_running *r)
{
    const struct graph_state *s = &r->state;
    uint32_t tasks = s->graph->tasks, n;
    struct instance *x = list_instances(r, &n);
    struct machine all = r->machine;
    uint8_t *done = calloc(tasks, 1), *usable = list_usable(r);
    uint32_t *barred = calloc(tasks, sizeof *barred);
    int64_t makespan = 0;
    int rc = -1;

    for (uint32_t v = 0; done && barred && v < tasks; v++) {
        done[v] = s->task[v].done;
        barred[v] = s->task[v].barred;
    }
    all.processors = s->nodes;
    if (!x || !done || !usable || !barred
        || replan_place(s->graph, &all, done, usable, barred, x, &n, &makespan)
               < 0)
        (void)no_memory(r->err);
    else
        rc = place_anew(r, x, n);
    free(x);
    free(done);
    free(usable);
    free(barred);
    return rc;
}

static void deliver_all(struct graph_running *r);

/* Something is gone: see what must be done again, and by whom. */
static void recover(struct graph_running *r)
{
    const struct graph_state *s = &r->state;
    uint32_t homeless = 0;

    graph_state_review(&r->state, r->delivered);
    for (uint32_t v = 0; v < s->graph->tasks; v++)
        homeless += !s->task[v].done
                    && graph_state_waiting(s, v, GRAPH_NOBODY) == GRAPH_NOBODY;
    if (homeless > 0 && replan(r) < 0) {
        finish(r, 1);
        return;
    }
    for (uint32_t i = 0; i < s->places; i++)
        if (s->place[i].state == PLACE_WAITING && supply(r, i) < 0) {
            finish(r, 1);
            return;
        }
    deliver_all(r);
}

/* A file could not be brought from a node: it is not there, or no way. */
static void bring_failed(struct graph_running *r,
                         uint32_t token,
                         uint32_t from,
                         const char *to,
                         const char *why)
{
    const char *name = r->work.file[token].name;

    if (++r->state.token[token].fails >= BRING_TRIES) {
        finish(r, es_fail(r->err, ES_WORK, "see that node, or leave it out",
                          "%s: cannot get %s: %s", to, name, why));
        return;
    }
    notice("%s: cannot get %s: %s: trying again", to, name, why);
    if (from != EXCHANGE_HOME && r->state.token[token].fails > 1)
        graph_state_let_go(&r->state, token, from);
    recover(r);
}

/* --- results -------------------------------------------------------------- */

static void check_end(struct graph_running *r)
{
    if (r->state.tasks_done == r->f->graph->tasks && r->state.waiting == 0
        && r->undelivered == 0)
        finish(r, 0);
}

static int is_result(const struct graph_running *r, uint32_t file)
{
    return r->work.file[file].takers == 0;
}

static void deliver(struct graph_running *r, uint32_t file)
{
    const struct holder *h = graph_state_source(&r->state, file, GRAPH_NOBODY);
    struct exchange_file wanted;
    char path[GRAPH_NAME_MAX + 2];
    uint32_t from;

    if (!h || r->delivered[file] || r->user[file].from != GRAPH_NOBODY)
        return;
    from = h->node;
    wanted = h->file;
    wanted.number = file;
    r->user[file].from = from;
    snprintf(path, sizeof path, "./%s", r->work.file[file].name);
    if (work_folder_make_way(AT_FDCWD, path) < 0
        || exchange_fetch(r->exchange, from, NULL, &wanted, path) < 0)
        finish(r, es_fail(r->err, ES_WORK, "go to a folder that you may write",
                          "%s: %s", r->work.file[file].name, strerror(errno)));
}

static void deliver_all(struct graph_running *r)
{
    for (uint32_t i = 0; i < r->work.files; i++)
        if (is_result(r, i) && r->phase == RUNNING)
            deliver(r, i);
}

static int on_open(void *arg, uint32_t file)
{
    const struct graph_running *r = arg;

    if (file >= r->work.files || r->work.file[file].maker != GRAPH_NOBODY) {
        errno = EPERM;
        return -1;
    }
    return open(r->work.file[file].name, O_RDONLY | O_CLOEXEC);
}

static void on_fetched(void *arg,
                       uint32_t from,
                       uint32_t file,
                       int64_t elapsed_ns,
                       const char *why)
{
    struct graph_running *r = arg;

    (void)elapsed_ns; /* no part of the plan */
    if (r->phase != RUNNING || r->user[file].from != from)
        return;
    r->user[file].from = GRAPH_NOBODY;
    if (why) {
        bring_failed(r, file, from, "front end", why);
        return;
    }
    r->delivered[file] = 1;
    r->undelivered--;
    if (graph_journal_delivered(&r->journal, &r->work, file, r->err) < 0)
        finish(r, 1);
    else
        check_end(r);
}

/* --- what the nodes say --------------------------------------------------- */

static void show_said(struct graph_running *r,
                      const struct place *p,
                      const struct graph_done *m)
{
    char name[NODE_NAME_MAX + GRAPH_TEXT_MAX];

    snprintf(name, sizeof name, "%s: %s", node_name(r, p->node),
             r->work.task[p->task].name);
    if (m->out_len + m->err_len > 0)
        graph_progress_stop(&r->progress);
    if (m->out_len > 0)
        notice_lines(name, (const char *)m->out, m->out_len);
    if (m->err_len > 0)
        notice_lines(name, (const char *)m->err, m->err_len);
}

static int hold_outputs(struct graph_running *r,
                        uint32_t node,
                        uint32_t task,
                        const struct graph_done *m)
{
    const struct graph_work_task *t = &r->work.task[task];
    struct holder h = {.node = node, .from = HOLDER_HERE};

    for (uint32_t i = 0; i < t->outputs; i++) {
        h.file = m->file[i];
        r->measured.bytes[t->output[i]] = h.file.bytes;
        if (graph_state_hold(&r->state, t->output[i], &h) < 0)
            return -1;
    }
    return graph_state_hold(&r->state, graph_state_task_token(&r->state, task),
                            &h);
}

static void place_done(struct graph_running *r,
                       uint32_t place,
                       const struct graph_done *m)
{
    struct place *p = &r->state.place[place];
    uint32_t v = p->task, node = p->node;

    graph_state_end(&r->state, place, PLACE_DONE);
    p->finish = now_ns() - r->begin_ns;
    p->start = p->finish - (int64_t)m->elapsed_ns;
    if (hold_outputs(r, node, v, m) < 0) {
        finish(r, no_memory(r->err));
        return;
    }
    if (!r->state.task[v].done) {
        r->state.task[v].done = 1;
        r->state.tasks_done++;
        if (graph_journal_done(&r->journal, &r->work, v,
                               (double)m->elapsed_ns / GRAPH_NS_PER_S, r->err)
                < 0
            || supply_followers(r, v, GRAPH_NOBODY) < 0) {
            finish(r, 1);
            return;
        }
        graph_progress_task(&r->progress, r->state.tasks_done,
                            now_ns() - r->begin_ns);
    }
    for (uint32_t i = 0; i < r->work.task[v].outputs; i++)
        if (is_result(r, r->work.task[v].output[i]) && r->phase == RUNNING)
            deliver(r, r->work.task[v].output[i]);
    check_end(r);
}

/* What a task has failed of, in words. */
static void say_how(const struct graph_done *m, char *how, size_t size)
{
    if (m->missing[0])
        snprintf(how, size, "has not made its output %.200s", m->missing);
    else if (m->exec_errno)
        snprintf(how, size, "could not be started: %s",
                 strerror((int)m->exec_errno));
    else if (m->signal)
        snprintf(how, size, "was killed by signal %u (%s)", m->signal,
                 strsignal((int)m->signal));
    else
        snprintf(how, size, "exited with status %u", m->status);
}

/* Once more on its node, unless its command is not there; then elsewhere. */
static void try_again(struct graph_running *r,
                      uint32_t place,
                      const struct graph_done *m)
{
    struct place again = r->state.place[place];
    struct task_state *t = &r->state.task[again.task];

    if (t->fails == 1 && !m->exec_errno) {
        int64_t took = again.planned_finish - again.planned_start;

        again.planned_start = now_ns() - r->begin_ns;
        again.planned_finish = again.planned_start + took;
        if (add_place(r, &again) < 0)
            finish(r, 1);
        return;
    }
    t->barred = again.node;
    recover(r);
}

static void place_failed(struct graph_running *r,
                         uint32_t place,
                         const struct graph_done *m)
{
    struct place p = r->state.place[place];
    struct task_state *t = &r->state.task[p.task];
    const char *name = r->work.task[p.task].name;
    char how[GRAPH_NAME_MAX];

    graph_state_end(&r->state, place, PLACE_GONE);
    say_how(m, how, sizeof how);
    t->fails++;
    if (t->done
        || graph_state_waiting(&r->state, p.task, GRAPH_NOBODY)
               != GRAPH_NOBODY) {
        notice("%s: task \"%s\" %s: its copy elsewhere will do",
               node_name(r, p.node), name, how);
        if (supply_followers(r, p.task, p.node) < 0)
            finish(r, 1);
        check_end(r);
        return;
    }
    if (t->fails > r->o->retries) {
        graph_progress_stop(&r->progress);
        finish(r, es_fail(r->err, ES_WORK,
                          m->err_len > 0 ? "see its last words above"
                                         : "it printed nothing on stderr",
                          "%s: task \"%.100s\" %.300s", node_name(r, p.node),
                          name, how));
        return;
    }
    notice("%s: task \"%s\" %s: trying again", node_name(r, p.node), name, how);
    try_again(r, place, m);
}

/* Are the outputs those that the task was to make? */
static int outputs_are_right(const struct graph_running *r,
                             uint32_t task,
                             const struct graph_done *m)
{
    const struct graph_work_task *t = &r->work.task[task];

    if (m->files != t->outputs)
        return 0;
    for (uint32_t i = 0; i < m->files; i++)
        if (m->file[i].number != t->output[i])
            return 0;
    return 1;
}

static void on_done(struct graph_running *r,
                    uint32_t node,
                    const struct graph_done *m)
{
    const struct place *p =
        m->id < r->state.places ? &r->state.place[m->id] : NULL;

    if (!p || p->node != node
        || (m->status == 0 && !outputs_are_right(r, p->task, m))) {
        session_drop(r->session, node);
        return;
    }
    if (p->state != PLACE_WAITING)
        return;
    show_said(r, p, m);
    if (m->status == 0)
        place_done(r, m->id, m);
    else
        place_failed(r, m->id, m);
}

static void on_brought(struct graph_running *r,
                       uint32_t node,
                       const struct graph_brought *m)
{
    struct holder *h = m->token < r->work.files
                           ? graph_state_holder(&r->state, m->token, node)
                           : NULL;

    if (!h || h->from != m->from)
        return; /* of an order that does not count any more */
    if (m->why[0]) {
        graph_state_let_go(&r->state, m->token, node);
        bring_failed(r, m->token, m->from, node_name(r, node), m->why);
        return;
    }
    h->from = HOLDER_HERE;
    r->measured.sent[m->token] = (double)m->elapsed_ns / GRAPH_NS_PER_S;
    r->messages_s += r->measured.sent[m->token];
}

/* --- the plan ------------------------------------------------------------- */

static int make_plan(struct graph_running *r, struct graph_plan *p)
{
    struct graph_plan_wish wish = r->o->plan;
    enum graph_plan_fault fault;

    wish.machine = r->machine;
    fault = graph_plan_init(p, r->f->graph, &wish);
    if (fault != GRAPH_PLAN_SOUND)
        return graph_fault_tell(fault, &wish, r->err);
    r->planned = p->candidate[p->chosen].sum;
    if (p->deadline_met)
        return 0;
    es_fail(r->err, ES_WORK, "give more time, nodes or cores",
            "the deadline of %g s cannot be met on %u nodes of %u cores: the "
            "fastest plan takes %g s",
            (double)p->deadline / GRAPH_NS_PER_S, r->machine.processors,
            r->machine.cores, (double)r->planned.makespan / GRAPH_NS_PER_S);
    graph_plan_clear(p);
    return -1;
}

/* What starts first is supplied first. */
static int by_start(const void *a, const void *b)
{
    const struct instance *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->processor != y->processor)
        return x->processor < y->processor ? -1 : 1;
    return x->core < y->core ? -1 : x->core > y->core;
}

static int place_plan(struct graph_running *r, const struct graph_plan *p)
{
    qsort(p->instance, p->instances, sizeof *p->instance, by_start);
    for (uint32_t i = 0; i < p->instances; i++) {
        const struct instance *x = &p->instance[i];
        struct place place = {.task = x->task,
                              .node = x->processor,
                              .core = x->core,
                              .planned_start = x->start,
                              .planned_finish = x->finish};

        if (r->state.usable[place.node] && !r->state.task[x->task].done
            && graph_state_add(&r->state, &place) == GRAPH_NOBODY)
            return no_memory(r->err);
    }
    for (uint32_t i = 0; i < r->state.places; i++)
        if (send_task(r, i) < 0)
            return -1;
    return 0;
}

static int begin_run(struct graph_running *r)
{
    struct graph_plan plan;
    int rc;

    if (r->machine.cores == 0)
        return es_fail(r->err, ES_ENV, "see the lines above",
                       "no node can take part");
    if (make_plan(r, &plan) < 0)
        return -1;
    graph_state_review(&r->state, r->delivered);
    r->phase = RUNNING;
    r->begin_ns = now_ns();
    graph_progress_start(&r->progress, r->f->graph->tasks, r->planned.makespan);
    if (r->state.tasks_done > 0)
        notice("%u of %u tasks are done already", r->state.tasks_done,
               r->f->graph->tasks);
    rc = place_plan(r, &plan);
    graph_plan_clear(&plan);
    if (rc == 0)
        recover(r); /* gives everybody what is there */
    return rc;
}

/* --- the folders ---------------------------------------------------------- */

/* What a node has from a run before counts if its task was done. */
static int take_store(struct graph_running *r,
                      uint32_t node,
                      const struct graph_opened *m)
{
    for (uint32_t i = 0; i < m->files; i++) {
        struct holder h = {
            .node = node, .from = HOLDER_HERE, .file = m->file[i]};

        if (m->file[i].number < r->work.files
            && graph_state_hold(&r->state, m->file[i].number, &h) < 0)
            return no_memory(r->err);
    }
    return 0;
}

static void all_opened(struct graph_running *r)
{
    if (r->opened < r->state.nodes || r->phase != OPENING)
        return;
    for (uint32_t v = 0; v < r->f->graph->tasks; v++) {
        r->state.task[v].done = r->was_done[v];
        r->state.tasks_done += r->was_done[v];
    }
    if (begin_run(r) < 0)
        finish(r, 1);
    else
        check_end(r);
}

static void on_opened(struct graph_running *r,
                      uint32_t node,
                      const struct graph_opened *m)
{
    uint32_t *cores = &r->machine.cores;

    r->opened++;
    if (m->why[0]) {
        finish(r, es_fail(r->err, ES_WORK, "see --work", "%s: %s",
                          node_name(r, node), m->why));
        return;
    }
    if (r->o->plan.machine.cores == 0 && (*cores == 0 || m->cores < *cores))
        *cores = m->cores;
    if (take_store(r, node, m) < 0)
        finish(r, 1);
    else
        all_opened(r);
}

/* --- the session ---------------------------------------------------------- */

static void on_message(
    void *arg, size_t from, uint16_t type, const uint8_t *body, size_t len)
{
    struct graph_running *r = arg;
    uint32_t node = (uint32_t)from;
    struct graph_opened opened;
    struct graph_brought brought;
    struct graph_done done;
    int good = 1;

    if (r->phase == FINISHED)
        return;
    if (type == MSG_GRAPH + GRAPH_MSG_OPENED && r->phase == OPENING) {
        good = graph_read_opened(&opened, body, len) == 0;
        if (good)
            on_opened(r, node, &opened);
        free(opened.room);
    } else if (type == MSG_GRAPH + GRAPH_MSG_DONE && r->phase == RUNNING) {
        good = graph_read_done(&done, body, len) == 0;
        if (good)
            on_done(r, node, &done);
        free(done.room);
    } else if (type == MSG_GRAPH + GRAPH_MSG_BROUGHT && r->phase == RUNNING) {
        good = graph_read_brought(&brought, body, len) == 0;
        if (good)
            on_brought(r, node, &brought);
    }
    if (!good)
        session_drop(r->session, node);
}

static void on_lost(void *arg, size_t lost, const char *why)
{
    struct graph_running *r = arg;
    uint32_t node = (uint32_t)lost, left = 0;

    if (r->phase == FINISHED)
        return;
    graph_progress_stop(&r->progress);
    notice("%s is lost (%s): the other nodes do its part", node_name(r, node),
           why);
    exchange_forget(r->exchange, node);
    graph_state_lose(&r->state, node);
    for (uint32_t i = 0; i < r->work.files; i++)
        if (r->user[i].from == node)
            r->user[i].from = GRAPH_NOBODY;
    for (uint32_t i = 0; i < r->state.nodes; i++)
        left += r->state.usable[i];
    if (left == 0) {
        finish(r, es_fail(r->err, ES_WORK, "see why in the lines above",
                          "all nodes are lost"));
    } else if (r->phase == RUNNING) {
        recover(r);
        check_end(r);
    } else {
        finish(r, es_fail(r->err, ES_ENV, "start it again",
                          "%s was lost before the start", node_name(r, node)));
    }
}

static int open_exchange(struct graph_running *r)
{
    struct exchange_setup x = {.base = r->base,
                               .secret = session_secret(r->session),
                               .self = EXCHANGE_HOME,
                               .open = on_open,
                               .fetched = on_fetched,
                               .arg = r};

    r->mesh = mesh_create(r->base, session_secret(r->session));
    r->exchange = exchange_create(&x);
    if (!r->mesh || !r->exchange)
        return no_memory(r->err);
    mesh_set_exchange(r->mesh, r->exchange);
    return listener_open(&r->listener, r->base, session_ports(r->session),
                         session_is_local(r->session), mesh_take, r->mesh,
                         r->err);
}

static int send_open(struct graph_running *r)
{
    const char *folder = r->o->work ? r->o->work : getenv("TMPDIR");
    struct graph_open m = {.port = listener_port(r->listener),
                           .keep = r->o->journal != NULL};

    snprintf(m.folder, sizeof m.folder, "%s",
             folder && *folder ? folder : "/tmp");
    snprintf(m.run, sizeof m.run, "%s", r->run);
    if (m.folder[0] != '/')
        return es_fail(r->err, ES_USAGE, "give a whole path",
                       "--work: \"%s\" is not the same everywhere", m.folder);
    for (uint32_t i = 0; i < r->state.nodes; i++) {
        struct writer w = {0};

        graph_write_open(&w, &m);
        say(r, i, GRAPH_MSG_OPEN, &w);
    }
    return 0;
}

static void on_ready(void *arg)
{
    struct graph_running *r = arg;
    uint32_t nodes = (uint32_t)session_size(r->session);
    uint32_t most = r->o->plan.machine.processors;

    r->phase = OPENING;
    r->machine = r->o->plan.machine;
    r->machine.processors = most > 0 && most < nodes ? most : nodes;
    if (graph_state_init(&r->state, r->f->graph, &r->work, nodes) < 0) {
        finish(r, no_memory(r->err));
        return;
    }
    if (open_exchange(r) < 0 || send_open(r) < 0)
        finish(r, 1);
}

static void on_failed(void *arg, const struct es_error *err)
{
    struct graph_running *r = arg;

    *r->err = *err;
    finish(r, 1);
}

static const struct session_events session_events = {
    .ready = on_ready,
    .message = on_message,
    .lost = on_lost,
    .failed = on_failed,
};

static void on_signal(void *arg, int number)
{
    struct graph_running *r = arg;

    if (r->phase == FINISHED)
        return; /* it is ending, and what ended it is to be told */
    r->signal = number;
    finish(r, es_fail(r->err, ES_WORK, "nothing is left running", "%s",
                      strsignal(number)));
}

/* --- start ---------------------------------------------------------------- */

static int open_session(struct graph_running *r)
{
    struct session_setup setup = {
        .local = r->o->local->n,
        .local_speed = r->o->local->has_speeds ? r->o->local->speed : NULL,
        .place.srun_args = r->o->srun,
    };
    char agent[4096];

    if (!setup.local && companion_job_from_environ() == 0)
        return es_fail(r->err, ES_ENV,
                       "run it inside salloc or sbatch, or give --local N",
                       "no allocation");
    if (path_of_agent(agent, sizeof agent, r->o->config->agent_path, r->err)
        < 0)
        return -1;
    setup.agent_path = agent;
    setup.ports = r->o->config->bcast.ports;
    return session_open(&r->session, r->base, &setup, &session_events, r,
                        r->err);
}

/* The user's own files must be there; those of results are to come. */
static int look_at_files(struct graph_running *r)
{
    struct stat st;

    for (uint32_t i = 0; i < r->work.files; i++) {
        const struct graph_work_file *f = &r->work.file[i];
        const char *why = NULL;

        r->user[i].from = GRAPH_NOBODY;
        r->undelivered += f->takers == 0 && !r->delivered[i];
        if (f->maker != GRAPH_NOBODY)
            continue;
        if (stat(f->name, &st) < 0 || access(f->name, R_OK) < 0)
            why = strerror(errno);
        else if (!S_ISREG(st.st_mode))
            why = "is no file";
        if (why)
            return es_fail(r->err, ES_USAGE,
                           "no task makes it: start where it is",
                           "input %s: %s", f->name, why);
        r->user[i].file =
            (struct exchange_file){i, st.st_mode & 07777, (uint64_t)st.st_size};
        r->measured.bytes[i] = (uint64_t)st.st_size;
    }
    return 0;
}

static void journal_done(void *arg, uint32_t task, double seconds)
{
    struct graph_running *r = arg;

    r->was_done[task] = 1;
    r->measured.seconds[task] = seconds;
}

/* A result that has been taken away since is to be delivered again. */
static void journal_delivered(void *arg, uint32_t file)
{
    struct graph_running *r = arg;

    r->delivered[file] = access(r->work.file[file].name, F_OK) == 0;
}

static int read_work(struct graph_running *r)
{
    const struct graph_journal_events events = {journal_done, journal_delivered,
                                                r};
    uint32_t tasks = r->f->graph->tasks;

    if (graph_work_read(&r->work, r->o->graph, r->f, r->err) < 0)
        return -1;
    r->user = calloc(r->work.files + (size_t)1, sizeof *r->user);
    r->delivered = calloc(r->work.files + (size_t)1, 1);
    r->was_done = calloc(tasks, 1);
    if (!r->user || !r->delivered || !r->was_done
        || graph_measured_init(&r->measured, tasks, r->work.files) < 0)
        return no_memory(r->err);
    snprintf(r->run, sizeof r->run, "%08x%08x", randombytes_random(),
             randombytes_random());
    if (graph_journal_open(&r->journal, r->o->journal, r->o->resume, &r->work,
                           r->run, &events, r->err)
        < 0)
        return -1;
    return look_at_files(r);
}

static int start(struct graph_running *r)
{
    r->base = event_base_new();
    if (!r->base || signals_catch(&r->signals, r->base, on_signal, r) < 0)
        return es_fail(r->err, ES_ENV, "free some memory", "no event loop");
    if (read_work(r) < 0)
        return -1;
    return open_session(r);
}

/* --- the end -------------------------------------------------------------- */

static int tell(struct graph_running *r)
{
    struct graph_result result = {.f = r->f,
                                  .state = &r->state,
                                  .machine = &r->machine,
                                  .planned = &r->planned,
                                  .session = r->session,
                                  .messages_s = r->messages_s};

    graph_progress_stop(&r->progress);
    if (graph_result_print(stdout, &result, r->o->json) < 0
        || fflush(stdout) != 0)
        return es_fail(r->err, ES_WORK, "free some space", "cannot write");
    if (!r->o->learn)
        return 0;
    graph_measured_tasks(&r->measured, &r->state);
    return graph_learn(r->o->graph, &r->work, &r->measured, r->err);
}

/* The folders on the nodes are not needed any more. */
static void send_close(struct graph_running *r)
{
    for (uint32_t i = 0; i < r->state.nodes; i++) {
        struct writer w = {0};

        say(r, i, GRAPH_MSG_CLOSE, &w);
    }
}

static void clear(struct graph_running *r)
{
    if (r->mesh)
        mesh_set_exchange(r->mesh, NULL);
    exchange_destroy(r->exchange);
    session_close(r->session);
    listener_close(r->listener);
    mesh_destroy(r->mesh);
    graph_journal_close(&r->journal);
    graph_state_clear(&r->state);
    graph_work_clear(&r->work);
    free(r->user);
    free(r->delivered);
    free(r->was_done);
    graph_measured_clear(&r->measured);
    signals_release(&r->signals);
    if (r->base)
        event_base_free(r->base);
}

int graph_run(const struct graph_run_wish *wish,
              const struct graph_file *f,
              struct es_error *err)
{
    struct graph_running *r = calloc(1, sizeof *r);
    int rc, number;

    if (!r)
        return no_memory(err);
    r->o = wish;
    r->f = f;
    r->err = err;
    r->failed = start(r) < 0;
    if (!r->failed && event_base_dispatch(r->base) < 0)
        r->failed = es_fail(err, ES_ENV, "report this", "no event loop") < 0;
    rc = r->failed ? -1 : tell(r);
    graph_progress_stop(&r->progress);
    if (rc == 0)
        send_close(r);
    else if (wish->journal && r->state.tasks_done > 0)
        notice("%u of %u tasks are done: go on with --resume",
               r->state.tasks_done, f->graph->tasks);
    number = r->signal;
    clear(r);
    free(r);
    if (number)
        signals_die(number, err);
    return rc;
}
