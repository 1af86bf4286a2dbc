/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/distribution.h"
#include "launcher/base/lines.h"
#include "launcher/run/job_load_adjuster.h"
#include "pmix_bcast/clock.h"
#include "policy/pace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BUNDLES_OUT 2 /* that a node has: one to work at, one in hand */

/* Of a shorter time a meter tells the start of the command, not its speed. */
#define METER_S 0.2

static uint64_t units_in(struct slice s)
{
    return s.end - s.begin;
}

static double since(int64_t from_ns, int64_t now_ns)
{
    return (double)(now_ns - from_ns) * 1e-9;
}

static int no_memory(struct es_error *err)
{
    return es_fail(err, ES_ENV, "free some memory", "out of memory");
}

int distribution_init(struct distribution *d,
                      struct session *session,
                      uint64_t grain,
                      uint64_t pieces)
{
    size_t n = session_size(session);

    memset(d, 0, sizeof *d);
    d->session = session;
    d->grain = grain;
    d->pieces = pieces;
    d->share = calloc(n, sizeof *d->share);
    d->load = calloc(n, sizeof *d->load);
    d->cut = calloc(n, sizeof *d->cut);
    d->tail = calloc(n, sizeof *d->tail);
    d->room = calloc(n, sizeof *d->room);
    if (d->share && d->load && d->cut && d->tail && d->room)
        return 0;
    distribution_clear(d);
    return -1;
}

static void forget_pieces(struct distribution *d)
{
    for (size_t i = 0; i < d->n; i++)
        spool_clear(&d->piece[i].out);
    d->n = 0;
    d->first_out = 0;
    d->out = 0;
}

void distribution_clear(struct distribution *d)
{
    forget_pieces(d);
    free(d->piece);
    unit_pool_clear(&d->pool);
    free(d->share);
    free(d->load);
    free(d->cut);
    free(d->tail);
    free(d->room);
    memset(d, 0, sizeof *d);
}

/* --- who may work --------------------------------------------------------- */

int distribution_has(const struct distribution *d, size_t node)
{
    return session_node(d->session, node)->present
           && d->share[node].standing != STANDING_AWAY;
}

int distribution_may_send(const struct distribution *d, size_t node)
{
    return distribution_has(d, node)
           && d->share[node].standing != STANDING_LEAVING;
}

/* The load that a node is to get: 0 if it may get nothing. */
static double load_of(const struct distribution *d, size_t node)
{
    if (!distribution_may_send(d, node)
        || d->share[node].standing == STANDING_BAD)
        return 0;
    return d->adjuster->load[node];
}

static int nobody_is_left(struct es_error *err)
{
    return es_fail(err, ES_ENV, "see the messages above",
                   "no node is left to work");
}

/* Find out anew who gets how much; if only nodes without a load are left,
 * these.  -1 if none is. */
static int weigh_nodes(struct distribution *d)
{
    size_t n = session_size(d->session);

    d->loads = 0;
    for (size_t i = 0; i < n; i++) {
        d->load[i] = load_of(d, i);
        d->loads += d->load[i];
    }
    if (d->loads > 0)
        return 0;
    for (size_t i = 0; i < n; i++) {
        d->load[i] = distribution_may_send(d, i);
        d->loads += d->load[i];
    }
    return d->loads > 0 ? 0 : -1;
}

/* Is there a node whose last command went well, or is yet to be seen? */
static int another_is_good(const struct distribution *d, size_t but)
{
    for (size_t i = 0; i < session_size(d->session); i++)
        if (i != but && d->load[i] > 0 && d->share[i].failures == 0)
            return 1;
    return 0;
}

/* --- one piece ------------------------------------------------------------ */

/* To be filled in. */
static struct piece *add_piece(struct distribution *d)
{
    if (d->n == d->cap) {
        size_t cap = d->cap * 2 + 16;
        struct piece *p = reallocarray(d->piece, cap, sizeof *p);

        if (!p)
            return NULL;
        d->piece = p;
        d->cap = cap;
    }
    return &d->piece[d->n++];
}

static int send_input(struct distribution *d,
                      const struct piece *p,
                      struct es_error *err)
{
    uint64_t at, to;
    uint8_t *text;
    size_t n;
    int rc = lines_find(d->lines, p->slice.begin, p->slice.end, &at, &to, err);

    if (rc < 0)
        return -1;
    text = malloc(OUTPUT_MAX);
    if (!text)
        return no_memory(err);
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

static void send_run(struct distribution *d, const struct piece *p)
{
    struct msg_run run = {.id = p->id,
                          .frame = d->frame.number,
                          .begin = p->slice.begin,
                          .end = p->slice.end};
    struct writer w = {0};

    memcpy(run.label, d->frame.label, sizeof run.label);
    msg_write_run(&w, &run);
    session_send(d->session, p->node, MSG_RUN, &w);
}

/* A piece is out from now on. */
static void take_out(struct distribution *d, const struct piece *p)
{
    struct share *s = &d->share[p->node];

    if (s->out++ == 0)
        s->begun_ns = p->sent_ns;
    s->out_units += units_in(p->slice);
    d->out++;
}

/* It is no longer. */
static void take_back(struct distribution *d,
                      struct piece *p,
                      enum piece_state state)
{
    struct share *s = &d->share[p->node];

    p->state = state;
    d->out--;
    s->out--;
    s->out_units -= units_in(p->slice);
    s->begun_ns = clock_ns(); /* of the next one */
    s->metered = 0;
}

static int send_piece(struct distribution *d,
                      size_t node,
                      const struct batch *b,
                      struct es_error *err)
{
    struct piece *p = add_piece(d);

    if (!p)
        return no_memory(err);
    *p = (struct piece){.id = d->next_id++,
                        .node = node,
                        .slice = b->units,
                        .attempt = b->attempts + 1,
                        .failures = b->failures,
                        .sent_ns = clock_ns(),
                        .status = -1};
    take_out(d, p);
    if (d->lines && send_input(d, p, err) < 0)
        return -1;
    send_run(d, p);
    return 0;
}

struct piece *distribution_find(struct distribution *d,
                                size_t node,
                                uint64_t id)
{
    uint64_t i; /* ids are given out in the order of the pieces */

    if (d->n == 0 || id < d->piece[0].id)
        return NULL;
    i = id - d->piece[0].id;
    if (i < d->n && d->piece[i].node == node && d->piece[i].state == PIECE_OUT)
        return &d->piece[i];
    return NULL;
}

struct piece *distribution_current(struct distribution *d, size_t node)
{
    while (d->first_out < d->n && d->piece[d->first_out].state != PIECE_OUT)
        d->first_out++;
    for (size_t i = d->first_out; i < d->n && d->share[node].out > 0; i++)
        if (d->piece[i].node == node && d->piece[i].state == PIECE_OUT)
            return &d->piece[i];
    return NULL;
}

struct piece *distribution_overdue(struct distribution *d,
                                   int64_t limit_ns,
                                   int status,
                                   int (*is_late)(void *arg, size_t node),
                                   void *arg)
{
    int64_t now = clock_ns();

    for (size_t i = 0; i < session_size(d->session); i++) {
        const struct share *s = &d->share[i];
        struct piece *p;

        if (s->out == 0 || now - s->begun_ns <= limit_ns)
            continue;
        p = distribution_current(d, i);
        if (!p || p->status == status || !is_late(arg, i))
            continue;
        p->status = status;
        return p;
    }
    return NULL;
}

void distribution_move(struct distribution *d, size_t node, int64_t ns)
{
    struct share *s = &d->share[node];
    int64_t now = clock_ns();

    s->begun_ns = now - s->begun_ns < ns ? now : s->begun_ns + ns;
}

/* --- what a node gets next ------------------------------------------------ */

/* The first batch that a node should have; pool.n if there is none.  Units
 * that failed are for another node than the one that has just failed. */
static size_t batch_for(const struct distribution *d, size_t node)
{
    int choosy = d->share[node].failures > 0 && another_is_good(d, node);
    size_t i = 0;

    while (i < d->pool.n && choosy && d->pool.batch[i].failures > 0)
        i++;
    return i;
}

/* Units of the pool that are a node's by its load, in whole grains. */
static uint64_t part_of_pool(const struct distribution *d, size_t node)
{
    double grains = (double)d->pool.units / (double)d->grain;

    grains = ceil(grains * (d->load[node] / d->loads));
    if (grains * (double)d->grain >= (double)d->pool.units)
        return d->pool.units;
    return (uint64_t)grains * d->grain;
}

static void take_from_pool(struct distribution *d, size_t node)
{
    struct share *s = &d->share[node];
    size_t i = batch_for(d, node);

    if (i == d->pool.n)
        return;
    s->waiting = unit_pool_take(&d->pool, i, part_of_pool(d, node));
    s->chunk = units_in(s->waiting.units);
}

/* With a meter: what is left of the piece, at the speed that it has had. */
static void view_metered(struct tail_node *t, const struct share *s)
{
    uint64_t done = (uint64_t)s->metered;

    if (t->since < METER_S || !(s->metered > 0))
        return;
    t->speed = s->metered / t->since;
    t->running -= done < t->running ? done : t->running;
    t->since = 0;
}

const struct tail_node *distribution_tail(struct distribution *d)
{
    int64_t now = clock_ns();

    for (size_t i = 0; i < session_size(d->session); i++) {
        const struct share *s = &d->share[i];

        d->tail[i] = (struct tail_node){
            .speed = s->speed,
            .running = s->out_units,
            .since = s->out > 0 ? since(s->begun_ns, now) : 0,
            .waiting = units_in(s->waiting.units),
        };
        view_metered(&d->tail[i], s);
    }
    return d->tail;
}

void distribution_metered(struct distribution *d,
                          size_t node,
                          uint64_t id,
                          double fraction)
{
    const struct piece *p = distribution_find(d, node, id);

    /* Of one that has two out, it must be the first. */
    if (p && (d->share[node].out == 1 || distribution_current(d, node) == p))
        d->share[node].metered = fraction * (double)units_in(p->slice);
}

int distribution_give(struct distribution *d,
                      size_t node,
                      uint64_t units,
                      struct es_error *err)
{
    struct share *s = &d->share[node];
    struct batch off = s->waiting;

    off.units.begin = off.units.end - units;
    s->waiting.units.end = off.units.begin;
    return unit_pool_add(&d->pool, &off) < 0 ? no_memory(err) : 0;
}

/* Pieces that a node's chunk goes in. */
static uint64_t pieces_of(const struct distribution *d, const struct share *s)
{
    double seconds = s->speed > 0 ? (double)s->chunk / s->speed : 0;

    return tail_pieces(seconds, d->pieces);
}

/* The next piece off what waits at a node, which is filled up before. */
static struct batch next_piece(struct distribution *d, size_t node)
{
    struct share *s = &d->share[node];
    struct batch b;

    if (units_in(s->waiting.units) == 0)
        take_from_pool(d, node);
    b = s->waiting;
    b.units.end =
        b.units.begin
        + tail_piece(s->chunk, units_in(b.units), d->grain, pieces_of(d, s));
    s->waiting.units.begin = b.units.end;
    return b;
}

static struct batch next_bundle(struct distribution *d, size_t node)
{
    size_t i = batch_for(d, node);

    if (i == d->pool.n)
        return (struct batch){0};
    return unit_pool_take(
        &d->pool, i,
        job_load_adjuster_bundle(d->adjuster, node, d->pool.units));
}

/* Pieces that a node may have out. */
static size_t most_out(const struct distribution *d)
{
    return d->adjuster->kind->bundles ? BUNDLES_OUT : 1;
}

/* Send a node one more piece, if it has room and there is one. */
static int feed(struct distribution *d, size_t node, struct es_error *err)
{
    struct batch b;

    if (d->share[node].out >= most_out(d) || !(d->load[node] > 0))
        return 0;
    b = d->adjuster->kind->bundles ? next_bundle(d, node) : next_piece(d, node);
    return units_in(b.units) > 0 ? send_piece(d, node, &b, err) : 0;
}

/* --- the tail ------------------------------------------------------------- */

/* One that has nothing, and finds nothing but what waits at others. */
static int is_idle(const struct distribution *d, size_t node)
{
    const struct share *s = &d->share[node];

    return s->out == 0 && d->load[node] > 0 && units_in(s->waiting.units) == 0;
}

static void look_at_tail(struct distribution *d)
{
    (void)distribution_tail(d);
    tail_look_begin(&d->look, d->tail, session_size(d->session), d->room);
    d->looked_ns = clock_ns();
}

/* Within a look: an idle node takes over what waits at the one that would end
 * last, and begins with it. */
static int take_over(struct distribution *d, size_t node, struct es_error *err)
{
    struct share *s = &d->share[node], *from;
    struct tail_move move;

    if (!tail_look_take(&d->look, node, d->grain, d->delay, &move))
        return 0;
    from = &d->share[move.from];
    s->waiting = from->waiting;
    from->waiting.units.end -= move.units;
    s->waiting.units.begin = from->waiting.units.end;
    s->chunk = move.units;
    if (feed(d, node, err) < 0)
        return -1;
    tail_look_begun(&d->look, node, s->out_units);
    return 0;
}

static int feed_idle(struct distribution *d, struct es_error *err)
{
    int looking = 0;

    d->hungry = 0;
    for (size_t node = 0; node < session_size(d->session); node++) {
        if (!is_idle(d, node))
            continue;
        if (!looking)
            look_at_tail(d);
        looking = 1;
        if (take_over(d, node, err) < 0)
            return -1;
    }
    return 0;
}

int64_t distribution_gap_ns(const struct distribution *d)
{
    return pace_look_ns(session_size(d->session));
}

int distribution_feed_node(struct distribution *d,
                           size_t node,
                           struct es_error *err)
{
    for (size_t i = 0; i < most_out(d); i++)
        if (feed(d, node, err) < 0)
            return -1;
    if (d->adjuster->kind->bundles || !is_idle(d, node))
        return 0;
    d->hungry = clock_ns() - d->looked_ns < distribution_gap_ns(d);
    if (d->hungry)
        return 0;
    look_at_tail(d);
    return take_over(d, node, err);
}

/* All get one before any gets a second, and before any takes over. */
int distribution_feed(struct distribution *d, struct es_error *err)
{
    for (size_t i = 0; i < most_out(d); i++)
        for (size_t node = 0; node < session_size(d->session); node++)
            if (feed(d, node, err) < 0)
                return -1;
    return d->adjuster->kind->bundles ? 0 : feed_idle(d, err);
}

/* --- a frame -------------------------------------------------------------- */

/* What is not done before goes to the pool. */
static int fill_pool(struct distribution *d,
                     const struct slice done[],
                     size_t n,
                     struct es_error *err)
{
    uint64_t at = d->frame.begin;

    unit_pool_empty(&d->pool);
    for (size_t i = 0; i <= n; i++) {
        struct batch b = {.units = {at, i < n ? done[i].begin : d->frame.end}};

        if (unit_pool_add(&d->pool, &b) < 0)
            return no_memory(err);
        at = i < n ? done[i].end : at;
    }
    d->left = d->pool.units;
    return 0;
}

/* The whole frame, one slice a node, out of the pool. */
static int cut_slices(struct distribution *d)
{
    if (shares_cut(d->frame.begin, d->frame.end, d->grain, d->load, d->cut,
                   session_size(d->session))
        < 0)
        return -1; /* not with the loads of weigh_nodes() */
    unit_pool_empty(&d->pool);
    for (size_t i = 0; i < session_size(d->session); i++) {
        d->share[i].waiting = (struct batch){.units = d->cut[i]};
        d->share[i].slice = d->share[i].chunk = units_in(d->cut[i]);
    }
    return 0;
}

/* Of a share what a node is stays, and what it did goes. */
static void forget_frame(struct distribution *d)
{
    forget_pieces(d);
    for (size_t i = 0; i < session_size(d->session); i++) {
        struct share *s = &d->share[i];

        *s = (struct share){.speed = s->speed,
                            .failures = s->failures,
                            .standing = s->standing};
    }
}

int distribution_send(struct distribution *d,
                      const struct frame *frame,
                      const struct slice done[],
                      size_t n,
                      struct es_error *err)
{
    forget_frame(d);
    d->frame = *frame;
    d->start_ns = clock_ns();
    job_load_adjuster_begin(d->adjuster, frame->end - frame->begin, d->grain);
    if (weigh_nodes(d) < 0)
        return nobody_is_left(err);
    if (fill_pool(d, done, n, err) < 0)
        return -1;
    if (n == 0 && !d->adjuster->kind->bundles && cut_slices(d) < 0)
        return es_fail(err, ES_ENV, "report this", "the frame cannot be cut");
    return distribution_feed(d, err);
}

/* Its units are nobody's. */
static int make_void(struct distribution *d,
                     struct piece *p,
                     struct es_error *err)
{
    struct batch b = {p->slice, p->attempt, p->failures + (p->status > 0)};

    take_back(d, p, PIECE_VOID);
    spool_clear(&p->out);
    return unit_pool_add(&d->pool, &b) < 0 ? no_memory(err) : 0;
}

static void learn(struct distribution *d,
                  const struct piece *p,
                  int64_t begun_ns)
{
    struct share *s = &d->share[p->node];
    int64_t now = clock_ns();
    double gap = since(p->sent_ns, now) - p->seconds;

    s->done += units_in(p->slice);
    s->busy += p->seconds;
    s->speed = s->busy > 0 ? (double)s->done / s->busy : 0;
    s->failures = 0;
    d->left -= units_in(p->slice);
    if (gap > 0 && (d->delay <= 0 || gap < d->delay))
        d->delay = gap;
    job_load_adjuster_hear(d->adjuster, p->node, units_in(p->slice),
                           now - begun_ns);
}

int distribution_settle(struct distribution *d,
                        struct piece *p,
                        enum piece_state state,
                        struct es_error *err)
{
    int64_t begun_ns = d->share[p->node].begun_ns;

    if (state == PIECE_VOID) {
        d->share[p->node].failures++;
        return make_void(d, p, err);
    }
    take_back(d, p, PIECE_DONE);
    learn(d, p, begun_ns);
    return 0;
}

/* --- nodes come and go ---------------------------------------------------- */

/* What waits at a node, and what it has out but for the piece `but`, goes to
 * the pool. */
static int strip(struct distribution *d,
                 size_t node,
                 uint64_t but,
                 struct es_error *err)
{
    struct share *s = &d->share[node];

    if (unit_pool_add(&d->pool, &s->waiting) < 0)
        return no_memory(err);
    s->waiting = (struct batch){0};
    for (size_t i = d->first_out; i < d->n && s->out > 0; i++) {
        struct piece *p = &d->piece[i];

        if (p->node == node && p->state == PIECE_OUT && p->id != but
            && make_void(d, p, err) < 0)
            return -1;
    }
    return 0;
}

/* Others go on with what a node has left behind.  Without others it is no
 * error yet that a node who leaves is still at its last piece. */
static int redistribute(struct distribution *d, struct es_error *err)
{
    if (weigh_nodes(d) == 0)
        return distribution_feed(d, err);
    return d->pool.units > 0 ? nobody_is_left(err) : 0;
}

int distribution_lost(struct distribution *d, size_t node, struct es_error *err)
{
    job_load_adjuster_leave(d->adjuster, node);
    d->share[node].standing = STANDING_AWAY;
    d->share[node].speed = 0;
    return strip(d, node, UINT64_MAX, err) < 0 ? -1 : redistribute(d, err);
}

int distribution_returned(struct distribution *d,
                          size_t node,
                          struct es_error *err)
{
    d->share[node] = (struct share){.standing = STANDING_GOOD};
    return redistribute(d, err);
}

static int strip_but_current(struct distribution *d,
                             size_t node,
                             enum standing standing,
                             struct es_error *err)
{
    const struct piece *current = distribution_current(d, node);

    d->share[node].standing = standing;
    return strip(d, node, current ? current->id : UINT64_MAX, err) < 0
               ? -1
               : redistribute(d, err);
}

int distribution_retire(struct distribution *d,
                        size_t node,
                        struct es_error *err)
{
    return strip_but_current(d, node, STANDING_LEAVING, err);
}

int distribution_distrust(struct distribution *d,
                          size_t node,
                          struct es_error *err)
{
    return strip_but_current(d, node, STANDING_BAD, err);
}
