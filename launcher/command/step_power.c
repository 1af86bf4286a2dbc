/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/step_power.h"
#include "launcher/base/step_dir.h"
#include "launcher/command/step_verdict.h"
#include "launcher/session/step_still.h"
#include "launcher/session/top_file.h"
#include "pmix_bcast/clock.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOP_MS 500 /* between two updates of what `evenstep top` shows */

static void name_step(const struct step_power *p, char name[STEP_NAME_MAX])
{
    snprintf(name, STEP_NAME_MAX, "%u.%u", p->job, p->step);
}

static struct steering_view view(const void *from, size_t node)
{
    const struct step_power *p = from;
    struct steering_view v = steering_view(p->steering, node);

    if (p->energy)
        v.energy = energy_view(p->energy, node);
    return v;
}

static void look_at_energy(struct step_power *p)
{
    int has_begun = 0;

    if (!p->energy || !p->saved)
        return;
    for (uint32_t i = 0; i < p->nodes && !has_begun; i++)
        has_begun = steering_view(p->steering, i).progress > 0;
    for (uint32_t i = 0; i < p->nodes; i++)
        energy_saved_look(&p->saved[i], has_begun,
                          steering_has_moved(p->steering),
                          energy_view(p->energy, i));
}

static void look_at_cpu(struct step_power *p)
{
    for (size_t i = 0; p->times && i < p->times->n && i < p->nodes; i++) {
        const struct step_node *node = &p->times->node[i];
        double useful = 0, cpu = 0;

        for (uint32_t k = 0; k < node->n && node->rank; k++) {
            useful += node->rank[k].useful;
            cpu += node->rank[k].cpu + node->rank[k].delay
                   + node->rank[k].throttled + node->node_throttled;
        }
        steering_note_cpu(p->steering, i, useful, cpu);
    }
}

/* That it hangs; or why its ranks have waited so far. */
static void find_reason(const struct step_power *p, char reason[TOP_TEXT_MAX])
{
    struct step_verdict_text verdict;
    struct step_summary sum;

    *reason = '\0';
    if (!p->times || !step_times_is_alive(p->times)
        || step_still_text(p->times, reason)
        || step_times_sum(p->times, NULL, &sum) < 0)
        return;
    step_verdict_tell(&verdict, p->times, &sum, steering_has_moved(p->steering),
                      p->meter == STEP_METER_CPU);
    snprintf(reason, TOP_TEXT_MAX, "%s", verdict.text);
}

static void on_time(evutil_socket_t fd, short what, void *arg)
{
    struct step_power *p = arg;
    struct top_view top = {.job = p->job,
                           .step = p->step,
                           .what = p->command,
                           .seconds = (double)(clock_ns() - p->begun_ns) / 1e9,
                           .skew = steering_skew(p->steering),
                           .meter = "",
                           .aggregate = p->aggregate,
                           .n = p->nodes,
                           .node = view,
                           .from = p,
                           .times = p->times};
    char name[STEP_NAME_MAX], reason[TOP_TEXT_MAX];

    (void)fd;
    (void)what;
    look_at_cpu(p);
    steering_look(p->steering);
    look_at_energy(p);
    if (p->energy && p->saved)
        top.has_saved = energy_saved_sum(p->saved, p->energy, &top.saved);
    name_step(p, name);
    find_reason(p, reason);
    top.reason = reason;
    if (steering_is_alive(p->steering))
        (void)top_file_write(name, &top); /* a view only: no warning */
}

int step_power_start(struct step_power *p,
                     struct event_base *base,
                     struct session *session,
                     const struct config_power *config,
                     enum power_variant variant)
{
    struct timeval tv = {TOP_MS / 1000, TOP_MS % 1000 * 1000};
    char name[STEP_NAME_MAX];

    p->nodes = (uint32_t)session_size(session);
    p->begun_ns = clock_ns();
    p->aggregate = config->aggregate;
    p->variant = variant;
    name_step(p, name);
    p->steering = steering_start(session, name, config, variant, p->meter);
    if (!p->steering)
        return -1;
    if (variant == POWER_SAVE) {
        p->saved = calloc(p->nodes, sizeof *p->saved);
        if (!p->saved)
            return -1;
    }
    p->on_time = event_new(base, -1, EV_PERSIST, on_time, p);
    return p->on_time && event_add(p->on_time, &tv) == 0 ? 0 : -1;
}

void step_power_stop(struct step_power *p)
{
    char name[STEP_NAME_MAX];

    if (p->on_time) {
        event_free(p->on_time);
        name_step(p, name);
        step_dir_remove(name);
    }
    steering_stop(p->steering);
    free(p->saved);
    memset(p, 0, sizeof *p);
}
