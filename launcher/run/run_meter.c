/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_meter.h"
#include "launcher/base/notice.h"
#include "launcher/base/step_dir.h"
#include "pmix_bcast/clock.h"
#include "policy/pace.h"
#include "policy/slice_steering.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLOT_TEXT 12 /* ":4294967295" */

/* The name of a node, with the slot's number if it has several. */
static void make_labels(struct run_meter *m)
{
    const struct slots *slots = distribution_slots(m->setup.distribution);

    for (size_t i = 0; i < m->n; i++) {
        const char *name = distribution_name(m->setup.distribution, i);
        size_t len = strnlen(name, sizeof m->label[i] - SLOT_TEXT);

        memcpy(m->label[i], name, len);
        if (slots_of(slots, slots->node[i]) > 1)
            snprintf(m->label[i] + len, SLOT_TEXT, ":%u",
                     slots_number(slots, i));
    }
}

static void write_order(const struct run_meter *m, struct writer *w)
{
    const struct meter_option *o = m->setup.option;
    struct msg_meter order = {.kind = o->kind,
                              .record_ms = pace_record_ms(m->n, 0)};

    snprintf(order.pattern, sizeof order.pattern, "%s", o->pattern);
    msg_write_meter(w, &order);
}

int run_meter_start(struct run_meter *m, const struct run_meter_setup *setup)
{
    struct writer w = {0};
    size_t n = distribution_slots(setup->distribution)->n;
    const struct config_power *c = setup->config;

    memset(m, 0, sizeof *m);
    if (setup->option->kind == OUTSIDE_NONE)
        return 0;
    m->setup = *setup;
    m->misuse = calloc(n, sizeof *m->misuse);
    m->part = calloc(n, sizeof *m->part);
    m->give = calloc(n, sizeof *m->give);
    m->power = calloc(n, sizeof *m->power);
    m->room = malloc(power_bytes(n));
    m->label = calloc(n, sizeof *m->label);
    if (!m->misuse || !m->part || !m->give || !m->power || !m->room
        || !m->label)
        return -1;
    m->n = n;
    make_labels(m);
    m->rule = (struct power_rule){
        .bound = c->bound, .band = c->band, .gain = c->gain};
    if (strcmp(c->actuator, "slice") == 0)
        m->rule.variant = POWER_PAIR;
    if (m->setup.option->kind != OUTSIDE_UNITS) {
        write_order(m, &w);
        session_send_all(setup->session, MSG_METER, &w);
    }
    return 0;
}

void run_meter_order(struct run_meter *m, size_t node)
{
    const size_t *first;
    struct writer w = {0};

    if (m->n == 0 || m->setup.option->kind == OUTSIDE_UNITS)
        return;
    first = distribution_slots(m->setup.distribution)->first;
    for (size_t i = first[node]; i < first[node + 1]; i++)
        m->misuse[i] = 0;
    write_order(m, &w);
    session_send(m->setup.session, node, MSG_METER, &w);
}

int run_meter_message(struct run_meter *m,
                      size_t node,
                      uint16_t type,
                      const uint8_t *body,
                      size_t len)
{
    struct msg_metered told;
    size_t slot;

    if (m->n == 0 || type != MSG_METERED
        || msg_read_metered(&told, body, len) < 0)
        return 0;
    slot = distribution_metered(m->setup.distribution, node, told.id,
                                told.fraction);
    if (slot == SIZE_MAX)
        return 1;
    if (told.misuse > 0 && m->misuse[slot] == 0)
        notice("warning: %s: progress that makes no sense is left out: beyond "
               "the total, or backwards",
               session_node(m->setup.session, node)->name);
    m->misuse[slot] = told.misuse;
    return 1;
}

/* --- the actuator "slice" ------------------------------------------------- */

/* Not while there is something in the pool: nobody has taken the last yet. */
static int steer(struct run_meter *m, struct es_error *err)
{
    struct distribution *d = m->setup.distribution;
    const struct dispatch *held = distribution_dispatch(d);

    if (m->rule.variant == POWER_OFF || dispatch_pool(held)->units > 0
        || slice_steering_step(&m->rule, distribution_tail(d), m->n,
                               dispatch_grain(held), m->give, m->power, m->room)
               == 0)
        return 0;
    for (size_t i = 0; i < m->n; i++)
        if (m->give[i] > 0 && distribution_give(d, i, m->give[i], err) < 0)
            return -1;
    return 0;
}

/* --- for top -------------------------------------------------------------- */

/* Of its slice; of the frame if it has none, as with bundles. */
static double part_done(const struct distribution *d, size_t slot)
{
    const struct dispatch *held = distribution_dispatch(d);
    const struct dispatch_node *s = dispatch_node(held, slot);
    const struct frame *f = distribution_frame(d);

    if (s->slice == 0)
        return 1 - (double)dispatch_left(held) / (double)(f->end - f->begin);
    return fmin(((double)s->done + s->metered) / (double)s->slice, 1);
}

static double waiting(const struct determination *t, size_t slot)
{
    if (t->last <= 0 || t->back[slot] <= 0)
        return 0;
    return 1 - t->back[slot] / t->last;
}

static struct steering_view view(const void *from, size_t slot)
{
    const struct run_meter *m = from;
    const struct distribution *d = m->setup.distribution;
    const struct node *node =
        session_node(m->setup.session, distribution_slots(d)->node[slot]);
    const struct dispatch_node *s =
        dispatch_node(distribution_dispatch(d), slot);

    return (struct steering_view){
        .name = m->label[slot],
        .rack = node->rack,
        .unit = "",
        .slots = 1,
        .progress = (double)distribution_frame(d)->number + part_done(d, slot),
        .speed = s->slice > 0 ? s->speed / (double)s->slice : 0,
        .waiting = waiting(m->setup.determination, slot),
        .misuse = m->misuse[slot],
    };
}

static const char *const meters[] = {[OUTSIDE_NONE] = "",
                                     [OUTSIDE_UNITS] = "units",
                                     [OUTSIDE_OUTPUT] = "cmd",
                                     [OUTSIDE_CPU] = "cpu"};

void run_meter_view(struct run_meter *m, struct top_view *top)
{
    double most = 0;

    *top = (struct top_view){.meter = ""};
    if (m->n == 0)
        return;
    *top = (struct top_view){.node = view,
                             .from = m,
                             .n = m->n,
                             .meter = meters[m->setup.option->kind],
                             .aggregate = m->setup.config->aggregate};
    for (size_t i = 0; i < m->n; i++) {
        m->part[i] = part_done(m->setup.distribution, i);
        most = fmax(most, m->part[i]);
    }
    if (most > 0)
        top->skew = aggregate_of(AGGREGATE_SKEW, m->part, m->n) / most;
}

int run_meter_look(struct run_meter *m, struct es_error *err)
{
    return m->n > 0 ? steer(m, err) : 0;
}

void run_meter_stop(struct run_meter *m)
{
    free(m->misuse);
    free(m->part);
    free(m->give);
    free(m->power);
    free(m->room);
    free(m->label);
    memset(m, 0, sizeof *m);
}
