/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_limit.h"
#include "launcher/base/notice.h"
#include "launcher/run/run_early.h"
#include "launcher/run/run_frames.h"
#include "launcher/run/run_tasks.h"
#include "launcher/session/job_end.h"
#include "pmix_bcast/clock.h"

#include <limits.h>

#define SECOND_NS 1000000000

/* --- until the end of the job --------------------------------------------- */

static void set_end(struct run *r, int64_t end_ns, int64_t give_up_ns)
{
    r->stop.is_told = 0;
    r->stop.end_ns = end_ns;
    r->stop.give_up_ns = give_up_ns;
    if (r->distribution)
        distribution_set_end(r->distribution, end_ns);
}

/* The tasks of the pieces that are out, too, but for those at hand.  What comes back
 * undone is no failure: it is left. */
static void begin_no_more(struct run *r)
{
    const struct msg_over over = {0};
    struct writer w = {0};

    if (!r->o->each || r->stop.is_told)
        return;
    r->stop.is_told = 1;
    distribution_set_failure_rule(r->distribution,
                                  &(struct failure_rule){.retries = UINT_MAX});
    msg_write_over(&w, &over);
    session_send_all(r->front.session, MSG_OVER, &w);
}

static void on_job_end(void *arg, int64_t end_ns)
{
    struct run *r = arg;
    struct run_stop *s = &r->stop;
    int64_t keep = (int64_t)(r->o->until_end_s * SECOND_NS);

    if (s->by_signal || s->is_halted)
        return;
    if (end_ns == JOB_END_NEVER)
        set_end(r, INT64_MAX, INT64_MAX);
    else if (end_ns >= 0)
        set_end(r, end_ns > keep ? end_ns - keep : 0, end_ns - keep / 2);
    else if (!s->is_known)
        notice("warning: squeue does not tell when the job ends: "
               "--until-end knows no end so far");
    s->is_known = 1;
    if (s->sure == STOP_ASKED)
        s->sure = STOP_SURE;
    if (s->waits) {
        s->waits = 0;
        run_frames_begin(r);
    }
}

static int on_term(void *arg)
{
    struct run *r = arg;

    if (r->o->dry_run || r->phase == FINISHED)
        return 0;
    r->stop.by_signal = 1;
    if (r->phase < WORKING) {
        r->stop.is_unfinished = 1;
        run_finish(r, 0);
        return 1;
    }
    /* What Slurm has ended, too, is to be done by another run. */
    distribution_set_failure_rule(r->distribution,
                                  &(struct failure_rule){.retries = UINT_MAX});
    set_end(r, 0, clock_ns() + (int64_t)STOP_GRACE_S * SECOND_NS);
    begin_no_more(r);
    notice("SIGTERM: nothing more is begun, and what runs may end within %d s",
           STOP_GRACE_S);
    return 1;
}

int run_limit_start(struct run *r)
{
    r->stop.end_ns = r->stop.give_up_ns = INT64_MAX;
    front_on_term(&r->front, on_term, r);
    if (!(r->o->until_end_s > 0) || r->o->dry_run)
        return 0;
    if (!job_end_is_there())
        return es_fail(r->err, ES_ENV,
                       "run it inside salloc or sbatch, or leave it out",
                       "--until-end: no job, so no end of it");
    r->stop.job_end = job_end_watch(r->front.base, on_job_end, r);
    return r->stop.job_end ? 0 : es_no_memory(r->err);
}

void run_limit_close(struct run *r)
{
    job_end_stop(r->stop.job_end);
    r->stop.job_end = NULL;
}

/* --- the end -------------------------------------------------------------- */

/* Nothing runs, and something is left.  By the limit that may have been changed
 * since. */
static void end_if_sure(struct run *r)
{
    struct run_stop *s = &r->stop;

    if (s->is_halted && !s->by_signal) {
        run_tasks_halted(r);
        run_finish(r, 1);
        return;
    }
    if (s->job_end && !s->by_signal && s->sure != STOP_SURE) {
        if (s->sure == STOP_UNASKED)
            job_end_ask(s->job_end);
        s->sure = STOP_ASKED;
        return;
    }
    s->is_unfinished = 1;
    run_frames_end(r);
}

void run_limit_look(struct run *r)
{
    struct run_stop *s = &r->stop;
    int64_t now = clock_ns();
    int works = r->phase == WORKING;

    if (s->end_ns == INT64_MAX || (!works && r->phase != ENDING))
        return;
    if (works && now >= s->end_ns)
        begin_no_more(r);
    if (now >= s->give_up_ns) {
        s->is_unfinished |= works;
        run_finish(r, 0);
    } else if (works && distribution_all_out(r->distribution) > 0) {
        s->sure = STOP_UNASKED;
    } else if (works
               && (now >= s->end_ns
                   || (distribution_left(r->distribution) > 0
                       && !run_early_is_waiting(r)))) {
        end_if_sure(r);
    }
}
