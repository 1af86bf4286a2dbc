/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_answers.h"
#include "launcher/base/notice.h"
#include "launcher/run/run_frames.h"
#include "launcher/run/run_looks.h"
#include "launcher/run/run_nodes.h"

#include <stdio.h>
#include <string.h>

/* How a command ended; returns what may help. */
static const char *how_it_ended(const struct msg_done *m,
                                char *how,
                                size_t size)
{
    if (m->exec_errno) {
        snprintf(how, size, "could not be started: %s",
                 strerror((int)m->exec_errno));
        return "name a program that every node has";
    }
    if (m->signal)
        snprintf(how, size, "was killed by signal %u (%s)", m->signal,
                 strsignal((int)m->signal));
    else
        snprintf(how, size, "exited with status %u", m->status);
    return m->err_len ? "see its last words above"
                      : "it printed nothing on stderr";
}

/* A node that fails and fails: what it had to do is for others. */
static void give_up_node(struct run *r, size_t node)
{
    notice("%s: %u failures in a row: it gets nothing more",
           session_node(r->front.session, node)->name, r->o->retries);
    distribution_distrust(r->distribution, node);
}

/* What the command has failed at is in the pool again.  A slice that has
 * failed too often ends the run: its output would have a hole. */
static void slice_failed(struct run *r,
                         const struct piece *p,
                         const char *how,
                         const char *mend)
{
    const struct dispatch *held = distribution_dispatch(r->distribution);
    size_t node = p->part.node;
    char what[600];

    progress_stop(&r->progress);
    snprintf(what, sizeof what, "%s: frame %ju, units %ju:%ju: %.100s %s",
             session_node(r->front.session, node)->name,
             (uintmax_t)distribution_frame(r->distribution)->number,
             (uintmax_t)p->part.units.begin, (uintmax_t)p->part.units.end,
             r->o->command[0], how);
    if (p->part.failures >= r->o->retries) {
        run_finish(r, es_fail(r->err, ES_WORK, mend, "%s", what));
        return;
    }
    notice("%s: it is tried again", what);
    if (dispatch_node(held, node)->failures == r->o->retries)
        give_up_node(r, node);
    if (distribution_feed(r->distribution, r->err) < 0)
        run_finish(r, 1);
}

/* What a command said on stderr, of which the agent kept the end. */
static void show_stderr(struct run *r, size_t node, const struct msg_done *m)
{
    const char *name = session_node(r->front.session, node)->name;

    if (m->err_len == 0)
        return;
    if (m->err_dropped)
        notice("%s: the first %ju bytes of its stderr are left out", name,
               (uintmax_t)m->err_dropped);
    notice_lines(name, (const char *)m->err, m->err_len);
}

/* 0, or -1 and r->err filled. */
static int keep(struct run *r, struct piece *p)
{
    if (!r->work.journal)
        return 0;
    return journal_add_slice(
        r->work.journal, distribution_frame(r->distribution)->number,
        distribution_name(r->distribution, p->part.node), p, r->err);
}

static void slice_done(struct run *r, struct piece *p)
{
    struct distribution *d = r->distribution;
    size_t node = p->part.node;

    progress_units(&r->progress, p->part.units.end - p->part.units.begin);
    if (keep(r, p) < 0) {
        run_finish(r, 1);
    } else if (dispatch_left(distribution_dispatch(d)) == 0) {
        run_frames_done(r);
    } else if (distribution_feed_node(d, node, r->err) < 0) {
        run_finish(r, 1);
    } else {
        progress_look(&r->progress);
        if (distribution_wants_look(d))
            run_looks_soon(r);
    }
}

static void on_done(struct run *r, size_t node, const uint8_t *body, size_t len)
{
    struct msg_done m;
    struct piece *p;
    const char *mend;
    char how[100];

    if (r->phase != WORKING)
        return;
    if (msg_read_done(&m, body, len) < 0) {
        session_drop(r->front.session, node);
        return;
    }
    p = distribution_done(r->distribution, node, &m);
    if (!p)
        return;
    show_stderr(r, node, &m);
    if (m.status == 0) {
        slice_done(r, p);
    } else {
        mend = how_it_ended(&m, how, sizeof how);
        slice_failed(r, p, how, mend);
    }
    run_nodes_let_go(r, node);
}

static void on_output(struct run *r,
                      size_t node,
                      const uint8_t *body,
                      size_t len)
{
    struct msg_output m;

    if (r->phase != WORKING)
        return;
    if (msg_read_output(&m, body, len) < 0)
        session_drop(r->front.session, node);
    else if (distribution_output(r->distribution, node, &m, r->err) < 0)
        run_finish(r, 1);
}

/* --- programs that stay alive --------------------------------------------- */

static void on_idle(struct run *r, size_t node, const uint8_t *body, size_t len)
{
    (void)body, (void)len; /* it says nothing more */
    if (r->o->persistent && r->phase < WORKING
        && programs_asked(&r->programs, node))
        run_frames_begin(r);
}

/* One that ends between two slices is started anew for its next one. */
static void on_over(struct run *r, size_t node, const uint8_t *body, size_t len)
{
    const char *name = session_node(r->front.session, node)->name;
    struct msg_over m;

    if (!r->o->persistent)
        return;
    if (msg_read_over(&m, body, len) < 0) {
        session_drop(r->front.session, node);
        return;
    }
    notice_lines(name, (const char *)m.err, m.err_len);
    if (r->phase < WORKING)
        run_finish(
            r, es_fail(r->err, ES_WORK,
                       "call evenstep_open() and evenstep_next() in it, or "
                       "leave --persistent out",
                       "%s: %.100s ended with status %u before it asked for "
                       "a slice",
                       name, r->o->command[0], m.error));
    else if (m.error)
        run_finish(r, es_fail(r->err, ES_WORK, "see its last words above",
                              "%s: %.100s ended with status %u", name,
                              r->o->command[0], m.error));
    else if (r->phase == ENDING && programs_heard(&r->programs, node))
        run_finish(r, 0);
}

/* --- any message ---------------------------------------------------------- */

/* That it was stopped, which takes none of its time. */
static int on_standstill(
    struct run *r, size_t node, uint16_t type, const uint8_t *body, size_t len)
{
    int64_t stopped;

    if (!standstill_message(r->standstill, node, type, body, len, &stopped))
        return 0;
    distribution_move(r->distribution, node, stopped);
    programs_move(&r->programs, stopped);
    return 1;
}

/* What it is made of, before the first frame or when it is back. */
static int on_qualification(
    struct run *r, size_t node, uint16_t type, const uint8_t *body, size_t len)
{
    int again = qualification_is_again(&r->qualification, node);

    if (!qualification_message(&r->qualification, node, type, body, len))
        return 0;
    if (r->phase == WORKING && type == MSG_PROBED && again)
        run_nodes_take_in(r, node);
    else if (r->phase == QUALIFYING && r->qualification.missing == 0)
        run_nodes_qualified(r);
    return 1;
}

static const struct {
    uint16_t type;
    void (*take)(struct run *r, size_t node, const uint8_t *body, size_t len);
} messages[] = {
    {MSG_OUTPUT, on_output},
    {MSG_DONE, on_done},
    {MSG_IDLE, on_idle},
    {MSG_OVER, on_over},
};

void run_answers_message(
    void *arg, size_t node, uint16_t type, const uint8_t *body, size_t len)
{
    struct run *r = arg;

    if (on_standstill(r, node, type, body, len)
        || run_meter_message(&r->meter, node, type, body, len)
        || broadcast_message(&r->cast.broadcast, node, type, body, len)
        || on_qualification(r, node, type, body, len))
        return;
    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++)
        if (messages[i].type == type)
            messages[i].take(r, node, body, len);
}
