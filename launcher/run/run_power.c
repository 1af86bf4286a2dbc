/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_power.h"
#include "launcher/base/notice.h"
#include "pmix_bcast/clock.h"

#include <string.h>

/* It starts with the agent. */
#define GUARD_NS INT64_C(10000000000)

static int is_by_advice(const struct config_power *config)
{
    return strcmp(config->actuator, "threads") == 0;
}

int run_power_wants_guard(const struct config_power *config,
                          enum power_variant variant,
                          int is_local)
{
    return variant != POWER_OFF && !is_local && !is_by_advice(config);
}

/* Agents of --local have no rights to give, nor anybody beside them who has. */
static enum power_variant possible(const struct session *session,
                                   const struct config_power *config,
                                   enum power_variant variant)
{
    if (variant == POWER_OFF || !session_is_local(session)
        || is_by_advice(config))
        return variant;
    notice("warning: --power: no limits are set with --local, as no plugin of "
           "Slurm starts evenstep-power there: set actuator = \"threads\" in "
           "power { } of evenstep.conf to advise programs instead");
    return POWER_OFF;
}

int run_power_start(struct run_power *p,
                    struct session *session,
                    const struct slots *slots,
                    const struct config_power *config,
                    enum power_variant variant)
{
    *p = (struct run_power){.slots = slots, .aggregate = config->aggregate};
    variant = possible(session, config, variant);
    if (run_power_wants_guard(config, variant, session_is_local(session)))
        p->await_ns = clock_ns() + GUARD_NS;
    p->limits = variant != POWER_OFF;
    p->steering =
        steering_start(session, NULL, config, variant, STEP_METER_NONE);
    return p->steering ? 0 : -1;
}

int run_power_message(struct run_power *p,
                      size_t node,
                      uint16_t type,
                      const uint8_t *body,
                      size_t len)
{
    if (!p->steering || !steering_message(p->steering, node, type, body, len))
        return 0;
    if (type == MSG_POWER)
        p->await_ns = 0;
    return 1;
}

uint32_t run_power_threads(const struct run_power *p, size_t node)
{
    struct steering_view v;

    if (!p->steering)
        return 0;
    v = steering_view(p->steering, node);
    return strcmp(v.unit, "threads") == 0 && v.limit < UINT32_MAX
               ? (uint32_t)v.limit
               : 0;
}

const double *run_power_turns(struct run_power *p)
{
    if (!p->steering || !p->limits
        || turns_init(&p->turns, p->steering, p->slots->node, p->slots->n) < 0)
        return NULL;
    return p->turns.speed;
}

void run_power_frame(struct run_power *p)
{
    turns_begin(&p->turns);
}

void run_power_frame_end(struct run_power *p,
                         const struct dispatch *d,
                         struct determination *t)
{
    struct turns *turns = &p->turns;

    for (size_t i = 0; i < turns->n; i++)
        turns->part[i] = (struct handover_node){
            .units = dispatch_node(d, i)->done,
            .seconds = t->back[i] > 0 ? t->back[i] - t->sent[i] : 0};
    if (turns_end(turns))
        t->over = 0;
    for (size_t i = 0; i < turns->n; i++)
        t->completion[i].seconds =
            turns_seconds(turns, i, t->completion[i].seconds);
}

void run_power_lost(struct run_power *p, size_t node)
{
    turns_back(&p->turns);
    if (p->steering)
        steering_lost(p->steering, node);
}

void run_power_returned(struct run_power *p, size_t node)
{
    turns_back(&p->turns);
    if (p->steering)
        steering_returned(p->steering, node);
}

void run_power_look(struct run_power *p)
{
    if (!p->steering)
        return;
    steering_look(p->steering);
    turns_look(&p->turns);
    if (p->await_ns == 0 || clock_ns() < p->await_ns)
        return;
    p->await_ns = 0;
    notice(
        "warning: --power: no limits are set: no node has an evenstep-power; "
        "see that plugstack.conf has evenstep.so on all nodes");
}

static struct steering_view view(const void *from, size_t node)
{
    const struct run_power *p = from;

    return steering_view(p->steering, node);
}

static struct steering_view limited(const void *from, size_t slot)
{
    const struct run_power *p = from;
    struct steering_view v = p->meter.node(p->meter.from, slot);
    struct steering_view node =
        steering_view(p->steering, p->slots->node[slot]);

    v.unit = node.unit;
    v.limit = node.limit;
    v.floor = node.floor;
    v.ceiling = node.ceiling;
    return v;
}

void run_power_view(struct run_power *p, struct top_view *top)
{
    if (!p->steering || !steering_is_alive(p->steering))
        return;
    p->meter = *top;
    top->from = p;
    if (top->n > 0) {
        top->node = limited;
        return;
    }
    top->node = view;
    top->n = p->slots->nodes;
    top->skew = steering_skew(p->steering);
    top->aggregate = p->aggregate;
}

void run_power_stop(struct run_power *p)
{
    turns_clear(&p->turns);
    steering_stop(p->steering);
    *p = (struct run_power){.steering = NULL};
}
