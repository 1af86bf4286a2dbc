/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/session_rescue.h"
#include "launcher/base/notice.h"
#include "launcher/session/srun_words.h"
#include "pmix_bcast/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMES_MOST 3 /* steps after the first */
/* From the last loss to the words of srun that say why. */
#define WORDS_MS 1500
/* Agents of one step are lost together; one that was lost before has another
 * reason. */
#define TOGETHER_S 10

static void set_timer(struct session *s, int ms)
{
    struct timeval tv = {ms / 1000, ms % 1000 * 1000};

    (void)evtimer_add(s->rescue.timer, &tv);
}

static int is_anyone_here(const struct session *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (members_node(s->members, i)->present)
            return 1;
    return 0;
}

/* --- the second step ------------------------------------------------------- */

static int is_due(const struct session *s, size_t node)
{
    return s->rescue.lost[node] > clock_s() - TOGETHER_S;
}

/* "n0,n3" for srun, and the rank of each: "n0=0 n3=3".  How many. */
static size_t name_due(struct session *s)
{
    size_t size = s->n * (NODE_NAME_MAX + 12) + 1, len = 0, at = 0, n = 0;

    free(s->rescue.list);
    free(s->rescue.seats);
    s->rescue.list = calloc(1, size);
    s->rescue.seats = calloc(1, size);
    if (!s->rescue.list || !s->rescue.seats)
        return 0;
    for (size_t i = 0; i < s->n; i++) {
        const char *name = members_node(s->members, i)->name;

        if (!is_due(s, i))
            continue;
        len += (size_t)snprintf(s->rescue.list + len, size - len, "%s%s",
                                n > 0 ? "," : "", name);
        at += (size_t)snprintf(s->rescue.seats + at, size - at, "%s%s=%zu",
                               n > 0 ? " " : "", name, i);
        n++;
    }
    return n;
}

static int start(struct session *s)
{
    size_t n = name_due(s);

    if (n == 0 || s->rescue.times == TIMES_MOST)
        return -1;
    s->rescue.join = (struct launch_join){.agents = (uint32_t)s->n,
                                          .seats = s->rescue.seats};
    if (launch_rejoin(s->launch, &s->rescue.join, s->rescue.list, (uint32_t)n,
                      NULL)
        < 0)
        return -1;
    s->rescue.times++;
    s->rescue.stage = RESCUE_STARTED;
    s->aborted[0] = '\0';
    s->linger_s = 0; /* they are of two steps */
    notice("warning: Slurm has ended the agents' step: starting agents once "
           "more on %.480s",
           s->rescue.list);
    set_timer(s, s->start_ms);
    return 0;
}

static void give_up(struct session *s)
{
    const char *said = launch_said(s->launch);

    if (s->rescue.stage == RESCUE_STARTED)
        notice("warning: no agent has come back: %s",
               said[0] ? said : "see slurmd's log on the nodes");
    s->rescue.stage = RESCUE_NOT;
    s->on->stranded(s->arg);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct session *s = arg;

    (void)fd;
    (void)what;
    if (s->closing || s->rescue.stage == RESCUE_NOT)
        return;
    launch_look(s->launch); /* on which nodes Slurm could not start it */
    if (s->rescue.is_refused || !launch_is_aborted(s->launch) || start(s) < 0)
        give_up(s);
}

/* --- what befalls the agents ----------------------------------------------- */

static int prepare(struct session *s)
{
    if (s->is_local || s->closing || !s->on->returned || !s->on->stranded)
        return -1;
    if (!s->rescue.lost)
        s->rescue.lost = calloc(s->n, sizeof *s->rescue.lost);
    if (!s->rescue.timer)
        s->rescue.timer = evtimer_new(s->base, on_timer, s);
    return s->rescue.lost && s->rescue.timer ? 0 : -1;
}

void session_rescue_lost(struct session *s, size_t node)
{
    int aborted = launch_is_aborted(s->launch);

    if (node >= s->n || prepare(s) < 0)
        return;
    s->rescue.lost[node] = clock_s();
    if (is_anyone_here(s) || s->rescue.stage != RESCUE_NOT
        || s->rescue.is_refused || (!aborted && launch_running(s->launch) == 0))
        return;
    s->rescue.stage = RESCUE_ASKED;
    set_timer(s, aborted ? 0 : WORDS_MS);
}

void session_rescue_refuse(struct session *s)
{
    s->rescue.is_refused = 1;
    session_rescue_look(s);
}

void session_rescue_look(struct session *s)
{
    if (s->rescue.stage != RESCUE_NOT)
        set_timer(s, 0);
}

int session_rescue_absent(struct session *s, const struct launch_absent *a)
{
    if (s->rescue.times == 0)
        return 0;
    for (size_t i = 0; a->first == SRUN_WORDS_NO_TASK && i < s->n; i++)
        if (strcmp(members_node(s->members, i)->name, a->node) == 0)
            s->rescue.lost[i] = 0;
    return 1;
}

void session_rescue_back(struct session *s, const struct msg_ready *ready)
{
    if (!s->rescue.lost || ready->rank >= s->n)
        return;
    s->rescue.lost[ready->rank] = 0;
    s->rescue.stage = RESCUE_NOT;
    s->step = ready->step;
    event_del(s->rescue.timer);
}

void session_rescue_clear(struct session *s)
{
    if (s->rescue.timer)
        event_free(s->rescue.timer);
    free(s->rescue.lost);
    free(s->rescue.list);
    free(s->rescue.seats);
}
