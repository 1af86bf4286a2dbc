/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_feedback.h"
#include "launcher/base/notice.h"
#include "launcher/graph/graph_recover.h"
#include "launcher/graph/graph_stage_in.h"
#include "launcher/graph/graph_stage_out.h"

#include <stdio.h>
#include <string.h>

#define BRING_TRIES 8   /* of one file, before the run is given up */
#define TIMED_OUT   124 /* the exit status of timeout(1) */

/* --- tasks ---------------------------------------------------------------- */

static void show_said(struct graph_running *r,
                      const struct place *p,
                      const struct graph_done *m)
{
    char name[NODE_NAME_MAX + GRAPH_TEXT_MAX];

    snprintf(name, sizeof name, "%s: %s", graph_node_name(r, p->node),
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
    p->finish = graph_running_ns(r);
    p->start = p->finish - (int64_t)m->elapsed_ns;
    if (hold_outputs(r, node, v, m) < 0) {
        graph_finish(r, es_no_memory(r->err));
        return;
    }
    if (!r->state.task[v].done) {
        r->state.task[v].done = 1;
        r->state.tasks_done++;
        for (uint32_t i = 0; i < m->files; i++)
            r->made[m->file[i].number] = m->file[i];
        if (graph_journal_done(&r->journal, &r->work, v,
                               (double)m->elapsed_ns / GRAPH_NS_PER_S, m->file,
                               r->err)
                < 0
            || graph_stage_in_followers(r, v, GRAPH_NOBODY) < 0) {
            graph_finish(r, 1);
            return;
        }
        graph_progress_task(&r->progress, r->state.tasks_done,
                            graph_running_ns(r));
    }
    for (uint32_t i = 0; i < r->work.task[v].outputs; i++)
        if (graph_is_result(r, r->work.task[v].output[i])
            && r->phase == RUNNING)
            graph_stage_out(r, r->work.task[v].output[i]);
    graph_check_end(r);
}

/* An output whose name ends like this is a directory. */
static int is_directory(const char *missing)
{
    size_t len = strlen(missing);

    return len > 0 && missing[len - 1] == '/';
}

/* Say in words why a task failed. */
static void say_how(const struct graph_work_task *t,
                    const struct graph_done *m,
                    char *how,
                    size_t size)
{
    if (is_directory(m->missing))
        snprintf(how, size, "has made a directory of its output %.*s",
                 (int)strlen(m->missing) - 1, m->missing);
    else if (t->timeout > 0 && m->status == TIMED_OUT)
        snprintf(how, size, "was stopped after its timeout of %g s",
                 t->timeout);
    else if (m->missing[0])
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

/* Try the task once more on its node, unless its command is missing there; then
 * elsewhere. */
static void try_again(struct graph_running *r,
                      uint32_t place,
                      const struct graph_done *m)
{
    struct place again = r->state.place[place];
    struct task_state *t = &r->state.task[again.task];

    if (t->fails == 1 && !m->exec_errno) {
        int64_t took = again.planned_finish - again.planned_start;

        again.planned_start = graph_running_ns(r);
        again.planned_finish = again.planned_start + took;
        if (graph_add_place(r, &again) < 0)
            graph_finish(r, 1);
        return;
    }
    t->excluded = again.node;
    graph_recover(r);
}

static void place_failed(struct graph_running *r,
                         uint32_t place,
                         const struct graph_done *m)
{
    struct place p = r->state.place[place];
    struct task_state *t = &r->state.task[p.task];
    const struct graph_work_task *w = &r->work.task[p.task];
    const uint64_t retries =
        w->retries < 0 ? r->o->retries : (uint64_t)w->retries;
    const char *name = w->name;
    char how[GRAPH_NAME_MAX];

    graph_state_end(&r->state, place, PLACE_GONE);
    say_how(w, m, how, sizeof how);
    t->fails++;
    if (t->done
        || graph_state_waiting(&r->state, p.task, GRAPH_NOBODY)
               != GRAPH_NOBODY) {
        notice("%s: task \"%s\" %s: a copy of it is elsewhere",
               graph_node_name(r, p.node), name, how);
        if (graph_stage_in_followers(r, p.task, p.node) < 0)
            graph_finish(r, 1);
        graph_check_end(r);
        return;
    }
    if (is_directory(m->missing)) { /* so it would be again */
        graph_progress_stop(&r->progress);
        graph_finish(r, es_fail(r->err, ES_WORK,
                                "let it make one file of it, for example by "
                                "tar",
                                "%s: task \"%.100s\" %.300s",
                                graph_node_name(r, p.node), name, how));
        return;
    }
    if (t->fails > retries) {
        graph_progress_stop(&r->progress);
        graph_finish(r, es_fail(r->err, ES_WORK,
                                m->err_len > 0 ? "see its last words above"
                                               : "it printed nothing on stderr",
                                "%s: task \"%.100s\" %.300s",
                                graph_node_name(r, p.node), name, how));
        return;
    }
    notice("%s: task \"%s\" %s: trying again", graph_node_name(r, p.node), name,
           how);
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

void graph_feedback_done(struct graph_running *r,
                         uint32_t node,
                         const struct graph_done *m)
{
    const struct place *p =
        m->id < r->state.places ? &r->state.place[m->id] : NULL;

    if (!p || p->node != node
        || (m->status == 0 && !outputs_are_right(r, p->task, m))) {
        session_drop(r->front.session, node);
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

/* --- files ---------------------------------------------------------------- */

/* A file could not be brought from a node: it is not there, or no way. */
static void bring_failed(struct graph_running *r,
                         uint32_t token,
                         uint32_t from,
                         const char *to,
                         const char *why)
{
    const char *name = r->work.file[token].name;

    if (++r->state.token[token].fails >= BRING_TRIES) {
        graph_finish(r,
                     es_fail(r->err, ES_WORK, "see that node, or leave it out",
                             "%s: cannot get %s: %s", to, name, why));
        return;
    }
    notice("%s: cannot get %s: %s: trying again", to, name, why);
    if (from != FRONT_END && r->state.token[token].fails > 1)
        graph_state_let_go(&r->state, token, from);
    graph_recover(r);
}

void graph_feedback_brought(struct graph_running *r,
                            uint32_t node,
                            const struct graph_brought *m)
{
    struct holder *h = m->token < r->work.files
                           ? graph_state_holder(&r->state, m->token, node)
                           : NULL;

    if (!h || h->from != m->from)
        return; /* it answers an order that was withdrawn */
    if (m->why[0]) {
        graph_state_let_go(&r->state, m->token, node);
        bring_failed(r, m->token, m->from, graph_node_name(r, node), m->why);
        return;
    }
    h->from = HOLDER_HERE;
    r->measured.sent[m->token] = (double)m->elapsed_ns / GRAPH_NS_PER_S;
    r->messages_s += r->measured.sent[m->token];
}

void graph_take_result(void *arg,
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
    if (graph_journal_delivered(&r->journal, &r->work, file,
                                &r->user[file].file, r->err)
        < 0)
        graph_finish(r, 1);
    else
        graph_check_end(r);
}
