/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_state.h"

/* Is no node left, and each was given up because its command hung? */
static int all_hung(const struct run *r)
{
    size_t n = r->overdue ? session_size(r->front.session) : 0;

    for (size_t i = 0; i < n; i++)
        if (session_node(r->front.session, i)->present || !r->overdue[i])
            return 0;
    return n > 0;
}

void run_finish(struct run *r, int failed)
{
    if (failed && r->err->kind == ES_ENV && all_hung(r))
        es_fail(r->err, ES_WORK, "see --timeout and --retries",
                "every node was given up: %.100s ran for longer than %g s",
                r->o->command[0], r->o->timeout_s);
    r->phase = FINISHED;
    front_finish(&r->front, failed);
}
