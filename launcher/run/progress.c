/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/progress.h"
#include "launcher/base/notice.h"
#include "pmix_bcast/clock.h"
#include "policy/underway.h"

#include <string.h>

/* Ten times a second is smooth and costs nothing. */
#define REDRAW_NS 100000000

static double seconds_now(void)
{
    return (double)clock_ns() * 1e-9;
}

void progress_start(struct progress *p,
                    uint64_t frames,
                    uint64_t units,
                    int are_tasks)
{
    double now = seconds_now();

    memset(p, 0, sizeof *p);
    p->terminal = notice_is_terminal();
    p->are_tasks = are_tasks;
    tally_start(&p->tally, frames, units, now);
    log_pace_start(&p->pace, now);
}

void progress_begin(struct progress *p, const struct frame *f, uint64_t before)
{
    uint64_t number = f->number;

    if (p->are_tasks) { /* which count, and not their frames */
        number = p->tally.next;
        p->tally.before += f->begin - p->seen;
        p->seen = f->end;
        if (f->end > p->tally.units)
            p->tally.units = f->end;
    }
    tally_begin(&p->tally, number, f->end - f->begin, before, seconds_now());
}

void progress_grow(struct progress *p, const struct frame *f)
{
    tally_grow(&p->tally, f->end - p->seen);
    p->seen = f->end;
}

void progress_units(struct progress *p, uint64_t units)
{
    tally_units(&p->tally, units, seconds_now());
}

void progress_piece(struct progress *p, uint64_t bytes)
{
    p->pieces++;
    p->silent += bytes == 0;
}

static struct tally_now tally_of(const struct progress *p,
                                 const struct distribution *d)
{
    int64_t now = clock_ns(), began = distribution_start_ns(d);
    struct tally_now t;
    double underway = p->tally.open == 0
                          ? 0
                          : underway_units(distribution_dispatch(d),
                                           (double)(now - began) * 1e-9);

    t = tally_now(&p->tally, underway, (double)now * 1e-9);
    t.are_tasks = p->are_tasks;
    t.failed = p->failed;
    t.is_open = p->is_open;
    return t;
}

struct tally_now progress_now(const struct progress *p,
                              const struct distribution *d,
                              double *efficiency)
{
    *efficiency = account_efficiency(&p->sum);
    return tally_of(p, d);
}

static void draw(struct progress *p, const struct distribution *d)
{
    double efficiency;
    struct tally_now now = progress_now(p, d, &efficiency);
    char text[PROGRESS_TEXT];

    progress_text_bar(text, notice_columns(), &now, efficiency);
    notice_progress(text);
}

/* The frames that have ended, of which nothing was said. */
static void tell_frames(struct progress *p)
{
    struct tally_now now = tally_now(&p->tally, 0, seconds_now());
    char text[PROGRESS_TEXT];

    if (p->untold.n == 0 || p->are_tasks)
        return;
    progress_text_frames(text, &p->untold, &now);
    notice("%s", text);
    p->untold.n = 0;
}

static void tell_running(struct progress *p, const struct distribution *d)
{
    struct tally_now now = tally_of(p, d);
    char text[PROGRESS_TEXT];

    progress_text_running(text, &now);
    notice("%s", text);
}

void progress_look(struct progress *p, const struct distribution *d)
{
    int64_t now = clock_ns();

    if (p->terminal && now - p->drawn_ns >= REDRAW_NS) {
        p->drawn_ns = now;
        draw(p, d);
    } else if (!p->terminal && log_pace_due(&p->pace, (double)now * 1e-9)) {
        tell_frames(p);
        tell_running(p, d);
    }
}

/* Add a frame to others, or put the run so far in their place. */
static void add_account(struct account_result *to,
                        const struct account_result *frame,
                        const struct account_result *run)
{
    if (run)
        *to = *run;
    else
        account_sum(to, frame);
}

static void add_frame(struct progress_frames *f,
                      uint64_t number,
                      const struct account_result *account,
                      const struct account_result *run,
                      int adjusted)
{
    if (f->n == 0)
        *f = (struct progress_frames){.first = number};
    f->last = number;
    f->n++;
    f->overlap = run != NULL;
    add_account(&f->sum, account, run);
    f->adjusted = adjusted;
}

void progress_frame(struct progress *p,
                    const struct distribution *d,
                    const struct account_result *account,
                    const struct account_result *run,
                    int adjusted)
{
    const struct frame *f = distribution_frame(d);

    tally_end(&p->tally, f->end - f->begin, seconds_now());
    p->ended++;
    add_account(&p->sum, account, run);
    if (p->terminal) {
        p->drawn_ns = 0;
        progress_look(p, d);
        return;
    }
    add_frame(&p->untold, f->number, account, run, adjusted);
    if (log_pace_frame(&p->pace, seconds_now()))
        tell_frames(p);
}

void progress_stop(struct progress *p)
{
    if (p->terminal)
        notice_progress(NULL);
}

/* Where others have printed something, nothing may be a failure unseen. */
static void tell_silent(const struct progress *p)
{
    if (p->silent > 0 && p->silent < p->pieces)
        notice("%ju of %ju pieces printed nothing", (uintmax_t)p->silent,
               (uintmax_t)p->pieces);
}

void progress_end(struct progress *p, const struct summary *s)
{
    const struct account_result none = {.time = 0}; /* of who waits for tasks */
    char text[PROGRESS_TEXT];

    progress_stop(p);
    tell_frames(p);
    if (p->are_tasks) {
        struct tally_now all = tally_now(&p->tally, 0, seconds_now());

        all.failed = p->failed;
        progress_text_tasks(text, &all, s->seconds,
                            p->is_followed ? &none : &s->account);
        notice("%s", text);
        return;
    }
    progress_text_run(text, s->frames, s->seconds, &s->account);
    notice("%s (%s)", text, s->policy);
    tell_silent(p);
    if (account_efficiency(&s->account) < 0)
        return;
    progress_text_account(text, &s->account);
    notice("%s", text);
    if (progress_text_advice(text, &s->account, report_named(s->policy)))
        notice("%s", text);
}
