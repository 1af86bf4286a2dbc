/* SPDX-License-Identifier: BSD-2-Clause */
/* Pieces: which frame they are of, and how they are sent. */
#include "launcher/base/lines.h"
#include "launcher/run/distribution_state.h"
#include "pmix_bcast/array.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

void distribution_forget_results(struct piece *p)
{
    spool_clear(&p->out);
    returned_clear(&p->back);
}

struct at_work *distribution_frame_of_piece(const struct distribution *d,
                                            uint64_t id)
{
    size_t place = (size_t)(id >> PLACE_SHIFT);
    size_t i = (place + d->window.places - d->window.first) % d->window.places;

    return place < d->window.places && i < d->window.n ? &d->place[place]
                                                       : NULL;
}

struct piece *distribution_piece_of(const struct at_work *w, uint64_t id)
{
    uint64_t first = w->n > 0 ? w->piece[0].part.id : 0;

    return w->n > 0 && id >= first && id - first < w->n ? &w->piece[id - first]
                                                        : NULL;
}

struct piece *distribution_renew(struct at_work *w, uint64_t id)
{
    struct piece *p = distribution_piece_of(w, id);

    if (!p)
        return NULL;
    p->part = *dispatch_piece(w->in->dispatch, (size_t)(p - w->piece));
    if (p->part.state == PIECE_VOID || p->part.state == PIECE_LEFT_OUT)
        distribution_forget_results(p);
    return p;
}

size_t distribution_slot_out(const struct distribution *d, size_t slot)
{
    return window_node_out(&d->window, slot);
}

struct at_work *distribution_working_at(const struct distribution *d,
                                        size_t slot)
{
    const struct window_frame *f = window_working_at(&d->window, slot);

    return f ? &d->place[f - d->window.place] : NULL;
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
             && send_text(d, &p->part, d->lines->mark, d->lines->header, sum,
                          err)
                    == 0)
        rc = send_text(d, &p->part, at, to, sum, err);
    if (rc == 0) {
        p->input = d->lines->header - d->lines->mark + to - at;
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
                          .slot = slots_number(d->slots, p->node),
                          .cores =
                              d->needs ? needs_cores(d->needs, p->node) : 0};
    struct writer w = {0};
    uint32_t gpus;

    if (d->needs && needs_gpus(d->needs, p->node, &gpus))
        run.gpus = 1 + gpus;

    memcpy(run.label, frame->label, sizeof run.label);
    memcpy(run.work, frame->work, sizeof run.work);
    msg_write_run(&w, &run);
    if (d->lines) { /* behind its text */
        session_send(d->session, d->slots->node[p->node], MSG_RUN, &w);
        return;
    }
    if (!d->runs.session)
        mailing_begin(&d->runs, d->session, MSG_RUN, MAILING_FEW);
    mailing_add(&d->runs, d->slots->node[p->node], &w);
}

/* The text of its units is not what it was: how many are done already? */
static int name_done(const struct at_work *w, struct es_error *err)
{
    const struct es_error why = *err;
    uint64_t all = w->frame.end - w->frame.begin;

    if (why.kind != ES_WORK)
        return -1;
    return es_fail(
        err, why.kind, why.mend,
        "%.400s; %ju of its %ju units are done, by the text of before",
        why.what, (uintmax_t)(all - dispatch_left(w->in->dispatch)),
        (uintmax_t)all);
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
        return name_done(w, err);
    send_run(d, &w->frame, p);
    if (d->overlap && distribution_slot_out(d, p->node) > 1)
        d->both[p->node].since_ns = clock_ns();
    else if (d->overlap)
        d->both[p->node].before = 0; /* what was there may have been lost */
    return 0;
}

int distribution_send_all(struct distribution *d,
                          struct at_work *w,
                          int fed,
                          struct es_error *err)
{
    const struct dispatch_piece *p;
    int rc = 0;

    if (fed == DISPATCH_NOBODY && d->comes && d->comes(d->comes_arg))
        return 0; /* it is fed then */
    if (fed == DISPATCH_NOBODY)
        return es_fail(err, ES_ENV, "see the messages above",
                       "no node is left to work");
    if (fed == DISPATCH_NO_ROOM)
        return es_fail(err, ES_ENV, "see the messages above",
                       "no node is left that has what the %ju tasks need that "
                       "are left",
                       (uintmax_t)dispatch_left(w->in->dispatch));
    if (fed < 0)
        return es_no_memory(err);
    while (rc == 0 && (p = dispatch_next(w->in->dispatch)) != NULL)
        rc = send_piece(d, w, p, err);
    mailing_send(&d->runs);
    return rc;
}
