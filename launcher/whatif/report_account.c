/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/report_account.h"
#include "policy/cost.h"

#include <math.h>
#include <stdlib.h>

struct working {
    struct report_file *f;
    struct cost *cost;
    struct account *account;
    double *speed, *lag; /* one a node */
    struct cost_terms terms;
};

static void learn(const struct working *w)
{
    for (size_t i = 0; i < w->f->n_slices; i++) {
        const struct report_slice *s = &w->f->slice[i];

        if (s->done && s->seconds > 0)
            cost_add(w->cost, s->node,
                     &(struct cost_part){.units = (double)s->units},
                     &(struct cost_run){.seconds = s->seconds, .cpu = s->cpu});
    }
    cost_fit(w->cost);
}

static void set_startups(const struct working *w)
{
    for (size_t i = 0; i < w->f->n_slices; i++) {
        struct report_slice *s = &w->f->slice[i];

        if (s->startup < 0)
            s->startup = cost_seconds(w->cost, s->node, 0);
        s->startup = fmin(s->startup, s->seconds);
    }
}

/* All nodes of the file may work in each of its frames: where one has died,
 * that is waiting. */
static void weigh(const struct working *w, struct report_frame *frame)
{
    account_clear(w->account);
    for (size_t i = 0; i < frame->n; i++) {
        const struct report_slice *s = &w->f->slice[frame->slice + i];

        account_add(w->account,
                    &(struct account_piece){.node = s->node,
                                            .units = (double)s->units,
                                            .sent = s->start,
                                            .back = s->start + s->seconds,
                                            .seconds = s->seconds,
                                            .counts = s->done});
    }
    frame->account =
        account_close(w->account, &w->terms, w->speed, frame->last);
}

static void work_out(struct working *w)
{
    learn(w);
    w->terms = cost_terms(w->cost);
    for (size_t i = 0; i < w->f->nodes; i++)
        w->speed[i] = cost_speed(w->cost, i);
    for (size_t i = 0; i < w->f->nodes; i++)
        w->lag[i] = cost_lag(w->cost, i);
    account_lag(w->account, w->lag);
    set_startups(w);
    for (size_t i = 0; i < w->f->n; i++)
        if (!w->f->frame[i].is_told)
            weigh(w, &w->f->frame[i]);
}

/* A run is its frames, and waiting between them. */
static void add_up(struct report_file *f)
{
    struct account_result *a = &f->account;

    if (!f->is_told) {
        *a = (struct account_result){.time = 0};
        for (size_t i = 0; i < f->n; i++)
            account_sum(a, &f->frame[i].account);
        if (f->seconds > a->time)
            a->part[ACCOUNT_WAITING] += f->seconds - a->time;
        a->ideal = fmin(a->ideal, f->seconds);
    }
    a->time = f->seconds;
}

int report_account(struct report_file *f)
{
    struct working w = {.f = f};
    size_t n = f->nodes > 0 ? f->nodes : 1;
    int rc = -1;

    w.cost = cost_create(n, NULL);
    w.account = account_create(n);
    w.speed = calloc(n, sizeof *w.speed);
    w.lag = calloc(n, sizeof *w.lag);
    if (w.cost && w.account && w.speed && w.lag) {
        work_out(&w);
        add_up(f);
        rc = 0;
    }
    cost_destroy(w.cost);
    account_destroy(w.account);
    free(w.speed);
    free(w.lag);
    return rc;
}
