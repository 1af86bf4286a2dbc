/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_account.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of commands that use one CPU: seconds of all that tell something, and their CPU
 * time as a part of these. */
#define LONG_S    1
#define ONE_LEAST 0.5
#define ONE_MOST  1.25

int run_account_begin(struct run_account *a,
                      size_t n,
                      const struct cost *cost,
                      int ahead)
{
    memset(a, 0, sizeof *a);
    a->n = n;
    a->cost = cost;
    a->frame = account_create(n);
    a->whole = ahead ? account_create(n) : NULL;
    a->speed = calloc(n, sizeof *a->speed);
    a->part = calloc(n, sizeof *a->part);
    a->counts = calloc(n, sizeof *a->counts);
    if (a->frame && a->speed && a->part && a->counts && (a->whole || !ahead))
        return 0;
    run_account_clear(a);
    return -1;
}

void run_account_clear(struct run_account *a)
{
    account_destroy(a->frame);
    account_destroy(a->whole);
    free(a->speed);
    free(a->part);
    free(a->counts);
    memset(a, 0, sizeof *a);
}

static void add_pieces(struct account *to,
                       const struct dispatch *d,
                       double began)
{
    for (size_t i = 0; i < dispatch_pieces(d); i++) {
        const struct dispatch_piece *p = dispatch_piece(d, i);

        account_add(to,
                    &(struct account_piece){.node = p->node,
                                            .units = dispatch_work_of(d, p),
                                            .sent = began + p->sent,
                                            .back = began + p->back,
                                            .seconds = p->seconds,
                                            .counts = p->state == PIECE_DONE});
    }
}

static void add_cpu(struct run_account *a, const struct dispatch *d)
{
    for (size_t i = 0; i < dispatch_pieces(d); i++) {
        const struct dispatch_piece *p = dispatch_piece(d, i);

        if (p->state == PIECE_DONE && p->cpu > 0) {
            a->command_s += p->seconds;
            a->cpu_s += p->cpu;
        }
    }
}

static int may_work(const struct dispatch *d, size_t node)
{
    return dispatch_may_send(d, node) && !dispatch_node(d, node)->is_awaited;
}

/* Those that may work, or were sent something, whatever became of it. */
static void set_speeds(struct run_account *a, const struct dispatch *d)
{
    for (size_t i = 0; i < a->n; i++)
        a->speed[i] = may_work(d, i) ? cost_speed(a->cost, i) : 0;
    for (size_t i = 0; i < dispatch_pieces(d); i++) {
        size_t node = dispatch_piece(d, i)->node;

        a->speed[node] = cost_speed(a->cost, node);
    }
    for (size_t i = 0; i < a->n; i++)
        a->counts[i] |= a->speed[i] > 0;
}

/* Those of any frame. */
static void set_speeds_of_run(const struct run_account *a)
{
    for (size_t i = 0; i < a->n; i++)
        a->speed[i] = a->counts[i] ? cost_speed(a->cost, i) : 0;
}

/* As a frame that overlaps with others: only its ideal can be told. */
static void overlap(struct run_account *a, double began, double ended)
{
    double seconds = ended - fmax(began, a->ended);

    memset(a->last.part, 0, sizeof a->last.part);
    a->last.time = fmax(seconds, a->last.ideal);
}

static void tell_lags(struct run_account *a, struct account *to)
{
    for (size_t i = 0; i < a->n; i++)
        a->part[i] = cost_lag(a->cost, i);
    account_lag(to, a->part);
}

void run_account_frame(struct run_account *a,
                       const struct dispatch *d,
                       double began,
                       double seconds)
{
    struct cost_terms terms;

    if (dispatch_cost(d)) /* of the frame's type of work */
        a->cost = dispatch_cost(d);
    set_speeds(a, d);
    cost_split(a->cost, a->speed, a->part);
    account_split(a->frame, a->part);
    tell_lags(a, a->frame);
    terms = cost_terms(a->cost);
    account_clear(a->frame);
    add_pieces(a->frame, d, 0);
    add_cpu(a, d);
    a->last = account_close(a->frame, &terms, a->speed, seconds);
    if (a->whole) {
        add_pieces(a->whole, d, began);
        overlap(a, began, began + seconds);
    }
    account_sum(&a->sum, &a->last);
    a->open += fmax(began + seconds - fmax(began, a->ended), 0);
    a->ended = fmax(a->ended, began + seconds); /* it waits for those before */
    a->frames++;
}

struct account_result run_account_sum(struct run_account *a, double seconds)
{
    struct account_result r = a->sum;
    struct cost_terms terms;

    if (a->frames == 0)
        return (struct account_result){.time = seconds,
                                       .part[ACCOUNT_WAITING] = seconds};
    if (a->whole) {
        set_speeds_of_run(a);
        tell_lags(a, a->whole);
        terms = cost_terms(a->cost);
        r = account_close(a->whole, &terms, a->speed,
                          seconds > 0 ? seconds : a->open);
        r.equal = a->sum.equal; /* of which each frame is a step of its own */
        return r;
    }
    if (seconds > r.time) {
        r.part[ACCOUNT_WAITING] += seconds - r.time;
        r.time = seconds;
    }
    return r;
}

int run_account_used_one_cpu(const struct run_account *a)
{
    return a->command_s >= LONG_S && a->cpu_s >= ONE_LEAST * a->command_s
           && a->cpu_s <= ONE_MOST * a->command_s;
}

double run_account_start(const struct run_account *a, size_t node)
{
    return cost_seconds(a->cost, node, 0);
}
