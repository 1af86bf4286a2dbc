/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_frames.h"
#include "launcher/base/notice.h"
#include "launcher/run/dry_run.h"
#include "launcher/run/oversight.h"
#include "launcher/run/run_costs.h"
#include "launcher/run/run_early.h"
#include "launcher/run/run_failures.h"
#include "launcher/run/run_join.h"
#include "launcher/run/run_known.h"
#include "launcher/run/run_slots.h"
#include "launcher/run/run_tasks.h"
#include "pmix_bcast/clock.h"
#include "policy/static.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void run_frames_end(struct run *r)
{
    if (r->o->persistent && !r->o->dry_run) {
        r->phase = ENDING;
        programs_await_end(&r->programs);
    } else {
        run_finish(r, 0);
    }
}

/* The frame has been cut, and nothing was sent. */
static int print_commands(struct run *r)
{
    const struct frame *frame = distribution_frame(r->distribution);
    const struct dispatch *held = distribution_dispatch(r->distribution);
    size_t n;
    const struct piece *piece = distribution_pieces(r->distribution, &n);

    for (size_t i = 0; i < n; i++) {
        const struct dispatch_piece *p = &piece[i].part;
        struct msg_run run = {
            .id = p->id,
            .frame = frame->number,
            .begin = p->units.begin,
            .end = p->units.end,
            .slot = slots_number(distribution_slots(r->distribution), p->node)};

        memcpy(run.label, frame->label, sizeof run.label);
        memcpy(run.work, frame->work, sizeof run.work);
        if (dry_run_print(stdout, r->o, &run,
                          distribution_name(r->distribution, p->node),
                          dispatch_node(held, p->node)->slice)
            < 0)
            return es_no_space(r->err);
    }
    for (size_t i = 0; i < r->slots.nodes; i++) {
        enum idle_reason why = distribution_idle(r->distribution, i);
        const char *name = distribution_node(r->distribution, i);

        if (why != IDLE_NOT && name[0])
            printf("# %s: nothing: %s\n", name, idle_text(why));
    }
    return fflush(stdout) == 0 ? 0 : es_no_space(r->err);
}

/* A frame has begun: print the commands of all that begin with it. */
static int print_plan(struct run *r)
{
    struct distribution *d = r->distribution;
    int rc = WORK_BEGUN;

    while (rc == WORK_BEGUN && distribution_wants_frame(d))
        rc = work_next(&r->work, d, r->err);
    if (rc < 0 || (rc != WORK_BEGUN && distribution_no_frame(d, r->err) < 0))
        return -1;
    for (; distribution_open(d) > 0; distribution_drop(d))
        if (print_commands(r) < 0)
            return -1;
    return 0;
}

static void tell_begun(struct run *r)
{
    uint64_t left;
    const struct frame *f = distribution_newest(r->distribution, &left);

    run_power_frame(&r->power);
    r->progress.is_open = work_is_open(&r->work);
    progress_begin(&r->progress, f, f->end - f->begin - left);
}

/* Since the first frame began. */
static double seconds_of(const struct run *r, int64_t ns)
{
    return (double)(ns - r->start_ns) * 1e-9;
}

/* What is learned of the first frame goes there. */
static struct run_type *type_of(struct run *r)
{
    return &r->type[distribution_frame(r->distribution)->type];
}

/* How the first frame went, and with it the run.  until: when it was given up, if
 * it is not done; else 0. */
static void weigh(struct run *r, double until)
{
    const struct dispatch *d = distribution_dispatch(r->distribution);
    struct run_type *own = type_of(r);
    struct summary *s = &r->summary;

    r->determination.noise = own->noise;
    determination_weigh(&r->determination, d, &r->o->threshold);
    own->noise = r->determination.noise;
    r->determination.last = fmax(r->determination.last, until);
    run_account_frame(&r->account, d,
                      seconds_of(r, distribution_start_ns(r->distribution)),
                      r->determination.last);
    s->seconds = seconds_of(r, clock_ns());
    s->account =
        run_account_sum(&r->account, r->o->n_queues > 0 ? 0 : s->seconds);
}

static int report(struct run *r, int adjusted, uint64_t left_out)
{
    struct top_view top = {.n = 0};
    int rc;

    if (r->report.out.file) {
        run_meter_view(&r->meter, &top);
        run_power_view(&r->power, &top);
    }
    r->report.meters = &top;
    errno = 0;
    rc = report_frame(&r->report, r->distribution, &r->determination,
                      &r->account, adjusted, left_out, r->err);
    r->report.meters = NULL;
    return rc;
}

/* Who has done nothing in any frame so far, and why not in the last one.  Without memory
 * nothing is told of that. */
static void note_idlers(struct run *r)
{
    size_t n = r->slots.nodes;
    int is_first = !r->idlers.why;

    if (is_first) {
        r->idlers.why = calloc(n, sizeof *r->idlers.why);
        r->idlers.n = r->idlers.why ? n : 0;
    }
    for (size_t i = 0; i < r->idlers.n; i++)
        if (is_first || r->idlers.why[i] != IDLE_NOT)
            r->idlers.why[i] = distribution_idle(r->distribution, i);
}

/* Is it told when it comes to be? */
static int is_told(enum idle_reason why)
{
    return why == IDLE_NOT || why == IDLE_NO_NEED || why == IDLE_LOST
           || why == IDLE_LEAVING || why == IDLE_FAILS;
}

#define IDLERS_NAMED 4 /* of those with one reason */

static void tell_idlers_for(const struct run *r, enum idle_reason why)
{
    char names[IDLERS_NAMED * (NODE_NAME_MAX + 2)] = "";
    size_t told = 0, len = 0;

    for (size_t i = 0; i < r->idlers.n; i++) {
        const char *name = session_node(r->front.session, i)->name;

        if (r->idlers.why[i] != why || !name[0] || told++ >= IDLERS_NAMED)
            continue;
        len += (size_t)snprintf(names + len, sizeof names - len, "%s%s",
                                len > 0 ? ", " : "", name);
    }
    if (told > IDLERS_NAMED)
        notice("%s and %zu more had no work: %s", names, told - IDLERS_NAMED,
               idle_text(why));
    else if (told > 0)
        notice("%s had no work: %s", names, idle_text(why));
}

void run_frames_tell_idlers(const struct run *r)
{
    for (int why = IDLE_NOT + 1; why < IDLE_REASONS; why++)
        if (!is_told((enum idle_reason)why))
            tell_idlers_for(r, (enum idle_reason)why);
}

/* Do costs decide, so that nobody asks for the loads? */
static int loads_are_idle(const struct run *r)
{
    const struct dispatch *d = distribution_dispatch(r->distribution);
    const struct cost *cost = dispatch_cost(d);

    return dispatch_is_by_cost(d) && cost && cost_is_known(cost);
}

/* The first frame is done; its output is written. */
static int weigh_frame(struct run *r, uint64_t left_out)
{
    int adjusted = 0;

    history_frame(&type_of(r)->history, distribution_dispatch(r->distribution),
                  &r->slots);
    weigh(r, 0);
    note_idlers(r);
    r->summary.frames++;
    run_power_frame_end(&r->power, distribution_dispatch(r->distribution),
                        &r->determination);
    if (!run_early_is_waiting(r)) /* whose frame says nothing of them */
        adjusted = job_load_adjuster_step(
            &r->adjuster[distribution_frame(r->distribution)->type],
            &r->determination);
    progress_stop(&r->progress); /* stdout may be the same terminal */
    if (receiving_frame(&r->receiving, r->distribution, r->err) < 0)
        return -1;
    progress_frame(&r->progress, r->distribution, &r->account.last,
                   r->account.whole ? &r->summary.account : NULL,
                   adjusted && !loads_are_idle(r));
    return report(r, adjusted, left_out);
}

/* Of one that a run before has done only the output is written. */
static int end_frame(struct run *r)
{
    int is_kept = distribution_is_kept(r->distribution), rc;
    uint64_t left_out =
        run_failures_before(r, distribution_frame(r->distribution)->number);

    errno = 0;
    rc = is_kept ? receiving_frame(&r->receiving, r->distribution, r->err)
                 : weigh_frame(r, left_out);
    if (rc == 0)
        return distribution_close(r->distribution, r->err);
    return -1;
}

/* Frames that are done come out in their order, and later ones begin. */
static int go_on(struct run *r)
{
    struct distribution *d = r->distribution;
    int rc = WORK_BEGUN;

    while (rc == WORK_BEGUN || rc == WORK_DONE) {
        while (distribution_is_done(d))
            if (end_frame(r) < 0)
                return -1;
        if (!distribution_wants_frame(d))
            return 0;
        if (run_join_take_in(r) < 0)
            return -1;
        errno = 0;
        rc = work_next(&r->work, d, r->err);
        if (rc == WORK_BEGUN)
            tell_begun(r);
        if (rc == WORK_BEGUN && r->o->dry_run) {
            run_finish(r, print_plan(r) < 0);
            return 0;
        }
    }
    r->idle = rc == WORK_LATER;
    if (rc < 0)
        return -1;
    if (rc == WORK_END && distribution_open(d) == 0)
        run_frames_end(r);
    return distribution_no_frame(d, r->err);
}

void run_frames_next(struct run *r)
{
    if (go_on(r) < 0 && errno != EINTR) /* else the signal ends the run */
        run_finish(r, 1);
}

void run_frames_ask(struct run *r)
{
    errno = 0;
    if (distribution_ask(r->distribution, r->err) < 0)
        run_finish(r, 1);
    else
        run_frames_next(r);
}

void run_frames_grow(struct run *r)
{
    struct frame now;
    int rc;

    errno = 0;
    rc = work_grow(&r->work, r->distribution, &now, r->err);
    if (rc < 0) {
        run_finish(r, 1);
        return;
    }
    r->progress.is_open = work_is_open(&r->work);
    if (rc > 0)
        progress_grow(&r->progress, &now);
    if (distribution_is_done(r->distribution))
        run_frames_next(r);
}

void run_frames_feed(struct run *r)
{
    errno = 0;
    if (distribution_feed(r->distribution, r->err) < 0)
        run_finish(r, 1);
    else if (distribution_is_done(r->distribution)
             || distribution_wants_frame(r->distribution))
        run_frames_next(r);
}

/* Is it to be known first when the job ends? */
static int is_end_awaited(struct run *r)
{
    struct run_stop *s = &r->stop;

    s->waits = s->job_end && !s->is_known;
    distribution_set_end(r->distribution, s->end_ns);
    return s->waits;
}

/* Else limits are all that can even out how long the nodes take. */
static int work_can_move(const struct run *r)
{
    return r->o->pieces != 1
           || (work_frames(&r->work) != 1 && r->o->policy != &static_kind);
}

void run_frames_begin(struct run *r)
{
    if (is_end_awaited(r))
        return;
    listening_table_end(&r->listening.table);
    if (run_early_await(r) < 0) {
        run_finish(r, 1);
        return;
    }
    for (size_t i = 0; i < r->slots.nodes; i++)
        if (session_node(r->front.session, i)->present)
            run_slots_threads(r, i);
    distribution_begin(r->distribution, r->adjuster,
                       r->o->lines ? &r->work.lines : NULL);
    run_costs_expect(r);
    if (work_can_move(r))
        distribution_set_speeds(r->distribution, run_power_turns(&r->power));
    if (r->o->dry_run)
        distribution_only_plan(r->distribution);
    oversight_tell_stdin(r->o, &r->told_stdin);
    if (run_account_begin(&r->account, r->slots.n,
                          distribution_cost(r->distribution), r->o->ahead > 0)
        < 0) {
        run_finish(r, es_no_memory(r->err));
        return;
    }
    if (work_settle(&r->work, r->err) < 0) {
        run_finish(r, 1);
        return;
    }
    run_known_report(r);
    r->phase = WORKING;
    r->start_ns = clock_ns();
    run_top_start(&r->top, session_size(r->front.session),
                  r->o->is_tasks ? r->o->list_path : r->o->command[0]);
    if (r->o->each) {
        r->top.longest = run_tasks_longest;
        r->top.arg = r;
    }
    progress_start(&r->progress, work_frames(&r->work), work_units(&r->work),
                   r->o->each);
    r->progress.is_followed = r->o->follow || r->o->has_needs;
    if (run_join_open(r) < 0)
        run_finish(r, 1);
    else
        run_frames_next(r);
    if (!run_early_is_waiting(r))
        run_known_keep(r); /* while the nodes are at work */
}

/* Of the first, as far as it came: 0 if it is done. */
static double give_up(struct run *r)
{
    return distribution_is_done(r->distribution)
               ? 0
               : distribution_give_up(r->distribution);
}

void run_frames_report(struct run *r)
{
    if (r->start_ns > 0)
        r->summary.seconds = seconds_of(r, clock_ns());
    for (; r->start_ns > 0 && distribution_open(r->distribution) > 0;
         distribution_drop(r->distribution)) {
        if (r->remains.to)
            remains_frame(&r->remains, r->distribution);
        if (distribution_is_kept(r->distribution))
            continue;
        weigh(r, give_up(r));
        (void)report_frame(&r->report, r->distribution, &r->determination,
                           &r->account, 0, 0,
                           NULL); /* the run has failed, and that is told */
    }
}
