/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_comment.h"
#include "launcher/base/notice.h"
#include "launcher/session/job_comment.h"
#include "launcher/session/session.h"
#include "launcher/session/site_comment.h"

#include <inttypes.h>
#include <string.h>

void run_comment_text(char line[RUN_COMMENT],
                      const struct summary *s,
                      const char *slowest)
{
    const struct account_result *a = &s->account;
    int n = snprintf(line, RUN_COMMENT,
                     JOB_COMMENT_BEGIN "%" PRIu64 " frame%s in %.2f s",
                     s->frames, s->frames == 1 ? "" : "s", s->seconds);

    if (a->time > 0 && a->equal > 0)
        n +=
            snprintf(line + n, RUN_COMMENT - (size_t)n,
                     ", %.2f times as fast as equal parts", a->equal / a->time);
    if (account_efficiency(a) >= 0)
        n += snprintf(line + n, RUN_COMMENT - (size_t)n, ", efficiency %.2f",
                      account_efficiency(a));
    if (slowest)
        n += snprintf(line + n, RUN_COMMENT - (size_t)n,
                      ", slowest node %.120s", slowest);
    if (strcmp(s->status, "done") != 0)
        snprintf(line + n, RUN_COMMENT - (size_t)n, ", %s", s->status);
}

/* A seat that nobody has is none. */
static const char *slowest_of(const struct distribution *d)
{
    const struct cost *cost = distribution_cost(d);
    size_t n = distribution_slots(d)->n, slowest = 0;

    for (size_t i = 1; i < n; i++)
        if (distribution_name(d, i)[0]
            && cost_speed(cost, i) < cost_speed(cost, slowest))
            slowest = i;
    return n > 1 ? distribution_name(d, slowest) : NULL;
}

void run_comment_tell(struct session *session,
                      int set,
                      const struct summary *s,
                      const struct distribution *d)
{
    struct es_error why = {0};
    char line[RUN_COMMENT];
    uint32_t job, step;

    session_job(session, &job, &step);
    if (job == 0)
        return;
    run_comment_text(line, s, d && s->frames > 0 ? slowest_of(d) : NULL);
    site_comment_tell(session, line);
    if (set && job_comment_set(job, line, &why) < 0)
        notice("warning: --job-comment: %s: %s", why.what, why.mend);
}
