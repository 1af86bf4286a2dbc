/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/agent_orders.h"
#include "launcher/agent/agent_meter.h"
#include "launcher/agent/agent_probe.h"
#include "launcher/agent/agent_ring.h"
#include "launcher/agent/agent_setup.h"
#include "launcher/agent/agent_work.h"
#include "launcher/agent/graph_node.h"
#include "launcher/agent/node_destination.h"
#include "launcher/agent/node_env.h"
#include "launcher/agent/step_tasks.h"
#include "launcher/base/notice.h"
#include "launcher/base/step_dir.h"
#include "launcher/base/step_env.h"
#include "launcher/base/sysfs.h"
#include "launcher/power/energy_rapl.h"
#include "launcher/power/power_link.h"
#include "launcher/power/power_socket.h"
#include "launcher/probe/probe_cache.h"
#include "launcher/wire/protocol.h"
#include "pmix_bcast/clock.h"

#include <errno.h>
#include <event2/event.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- ring orders --------------------------------------------------------------- */

/* What an agent does for the test of the links by order of its
 * front end: opens its ring, takes part in a round, keeps what came out. */

struct ring_orders_setup {
    struct event_base *base;
    const struct agent_setup *agent;
    const struct wireup *wireup;
    const struct listen_at *at; /* where others reach us */
    /* Send what w holds to the front end, and clear it. */
    void (*send)(void *arg, enum protocol_type type, struct writer *w);
    void *arg;
};

struct ring_orders {
    struct ring_orders_setup s;
    struct agent_ring *ring; /* NULL: not open */
};

static void open_ring(struct ring_orders *o)
{
    struct writer w = {0};

    agent_ring_close(o->ring);
    o->ring = agent_ring_open(o->s.base, &o->s.agent->secret, o->s.wireup->rank,
                              o->s.agent->ports, o->s.at);
    write_u32(&w, o->ring ? agent_ring_port(o->ring) : 0);
    o->s.send(o->s.arg, MSG_RING_PORT, &w);
}

static void on_round(void *arg, double received_per_s)
{
    const struct ring_orders *o = arg;
    struct writer w = {0};

    write_double(&w, received_per_s);
    o->s.send(o->s.arg, MSG_RANG, &w);
}

static int begin_round(struct ring_orders *o, const uint8_t *body, size_t len)
{
    struct endpoint to;
    struct msg_ring m;

    if (msg_read_ring(&m, body, len) < 0 || m.receiver >= o->s.wireup->size)
        return -1;
    if (!o->s.wireup->agent) { /* not all have come */
        on_round(o, 0);
        return 0;
    }
    to = o->s.wireup->agent[m.receiver];
    to.port = (uint16_t)m.port;
    if (!o->ring
        || agent_ring_round(o->ring, m.port > 0 ? &to : NULL, m.receiver, m.ms,
                            on_round, o)
               < 0)
        on_round(o, 0);
    return 0;
}

/* Only root's agent may: probe_cache_put_ring() sees to it. */
static int keep(const struct ring_orders *o, const uint8_t *body, size_t len)
{
    struct probe_result ring = {.between = 1};
    struct es_error err = {0};
    struct probe_stamp now;
    struct probe_cache cache = {NULL, 0};
    struct msg_keep_ring m;
    struct writer w = {0};
    char node[sizeof now.node], text[TEXT_MAX] = "";

    if (msg_read_keep_ring(&m, body, len) < 0)
        return -1;
    cache.dir = m.cache;
    probe_measured(&ring, m.value, m.spread, "%s", m.what);
    probe_cache_node(node);
    if (probe_stamp_take(&now, node, "/proc", o->s.agent->sysfs, &err) < 0
        || probe_cache_put_ring(&cache, &now, &ring, &err) < 0)
        (void)snprintf(text, sizeof text, "%.500s", err.what);
    write_text(&w, text);
    o->s.send(o->s.arg, MSG_KEPT, &w);
    return 0;
}

/* RING_OPEN, RING or KEEP_RING has come; -1 if it breaks the protocol. */
static int ring_orders_receive(struct ring_orders *o,
                               enum protocol_type type,
                               const uint8_t *body,
                               size_t len)
{
    switch (type) {
    case MSG_RING_OPEN:
        open_ring(o);
        return 0;
    case MSG_RING:
        return begin_round(o, body, len);
    case MSG_KEEP_RING:
        return keep(o, body, len);
    default:
        return -1;
    }
}

static void ring_orders_clear(struct ring_orders *o)
{
    agent_ring_close(o->ring);
    o->ring = NULL;
}

/* --- agent energy -------------------------------------------------------------- */

/* The energy that this node uses: how busy its CPUs were, for a
 * model of it, and the counters of RAPL, as the node's guard reads them or, where
 * the site lets users, the agent itself. */

typedef void (*agent_energy_fn)(void *arg, const struct msg_energy *m);

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

/* NULL is allowed. */
static void agent_energy_stop(struct agent_energy *e)
{
    if (!e)
        return;
    if (e->timer)
        event_free(e->timer);
    power_link_stop(e->guard);
    energy_rapl_close(&e->rapl);
    free(e);
}

/* Call fn from the loop as often as the order says, and whenever the guard of
 * this step, unless it is NULL, has read the counters.  NULL if memory ran out. */
static struct agent_energy *agent_energy_start(
    struct event_base *base,
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

/* --- agent orders -------------------------------------------------------------- */

#define COMMENT_MS 2000 /* slurmctld answers in some ms, if it does */

struct agent_orders {
    struct agent_orders_setup s;
    struct agent_work *work;
    struct agent_probe *probe; /* at work, and slices wait for it */
    struct ring_orders ring;
    struct agent_meter *meter;
    struct agent_energy *energy;
    struct bcast_node *broadcast;
    struct bcast_begun_list begun; /* whose content follows */
    struct graph_node *graph;
    struct step_tasks *tasks; /* of the step that is fed, or NULL */
    int leaving;
    char step[64]; /* name of the step directory, or "" */
};

struct message {
    uint16_t type;
    const uint8_t *body;
    size_t len;
};

static void send_out(void *arg, enum protocol_type type, struct writer *w)
{
    struct agent_orders *o = arg;

    o->s.send(o->s.arg, type, w);
}

static void on_orders_gone(void *arg)
{
    const struct agent_orders *o = arg;

    if (o->meter)
        agent_meter_succession(o->meter);
}

static void on_orders_idle(void *arg)
{
    struct agent_orders *o = arg;

    o->s.idle(o->s.arg);
}

/* What receives a message returns -1 if it breaks the protocol. */

/* --- slices --------------------------------------------------------------- */

static int receive_work(struct agent_orders *o, const struct message *in)
{
    return agent_work_receive(o->work, (enum protocol_type)in->type, in->body,
                              in->len);
}

/* Under srun the slices are the step's own tasks'. */
static int receive_run(struct agent_orders *o, const struct message *in)
{
    struct msg_run run;

    if (!o->tasks)
        return receive_work(o, in);
    return msg_read_run(&run, in->body, in->len) == 0
               ? step_tasks_run(o->tasks, &run)
               : -1;
}

static int receive_over(struct agent_orders *o, const struct message *in)
{
    struct msg_over over;

    if (!o->tasks)
        return receive_work(o, in);
    if (msg_read_over(&over, in->body, in->len) < 0)
        return -1;
    step_tasks_over(o->tasks, &over);
    return 0;
}

static int receive_tasks(struct agent_orders *o, const struct message *in)
{
    struct msg_tasks m;
    struct writer w = {0};
    int rc;

    if (msg_read_tasks(&m, in->body, in->len) < 0)
        return -1;
    if (o->meter)
        agent_meter_expect(o->meter, m.tasks);
    if (o->tasks) { /* we were away */
        write_u32(&w, 0);
        send_out(o, MSG_STORED, &w);
        step_tasks_again(o->tasks);
        return 0;
    }
    snprintf(o->step, sizeof o->step, "%s", m.dir);
    rc = step_tasks_open(&o->tasks, o->s.base, &m, o->s.ip, send_out, o, NULL);
    write_u32(&w, rc < 0 ? (uint32_t)errno : 0);
    send_out(o, MSG_STORED, &w);
    return 0;
}

static int put_environ(const struct agent_orders *o, const struct msg_put *m)
{
    size_t len;
    char *lines = node_env_fill(m->content, m->len, o->s.agent->node,
                                o->s.agent->environ, &len);
    int why = lines ? step_env_put(m->dir, lines, len) : errno;

    free(lines);
    return why;
}

static int receive_ports(struct agent_orders *o, const struct message *in)
{
    struct msg_ports_end m;

    if (!o->tasks)
        return receive_work(o, in);
    if (msg_read_ports_end(&m, in->body, in->len) < 0)
        return -1;
    step_tasks_ports(o->tasks, m.round, m.error);
    return 0;
}

static int receive_put(struct agent_orders *o, const struct message *in)
{
    struct writer w = {0};
    struct msg_put m;
    int why;

    if (msg_read_put(&m, in->body, in->len) < 0)
        return -1;
    snprintf(o->step, sizeof o->step, "%s", m.dir);
    why = strcmp(m.file, STEP_ENV) == 0
              ? put_environ(o, &m)
              : step_dir_put(m.dir, m.file, m.content, m.len);
    if (why == 0)
        why = agent_work_directory(o->work, o->step);
    write_u32(&w, (uint32_t)why);
    send_out(o, MSG_STORED, &w);
    return 0;
}

/* To the plugin.  The last order before the end: nothing waits but the job's
 * end, after which Slurm takes no comment. */
static int receive_comment(struct agent_orders *o, const struct message *in)
{
    struct pollfd p = {.fd = o->s.agent->comment_fd, .events = POLLIN};
    char text[TEXT_MAX];

    if (msg_read_comment(text, in->body, in->len) < 0)
        return -1;
    if (p.fd > 0
        && send(p.fd, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
        (void)poll(&p, 1, COMMENT_MS);
    return 0;
}

/* --- qualification -------------------------------------------------------- */

static void on_probed(void *arg, const struct msg_probed *m)
{
    struct agent_orders *o = arg;
    struct writer w = {0};

    msg_write_probed(&w, m);
    send_out(o, MSG_PROBED, &w);
    agent_probe_destroy(o->probe);
    o->probe = NULL;
    if (!o->leaving)
        agent_work_pause(o->work, 0);
}

static int receive_probe(struct agent_orders *o, const struct message *in)
{
    const struct agent_probe_setup setup = {.base = o->s.base,
                                            .throttle = o->s.throttle,
                                            .speed_pct = o->s.agent->speed_pct,
                                            .environ = o->s.agent->environ,
                                            .sysfs = o->s.agent->sysfs};
    struct msg_probe order;

    if (msg_read_probe(&order, in->body, in->len) < 0 || o->probe
        || agent_work_busy(o->work))
        return -1;
    o->probe = agent_probe_start(&setup, &order, on_probed, o);
    if (!o->probe)
        return -1;
    agent_work_pause(o->work, 1);
    return 0;
}

static int receive_ring(struct agent_orders *o, const struct message *in)
{
    return ring_orders_receive(&o->ring, (enum protocol_type)in->type, in->body,
                               in->len);
}

/* --- broadcasts ----------------------------------------------------------- */

static void end_broadcast(struct agent_orders *o)
{
    mesh_set_broadcast(o->s.mesh, NULL);
    bcast_node_destroy(o->broadcast);
    o->broadcast = NULL;
}

/* Whoever is to bring the content of what was begun is gone. */
static void forget_broadcasts(struct agent_orders *o)
{
    end_broadcast(o);
    bcast_begun_clear(&o->begun);
}

static void send_bcast(void *arg, enum bcast_kind kind, struct writer *w)
{
    send_out(arg, (enum protocol_type)(MSG_BCAST + kind), w);
}

/* In a path {node} is this node's name, and $TMPDIR its own. */
static int fill_in(const struct agent_orders *o, struct bcast_order *order)
{
    if (node_destination_fill(order->destination, o->s.agent->node,
                              o->s.agent->environ)
        < 0)
        return -1;
    return order->cache[0] ? node_destination_fill(
               order->cache, o->s.agent->node, o->s.agent->environ)
                           : 0;
}

static int start_broadcast(struct agent_orders *o, const struct message *in)
{
    struct bcast_node_setup setup = {.base = o->s.base,
                                     .secret = &o->s.agent->secret,
                                     .wireup = o->s.wireup,
                                     .home_address = o->s.agent->front_address,
                                     .begun = &o->begun,
                                     .send = send_bcast,
                                     .arg = o};
    struct bcast_order *order = malloc(sizeof *order);

    end_broadcast(o);
    if (order && o->s.wireup->agent
        && bcast_read_order(order, in->body, in->len) == 0
        && fill_in(o, order) == 0)
        o->broadcast = bcast_node_start(&setup, order);
    free(order);
    if (!o->broadcast)
        return -1;
    mesh_set_broadcast(o->s.mesh, o->broadcast);
    return 0;
}

static int receive_bcast(struct agent_orders *o, const struct message *in)
{
    enum bcast_kind kind = (enum bcast_kind)(in->type - MSG_BCAST);

    if (kind == BCAST_ORDER)
        return start_broadcast(o, in);
    if (!o->broadcast
        || bcast_node_receive(o->broadcast, kind, in->body, in->len) < 0)
        return -1;
    if (kind == BCAST_END) {
        bcast_node_hand_on(o->broadcast);
        end_broadcast(o);
    }
    return 0;
}

/* --- meters and limits ---------------------------------------------------- */

/* A node without meters is one that does not report. */
static int receive_monitor(struct agent_orders *o, const struct message *in)
{
    struct es_error err = {0};
    struct msg_monitor m;

    if (msg_read_monitor(&m, in->body, in->len) < 0)
        return -1;
    if (o->meter) {
        agent_meter_again(o->meter);
        return 0;
    }
    snprintf(o->step, sizeof o->step, "%s", m.dir);
    o->meter = agent_meter_start(o->s.base, &m, send_out, o, &err);
    if (!o->meter)
        notice("%s: %s: %s", o->s.agent->node, err.what, err.mend);
    return 0;
}

static void send_energy(void *arg, const struct msg_energy *m)
{
    struct writer w = {0};

    msg_write_energy(&w, m);
    send_out(arg, MSG_ENERGY, &w);
}

/* Without memory the node is one whose energy is not known. */
static int receive_energy(struct agent_orders *o, const struct message *in)
{
    struct msg_energy_order m;
    char own[STEP_NAME_MAX];
    const char *step = o->step;

    if (msg_read_energy_order(&m, in->body, in->len) < 0)
        return -1;
    if (o->energy) /* we were away: it counts on */
        return 0;
    if (!*step) { /* a task graph has no step directory */
        snprintf(own, sizeof own, "%u.%u", o->s.agent->job, o->s.agent->step);
        step = own;
    }
    if (!m.guard || (o->meter && agent_meter_has_guard(o->meter)))
        step = NULL;
    o->energy = agent_energy_start(o->s.base, &m, step, send_energy, o);
    return 0;
}

static int receive_limit(struct agent_orders *o, const struct message *in)
{
    uint64_t v;

    if (msg_read_u64(&v, in->body, in->len) < 0)
        return -1;
    if (o->meter)
        agent_meter_limit(o->meter, v);
    return 0;
}

static int receive_ranks(struct agent_orders *o, const struct message *in)
{
    static const struct msg_ranks none = {.is_last = 1, .stride = 1};
    struct writer w = {0};

    (void)in;
    if (o->meter) {
        agent_meter_end_ranks(o->meter);
    } else {
        msg_write_ranks(&w, &none);
        send_out(o, MSG_RANKS, &w);
    }
    return 0;
}

/* --- task graphs ---------------------------------------------------------- */

static void send_graph(void *arg, enum graph_kind kind, struct writer *w)
{
    send_out(arg, (enum protocol_type)(MSG_GRAPH + kind), w);
}

static int start_graph(struct agent_orders *o, const struct message *in)
{
    struct graph_node_setup setup = {.base = o->s.base,
                                     .secret = &o->s.agent->secret,
                                     .wireup = o->s.wireup,
                                     .mesh = o->s.mesh,
                                     .node = o->s.agent->node,
                                     .front_address = o->s.agent->front_address,
                                     .environ = o->s.agent->environ,
                                     .throttle = o->s.throttle,
                                     .send = send_graph,
                                     .idle = on_orders_idle,
                                     .arg = o};
    struct graph_open *open = malloc(sizeof *open);
    int rc = -1;

    if (open && !o->graph && graph_read_open(open, in->body, in->len) == 0) {
        o->graph = graph_node_start(&setup, open);
        rc = o->graph ? 0 : -1;
    }
    free(open);
    return rc;
}

static int receive_graph(struct agent_orders *o, const struct message *in)
{
    enum graph_kind kind = (enum graph_kind)(in->type - MSG_GRAPH);

    if (kind == GRAPH_MSG_OPEN)
        return start_graph(o, in);
    return o->graph ? graph_node_receive(o->graph, kind, in->body, in->len)
                    : -1;
}

/* --- all of them ------------------------------------------------------------ */

static const struct {
    uint16_t first, last; /* types */
    int (*receive)(struct agent_orders *o, const struct message *in);
} orders[] = {
    {MSG_COMMAND, MSG_COMMAND, receive_work},
    {MSG_WORK, MSG_WORK, receive_work},
    {MSG_FILES, MSG_FILES, receive_work},
    {MSG_METER, MSG_METER, receive_work},
    {MSG_SLOTS, MSG_SLOTS, receive_work},
    {MSG_CANCEL, MSG_CANCEL, receive_work},
    {MSG_INPUT, MSG_INPUT, receive_work},
    {MSG_RUN, MSG_RUN, receive_run},
    {MSG_OVER, MSG_OVER, receive_over},
    {MSG_TASKS, MSG_TASKS, receive_tasks},
    {MSG_PORTS, MSG_PORTS, receive_ports},
    {MSG_PUT, MSG_PUT, receive_put},
    {MSG_MEASURED, MSG_MEASURED, receive_work},
    {MSG_PROBE, MSG_PROBE, receive_probe},
    {MSG_RING_OPEN, MSG_RING_OPEN, receive_ring},
    {MSG_RING, MSG_RING, receive_ring},
    {MSG_KEEP_RING, MSG_KEEP_RING, receive_ring},
    {MSG_MONITOR, MSG_MONITOR, receive_monitor},
    {MSG_LIMIT, MSG_LIMIT, receive_limit},
    {MSG_ENERGY, MSG_ENERGY, receive_energy},
    {MSG_RANKS, MSG_RANKS, receive_ranks},
    {MSG_COMMENT, MSG_COMMENT, receive_comment},
    {MSG_BCAST, MSG_BCAST_END - 1, receive_bcast},
    {MSG_GRAPH, MSG_GRAPH_END - 1, receive_graph},
};

int agent_orders_receive(struct agent_orders *o,
                         uint16_t type,
                         const uint8_t *body,
                         size_t len)
{
    const struct message in = {type, body, len};

    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++)
        if (type >= orders[i].first && type <= orders[i].last)
            return orders[i].receive(o, &in);
    return -1;
}

/* --- begin and end --------------------------------------------------------- */

int agent_orders_open(struct agent_orders **out,
                      const struct agent_orders_setup *setup,
                      struct es_error *err)
{
    struct agent_orders *o = calloc(1, sizeof *o);
    struct agent_work_setup work = {.base = setup->base,
                                    .throttle = setup->throttle,
                                    .node = setup->agent->node,
                                    .environ = setup->agent->environ,
                                    .ip = setup->ip,
                                    .send = send_out,
                                    .gone = on_orders_gone,
                                    .idle = on_orders_idle,
                                    .arg = o};

    if (!o)
        return es_no_memory(err);
    o->s = *setup;
    o->ring.s = (struct ring_orders_setup){.base = setup->base,
                                           .agent = setup->agent,
                                           .wireup = setup->wireup,
                                           .at = setup->at,
                                           .send = send_out,
                                           .arg = o};
    o->work = agent_work_open(&work);
    if (!o->work) {
        free(o);
        return es_no_memory(err);
    }
    *out = o;
    return 0;
}

void agent_orders_hold(struct agent_orders *o, int on)
{
    agent_work_hold(o->work, on);
}

int agent_orders_feed_step(const struct agent_orders *o)
{
    return o->tasks && !step_tasks_survive(o->tasks);
}

/* Of programs that are ours the front end orders the meter anew; the tasks of a
 * step live on, and have its page. */
static void forget_step(struct agent_orders *o)
{
    if (o->tasks) {
        step_tasks_away(o->tasks);
        return;
    }
    agent_meter_stop(o->meter);
    o->meter = NULL;
}

int agent_orders_stop(struct agent_orders *o, int leaving)
{
    unsigned tasks;

    if (!o)
        return 0;
    o->leaving |= leaving;
    if (!leaving) {
        forget_broadcasts(o);
        forget_step(o);
    }
    tasks = graph_node_stop(o->graph);
    return agent_work_stop(o->work) || tasks > 0;
}

void agent_orders_part(struct agent_orders *o)
{
    if (o && o->meter)
        agent_meter_end_ranks(o->meter);
}

int agent_orders_busy(const struct agent_orders *o)
{
    return agent_work_busy(o->work) || graph_node_stop(o->graph) > 0;
}

void agent_orders_forget(struct agent_orders *o)
{
    graph_node_destroy(o->graph);
    o->graph = NULL;
}

void agent_orders_close(struct agent_orders *o)
{
    if (!o)
        return;
    agent_work_close(o->work);
    agent_probe_destroy(o->probe);
    ring_orders_clear(&o->ring);
    step_tasks_close(o->tasks);
    agent_energy_stop(o->energy);
    agent_meter_stop(o->meter);
    if (o->step[0])
        step_dir_remove(o->step);
    forget_broadcasts(o);
    graph_node_destroy(o->graph);
    free(o);
}
