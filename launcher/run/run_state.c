/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_state.h"

#include <stdio.h>
#include <string.h>

int run_wants_guard(const struct run *r)
{
    return run_power_wants_guard(&r->config->power, r->o->power,
                                 r->o->local.n > 0);
}

int run_wants_energy(const struct run *r)
{
    return r->o->report != NULL && r->o->local.n == 0;
}

/* Is no node left, and each was given up because its command hung? */
static int all_hung(const struct run *r)
{
    size_t n = r->overdue ? session_size(r->front.session) : 0;

    for (size_t i = 0; i < n; i++)
        if (!session_is_vacant(r->front.session, i)
            && (session_node(r->front.session, i)->present || !r->overdue[i]))
            return 0;
    return n > 0;
}

/* Of the frames that have begun, and of those to come. */
static void tell_left(const struct run *r, char *text, size_t size)
{
    uint64_t all = work_frames(&r->work), left, begun, units;

    if (r->phase < WORKING || r->start_ns == 0) {
        snprintf(text, size, "nothing has begun");
        return;
    }
    if (distribution_open(r->distribution) == 0) {
        snprintf(text, size, "its queue has not ended");
        return;
    }
    units = distribution_left(r->distribution);
    begun = distribution_newest(r->distribution, &left)->number + 1;
    if (r->o->each) {
        snprintf(text, size, "%ju task%s left", (uintmax_t)units,
                 units == 1 ? " is" : "s are");
        return;
    }
    snprintf(text, size, "%ju unit%s of frame %ju %s left", (uintmax_t)units,
             units == 1 ? "" : "s",
             (uintmax_t)distribution_frame(r->distribution)->number + 1,
             units == 1 ? "is" : "are");
    if (all > begun)
        snprintf(text + strlen(text), size - strlen(text),
                 ", and %ju frame%s after it", (uintmax_t)(all - begun),
                 all - begun == 1 ? "" : "s");
    else if (all == 0)
        snprintf(text + strlen(text), size - strlen(text),
                 ", and what its queue has");
}

/* Has a run that is about to end only been stopped?  Then r->err says so. */
static int is_stopped(struct run *r, int failed)
{
    const struct run_stop *s = &r->stop;
    int by_term = s->by_signal || s->is_nodes_told;
    char left[200];

    if (failed ? !by_term || r->err->kind != ES_ENV : !s->is_unfinished)
        return 0;
    tell_left(r, left, sizeof left);
    es_fail(r->err, ES_TIME,
            r->o->journal ? "--resume goes on with it"
                          : "with --journal FILE, --resume would go on with it",
            "%s: %s", by_term ? "stopped by SIGTERM" : "time is up", left);
    return 1;
}

void run_finish(struct run *r, int failed)
{
    if (r->front.over) { /* what has ended it is to be said */
        r->phase = FINISHED;
        return;
    }
    if (failed && r->err->kind == ES_ENV && all_hung(r))
        es_fail(r->err, ES_WORK, "see --timeout and --retries",
                "every node was given up: %.100s ran for longer than %g s",
                r->o->command[0], r->o->timeout_s);
    failed |= is_stopped(r, failed);
    r->phase = FINISHED;
    front_finish(&r->front, failed);
}
