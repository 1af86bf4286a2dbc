/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/agent_energy.h"
#include "launcher/base/sysfs.h"
#include "launcher/power/energy_rapl.h"
#include "launcher/power/power_link.h"
#include "launcher/power/power_socket.h"
#include "pmix_bcast/clock.h"

#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct agent_energy {
    agent_energy_fn fn;
    void *arg;
    struct event *timer;
    struct power_link *guard;
    struct energy_rapl rapl; /* n 0: not ours to read */
    int64_t began_ns;
    uint64_t busy, idle; /* ticks, when it began */
};

/* Of all CPUs, in ticks: "cpu USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL"
 * of proc(5). */
static int read_cpus(uint64_t *busy, uint64_t *idle)
{
    char line[SYSFS_LINE];
    uint64_t t[8] = {0};

    if (sysfs_find(line, "cpu ", "/proc/stat") < 0
        || sscanf(line,
                  "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                  " %" SCNu64 " %" SCNu64 " %" SCNu64,
                  &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7])
               < 4)
        return -1;
    *busy = t[0] + t[1] + t[2] + t[5] + t[6] + t[7];
    *idle = t[3] + t[4];
    return 0;
}

/* Idle time may go back a little, says proc(5). */
static uint64_t ms_since(uint64_t before, uint64_t now)
{
    long hz = sysconf(_SC_CLK_TCK);

    return now > before && hz > 0 ? (now - before) * 1000 / (uint64_t)hz : 0;
}

static void tell_cpus(struct agent_energy *e, int64_t now)
{
    struct msg_energy m = {.source = ENERGY_CPUS,
                           .ns = (uint64_t)(now - e->began_ns)};
    uint64_t busy, idle;

    if (read_cpus(&busy, &idle) < 0)
        return;
    m.busy_ms = ms_since(e->busy, busy);
    m.idle_ms = ms_since(e->idle, idle);
    e->fn(e->arg, &m);
}

static void tell_counted(struct agent_energy *e, int64_t now)
{
    struct msg_energy m = {.source = ENERGY_COUNTED,
                           .ns = (uint64_t)(now - e->began_ns)};
    struct es_error err = {0};

    if (e->rapl.n == 0)
        return;
    if (energy_rapl_read(&e->rapl, now, &err) < 0) {
        m.source = ENERGY_NONE;
        snprintf(m.text, sizeof m.text, "%.340s: %.160s", err.what, err.mend);
        energy_rapl_close(&e->rapl);
    }
    m.uj = e->rapl.uj;
    e->fn(e->arg, &m);
}

static void on_energy_time(evutil_socket_t fd, short what, void *arg)
{
    struct agent_energy *e = arg;
    int64_t now = clock_ns();

    (void)fd;
    (void)what;
    tell_counted(e, now);
    tell_cpus(e, now);
}

/* --- what the guard reads ------------------------------------------------- */

static void on_counted(void *arg, const struct msg_energy *m)
{
    struct agent_energy *e = arg;

    e->fn(e->arg, m);
}

/* What the guard says of limits, where none are asked for. */
static void ignore_power(void *arg, const struct msg_power *power)
{
    (void)arg;
    (void)power;
}

static void ignore_limited(void *arg, const struct msg_limited *limited)
{
    (void)arg;
    (void)limited;
}

static void ignore_parts(void *arg, const struct node_parts *parts)
{
    (void)arg;
    (void)parts;
}

static const struct power_link_events guard_events = {
    .power = ignore_power,
    .limited = ignore_limited,
    .energy = on_counted,
    .parts = ignore_parts,
};

/* --- start and end -------------------------------------------------------- */

struct agent_energy *agent_energy_start(struct event_base *base,
                                        const struct msg_energy_order *order,
                                        const char *step,
                                        agent_energy_fn fn,
                                        void *arg)
{
    struct timeval tv = {order->record_ms / 1000,
                         order->record_ms % 1000 * 1000};
    struct agent_energy *e = calloc(1, sizeof *e);

    if (!e)
        return NULL;
    e->fn = fn;
    e->arg = arg;
    e->began_ns = clock_ns();
    (void)read_cpus(&e->busy, &e->idle); /* else since the node's start */
    if (!order->guard)
        (void)energy_rapl_open(&e->rapl, "/sys", e->began_ns, NULL);
    if (step) /* without memory its counters are not known */
        e->guard = power_link_start(base, POWER_DIR, step, &guard_events, e);
    e->timer = event_new(base, -1, EV_PERSIST, on_energy_time, e);
    if (e->timer && event_add(e->timer, &tv) == 0)
        return e;
    agent_energy_stop(e);
    return NULL;
}

void agent_energy_stop(struct agent_energy *e)
{
    if (!e)
        return;
    if (e->timer)
        event_free(e->timer);
    power_link_stop(e->guard);
    energy_rapl_close(&e->rapl);
    free(e);
}
