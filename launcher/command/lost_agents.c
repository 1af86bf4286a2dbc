/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/lost_agents.h"
#include "launcher/base/notice.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>

#define MOMENT_S 2 /* a step that is cancelled has ended by then */

static void on_lost_time(evutil_socket_t fd, short what, void *arg)
{
    struct lost_agents *l = arg;
    char others[40] = "";

    (void)fd;
    (void)what;
    if (l->n == 0)
        return;
    if (l->n > 1)
        snprintf(others, sizeof others, " and %zu more node%s", l->n - 1,
                 l->n > 2 ? "s" : "");
    notice("warning: %s%s: the agent is lost (%s): the tasks go on, but are "
           "not metered or steered there any more: see slurmd's log",
           session_node(l->session, l->first)->name, others, l->why);
    for (size_t i = 0; i < session_size(l->session); i++) {
        if (l->is_new[i] && l->times)
            step_times_lost(l->times, i);
        l->is_new[i] = 0;
    }
    l->n = 0;
}

int lost_agents_start(struct lost_agents *l,
                      struct event_base *base,
                      struct session *session,
                      struct step_times *times)
{
    l->session = session;
    l->times = times;
    l->is_new = calloc(session_size(session) + 1, 1);
    l->on_time = evtimer_new(base, on_lost_time, l);
    if (l->is_new && l->on_time)
        return 0;
    lost_agents_stop(l);
    return -1;
}

void lost_agents_lost(struct lost_agents *l, size_t node, const char *why)
{
    static const struct timeval moment = {MOMENT_S, 0};

    if (!l->on_time || l->is_new[node])
        return;
    l->is_new[node] = 1;
    if (l->n++ > 0)
        return;
    l->first = node;
    snprintf(l->why, sizeof l->why, "%s", why);
    (void)evtimer_add(l->on_time, &moment); /* else it is not told */
}

void lost_agents_returned(struct lost_agents *l, size_t node)
{
    if (l->times)
        step_times_returned(l->times, node);
    if (!l->on_time || !l->is_new[node])
        return;
    l->is_new[node] = 0;
    l->n--;
    for (size_t i = 0; l->first == node && i < session_size(l->session); i++)
        if (l->is_new[i])
            l->first = i;
}

void lost_agents_stop(struct lost_agents *l)
{
    if (l->on_time)
        event_free(l->on_time);
    free(l->is_new);
    *l = (struct lost_agents){.n = 0};
}
