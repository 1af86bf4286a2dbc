/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/agent_meter.h"
#include "launcher/agent/monitor.h"
#include "launcher/agent/node_balance.h"
#include "launcher/power/power_link.h"
#include "launcher/power/power_socket.h"
#include "launcher/power/thread_advice.h"

#include <stdlib.h>

struct agent_meter {
    agent_meter_send_fn send;
    void *arg;
    struct monitor *monitor;
    struct power_link *power;    /* to the guard, or NULL */
    struct node_balance *within; /* likewise */
    struct msg_power told;       /* if it has_told: what can be limited */
    int has_told;
    struct thread_advice advice; /* limits of 0: it is not for us to give */
};

static void on_progress(void *arg, const struct msg_progress *record)
{
    struct agent_meter *m = arg;
    struct writer w = {0};

    msg_write_progress(&w, record);
    m->send(m->arg, MSG_PROGRESS, &w);
}

static void on_ranks(void *arg, const struct msg_ranks *ranks)
{
    struct agent_meter *m = arg;
    struct writer w = {0};

    msg_write_ranks(&w, ranks);
    m->send(m->arg, MSG_RANKS, &w);
}

static void on_detail(void *arg, const struct msg_rank_detail *detail)
{
    struct agent_meter *m = arg;
    struct writer w = {0};

    msg_write_rank_detail(&w, detail);
    m->send(m->arg, MSG_RANK_DETAIL, &w);
}

static void on_power(void *arg, const struct msg_power *power)
{
    struct agent_meter *m = arg;
    struct writer w = {0};

    if (m->within && power->ceiling > 0)
        node_balance_lowest(m->within,
                            (double)power->floor / (double)power->ceiling);
    m->told = *power;
    m->has_told = 1;
    msg_write_power(&w, power);
    m->send(m->arg, MSG_POWER, &w);
}

static void on_limited(void *arg, const struct msg_limited *limited)
{
    struct agent_meter *m = arg;
    struct writer w = {0};

    if (m->within && node_balance_answered(m->within, limited->text[0] == '\0'))
        return; /* it was not asked for by the front end */
    msg_write_limited(&w, limited);
    m->send(m->arg, MSG_LIMITED, &w);
}

static void on_energy(void *arg, const struct msg_energy *energy)
{
    struct agent_meter *m = arg;
    struct writer w = {0};

    msg_write_energy(&w, energy);
    m->send(m->arg, MSG_ENERGY, &w);
}

static void on_parts(void *arg, const struct node_parts *parts)
{
    struct agent_meter *m = arg;

    node_balance_parts(m->within, parts);
}

static const struct power_link_events power_events = {
    .power = on_power,
    .limited = on_limited,
    .energy = on_energy,
    .parts = on_parts,
};

static void set_parts(void *arg,
                      uint64_t limit,
                      const uint64_t part[],
                      size_t n)
{
    const struct agent_meter *m = arg;

    power_link_set(m->power, limit, part, n);
}

static void tell_threads(void *arg, const pid_t thread[], size_t n)
{
    const struct agent_meter *m = arg;

    power_link_threads(m->power, thread, n);
}

static void set_guard(struct agent_meter *m, uint64_t limit)
{
    uint64_t part[PARTS_MAX];
    size_t n = node_balance_limit(m->within, limit, part);

    power_link_set(m->power, limit, part, n);
}

/* The guard of the node, and who divides the limit that it sets. */
static void start_power(struct agent_meter *m,
                        struct event_base *base,
                        const struct msg_monitor *order)
{
    m->within = node_balance_start(base, monitor_page(m->monitor),
                                   order->interval_ms, set_parts, m);
    if (m->within)
        m->power =
            power_link_start(base, POWER_DIR, order->dir, &power_events, m);
    if (m->power)
        node_balance_threads(m->within, tell_threads);
}

static void offer_threads(struct agent_meter *m,
                          const struct msg_monitor *order)
{
    struct msg_power power = {.actuator = "threads", .unit = "threads"};

    thread_advice_init(&m->advice, order->start, order->floor);
    power.limit = m->advice.limit;
    power.floor = m->advice.floor;
    power.ceiling = m->advice.ceiling;
    on_power(m, &power);
}

static void set_threads(struct agent_meter *m, uint64_t limit)
{
    struct msg_limited set = {.limit = 0};

    if (limit > 0)
        set.limit = thread_advice_set(&m->advice, limit);
    monitor_advise_threads(m->monitor, (uint32_t)set.limit);
    on_limited(m, &set);
}

struct agent_meter *agent_meter_start(struct event_base *base,
                                      const struct msg_monitor *order,
                                      agent_meter_send_fn sender,
                                      void *arg,
                                      struct es_error *err)
{
    struct agent_meter *m = calloc(1, sizeof *m);

    if (!m) {
        es_no_memory(err);
        return NULL;
    }
    m->send = sender;
    m->arg = arg;
    m->monitor = monitor_start(base, order, on_progress, m, err);
    if (!m->monitor) {
        free(m);
        return NULL;
    }
    if (monitor_watch_ranks(m->monitor, on_ranks, on_detail, m) < 0) {
        es_no_memory(err);
        agent_meter_stop(m);
        return NULL;
    }
    if (order->power == MONITOR_GUARD)
        start_power(m, base, order);
    else if (order->power == MONITOR_THREADS)
        offer_threads(m, order);
    return m;
}

void agent_meter_limit(struct agent_meter *m, uint64_t limit)
{
    if (m->power)
        set_guard(m, limit);
    else
        set_threads(m, limit);
}

void agent_meter_expect(struct agent_meter *m, uint32_t tasks)
{
    monitor_expect_ranks(m->monitor, tasks);
}

void agent_meter_again(struct agent_meter *m)
{
    struct msg_power told = m->told;

    if (m->has_told)
        on_power(m, &told);
}

void agent_meter_end_ranks(struct agent_meter *m)
{
    monitor_end_ranks(m->monitor);
}

int agent_meter_has_guard(const struct agent_meter *m)
{
    return m->power != NULL;
}

void agent_meter_succession(struct agent_meter *m)
{
    monitor_succession(m->monitor);
}

void agent_meter_stop(struct agent_meter *m)
{
    if (!m)
        return;
    power_link_stop(m->power);
    node_balance_stop(m->within);
    monitor_stop(m->monitor);
    free(m);
}
