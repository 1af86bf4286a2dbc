/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_answers.h"
#include "launcher/base/notice.h"
#include "launcher/run/run_failures.h"
#include "launcher/run/run_frames.h"
#include "launcher/run/run_join.h"
#include "launcher/run/run_looks.h"
#include "launcher/run/run_nodes.h"
#include "launcher/run/run_slots.h"
#include "launcher/run/run_tasks.h"

#include <signal.h>

/* 0, or -1 and r->err filled. */
static int keep(struct run *r, struct piece *p)
{
    const char *node = distribution_name(r->distribution, p->part.node);

    if (r->o->each)
        return run_tasks_keep(r, p);
    if (piece_files_keep(&r->work.files, node, p, r->err) < 0
        || (r->work.journal
            && journal_add_slice(r->work.journal, p->frame->number, node, p,
                                 r->err)
                   < 0)
        || piece_files_show(&r->work.files, node, p, r->err) < 0)
        return -1;
    if (r->work.files.output)
        spool_clear(&p->out);
    return 0;
}

static void slice_done(struct run *r, struct piece *p)
{
    uint64_t units = p->part.units.end - p->part.units.begin;

    progress_units(&r->progress, units);
    if (!r->o->persistent)
        progress_piece(&r->progress, p->output);
    run_top_units(&r->top, r->slots.node[p->part.node], units);
    r->is_unkept = keep(r, p) < 0;
    if (r->is_unkept
        || (r->o->each
            && receiving_advance(&r->receiving, r->distribution, p, r->err)
                   < 0))
        run_finish(r, 1);
}

static void log_end(struct run *r,
                    const struct piece *p,
                    double seconds,
                    int status,
                    int signal)
{
    joblog_add(&r->joblog, p, distribution_name(r->distribution, p->part.node),
               p->slot, seconds, status, signal);
}

/* It has ended, and its copy is ended, if there is one. */
static void log_answer(struct run *r,
                       const struct piece *p,
                       const struct msg_done *m)
{
    const struct piece *beaten = distribution_beaten(r->distribution, p);

    log_end(r, p, (double)m->elapsed_ns * 1e-9, m->signal ? 0 : (int)m->status,
            (int)m->signal);
    if (beaten)
        log_end(r, beaten, beaten->part.back - beaten->part.sent, JOBLOG_ENDED,
                SIGTERM);
}

/* What follows an answer: it frees its slot alone, or there is more to do. */
static void go_on(struct run *r, size_t slot, int frees_one)
{
    struct distribution *d = r->distribution;

    if (r->phase != WORKING)
        return;
    if ((frees_one ? distribution_feed_slot(d, slot, r->err)
                   : distribution_feed(d, r->err))
        < 0)
        run_finish(r, 1);
    else if (distribution_is_done(d) || distribution_wants_frame(d))
        run_frames_next(r);
    else
        progress_look(&r->progress, r->distribution);
    if (r->phase == WORKING && distribution_wants_look(d))
        run_looks_soon(r);
}

static void on_done(struct run *r, size_t node, const uint8_t *body, size_t len)
{
    struct msg_done m;
    struct piece *p;
    int is_done, frees_one;
    size_t slot;

    if (r->phase != WORKING)
        return;
    if (msg_read_done(&m, body, len) < 0) {
        session_drop(r->front.session, node);
        return;
    }
    is_done = ok_status_is(&r->o->ok_status, &m);
    if (r->o->each && run_tasks_hear(r, node, &m, &is_done) < 0) {
        run_finish(r, 1);
        return;
    }
    p = distribution_done(r->distribution, node, &m, is_done);
    if (!p)
        return;
    slot = p->part.node;
    frees_one = is_done && !distribution_beaten(r->distribution, p);
    if (!r->o->each)
        log_answer(r, p, &m);
    if (!is_done && (r->stop.by_signal || r->stop.is_told))
        run_failures_stderr(r, slot, &m); /* it has got a SIGTERM, too */
    else if (!is_done)
        run_failures_piece(r, p, &m);
    else {
        if (!r->o->each)
            run_failures_stderr(r, slot, &m);
        slice_done(r, p);
    }
    go_on(r, slot, frees_one);
    run_nodes_let_go(r, node);
}

static void on_output(struct run *r,
                      size_t node,
                      const uint8_t *body,
                      size_t len)
{
    struct msg_output m;
    struct piece *done;

    if (r->phase != WORKING)
        return;
    if (msg_read_output(&m, body, len) < 0)
        session_drop(r->front.session, node);
    else if (distribution_output(r->distribution, node, &m, r->err) < 0)
        run_finish(r, 1);
    else if (r->o->each && run_tasks_output(r, node, &m, &done)) {
        if (done)
            slice_done(r, done);
        if (r->phase == WORKING)
            run_frames_feed(r);
    }
}

static void on_file(struct run *r, size_t node, const uint8_t *body, size_t len)
{
    struct distribution *d = r->distribution;
    struct msg_file m;
    struct piece *p;
    int rc;

    if (r->phase != WORKING)
        return;
    if (msg_read_file(&m, body, len) < 0) {
        session_drop(r->front.session, node);
        return;
    }
    p = distribution_piece(d, node, m.id);
    if (!p)
        return;
    rc = piece_files_take(&r->work.files, p, distribution_name(d, p->part.node),
                          &m, r->err);
    if (rc < 0)
        run_finish(r, 1);
    else if (rc > 0)
        session_drop(r->front.session, node);
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

/* --- slots ----------------------------------------------------------------- */

static void on_slotted(struct run *r,
                       size_t node,
                       const uint8_t *body,
                       size_t len)
{
    if (run_slots_message(r, node, body, len) < 0)
        run_finish(r, 1);
    else
        run_nodes_qualified(r);
}

/* --- any message ---------------------------------------------------------- */

/* That it was stopped, which takes none of its time. */
static int on_standstill(
    struct run *r, size_t node, uint16_t type, const uint8_t *body, size_t len)
{
    int64_t stopped;

    if (!standstill_message(r->standstill, node, type, body, len, &stopped))
        return 0;
    if (r->distribution)
        distribution_move(r->distribution, node, stopped);
    programs_move(&r->programs, stopped);
    return 1;
}

/* Perhaps with other threads from now on. */
static int on_power(
    struct run *r, size_t node, uint16_t type, const uint8_t *body, size_t len)
{
    if (!run_power_message(&r->power, node, type, body, len))
        return 0;
    if (r->phase == WORKING && (type == MSG_POWER || type == MSG_LIMITED))
        run_slots_threads(r, node);
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
        run_join_measured(r, node);
    else
        run_nodes_qualified(r);
    return 1;
}

/* It has had a SIGTERM; if all have, Slurm ends the job. */
static void on_leave(struct run *r,
                     size_t node,
                     const uint8_t *body,
                     size_t len)
{
    (void)body;
    if (len > 0) {
        session_drop(r->front.session, node);
        return;
    }
    if (!run_join_is_seat(r, node)) /* whose job is another */
        r->stop.is_nodes_told = 1;
    notice("%s: SIGTERM: it leaves",
           session_node(r->front.session, node)->name);
}

static const struct {
    uint16_t type;
    void (*take)(struct run *r, size_t node, const uint8_t *body, size_t len);
} messages[] = {
    {MSG_OUTPUT, on_output}, {MSG_DONE, on_done}, {MSG_FILE, on_file},
    {MSG_IDLE, on_idle},     {MSG_OVER, on_over}, {MSG_SLOTTED, on_slotted},
    {MSG_LEAVE, on_leave},
};

void run_answers_message(
    void *arg, size_t node, uint16_t type, const uint8_t *body, size_t len)
{
    struct run *r = arg;

    if (on_standstill(r, node, type, body, len)
        || run_meter_message(&r->meter, node, type, body, len)
        || on_power(r, node, type, body, len)
        || run_energy_message(&r->energy, node, type, body, len)
        || listening_table_message(&r->listening.table, node, type, body, len)
        || broadcast_message(&r->bringing.broadcast, node, type, body, len)
        || broadcast_message(&r->cast.broadcast, node, type, body, len)
        || on_qualification(r, node, type, body, len))
        return;
    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++)
        if (messages[i].type == type)
            messages[i].take(r, node, body, len);
}
