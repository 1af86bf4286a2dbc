/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_energy.h"
#include "launcher/base/json_member.h"

#include <math.h>
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

static json_t *node_json(struct run_energy *e, size_t i, const char *source)
{
    double now = energy_joules_now(e->watch, i);
    double joules = fmax(now - e->before[i], 0);

    e->before[i] = now;
    return json_pack("{s:s, s:f, s:s}", "node",
                     session_node(e->session, i)->name, "joules", joules,
                     "source", source);
}

json_t *run_energy_frame(struct run_energy *e, json_t *line)
{
    json_t *list;

    if (!e->watch || energy_sum(e->watch).source == ENERGY_UNKNOWN)
        return line;
    list = json_array();
    for (size_t i = 0; list && i < e->n; i++) {
        enum energy_source from = energy_view(e->watch, i).source;

        if (from != ENERGY_UNKNOWN
            && json_array_append_new(list,
                                     node_json(e, i, energy_source_name(from)))
                   < 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return json_member(line, "energy", list);
}

json_t *run_energy_sum(const struct run_energy *e, json_t *line)
{
    struct energy_view sum = {.source = ENERGY_UNKNOWN};

    if (e->watch)
        sum = energy_sum(e->watch);
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
