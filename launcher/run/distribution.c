/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/distribution.h"
#include "launcher/base/lines.h"
#include "launcher/run/job_load_adjuster.h"
#include "pmix_bcast/array.h"
#include "pmix_bcast/clock.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* A piece's id is its place in the window, and its number there. */
#define PLACE_SHIFT 56
_Static_assert(AHEAD_MAX < UINT64_C(1) << (64 - PLACE_SHIFT),
               "each place has ids of its own");

struct at_work { /* a frame of the window */
    struct frame frame;
    struct dispatch *dispatch;
    int64_t start_ns;    /* CLOCK_MONOTONIC */
    struct piece *piece; /* as many as the dispatcher has handed out */
    size_t n, room;
    int is_kept; /* a run before has done all of it */
};

struct distribution {
    struct session *session;
    const struct slots *slots;
    struct job_load_adjuster *adjuster;
    const struct lines *lines; /* for the commands' stdin; NULL: none */
    /* A ring; the first frame is the next that comes out. */
    struct at_work *place;
    size_t places, first, n;
    int is_over;         /* the only one that is left has come out */
    int wants_frame;     /* a node has nothing left of those at work */
    int is_dry;          /* and there is none to be had */
    int64_t begun_ns;    /* when the run's first frame was */
    int64_t answered_ns; /* when the last piece was */
    /* One a slot; NULL: no slot may begin its next piece before its last. */
    char *overlap;    /* may it? */
    int64_t *both_ns; /* when it did last */
    int64_t end_ns;   /* of all that is sent; INT64_MAX: none */
    int only_plans;   /* nothing is sent */
    struct cost *cost;
};

static struct at_work *nth(const struct distribution *d, size_t i)
{
    return &d->place[(d->first + i) % d->places];
}

struct distribution *distribution_create(struct session *session,
                                         const struct slots *slots,
                                         uint64_t grain,
                                         uint64_t pieces,
                                         uint64_t ahead)
{
    struct distribution *d = calloc(1, sizeof *d);
    size_t places = (size_t)ahead + 1;

    if (!d)
        return NULL;
    d->session = session;
    d->slots = slots;
    d->end_ns = INT64_MAX;
    d->cost = cost_create(slots->n, slots->node);
    d->place = calloc(places, sizeof *d->place);
    for (; d->place && d->places < places; d->places++) {
        struct dispatch *new = dispatch_create(slots->n, grain, pieces);

        d->place[d->places].dispatch = new;
        if (!new)
            break;
        dispatch_number(new, (uint64_t)d->places << PLACE_SHIFT);
        dispatch_set_groups(new, slots->node);
    }
    if (d->places == places && d->cost)
        return d;
    distribution_destroy(d);
    return NULL;
}

/* What has come back of it. */
static void forget_results(struct piece *p)
{
    spool_clear(&p->out);
    returned_clear(&p->back);
}

static void forget_pieces(struct at_work *w)
{
    for (size_t i = 0; i < w->n; i++)
        forget_results(&w->piece[i]);
    w->n = 0;
}

void distribution_destroy(struct distribution *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->places; i++) {
        forget_pieces(&d->place[i]);
        free(d->place[i].piece);
        dispatch_destroy(d->place[i].dispatch);
    }
    free(d->place);
    cost_destroy(d->cost);
    free(d->overlap);
    free(d->both_ns);
    free(d);
}

void distribution_begin(struct distribution *d,
                        struct job_load_adjuster *adjuster,
                        const struct lines *lines)
{
    const struct slots *slots = d->slots;

    d->adjuster = adjuster;
    d->lines = lines;
    for (size_t k = 0; k < d->places; k++) {
        struct dispatch *to = d->place[k].dispatch;

        dispatch_set_policy(to, adjuster->kind, adjuster->state,
                            adjuster->load);
        dispatch_set_cost(to, d->cost);
        for (size_t i = 0; i < slots->n; i++)
            if (!session_node(d->session, slots->node[i])->present)
                dispatch_lost(to, i, 0);
    }
}

int distribution_set_overlap(struct distribution *d)
{
    d->overlap = malloc(d->slots->n);
    d->both_ns = calloc(d->slots->n, sizeof *d->both_ns);
    if (!d->overlap || !d->both_ns)
        return -1;
    memset(d->overlap, 1, d->slots->n);
    for (size_t i = 0; i < d->places; i++)
        dispatch_set_overlap(d->place[i].dispatch, d->overlap);
    return 0;
}

void distribution_set_failure_rule(struct distribution *d,
                                   const struct failure_rule *rule)
{
    for (size_t i = 0; i < d->places; i++)
        dispatch_set_failure_rule(d->place[i].dispatch, rule);
}

void distribution_only_plan(struct distribution *d)
{
    d->only_plans = 1;
}

static double seconds_of(int64_t ns)
{
    return (double)ns * 1e-9;
}

/* Seconds since the frame's start. */
static double since(const struct at_work *w, int64_t ns)
{
    return seconds_of(ns - w->start_ns);
}

static void set_end(const struct distribution *d, struct at_work *w)
{
    dispatch_set_end(w->dispatch,
                     d->end_ns == INT64_MAX ? INFINITY : since(w, d->end_ns));
}

void distribution_set_end(struct distribution *d, int64_t end_ns)
{
    d->end_ns = end_ns;
    for (size_t i = 0; i < d->n; i++)
        set_end(d, nth(d, i));
}

static double now(const struct at_work *w)
{
    return since(w, clock_ns());
}

/* --- pieces --------------------------------------------------------------- */

/* The frame at work that a piece is of; NULL if there is none. */
static struct at_work *frame_of(const struct distribution *d, uint64_t id)
{
    size_t place = (size_t)(id >> PLACE_SHIFT);
    size_t i = (place + d->places - d->first) % d->places;

    return place < d->places && i < d->n ? &d->place[place] : NULL;
}

/* Of a dispatcher's piece what is known here; NULL if it was never sent. */
static struct piece *piece_of(const struct at_work *w, uint64_t id)
{
    uint64_t first = w->n > 0 ? w->piece[0].part.id : 0;

    return w->n > 0 && id >= first && id - first < w->n ? &w->piece[id - first]
                                                        : NULL;
}

/* The dispatcher has changed it. */
static struct piece *renew(struct at_work *w, uint64_t id)
{
    struct piece *p = piece_of(w, id);

    if (!p)
        return NULL;
    p->part = *dispatch_piece(w->dispatch, (size_t)(p - w->piece));
    if (p->part.state == PIECE_VOID || p->part.state == PIECE_LEFT_OUT)
        forget_results(p);
    return p;
}

/* Pieces that a slot has out. */
static size_t out_in_all(const struct distribution *d, size_t slot)
{
    size_t out = 0;

    for (size_t i = 0; i < d->n; i++)
        out += dispatch_node(nth(d, i)->dispatch, slot)->out;
    return out;
}

/* The frame whose piece a node works at, which is what it was sent first; NULL:
 * it has none. */
static struct at_work *working_at(const struct distribution *d, size_t slot)
{
    struct at_work *oldest = NULL;
    double sent = INFINITY;

    for (size_t i = 0; i < d->n; i++) {
        struct at_work *w = nth(d, i);
        const struct dispatch_piece *p = dispatch_current(w->dispatch, slot);
        double at = p ? seconds_of(w->start_ns) + p->sent : INFINITY;

        if (at < sent) {
            sent = at;
            oldest = w;
        }
    }
    return oldest;
}

/* Send the text [at, to) of the lines as a piece's stdin, or part of it. */
static int send_text(struct distribution *d,
                     const struct dispatch_piece *p,
                     uint64_t at,
                     uint64_t to,
                     XXH3_state_t *sum,
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
        if (rc == 0 && XXH3_64bits_update(sum, text, n) != XXH_OK)
            rc = es_no_memory(err);
        if (rc < 0)
            break;
        msg_write_output(&w, &(struct msg_output){p->id, text, n});
        session_send(d->session, d->slots->node[p->node], MSG_INPUT, &w);
    }
    free(text);
    return rc;
}

/* What it was, the file of lines may no more tell when the piece is done. */
static int send_input(struct distribution *d,
                      struct piece *p,
                      struct es_error *err)
{
    XXH3_state_t *sum = XXH3_createState();
    const struct slice *units = &p->part.units;
    uint64_t at, to;
    int rc = -1;

    if (!sum || XXH3_64bits_reset(sum) != XXH_OK)
        rc = es_no_memory(err);
    else if (lines_find(d->lines, units->begin, units->end, &at, &to, err) == 0
             && send_text(d, &p->part, 0, d->lines->header, sum, err) == 0)
        rc = send_text(d, &p->part, at, to, sum, err);
    if (rc == 0) {
        p->input = d->lines->header + to - at;
        p->has_text = 1;
        p->text = XXH3_64bits_digest(sum);
    }
    (void)XXH3_freeState(sum);
    return rc;
}

static void send_run(struct distribution *d,
                     const struct frame *frame,
                     const struct dispatch_piece *p)
{
    struct msg_run run = {.id = p->id,
                          .frame = frame->number,
                          .begin = p->units.begin,
                          .end = p->units.end,
                          .slot = slots_number(d->slots, p->node)};
    struct writer w = {0};

    memcpy(run.label, frame->label, sizeof run.label);
    msg_write_run(&w, &run);
    session_send(d->session, d->slots->node[p->node], MSG_RUN, &w);
}

static int send_piece(struct distribution *d,
                      struct at_work *w,
                      const struct dispatch_piece *p,
                      struct es_error *err)
{
    struct piece *piece =
        array_grow(w->piece, &w->room, w->n + 1, sizeof *piece, SIZE_MAX);

    if (!piece)
        return es_no_memory(err);
    w->piece = piece;
    piece += w->n++;
    *piece = (struct piece){.part = *p,
                            .frame = &w->frame,
                            .slot = slots_number(d->slots, p->node),
                            .status = -1};
    if (d->only_plans)
        return 0;
    if (d->lines && send_input(d, piece, err) < 0)
        return -1;
    send_run(d, &w->frame, p);
    if (d->overlap && out_in_all(d, p->node) > 1)
        d->both_ns[p->node] = clock_ns();
    return 0;
}

/* What feeding has given out, or why it could not. */
static int send_all(struct distribution *d,
                    struct at_work *w,
                    int fed,
                    struct es_error *err)
{
    const struct dispatch_piece *p;

    if (fed == DISPATCH_NOBODY)
        return es_fail(err, ES_ENV, "see the messages above",
                       "no node is left to work");
    if (fed < 0)
        return es_no_memory(err);
    while ((p = dispatch_next(w->dispatch)) != NULL)
        if (send_piece(d, w, p, err) < 0)
            return -1;
    return 0;
}

/* --- feeding -------------------------------------------------------------- */

/* The frame's dispatcher is to know what a slot has of the others: what waits of
 * frames before this one it does first, too. */
static void tell_elsewhere(const struct distribution *d,
                           const struct at_work *w,
                           size_t slot,
                           int64_t ns)
{
    double busy = 0;
    size_t out = 0;
    int is_before = 1;

    if (d->places == 1)
        return;
    for (size_t i = 0; i < d->n; i++) {
        const struct at_work *other = nth(d, i);

        if (other == w) {
            is_before = 0;
            continue;
        }
        out += dispatch_node(other->dispatch, slot)->out;
        busy +=
            dispatch_busy(other->dispatch, slot, since(other, ns), is_before);
    }
    dispatch_elsewhere(w->dispatch, slot, out, since(w, ns) + busy);
}

static void tell_all_elsewhere(const struct distribution *d,
                               const struct at_work *w,
                               int64_t ns)
{
    for (size_t i = 0; d->places > 1 && i < d->slots->n; i++)
        tell_elsewhere(d, w, i, ns);
}

/* Is there room for another frame, and perhaps one to be had? */
static int may_begin(const struct distribution *d)
{
    return d->n < d->places && !d->is_dry;
}

/* A slot has a place free, and none of the frames has a part for it. */
static int is_hungry(const struct distribution *d, size_t slot, int64_t ns)
{
    const struct at_work *w = nth(d, 0);

    tell_elsewhere(d, w, slot, ns);
    return dispatch_has_room(w->dispatch, slot, since(w, ns));
}

static int is_anyone_hungry(const struct distribution *d, int64_t ns)
{
    for (size_t i = 0; i < d->slots->n; i++)
        if (is_hungry(d, i, ns))
            return 1;
    return 0;
}

static int hand(struct distribution *d, size_t slot, struct es_error *err)
{
    for (size_t i = 0; i < d->n; i++) {
        struct at_work *w = nth(d, i);

        tell_elsewhere(d, w, slot, d->answered_ns);
        if (send_all(d, w,
                     dispatch_hand(w->dispatch, slot, since(w, d->answered_ns)),
                     err)
            < 0)
            return -1;
    }
    return 0;
}

int distribution_feed_slot(struct distribution *d,
                           size_t slot,
                           struct es_error *err)
{
    if (hand(d, slot, err) < 0)
        return -1;
    if (may_begin(d) && is_hungry(d, slot, d->answered_ns)) {
        d->wants_frame = 1;
        return 0;
    }
    for (size_t i = 0; i < d->n && out_in_all(d, slot) == 0; i++) {
        struct at_work *w = nth(d, i);

        tell_all_elsewhere(d, w, d->answered_ns);
        if (send_all(d, w,
                     dispatch_help(w->dispatch, slot, since(w, d->answered_ns)),
                     err)
            < 0)
            return -1;
    }
    return 0;
}

/* One of the two steps, for all nodes and frames. */
static int feed_all(struct distribution *d,
                    int (*feed)(struct dispatch *d, double now),
                    int64_t ns,
                    struct es_error *err)
{
    for (size_t i = 0; i < d->n; i++) {
        struct at_work *w = nth(d, i);

        tell_all_elsewhere(d, w, ns);
        if (send_all(d, w, feed(w->dispatch, since(w, ns)), err) < 0)
            return -1;
    }
    return 0;
}

/* To begin a later frame is better than to help. */
static int feed_at(struct distribution *d, int64_t ns, struct es_error *err)
{
    if (feed_all(d, dispatch_hand_all, ns, err) < 0)
        return -1;
    if (d->n > 0 && may_begin(d) && is_anyone_hungry(d, ns)) {
        d->wants_frame = 1;
        return 0;
    }
    return feed_all(d, dispatch_help_all, ns, err);
}

int distribution_feed(struct distribution *d, struct es_error *err)
{
    return feed_at(d, clock_ns(), err);
}

int distribution_wants_look(const struct distribution *d)
{
    for (size_t i = 0; i < d->n; i++)
        if (dispatch_wants_look(nth(d, i)->dispatch))
            return 1;
    return 0;
}

int64_t distribution_gap_ns(const struct distribution *d)
{
    return (int64_t)(dispatch_gap(nth(d, 0)->dispatch) * 1e9);
}

/* --- frames begin and come out -------------------------------------------- */

static void forget_first(struct distribution *d)
{
    forget_pieces(nth(d, 0));
    d->first = (d->first + 1) % d->places;
    d->n--;
}

void distribution_drop(struct distribution *d)
{
    if (d->n <= 1)
        d->is_over = 1;
    else
        forget_first(d);
}

int distribution_close(struct distribution *d, struct es_error *err)
{
    if (d->n <= 1) {
        d->is_over = 1; /* it stays to be looked at */
        return 0;
    }
    forget_first(d);
    return distribution_ask(d, err);
}

/* The place of one more frame. */
static struct at_work *open_place(struct distribution *d,
                                  const struct frame *frame)
{
    struct at_work *w;

    if (d->n == d->places || d->is_over)
        forget_first(d);
    w = nth(d, d->n++);
    d->is_over = d->wants_frame = 0;
    w->frame = *frame;
    w->start_ns = clock_ns();
    if (d->begun_ns == 0)
        d->begun_ns = w->start_ns;
    w->is_kept = 0;
    set_end(d, w);
    return w;
}

int distribution_send(struct distribution *d,
                      const struct frame *frame,
                      const struct slice done[],
                      size_t n,
                      struct es_error *err)
{
    struct at_work *w = open_place(d, frame);

    tell_all_elsewhere(d, w, w->start_ns);
    if (dispatch_begin(w->dispatch, (struct slice){frame->begin, frame->end},
                       done, n)
        < 0)
        return es_no_memory(err);
    return feed_at(d, w->start_ns, err);
}

void distribution_keep(struct distribution *d, const struct frame *frame)
{
    open_place(d, frame)->is_kept = 1;
}

int distribution_wants_frame(const struct distribution *d)
{
    return distribution_open(d) == 0 || (d->wants_frame && may_begin(d));
}

int distribution_no_frame(struct distribution *d, struct es_error *err)
{
    d->is_dry = 1;
    d->wants_frame = 0;
    return distribution_open(d) > 0 ? distribution_feed(d, err) : 0;
}

int distribution_ask(struct distribution *d, struct es_error *err)
{
    d->is_dry = 0;
    return distribution_open(d) > 0 ? distribution_feed(d, err) : 0;
}

size_t distribution_open(const struct distribution *d)
{
    return d->is_over ? 0 : d->n;
}

const struct frame *distribution_newest(const struct distribution *d,
                                        uint64_t *left)
{
    const struct at_work *w = nth(d, d->n - 1);

    *left = dispatch_left(w->dispatch);
    return &w->frame;
}

int distribution_is_done(const struct distribution *d)
{
    return distribution_open(d) > 0
           && (nth(d, 0)->is_kept || dispatch_left(nth(d, 0)->dispatch) == 0);
}

int distribution_is_kept(const struct distribution *d)
{
    return nth(d, 0)->is_kept;
}

/* --- what the nodes say --------------------------------------------------- */

/* The piece of that frame, if it is out and with one of this node's slots;
 * w may be NULL. */
static const struct dispatch_piece *find(const struct distribution *d,
                                         const struct at_work *w,
                                         size_t node,
                                         uint64_t id)
{
    const struct piece *p = w ? piece_of(w, id) : NULL;

    if (!p || d->slots->node[p->part.node] != node)
        return NULL;
    return dispatch_find(w->dispatch, p->part.node, id);
}

struct piece *distribution_piece(struct distribution *d,
                                 size_t node,
                                 uint64_t id)
{
    const struct at_work *w = frame_of(d, id);

    return find(d, w, node, id) ? piece_of(w, id) : NULL;
}

int distribution_output(struct distribution *d,
                        size_t node,
                        const struct msg_output *m,
                        struct es_error *err)
{
    struct piece *p = distribution_piece(d, node, m->id);

    if (!p)
        return 0;
    p->output += m->len;
    if (spool_add(&p->out, m->bytes, m->len) == 0)
        return 0;
    return es_fail(err, ES_WORK, "free some space in TMPDIR",
                   "cannot keep the output of a slice: %s", strerror(errno));
}

static int may_overlap(const struct distribution *d, size_t slot)
{
    return d->overlap && d->overlap[slot];
}

/* What one frame has learned of a slot, and that it begins with the next piece
 * that it has, perhaps another frame's. */
static void tell_others(struct distribution *d,
                        const struct at_work *w,
                        size_t slot)
{
    const struct at_work *next = working_at(d, slot);

    for (size_t i = 0; i < d->places; i++)
        if (&d->place[i] != w)
            dispatch_share(d->place[i].dispatch, slot, w->dispatch);
    if (next && next != w && !may_overlap(d, slot))
        dispatch_turn(next->dispatch, slot, since(next, d->answered_ns));
}

/* Did it run beside another at any time, and end as what has no memory does? */
static int was_crowded(const struct distribution *d,
                       const struct at_work *w,
                       const struct msg_done *m)
{
    const struct dispatch_piece *p = &piece_of(w, m->id)->part;
    double both = d->overlap ? since(w, d->both_ns[p->node]) : 0;

    if (!may_overlap(d, p->node)
        || (out_in_all(d, p->node) == 1 && p->sent > both))
        return 0;
    return m->signal == SIGKILL || m->exec_errno == ENOMEM
           || m->status == 128 + SIGKILL
           || (m->status == 126 && !m->exec_errno);
}

static void forbid_overlap(struct distribution *d, size_t node)
{
    const size_t *first = d->slots->first;

    memset(d->overlap + first[node], 0, slots_of(d->slots, node));
}

struct piece *distribution_done(struct distribution *d,
                                size_t node,
                                const struct msg_done *m,
                                int is_done)
{
    double seconds = seconds_of((int64_t)m->elapsed_ns), at;
    struct at_work *w = frame_of(d, m->id);
    struct piece *p;

    if (!find(d, w, node, m->id))
        return NULL;
    d->answered_ns = clock_ns();
    at = since(w, d->answered_ns);
    if (!is_done && was_crowded(d, w, m)) {
        dispatch_crowded(w->dispatch, m->id);
        forbid_overlap(d, node);
    }
    if (is_done)
        dispatch_answered(w->dispatch, m->id, at, seconds);
    else
        dispatch_failed(w->dispatch, m->id, at, seconds);
    p = renew(w, m->id);
    tell_others(d, w, p->part.node);
    p->status = (int)m->status;
    p->signal = (int)m->signal;
    return p;
}

enum failure_verdict distribution_verdict(const struct distribution *d,
                                          const struct piece *p)
{
    return dispatch_verdict(frame_of(d, p->part.id)->dispatch, p->part.id);
}

size_t distribution_metered(struct distribution *d,
                            size_t node,
                            uint64_t id,
                            double fraction)
{
    struct at_work *w = frame_of(d, id);
    const struct dispatch_piece *p = find(d, w, node, id);

    if (!p)
        return SIZE_MAX;
    dispatch_metered(w->dispatch, p->node, id, fraction);
    return p->node;
}

int distribution_give(struct distribution *d,
                      size_t slot,
                      uint64_t units,
                      struct es_error *err)
{
    return dispatch_give(nth(d, 0)->dispatch, slot, units) < 0
               ? es_no_memory(err)
               : 0;
}

void distribution_move(struct distribution *d, size_t node, int64_t ns)
{
    const size_t *first = d->slots->first;

    for (size_t i = 0; i < d->n; i++)
        for (size_t k = first[node]; k < first[node + 1]; k++)
            dispatch_moved(nth(d, i)->dispatch, k, seconds_of(ns),
                           now(nth(d, i)));
}

/* --- nodes come and go ---------------------------------------------------- */

/* What a slot has out of a frame. */
struct out {
    uint64_t id[DISPATCH_OUT];
    size_t n;
};

static struct out out_of(const struct at_work *w, size_t slot)
{
    const struct dispatch_node *s = dispatch_node(w->dispatch, slot);
    struct out out = {.n = s->out};

    memcpy(out.id, s->piece, sizeof out.id);
    return out;
}

static void befall_slot(struct at_work *w,
                        size_t slot,
                        void (*tell)(struct dispatch *d, size_t, double now))
{
    struct out out = out_of(w, slot);

    tell(w->dispatch, slot, now(w));
    for (size_t i = 0; i < out.n; i++)
        (void)renew(w, out.id[i]);
}

/* What befalls a node befalls all its slots, in all frames, those to come as
 * well. */
static void befall(struct distribution *d,
                   size_t node,
                   void (*tell)(struct dispatch *d, size_t, double now))
{
    const size_t *first = d->slots->first;

    for (size_t i = 0; i < d->places; i++)
        for (size_t k = first[node]; k < first[node + 1]; k++)
            befall_slot(nth(d, i), k, tell);
}

int distribution_lost(struct distribution *d, size_t node, struct es_error *err)
{
    befall(d, node, dispatch_lost);
    return distribution_feed(d, err);
}

int distribution_returned(struct distribution *d,
                          size_t node,
                          struct es_error *err)
{
    const size_t *first = d->slots->first;

    for (size_t i = 0; i < d->places; i++)
        for (size_t k = first[node]; k < first[node + 1]; k++)
            dispatch_returned(d->place[i].dispatch, k);
    return distribution_feed(d, err);
}

int distribution_retire(struct distribution *d,
                        size_t node,
                        struct es_error *err)
{
    befall(d, node, dispatch_retire);
    return distribution_feed(d, err);
}

void distribution_distrust(struct distribution *d, size_t node)
{
    befall(d, node, dispatch_distrust);
}

struct piece *distribution_overdue(struct distribution *d,
                                   int64_t limit_ns,
                                   int status,
                                   int (*is_late)(void *arg, size_t node),
                                   void *arg)
{
    int64_t begun = clock_ns() - limit_ns;

    for (size_t i = 0; i < d->slots->n; i++) {
        struct at_work *w = working_at(d, i);
        const struct dispatch_node *s =
            w ? dispatch_node(w->dispatch, i) : NULL;
        struct piece *p;

        if (!s || s->begun >= since(w, begun))
            continue;
        p = piece_of(w, s->piece[0]);
        if (!p || p->status == status || p->back.n > 0 /* it has ended */
            || !is_late(arg, d->slots->node[i]))
            continue;
        dispatch_blame(w->dispatch, s->piece[0]);
        p->status = status;
        return p;
    }
    return NULL;
}

void distribution_cancel(struct distribution *d, const struct piece *p)
{
    uint64_t id = p->part.id;
    struct at_work *w = frame_of(d, id);
    struct writer m = {0};

    write_u64(&m, id);
    session_send(d->session, d->slots->node[p->part.node], MSG_CANCEL, &m);
    dispatch_cancel(w->dispatch, id, now(w));
    (void)renew(w, id);
}

/* --- how it stands -------------------------------------------------------- */

const struct frame *distribution_frame(const struct distribution *d)
{
    return &nth(d, 0)->frame;
}

int64_t distribution_start_ns(const struct distribution *d)
{
    return nth(d, 0)->start_ns;
}

struct cost *distribution_cost(const struct distribution *d)
{
    return d->cost;
}

double distribution_began(const struct distribution *d)
{
    return seconds_of(nth(d, 0)->start_ns - d->begun_ns);
}

const struct dispatch *distribution_dispatch(const struct distribution *d)
{
    return nth(d, 0)->dispatch;
}

const struct slots *distribution_slots(const struct distribution *d)
{
    return d->slots;
}

size_t distribution_out(const struct distribution *d, size_t node)
{
    const size_t *first = d->slots->first;
    size_t out = 0;

    for (size_t i = first[node]; i < first[node + 1]; i++)
        out += out_in_all(d, i);
    return out;
}

size_t distribution_all_out(const struct distribution *d)
{
    size_t out = 0;

    for (size_t i = 0; i < d->slots->n; i++)
        out += out_in_all(d, i);
    return out;
}

uint64_t distribution_left(const struct distribution *d)
{
    uint64_t left = 0;

    for (size_t i = 0; i < distribution_open(d); i++)
        if (!nth(d, i)->is_kept)
            left += dispatch_left(nth(d, i)->dispatch);
    return left;
}

const struct tail_node *distribution_tail(struct distribution *d)
{
    return dispatch_tail(nth(d, 0)->dispatch, now(nth(d, 0)));
}

struct piece *distribution_pieces(struct distribution *d, size_t *n)
{
    *n = nth(d, 0)->n;
    return nth(d, 0)->piece;
}

const char *distribution_name(const struct distribution *d, size_t slot)
{
    return session_node(d->session, d->slots->node[slot])->name;
}
