/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/distribution.h"
#include "launcher/base/lines.h"
#include "launcher/run/job_load_adjuster.h"
#include "pmix_bcast/array.h"
#include "pmix_bcast/clock.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct distribution {
    struct session *session;
    struct job_load_adjuster *adjuster;
    const struct lines *lines; /* for the commands' stdin; NULL: none */
    struct dispatch *dispatch;
    struct frame frame;
    int64_t start_ns;    /* of the frame, CLOCK_MONOTONIC */
    double answered;     /* when the last piece was, seconds since then */
    struct piece *piece; /* as many as the dispatcher has handed out */
    size_t n, room;
};

struct distribution *distribution_create(struct session *session,
                                         uint64_t grain,
                                         uint64_t pieces)
{
    struct distribution *d = calloc(1, sizeof *d);

    if (!d)
        return NULL;
    d->session = session;
    d->dispatch = dispatch_create(session_size(session), grain, pieces);
    if (d->dispatch)
        return d;
    free(d);
    return NULL;
}

static void forget_pieces(struct distribution *d)
{
    for (size_t i = 0; i < d->n; i++)
        spool_clear(&d->piece[i].out);
    d->n = 0;
}

void distribution_destroy(struct distribution *d)
{
    if (!d)
        return;
    forget_pieces(d);
    free(d->piece);
    dispatch_destroy(d->dispatch);
    free(d);
}

void distribution_begin(struct distribution *d,
                        struct job_load_adjuster *adjuster,
                        const struct lines *lines)
{
    d->adjuster = adjuster;
    d->lines = lines;
    dispatch_set_policy(d->dispatch, adjuster->kind, adjuster->state,
                        adjuster->load);
    for (size_t i = 0; i < session_size(d->session); i++)
        if (!session_node(d->session, i)->present)
            dispatch_lost(d->dispatch, i, 0);
}

void distribution_set_failure_rule(struct distribution *d,
                                   const struct failure_rule *rule)
{
    dispatch_set_failure_rule(d->dispatch, rule);
}

static double seconds_of(int64_t ns)
{
    return (double)ns * 1e-9;
}

/* Seconds since the frame's start. */
static double now(const struct distribution *d)
{
    return seconds_of(clock_ns() - d->start_ns);
}

/* --- pieces --------------------------------------------------------------- */

/* Of a dispatcher's piece what is known here; NULL if it was never sent. */
static struct piece *piece_of(struct distribution *d, uint64_t id)
{
    uint64_t first = d->n > 0 ? d->piece[0].part.id : 0;

    return d->n > 0 && id >= first && id - first < d->n ? &d->piece[id - first]
                                                        : NULL;
}

/* The dispatcher has changed it. */
static struct piece *renew(struct distribution *d, uint64_t id)
{
    struct piece *p = piece_of(d, id);

    if (!p)
        return NULL;
    p->part = *dispatch_piece(d->dispatch, (size_t)(p - d->piece));
    if (p->part.state == PIECE_VOID || p->part.state == PIECE_LEFT_OUT)
        spool_clear(&p->out);
    return p;
}

/* Send the text [at, to) of the lines as a piece's stdin, or part of it. */
static int send_text(struct distribution *d,
                     const struct dispatch_piece *p,
                     uint64_t at,
                     uint64_t to,
                     struct es_error *err)
{
    uint8_t *text = malloc(OUTPUT_MAX);
    size_t n;
    int rc = 0;

    if (!text)
        return es_no_memory(err);
    for (; rc == 0 && at < to; at += n) {
        struct writer w = {0};

        n = to - at < OUTPUT_MAX ? (size_t)(to - at) : OUTPUT_MAX;
        rc = lines_read(d->lines, at, text, n, err);
        if (rc < 0)
            break;
        msg_write_output(&w, &(struct msg_output){p->id, text, n});
        session_send(d->session, p->node, MSG_INPUT, &w);
    }
    free(text);
    return rc;
}

static int send_input(struct distribution *d,
                      const struct dispatch_piece *p,
                      struct es_error *err)
{
    uint64_t at, to;

    if (lines_find(d->lines, p->units.begin, p->units.end, &at, &to, err) < 0
        || send_text(d, p, 0, d->lines->header, err) < 0)
        return -1;
    return send_text(d, p, at, to, err);
}

static void send_run(struct distribution *d, const struct dispatch_piece *p)
{
    struct msg_run run = {.id = p->id,
                          .frame = d->frame.number,
                          .begin = p->units.begin,
                          .end = p->units.end};
    struct writer w = {0};

    memcpy(run.label, d->frame.label, sizeof run.label);
    msg_write_run(&w, &run);
    session_send(d->session, p->node, MSG_RUN, &w);
}

static int send_piece(struct distribution *d,
                      const struct dispatch_piece *p,
                      struct es_error *err)
{
    struct piece *piece =
        array_grow(d->piece, &d->room, d->n + 1, sizeof *piece, SIZE_MAX);

    if (!piece)
        return es_no_memory(err);
    d->piece = piece;
    piece[d->n++] = (struct piece){.part = *p, .status = -1};
    if (d->lines && send_input(d, p, err) < 0)
        return -1;
    send_run(d, p);
    return 0;
}

/* What feeding has given out, or why it could not. */
static int send_all(struct distribution *d, int fed, struct es_error *err)
{
    const struct dispatch_piece *p;

    if (fed == DISPATCH_NOBODY)
        return es_fail(err, ES_ENV, "see the messages above",
                       "no node is left to work");
    if (fed < 0)
        return es_no_memory(err);
    while ((p = dispatch_next(d->dispatch)) != NULL)
        if (send_piece(d, p, err) < 0)
            return -1;
    return 0;
}

int distribution_feed_node(struct distribution *d,
                           size_t node,
                           struct es_error *err)
{
    return send_all(d, dispatch_feed_node(d->dispatch, node, d->answered), err);
}

int distribution_feed(struct distribution *d, struct es_error *err)
{
    return send_all(d, dispatch_feed(d->dispatch, now(d)), err);
}

int distribution_wants_look(const struct distribution *d)
{
    return dispatch_wants_look(d->dispatch);
}

int64_t distribution_gap_ns(const struct distribution *d)
{
    return (int64_t)(dispatch_gap(d->dispatch) * 1e9);
}

int distribution_send(struct distribution *d,
                      const struct frame *frame,
                      const struct slice done[],
                      size_t n,
                      struct es_error *err)
{
    if (dispatch_begin(d->dispatch, (struct slice){frame->begin, frame->end},
                       done, n)
        < 0)
        return es_no_memory(err);
    forget_pieces(d);
    d->frame = *frame;
    d->start_ns = clock_ns();
    return send_all(d, dispatch_feed(d->dispatch, 0), err);
}

/* --- what the nodes say --------------------------------------------------- */

int distribution_output(struct distribution *d,
                        size_t node,
                        const struct msg_output *m,
                        struct es_error *err)
{
    const struct dispatch_piece *p = dispatch_find(d->dispatch, node, m->id);

    if (!p || spool_add(&piece_of(d, m->id)->out, m->bytes, m->len) == 0)
        return 0;
    return es_fail(err, ES_WORK, "free some space in TMPDIR",
                   "cannot keep the output of a slice: %s", strerror(errno));
}

struct piece *distribution_done(struct distribution *d,
                                size_t node,
                                const struct msg_done *m,
                                int is_done)
{
    double seconds = seconds_of((int64_t)m->elapsed_ns);
    struct piece *p;

    if (!dispatch_find(d->dispatch, node, m->id))
        return NULL;
    d->answered = now(d);
    if (is_done)
        dispatch_answered(d->dispatch, m->id, d->answered, seconds);
    else
        dispatch_failed(d->dispatch, m->id, d->answered, seconds);
    p = renew(d, m->id);
    p->status = (int)m->status;
    p->signal = (int)m->signal;
    return p;
}

enum failure_verdict distribution_verdict(const struct distribution *d,
                                          const struct piece *p)
{
    return dispatch_verdict(d->dispatch, p->part.id);
}

void distribution_metered(struct distribution *d,
                          size_t node,
                          uint64_t id,
                          double fraction)
{
    dispatch_metered(d->dispatch, node, id, fraction);
}

int distribution_give(struct distribution *d,
                      size_t node,
                      uint64_t units,
                      struct es_error *err)
{
    return dispatch_give(d->dispatch, node, units) < 0 ? es_no_memory(err) : 0;
}

void distribution_move(struct distribution *d, size_t node, int64_t ns)
{
    dispatch_moved(d->dispatch, node, seconds_of(ns), now(d));
}

/* --- nodes come and go ---------------------------------------------------- */

/* What a node has out. */
struct out {
    uint64_t id[DISPATCH_OUT];
    size_t n;
};

static struct out out_of(const struct distribution *d, size_t node)
{
    const struct dispatch_node *s = dispatch_node(d->dispatch, node);
    struct out out = {.n = s->out};

    memcpy(out.id, s->piece, sizeof out.id);
    return out;
}

static void renew_all(struct distribution *d, const struct out *out)
{
    for (size_t i = 0; i < out->n; i++)
        (void)renew(d, out->id[i]);
}

int distribution_lost(struct distribution *d, size_t node, struct es_error *err)
{
    struct out out = out_of(d, node);

    dispatch_lost(d->dispatch, node, now(d));
    renew_all(d, &out);
    return distribution_feed(d, err);
}

int distribution_returned(struct distribution *d,
                          size_t node,
                          struct es_error *err)
{
    dispatch_returned(d->dispatch, node);
    return distribution_feed(d, err);
}

int distribution_retire(struct distribution *d,
                        size_t node,
                        struct es_error *err)
{
    struct out out = out_of(d, node);

    dispatch_retire(d->dispatch, node, now(d));
    renew_all(d, &out);
    return distribution_feed(d, err);
}

void distribution_distrust(struct distribution *d, size_t node)
{
    struct out out = out_of(d, node);

    dispatch_distrust(d->dispatch, node, now(d));
    renew_all(d, &out);
}

struct piece *distribution_overdue(struct distribution *d,
                                   int64_t limit_ns,
                                   int status,
                                   int (*is_late)(void *arg, size_t node),
                                   void *arg)
{
    double begun = now(d) - seconds_of(limit_ns);

    for (size_t i = 0; i < session_size(d->session); i++) {
        const struct dispatch_node *s = dispatch_node(d->dispatch, i);
        struct piece *p;

        if (s->out == 0 || s->begun >= begun)
            continue;
        p = piece_of(d, s->piece[0]);
        if (!p || p->status == status || !is_late(arg, i))
            continue;
        dispatch_blame(d->dispatch, s->piece[0]);
        p->status = status;
        return p;
    }
    return NULL;
}

/* --- how it stands -------------------------------------------------------- */

const struct frame *distribution_frame(const struct distribution *d)
{
    return &d->frame;
}

const struct dispatch *distribution_dispatch(const struct distribution *d)
{
    return d->dispatch;
}

const struct tail_node *distribution_tail(struct distribution *d)
{
    return dispatch_tail(d->dispatch, now(d));
}

struct piece *distribution_pieces(struct distribution *d, size_t *n)
{
    *n = d->n;
    return d->piece;
}

const char *distribution_name(const struct distribution *d, size_t node)
{
    return session_node(d->session, node)->name;
}
