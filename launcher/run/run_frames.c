/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_frames.h"
#include "pmix_bcast/clock.h"

#include <errno.h>

static void end_work(struct run *r)
{
    if (r->o->persistent) {
        r->phase = ENDING;
        programs_await_end(&r->programs);
    } else {
        run_finish(r, 0);
    }
}

/* Of one that a run before has done only the output is written. */
static int begin_frame(struct run *r)
{
    uint64_t number = 0;
    int rc = work_next(&r->work, r->distribution, &number, r->err);

    errno = 0;
    if (rc == WORK_DONE
        && receiving_frame(&r->receiving, r->distribution, number, r->err) < 0)
        return -1;
    return rc;
}

static void tell_begun(struct run *r)
{
    const struct frame *f = distribution_frame(r->distribution);

    progress_begin(&r->progress, f,
                   f->end - f->begin
                       - dispatch_left(distribution_dispatch(r->distribution)));
}

void run_frames_next(struct run *r)
{
    int rc = begin_frame(r);

    while (rc == WORK_DONE)
        rc = begin_frame(r);
    r->idle = rc == WORK_LATER;
    if (rc == WORK_BEGUN)
        tell_begun(r);
    if (rc == WORK_END)
        end_work(r);
    if (rc < 0 && errno != EINTR) /* else the signal ends the run */
        run_finish(r, 1);
}

void run_frames_done(struct run *r)
{
    struct summary *s = &r->summary;
    int adjusted;

    history_frame(&r->history, distribution_dispatch(r->distribution));
    determination_weigh(&r->determination,
                        distribution_dispatch(r->distribution),
                        &r->o->threshold);
    adjusted = job_load_adjuster_step(&r->adjuster, &r->determination);
    s->efficiency +=
        (r->determination.efficiency - s->efficiency) / (double)(s->frames + 1);
    s->frames++;
    s->seconds = (double)(clock_ns() - r->start_ns) * 1e-9;
    progress_stop(&r->progress); /* stdout may be the same terminal */
    if (receiving_frame(&r->receiving, r->distribution,
                        distribution_frame(r->distribution)->number, r->err)
        < 0) {
        if (errno != EINTR) /* else the signal ends the run */
            run_finish(r, 1);
        return;
    }
    progress_frame(&r->progress, distribution_frame(r->distribution),
                   &r->determination, adjusted);
    if (report_frame(&r->report, r->distribution, &r->determination, adjusted,
                     r->err)
        < 0)
        run_finish(r, 1);
    else
        run_frames_next(r);
}

void run_frames_begin(struct run *r)
{
    struct session *session = r->front.session;

    for (size_t i = 0; i < session_size(session); i++)
        if (session_node(session, i)->present)
            job_load_adjuster_threads(&r->adjuster, i,
                                      session_node(session, i)->cpus);
    distribution_begin(r->distribution, &r->adjuster,
                       r->o->lines ? &r->work.lines : NULL);
    r->phase = WORKING;
    r->start_ns = clock_ns();
    progress_start(&r->progress, work_frames(&r->work), work_units(&r->work));
    run_frames_next(r);
}
