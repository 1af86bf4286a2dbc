/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/step_report.h"
#include "launcher/base/notice.h"
#include "launcher/base/user_file.h"
#include "launcher/command/step_report_print.h"
#include "launcher/session/site_comment.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LATE_S 1 /* srun waits for its front end three times as long */

void step_report_want(struct step_report *r, const char *path)
{
    const char *why = NULL;
    int fd;

    r->wanted = 1;
    if (!path || !path[0])
        return;
    r->path = path;
    fd = user_file_create(path, 0, &why);
    r->file = fd < 0 ? NULL : fdopen(fd, "w");
    if (r->file)
        return;
    notice("warning: no report is written: %s: %s: name a file that you may "
           "write",
           path, fd < 0 ? why : strerror(errno));
    if (fd >= 0)
        close(fd);
}

void step_report_start(struct step_report *r, struct session *session)
{
    r->times = step_times_create(session);
    if (!r->times && r->wanted)
        notice("warning: no report is written: out of memory");
}

/* Once: what was waited for has come. */
static void be_over(struct step_report *r)
{
    void (*over)(void *arg) = r->over;

    r->over = NULL;
    if (over)
        over(r->arg);
}

static void look_if_whole(struct step_report *r)
{
    if (r->over && step_times_is_whole(r->times))
        be_over(r);
}

int step_report_message(struct step_report *r,
                        size_t node,
                        uint16_t type,
                        const uint8_t *body,
                        size_t len)
{
    if (!r->times || !step_times_message(r->times, node, type, body, len))
        return 0;
    look_if_whole(r);
    return 1;
}

void step_report_lost(struct step_report *r, size_t node)
{
    if (!r->times)
        return;
    step_times_ended(r->times, node);
    look_if_whole(r);
}

static void on_late(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    be_over(arg);
}

void step_report_end(struct step_report *r,
                     struct event_base *base,
                     void (*over)(void *arg),
                     void *arg)
{
    struct timeval tv = {LATE_S, 0};

    r->over = over;
    r->arg = arg;
    if (r->times && (r->wanted || r->is_awaited) && !r->late) {
        r->late = evtimer_new(base, on_late, r);
        if (r->late && evtimer_add(r->late, &tv) == 0) {
            step_times_ask(r->times);
            look_if_whole(r);
            return;
        }
    }
    be_over(r);
}

/* JL of each node, or NULL if they were not measured. */
static double *speeds(const struct qualification *q, size_t n)
{
    double *speed;

    if (q->n != n || q->missing > 0 || !q->metric
        || q->setup->source == METRICS_EQUAL)
        return NULL;
    speed = calloc(n, sizeof *speed);
    for (size_t i = 0; speed && i < n; i++)
        speed[i] = q->metric[i].JL;
    return speed;
}

static void tell_energy(const struct step_report *r)
{
    char line[STEP_REPORT_LINE];

    if (r->energy
        && step_report_energy(r->job, r->step, r->energy, r->saved, line))
        notice("%s", line);
}

static void tell(struct step_report *r, const struct step_report_of *of)
{
    char line[STEP_REPORT_LINES][STEP_REPORT_LINE];
    size_t n = step_report_text(of, line);

    for (size_t i = 0; i < n; i++)
        notice("%s", line[i]);
    tell_energy(r);
    step_report_comment(of, line[0]);
    site_comment_tell(of->times->session, line[0]);
    if (r->file && step_report_write(r->file, of) < 0)
        notice("warning: the report is not whole: %s: %s: see that there is "
               "room",
               r->path, strerror(errno));
}

void step_report_tell(struct step_report *r, const struct qualification *q)
{
    struct step_summary summary;
    struct step_report_of of = {.job = r->job,
                                .step = r->step,
                                .times = r->times,
                                .summary = &summary,
                                .command = r->command,
                                .is_steered = r->is_steered,
                                .is_cpu = r->is_cpu,
                                .nodes = q->n > 0 ? q : NULL,
                                .energy = r->energy,
                                .saved = r->saved};
    double *speed;

    if (!r->wanted || !r->times || !r->late)
        return;
    if (!step_times_is_alive(r->times)) {
        notice("step %u.%u: nothing was metered: it has no rank that calls "
               "MPI; see --evenstep-meter",
               r->job, r->step);
        tell_energy(r);
        return;
    }
    speed = speeds(q, r->times->n);
    of.speed = speed;
    /* Of a node with another limit since, its probe says little. */
    if (step_times_sum(r->times, r->is_steered ? NULL : speed, &summary) == 0)
        tell(r, &of);
    free(speed);
}

void step_report_stop(struct step_report *r)
{
    if (r->late)
        event_free(r->late);
    if (r->file)
        (void)fclose(r->file); /* flushed, or told of */
    step_times_destroy(r->times);
    memset(r, 0, sizeof *r);
}
