/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_speeds.h"
#include "launcher/base/notice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Only the cores count. */
static const struct config_profile cores = {
    .name = "task graphs", .profile = {.influence = {[ELEMENT_C] = 1}}};

/* How fast a node is, as the user says or --local has it; 0: nobody says. */
static double told_speed(const struct graph_run_wish *wish, uint32_t node)
{
    const int *local = local_option_speeds(wish->local);

    if (wish->speeds > 0)
        return wish->speed[node];
    return wish->local->n > 0 && local ? local[node] : 0;
}

static int is_asked(const struct graph_run_wish *wish)
{
    return wish->metrics != METRICS_EQUAL && wish->speeds == 0
           && wish->local->n == 0;
}

int graph_speeds_start(struct graph_speeds *s,
                       struct session *session,
                       const struct graph_run_wish *wish,
                       struct es_error *err)
{
    memset(s, 0, sizeof *s);
    if (!is_asked(wish) || session_size(session) < 2)
        return 0;
    s->setup = (struct qualification_setup){
        .source = (enum metrics_source)wish->metrics,
        .probe = &wish->config->probe,
        .quiet = 1,
        .sparing = 1,
        .profile = &cores};
    return qualification_start(&s->qualification, session, &s->setup, err);
}

void graph_speeds_clear(struct graph_speeds *s)
{
    if (s->setup.probe)
        qualification_clear(&s->qualification);
    memset(s, 0, sizeof *s);
}

static void set_slowness(const double speed[],
                         struct processor_kind kind[],
                         uint32_t nodes)
{
    double most = 0;

    for (uint32_t i = 0; i < nodes; i++)
        most = fmax(most, speed[i]);
    for (uint32_t i = 0; i < nodes; i++)
        kind[i].slowness = most > 0 && speed[i] > 0 ? most / speed[i] : 1;
}

void graph_speeds_of(const double measured[],
                     const uint32_t own[],
                     struct processor_kind kind[],
                     uint32_t nodes)
{
    double most = 0, least = INFINITY;

    for (uint32_t i = 0; i < nodes; i++) {
        double speed = measured[i] / own[i];

        kind[i].slowness = 1;
        if (!isfinite(speed) || !(speed > 0))
            least = 0;
        most = fmax(most, speed);
        least = fmin(least, speed);
    }
    if (!(least > 0) || most <= least * GRAPH_SPEEDS_ALIKE)
        return;
    for (uint32_t i = 0; i < nodes; i++)
        kind[i].slowness = most / (measured[i] / own[i]);
}

/* One line, if they differ: what the plan is made for. */
static void tell(const struct graph_speeds *s,
                 const struct processor_kind kind[],
                 uint32_t nodes)
{
    const struct session *session = s->qualification.session;
    uint32_t slow = 0, fast = 0;

    for (uint32_t i = 1; i < nodes; i++) {
        if (kind[i].slowness > kind[slow].slowness)
            slow = i;
        if (kind[i].slowness < kind[fast].slowness)
            fast = i;
    }
    if (kind[slow].slowness > 1)
        notice("the nodes differ: a core of %s does %.2f of one of %s",
               session_node(session, slow)->name, 1 / kind[slow].slowness,
               session_node(session, fast)->name);
}

static int settle_measured(const struct graph_speeds *s,
                           const uint32_t own[],
                           struct processor_kind kind[],
                           uint32_t nodes,
                           struct es_error *err)
{
    double *measured = calloc(nodes, sizeof *measured);

    if (!measured)
        return es_no_memory(err);
    for (uint32_t i = 0; i < nodes; i++)
        measured[i] = s->qualification.measured[i][ELEMENT_C];
    graph_speeds_of(measured, own, kind, nodes);
    free(measured);
    tell(s, kind, nodes);
    return 0;
}

static int settle_told(const struct graph_run_wish *wish,
                       struct processor_kind kind[],
                       uint32_t nodes,
                       struct es_error *err)
{
    double *speed;

    if (wish->speeds > 0 && wish->speeds != nodes)
        return es_fail(err, ES_USAGE, "give one for each node",
                       "--speeds: %zu for %u nodes", wish->speeds, nodes);
    speed = calloc(nodes, sizeof *speed);
    if (!speed)
        return es_no_memory(err);
    for (uint32_t i = 0; i < nodes; i++)
        speed[i] = told_speed(wish, i);
    set_slowness(speed, kind, nodes);
    free(speed);
    return 0;
}

int graph_speeds_settle(const struct graph_speeds *s,
                        const struct graph_run_wish *wish,
                        const uint32_t own[],
                        struct processor_kind kind[],
                        uint32_t nodes,
                        struct es_error *err)
{
    if (s->setup.probe)
        return settle_measured(s, own, kind, nodes, err);
    return settle_told(wish, kind, nodes, err);
}
