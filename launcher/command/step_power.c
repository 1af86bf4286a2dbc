/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/step_power.h"
#include "launcher/base/step_dir.h"
#include "launcher/session/top_file.h"

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

static void on_time(evutil_socket_t fd, short what, void *arg)
{
    struct step_power *p = arg;
    struct top_view top = {.job = p->job,
                           .step = p->step,
                           .skew = steering_skew(p->steering),
                           .meter = "",
                           .aggregate = p->aggregate,
                           .n = p->nodes,
                           .node = view,
                           .from = p,
                           .times = p->times};
    char name[STEP_NAME_MAX];

    (void)fd;
    (void)what;
    steering_look(p->steering);
    look_at_energy(p);
    if (p->energy && p->saved)
        top.has_saved = energy_saved_sum(p->saved, p->energy, &top.saved);
    name_step(p, name);
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
