/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_energy.h"
#include "launcher/base/json_member.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void run_energy_start(struct run_energy *e,
                      struct event_base *base,
                      struct session *session,
                      const struct config *config,
                      int guard)
{
    *e = (struct run_energy){.session = session, .n = session_size(session)};
    e->before = calloc(e->n, sizeof *e->before);
    if (e->before)
        e->watch = energy_start(base, session, config, guard);
}

void run_energy_returned(struct run_energy *e, size_t node)
{
    if (e->watch)
        energy_order(e->watch, node);
}

int run_energy_message(struct run_energy *e,
                       size_t node,
                       uint16_t type,
                       const uint8_t *body,
                       size_t len)
{
    return e->watch && energy_message(e->watch, node, type, body, len);
}

static json_t *node_json(struct run_energy *e, size_t i)
{
    struct energy_view now = energy_view_now(e->watch, i);
    double joules = fmax(now.joules - e->before[i].joules, 0);
    double seconds = now.seconds - e->before[i].seconds;
    json_t *node =
        json_pack("{s:s, s:f, s:s}", "node", session_node(e->session, i)->name,
                  "joules", joules, "source", energy_source_name(now.source));

    e->before[i] = now;
    return seconds > 0 ? json_member(node, "watts", json_real(joules / seconds))
                       : node;
}

json_t *run_energy_frame(struct run_energy *e, json_t *line)
{
    json_t *list;

    if (!e->watch || energy_sum(e->watch).source == ENERGY_UNKNOWN)
        return line;
    list = json_array();
    for (size_t i = 0; list && i < e->n; i++) {
        if (energy_view(e->watch, i).source != ENERGY_UNKNOWN
            && json_array_append_new(list, node_json(e, i)) < 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return json_member(line, "energy", list);
}

static struct energy_view sum_of(const struct run_energy *e)
{
    return e->watch ? energy_sum(e->watch)
                    : (struct energy_view){.source = ENERGY_UNKNOWN};
}

void run_energy_view(const struct run_energy *e, struct top_progress *p)
{
    struct energy_view sum = sum_of(e);

    if (sum.source == ENERGY_UNKNOWN || !(sum.seconds > 0))
        return;
    snprintf(p->energy, sizeof p->energy, "%s", energy_source_name(sum.source));
    p->joules = sum.joules;
    p->watts = sum.joules / sum.seconds;
}

json_t *run_energy_sum(const struct run_energy *e, json_t *line)
{
    struct energy_view sum = sum_of(e);

    if (sum.source == ENERGY_UNKNOWN)
        return line;
    return json_member(line, "energy",
                       json_pack("{s:f, s:f, s:s}", "joules", sum.joules,
                                 "watts", sum.joules / sum.seconds, "source",
                                 energy_source_name(sum.source)));
}

void run_energy_stop(struct run_energy *e)
{
    energy_stop(e->watch);
    free(e->before);
    memset(e, 0, sizeof *e);
}
