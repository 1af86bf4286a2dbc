/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/distribution.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

int64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int distribution_init(struct distribution *d,
                      struct session *session,
                      uint64_t grain)
{
    size_t n = session_size(session);

    memset(d, 0, sizeof *d);
    d->session = session;
    d->grain = grain;
    d->cut = calloc(n, sizeof *d->cut);
    d->load = calloc(n, sizeof *d->load);
    if (d->cut && d->load)
        return 0;
    distribution_clear(d);
    return -1;
}

static void forget_pieces(struct distribution *d)
{
    for (size_t i = 0; i < d->n; i++)
        spool_clear(&d->piece[i].out);
    d->n = 0;
    d->out = 0;
}

void distribution_clear(struct distribution *d)
{
    forget_pieces(d);
    free(d->piece);
    free(d->cut);
    free(d->load);
    memset(d, 0, sizeof *d);
}

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
    memset(&d->piece[d->n], 0, sizeof d->piece[d->n]);
    return &d->piece[d->n++];
}

static int send_piece(struct distribution *d,
                      size_t node,
                      struct slice slice,
                      unsigned attempt,
                      struct es_error *err)
{
    struct piece *p = add_piece(d);
    struct msg_run run = {.frame = d->frame.number};
    struct writer w = {0};

    if (!p)
        return es_fail(err, ES_ENV, "free some memory", "out of memory");
    p->id = d->next_id++;
    p->node = node;
    p->slice = slice;
    p->attempt = attempt;
    p->status = -1;
    d->out++;
    run.id = p->id;
    run.begin = slice.begin;
    run.end = slice.end;
    memcpy(run.label, d->frame.label, sizeof run.label);
    msg_write_run(&w, &run);
    session_send(d->session, node, MSG_RUN, &w);
    return 0;
}

static int cut(struct distribution *d, struct slice units)
{
    return shares_cut(units.begin, units.end, d->grain, d->load, d->cut,
                      session_size(d->session));
}

/* Cut units by load over the nodes that are present and send them. */
static int send_units(struct distribution *d,
                      struct slice units,
                      const double load[],
                      unsigned attempt,
                      struct es_error *err)
{
    size_t n = session_size(d->session);

    for (size_t i = 0; i < n; i++)
        d->load[i] = session_node(d->session, i)->present ? load[i] : 0;
    if (cut(d, units) < 0) { /* only nodes without a load are left */
        for (size_t i = 0; i < n; i++)
            d->load[i] = session_node(d->session, i)->present;
        if (cut(d, units) < 0)
            return es_fail(err, ES_ENV, "see the messages above",
                           "no node is left to work");
    }
    for (size_t i = 0; i < n; i++)
        if (d->cut[i].begin < d->cut[i].end
            && send_piece(d, i, d->cut[i], attempt, err) < 0)
            return -1;
    return 0;
}

int distribution_send(struct distribution *d,
                      const struct frame *frame,
                      const double load[],
                      struct es_error *err)
{
    forget_pieces(d);
    d->frame = *frame;
    d->start_ns = clock_ns();
    return send_units(d, (struct slice){frame->begin, frame->end}, load, 1,
                      err);
}

int distribution_lost(struct distribution *d,
                      size_t node,
                      const double load[],
                      struct es_error *err)
{
    size_t n = d->n; /* what is added meanwhile is with other nodes */

    for (size_t i = 0; i < n; i++) {
        if (d->piece[i].node != node || d->piece[i].state != PIECE_OUT)
            continue;
        d->piece[i].state = PIECE_VOID;
        spool_clear(&d->piece[i].out);
        d->out--;
        if (send_units(d, d->piece[i].slice, load, d->piece[i].attempt + 1, err)
            < 0)
            return -1;
    }
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
