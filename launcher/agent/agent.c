/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/agent.h"
#include "launcher/agent/agent_meter.h"
#include "launcher/agent/agent_probe.h"
#include "launcher/agent/agent_ring.h"
#include "launcher/agent/agent_work.h"
#include "launcher/agent/graph_node.h"
#include "launcher/agent/greeting.h"
#include "launcher/agent/step_tasks.h"
#include "launcher/base/awake.h"
#include "launcher/base/file_limit.h"
#include "launcher/base/notice.h"
#include "launcher/base/signals.h"
#include "launcher/base/step_dir.h"
#include "launcher/base/step_env.h"
#include "launcher/exec/template.h"
#include "launcher/exec/throttle.h"
#include "launcher/wire/protocol.h"
#include "launcher/wire/table_tree.h"
#include "pmix_bcast/clock.h"
#include "pmix_bcast/mesh.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <sched.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A command is not read any further while this much of its output waits for
 * the wire, until it is down to a quarter. */
#define BACKLOG_HIGH (4u << 20)
#define BACKLOG_LOW  (BACKLOG_HIGH / 4)

/* A wire-up that takes longer has hung; the front end gives up after 30 s. */
#define WIRE_UP_S    40
#define WIRE_UP_EACH 10 /* agents for a second more: one machine, maybe */

/* How long an agent calls a front end that it has lost.  Longer would mean to
 * call whoever has its address and port by then. */
#define AWAY_S   60
#define AGAIN_MS 1000 /* from one call to the next, and half as much more */
/* At the start there may be more callers than the front end takes in at once:
 * for so long one that is turned away comes again, sooner. */
#define START_S   20
#define TURNED_MS 50

struct agent {
    const struct agent_setup *setup;
    struct event_base *base;
    struct channel *home;
    struct wireup wireup;
    struct endpoint mine;
    struct adapter adapter;
    struct listener *listener;
    struct mesh *mesh;
    struct table_tree *tree; /* NULL: home has the table for each */
    struct greeting *greeting;
    struct throttle *throttle;
    struct signals signals;
    struct event *on_again;
    struct awake *awake;
    struct agent_work *work;
    struct agent_probe *probe; /* at work, and slices wait for it */
    struct agent_ring *ring;
    struct agent_meter *meter;
    struct bcast_node *broadcast;
    struct graph_node *graph;
    struct step_tasks *tasks; /* of the step that is fed, or NULL */
    int ready;                /* wired up, and READY has been sent */
    int met;                  /* home has proved itself, once */
    int is_home;              /* it is there now */
    int leaving;              /* only what runs is waited for */
    double away;              /* since when it is called, by the clock */
    char step[64];            /* name of the step directory, or "" */
    char why[200];            /* why home was lost before READY */
};

/* Let what runs see its SIGTERM.  Is there anything to wait for? */
static int stop_commands(struct agent *a)
{
    unsigned tasks = graph_node_stop(a->graph);

    return agent_work_stop(a->work) || tasks > 0;
}

static void leave(struct agent *a)
{
    a->leaving = 1;
    if (!stop_commands(a))
        event_base_loopexit(a->base, NULL);
}

static void on_idle(void *arg)
{
    struct agent *a = arg;

    if (a->leaving)
        event_base_loopexit(a->base, NULL);
}

/* Send what w holds, if there is anybody to hear it. */
static void say(void *arg, enum protocol_type type, struct writer *w)
{
    struct agent *a = arg;
    int lost =
        a->home
        && (w->bad
            || channel_send(a->home, (uint16_t)type, w->buf, w->len) < 0);

    writer_clear(w);
    if (lost && !a->leaving)
        channel_hang_up(a->home);
}

struct told { /* by home */
    uint16_t type;
    const uint8_t *body;
    size_t len;
};

/* What takes it returns -1 if it breaks the protocol. */

/* --- slices --------------------------------------------------------------- */

static void say_work(void *arg, enum protocol_type type, struct writer *w)
{
    struct agent *a = arg;

    say(a, type, w);
    if (type == MSG_OUTPUT && a->home && !a->leaving
        && channel_backlog(a->home) > BACKLOG_HIGH)
        agent_work_hold(a->work, 1);
}

static int tell_work(struct agent *a, const struct told *t)
{
    return agent_work_told(a->work, (enum protocol_type)t->type, t->body,
                           t->len);
}

/* Under srun the slices are the step's own tasks'. */
static int give_slice(struct agent *a, const struct told *t)
{
    struct msg_run run;

    if (!a->tasks)
        return tell_work(a, t);
    return msg_read_run(&run, t->body, t->len) == 0
               ? step_tasks_run(a->tasks, &run)
               : -1;
}

static int end_slices(struct agent *a, const struct told *t)
{
    struct msg_over over;

    if (!a->tasks)
        return tell_work(a, t);
    if (msg_read_over(&over, t->body, t->len) < 0)
        return -1;
    step_tasks_over(a->tasks, &over);
    return 0;
}

static int feed_tasks(struct agent *a, const struct told *t)
{
    struct msg_tasks m;
    struct writer w = {0};
    int rc;

    if (msg_read_tasks(&m, t->body, t->len) < 0 || a->tasks)
        return -1;
    snprintf(a->step, sizeof a->step, "%s", m.dir);
    rc = step_tasks_open(&a->tasks, a->base, m.dir, m.tasks, m.patience_s, say,
                         a, NULL);
    write_u32(&w, rc < 0 ? (uint32_t)errno : 0);
    say(a, MSG_STORED, &w);
    return 0;
}

static int store(struct agent *a, const struct told *t)
{
    struct writer w = {0};
    struct msg_put m;
    int why;

    if (msg_read_put(&m, t->body, t->len) < 0)
        return -1;
    snprintf(a->step, sizeof a->step, "%s", m.dir);
    why = strcmp(m.file, STEP_ENV) == 0
              ? step_env_put(m.dir, m.content, m.len)
              : step_dir_put(m.dir, m.file, m.content, m.len);
    if (why == 0)
        why = agent_work_directory(a->work, a->step);
    write_u32(&w, (uint32_t)why);
    say(a, MSG_STORED, &w);
    return 0;
}

static int start_program(struct agent *a, const struct told *t)
{
    (void)t;
    agent_work_measured(a->work);
    return 0;
}

/* --- qualification -------------------------------------------------------- */

static void on_probed(void *arg, const struct msg_probed *m)
{
    struct agent *a = arg;
    struct writer w = {0};

    msg_write_probed(&w, m);
    say(a, MSG_PROBED, &w);
    agent_probe_destroy(a->probe);
    a->probe = NULL;
    if (!a->leaving)
        agent_work_pause(a->work, 0);
}

static int probe(struct agent *a, const struct told *t)
{
    const struct agent_probe_setup setup = {.base = a->base,
                                            .throttle = a->throttle,
                                            .speed_pct = a->setup->speed_pct,
                                            .environ = a->setup->environ,
                                            .sysfs = a->setup->sysfs};
    struct msg_probe order;

    if (msg_read_probe(&order, t->body, t->len) < 0 || a->probe
        || agent_work_busy(a->work))
        return -1;
    a->probe = agent_probe_start(&setup, &order, on_probed, a);
    if (!a->probe)
        return -1;
    agent_work_pause(a->work, 1);
    return 0;
}

static int open_ring(struct agent *a, const struct told *t)
{
    struct writer w = {0};

    (void)t;
    agent_ring_close(a->ring);
    a->ring = agent_ring_open(a->base, &a->setup->secret, a->wireup.rank,
                              a->setup->ports,
                              strcmp(a->mine.address, "127.0.0.1") == 0);
    write_u32(&w, a->ring ? agent_ring_port(a->ring) : 0);
    say(a, MSG_RING_PORT, &w);
    return 0;
}

static void on_round(void *arg, double received_per_s)
{
    struct writer w = {0};

    write_double(&w, received_per_s);
    say(arg, MSG_RANG, &w);
}

static int ring(struct agent *a, const struct told *t)
{
    struct endpoint to;
    struct msg_ring m;

    if (msg_read_ring(&m, t->body, t->len) < 0 || m.receiver >= a->wireup.size)
        return -1;
    to = a->wireup.agent[m.receiver];
    to.port = (uint16_t)m.port;
    if (!a->ring
        || agent_ring_round(a->ring, m.port > 0 ? &to : NULL, m.receiver, m.ms,
                            on_round, a)
               < 0)
        on_round(a, 0);
    return 0;
}

/* --- broadcasts ----------------------------------------------------------- */

static void end_broadcast(struct agent *a)
{
    mesh_set_broadcast(a->mesh, NULL);
    bcast_node_destroy(a->broadcast);
    a->broadcast = NULL;
}

static void send_bcast(void *arg, enum bcast_kind kind, struct writer *w)
{
    say(arg, (enum protocol_type)(MSG_BCAST + kind), w);
}

/* In a destination {node} is this node's name, as in a command's words. */
static int fill_in(const struct agent *a, struct bcast_order *order)
{
    struct msg_run none = {0};
    char *words[] = {order->destination, NULL};
    char **filled = template_argv(words, &none, a->setup->node);
    int rc = -1;

    if (filled && strlen(filled[0]) < sizeof order->destination) {
        snprintf(order->destination, sizeof order->destination, "%s",
                 filled[0]);
        rc = step_dir_here(order->destination, sizeof order->destination);
    }
    template_free(filled);
    return rc;
}

static int start_broadcast(struct agent *a, const struct told *t)
{
    struct bcast_node_setup setup = {.base = a->base,
                                     .secret = &a->setup->secret,
                                     .wireup = &a->wireup,
                                     .home_address = a->setup->front_address,
                                     .send = send_bcast,
                                     .arg = a};
    struct bcast_order *order = malloc(sizeof *order);

    end_broadcast(a);
    if (order && bcast_read_order(order, t->body, t->len) == 0
        && fill_in(a, order) == 0)
        a->broadcast = bcast_node_start(&setup, order);
    free(order);
    if (!a->broadcast)
        return -1;
    mesh_set_broadcast(a->mesh, a->broadcast);
    return 0;
}

static int take_bcast(struct agent *a, const struct told *t)
{
    enum bcast_kind kind = (enum bcast_kind)(t->type - MSG_BCAST);

    if (kind == BCAST_ORDER)
        return start_broadcast(a, t);
    if (!a->broadcast
        || bcast_node_receive(a->broadcast, kind, t->body, t->len) < 0)
        return -1;
    if (kind == BCAST_END)
        end_broadcast(a);
    return 0;
}

/* --- meters and limits ---------------------------------------------------- */

/* A node without meters is one that does not report. */
static int watch(struct agent *a, const struct told *t)
{
    struct es_error err = {0};
    struct msg_monitor m;

    if (a->meter || msg_read_monitor(&m, t->body, t->len) < 0)
        return -1;
    snprintf(a->step, sizeof a->step, "%s", m.dir);
    a->meter = agent_meter_start(a->base, &m, say, a, &err);
    if (!a->meter)
        notice("%s: %s: %s", a->setup->node, err.what, err.mend);
    return 0;
}

static int limit(struct agent *a, const struct told *t)
{
    uint64_t v;

    if (msg_read_u64(&v, t->body, t->len) < 0)
        return -1;
    if (a->meter)
        agent_meter_limit(a->meter, v);
    return 0;
}

/* --- task graphs ---------------------------------------------------------- */

static void say_graph(void *arg, enum graph_kind kind, struct writer *w)
{
    say(arg, (enum protocol_type)(MSG_GRAPH + kind), w);
}

static int start_graph(struct agent *a, const struct told *t)
{
    struct graph_node_setup setup = {.base = a->base,
                                     .secret = &a->setup->secret,
                                     .wireup = &a->wireup,
                                     .mesh = a->mesh,
                                     .node = a->setup->node,
                                     .front_address = a->setup->front_address,
                                     .environ = a->setup->environ,
                                     .throttle = a->throttle,
                                     .say = say_graph,
                                     .idle = on_idle,
                                     .arg = a};
    struct graph_open *open = malloc(sizeof *open);
    int rc = -1;

    if (open && !a->graph && graph_read_open(open, t->body, t->len) == 0) {
        a->graph = graph_node_start(&setup, open);
        rc = a->graph ? 0 : -1;
    }
    free(open);
    return rc;
}

static int take_graph(struct agent *a, const struct told *t)
{
    enum graph_kind kind = (enum graph_kind)(t->type - MSG_GRAPH);

    if (kind == GRAPH_MSG_OPEN)
        return start_graph(a, t);
    return a->graph ? graph_node_told(a->graph, kind, t->body, t->len) : -1;
}

/* --- time ----------------------------------------------------------------- */

static void say_clock(void *arg)
{
    struct writer w = {0};

    write_u64(&w, (uint64_t)clock_stopped_ns());
    say(arg, MSG_CLOCK, &w);
}

static int tell_clock(struct agent *a, const struct told *t)
{
    say_clock(a);
    return t->len == 0 ? 0 : -1;
}

/* --- the conversation with home ------------------------------------------- */

/* All are here: agent_serve() goes on, with the table or to PMIx. */
static int end_waiting(struct agent *a, const uint8_t *body, size_t len)
{
    struct msg_fence m;

    if (a->wireup.agent)
        return 0; /* it has come twice: from home, as a parent missed us */
    if (msg_read_fence(&m, body, len) < 0 || (m.len == 0 && a->setup->by_tcp)
        || (m.len > 0 && wireup_take(&a->wireup, m.table, m.len) < 0))
        return -1;
    if (a->tree && m.len > 0)
        table_tree_pass(a->tree, &a->wireup, m.branches, body, len);
    event_base_loopbreak(a->base);
    return 0;
}

static int on_fence(struct agent *a, const struct told *t)
{
    return end_waiting(a, t->body, t->len);
}

static int on_table(void *arg, const uint8_t *body, size_t len)
{
    return end_waiting(arg, body, len);
}

static void on_missed(void *arg, uint32_t rank)
{
    struct writer w = {0};

    write_u32(&w, rank);
    say(arg, MSG_MISSED, &w);
}

static const struct table_tree_events tree_events = {
    .told = on_table,
    .missed = on_missed,
};

static const struct {
    uint16_t first, last; /* types */
    int (*take)(struct agent *a, const struct told *t);
} takes[] = {
    {MSG_COMMAND, MSG_COMMAND, tell_work},
    {MSG_METER, MSG_METER, tell_work},
    {MSG_INPUT, MSG_INPUT, tell_work},
    {MSG_RUN, MSG_RUN, give_slice},
    {MSG_OVER, MSG_OVER, end_slices},
    {MSG_TASKS, MSG_TASKS, feed_tasks},
    {MSG_PUT, MSG_PUT, store},
    {MSG_MEASURED, MSG_MEASURED, start_program},
    {MSG_PROBE, MSG_PROBE, probe},
    {MSG_RING_OPEN, MSG_RING_OPEN, open_ring},
    {MSG_RING, MSG_RING, ring},
    {MSG_MONITOR, MSG_MONITOR, watch},
    {MSG_LIMIT, MSG_LIMIT, limit},
    {MSG_BCAST, MSG_BCAST_END - 1, take_bcast},
    {MSG_GRAPH, MSG_GRAPH_END - 1, take_graph},
    {MSG_FENCE, MSG_FENCE, on_fence},
    {MSG_CLOCK, MSG_CLOCK, tell_clock},
};

/* LEAVE, or nothing that we know, or a breach: in all cases we go. */
static void on_message(struct channel *c,
                       void *arg,
                       uint16_t type,
                       const uint8_t *body,
                       size_t len)
{
    const struct told t = {type, body, len};
    struct agent *a = arg;
    int rc = -1;

    (void)c;
    if (a->leaving)
        return;
    for (size_t i = 0; i < sizeof takes / sizeof takes[0]; i++)
        if (type >= takes[i].first && type <= takes[i].last
            && (a->ready || type == MSG_FENCE))
            rc = takes[i].take(a, &t);
    if (rc < 0)
        leave(a);
}

static uint32_t count_cpus(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) == 0
               ? (uint32_t)CPU_COUNT(&set)
               : 0;
}

static void say_ready(struct agent *a)
{
    struct msg_ready m = {.rank = a->wireup.rank,
                          .agents = a->wireup.size,
                          .job = a->setup->job,
                          .step = a->setup->step,
                          .cpus = count_cpus(),
                          .adapter = a->adapter};
    struct writer w = {0};

    snprintf(m.node, sizeof m.node, "%s", a->setup->node);
    snprintf(m.rack, sizeof m.rack, "%s", a->setup->rack);
    msg_write_ready(&w, &m);
    say(a, MSG_READY, &w);
}

static void say_here(struct agent *a)
{
    const struct msg_here m = {
        .rank = a->wireup.rank, .agents = a->wireup.size, .endpoint = a->mine};
    struct writer w = {0};

    msg_write_here(&w, &m);
    say(a, MSG_HERE, &w);
}

static void on_greeting(void *arg, int reached, const char *why)
{
    struct agent *a = arg;
    struct msg_peer m = {.reached = (uint32_t)reached};
    struct writer w = {0};

    snprintf(m.text, sizeof m.text, "%s", why);
    msg_write_peer(&w, &m);
    say(a, MSG_PEER, &w);
}

static void greet_next(struct agent *a)
{
    const struct wireup *w = &a->wireup;
    const struct parties parties = {PURPOSE_MESH, w->rank,
                                    (w->rank + 1) % w->size};

    if (w->size < 2)
        return;
    a->greeting = greeting_start(a->base, &w->agent[parties.callee], &parties,
                                 &a->setup->secret, on_greeting, a);
    if (!a->greeting)
        on_greeting(a, 0, strerror(errno));
}

static void on_opened(struct channel *c, void *arg)
{
    struct agent *a = arg;

    channel_backlog_mark(c, BACKLOG_LOW);
    a->met = a->is_home = 1;
    if (a->ready)
        say_ready(a); /* again */
    else
        say_here(a);
}

static void on_drained(struct channel *c, void *arg)
{
    struct agent *a = arg;

    (void)c;
    if (a->ready)
        agent_work_hold(a->work, 0);
}

/* In ms and up to half of it more, so that not all come at once. */
static void call_later(struct agent *a, int ms, double until)
{
    int wait = ms + (int)randombytes_uniform((uint32_t)ms / 2 + 1);
    struct timeval delay = {wait / 1000, wait % 1000 * 1000};

    if (clock_s() > until || event_add(a->on_again, &delay) < 0)
        leave(a);
}

/* Home is gone, or the way to it: forget what was to be done, and call again;
 * but where nobody listens any more, there is nothing to stay for, nor is there
 * beside a step: its frames have ended with home, and Slurm ends us soon. */
static void on_closed(struct channel *c, void *arg, const char *why)
{
    struct agent *a = arg;
    int nobody_listens = strcmp(why, strerror(ECONNREFUSED)) == 0;

    (void)c;
    a->home = NULL;
    if (a->is_home)
        a->away = clock_s();
    a->is_home = 0;
    snprintf(a->why, sizeof a->why, "%s", why);
    if (!a->met && !a->leaving && !nobody_listens
        && strcmp(why, CHANNEL_STRANGER) != 0) {
        call_later(a, TURNED_MS, a->away + START_S);
        return;
    }
    if (!a->ready || a->leaving || a->tasks || nobody_listens) {
        leave(a);
        return;
    }
    end_broadcast(a);
    (void)stop_commands(a);
    call_later(a, AGAIN_MS, a->away + AWAY_S);
}

static const struct channel_events events = {
    .opened = on_opened,
    .message = on_message,
    .drained = on_drained,
    .closed = on_closed,
};

/* --- start and end -------------------------------------------------------- */

static void on_signal(void *arg, int number)
{
    (void)number;
    leave(arg);
}

static struct sockaddr_in home_of(const struct agent_setup *s)
{
    struct sockaddr_in in = {.sin_family = AF_INET};

    in.sin_port = htons(s->front_port);
    (void)inet_pton(AF_INET, s->front_address, &in.sin_addr); /* was checked */
    return in;
}

/* Our address on the interface that reaches home: what the other agents are
 * told.  A datagram socket's connect sends nothing. */
static int own_address(const struct agent_setup *s, struct sockaddr_in *own)
{
    struct sockaddr_in home = home_of(s);
    socklen_t len = sizeof *own;
    int rc = -1, fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    if (connect(fd, (const struct sockaddr *)&home, sizeof home) == 0
        && getsockname(fd, (struct sockaddr *)own, &len) == 0)
        rc = 0;
    close(fd);
    return rc;
}

/* Without one there is no connection table; all else works. */
static void find_adapter(struct agent *a, const struct sockaddr_in *own)
{
    struct es_error err = {0};

    if (adapter_find(&a->adapter, a->setup->sysfs, (const struct sockaddr *)own,
                     &err)
        < 0)
        notice("%s: %s: %s", a->setup->node, err.what, err.mend);
    a->adapter.tcp_port = listener_port(a->listener);
}

static int is_loopback(const struct agent *a)
{
    return strcmp(a->mine.address, "127.0.0.1") == 0;
}

static int open_listener(struct agent *a, struct es_error *err)
{
    const struct agent_setup *s = a->setup;
    struct endpoint *mine = &a->mine;
    struct listener_setup door = {.base = a->base,
                                  .secret = &s->secret,
                                  .purpose = PURPOSE_MESH,
                                  .self = FRONT_END, /* until we have a rank */
                                  .ports = s->ports,
                                  .called = mesh_take,
                                  .full = file_limit_reached};
    struct sockaddr_in own;

    a->mesh = mesh_create(a->base);
    if (!a->mesh)
        return es_no_memory(err);
    if (own_address(s, &own) < 0
        || !inet_ntop(AF_INET, &own.sin_addr, mine->address,
                      sizeof mine->address))
        return es_fail(
            err, ES_ENV, "let the compute nodes reach the host of srun",
            "%s: no way to %s: %s", s->node, s->front_address, strerror(errno));
    door.loopback = is_loopback(a);
    door.arg = a->mesh;
    if (listener_open(&a->listener, &door, err) < 0)
        return -1;
    find_adapter(a, &own);
    snprintf(mine->node, sizeof mine->node, "%s", s->node);
    mine->port = listener_port(a->listener);
    return 0;
}

static int open_door(struct agent *a, struct es_error *err)
{
    const struct table_tree_setup setup = {.base = a->base,
                                           .secret = &a->setup->secret,
                                           .self = a->wireup.rank,
                                           .ports = a->setup->ports,
                                           .loopback = is_loopback(a),
                                           .on = &tree_events,
                                           .arg = a};

    if (table_tree_open(&a->tree, &setup, err) < 0)
        return -1;
    a->mine.door = table_tree_door(a->tree);
    return 0;
}

/* Get to know our rank, and of how many. */
static int join(struct agent *a, struct es_error *err)
{
    if (a->setup->by_tcp) {
        a->wireup.rank = a->setup->rank;
        a->wireup.size = a->setup->agents;
    } else if (wireup_join(&a->wireup, &a->mine, err) < 0) {
        return -1;
    }
    return table_branches(a->wireup.size) > 0 ? open_door(a, err) : 0;
}

static int call_home(struct agent *a, struct es_error *err)
{
    const struct parties parties = {PURPOSE_SESSION, a->wireup.rank, FRONT_END};
    struct sockaddr_in in = home_of(a->setup);

    a->home = channel_call(a->base, (const struct sockaddr *)&in, sizeof in,
                           &a->setup->secret, &parties, &events, a);
    if (a->home)
        return 0;
    return es_fail(err, ES_ENV, "let the compute nodes reach the host of srun",
                   "%s: cannot call %s:%u: %s", a->setup->node,
                   a->setup->front_address, a->setup->front_port,
                   strerror(errno));
}

static void on_again(int fd, short what, void *arg)
{
    struct agent *a = arg;

    (void)fd;
    (void)what;
    if (a->ready
        && (agent_work_busy(a->work) || graph_node_stop(a->graph) > 0)) {
        /* what was stopped is not over yet */
        call_later(a, AGAIN_MS, a->away + AWAY_S);
        return;
    }
    graph_node_destroy(a->graph);
    a->graph = NULL;
    if (call_home(a, NULL) < 0)
        leave(a);
}

static int open_work(struct agent *a, struct es_error *err)
{
    const struct agent_work_setup setup = {.base = a->base,
                                           .throttle = a->throttle,
                                           .node = a->setup->node,
                                           .environ = a->setup->environ,
                                           .say = say_work,
                                           .idle = on_idle,
                                           .arg = a};

    a->work = agent_work_open(&setup);
    return a->work ? 0 : es_no_memory(err);
}

static int start(struct agent *a, struct es_error *err)
{
    a->base = event_base_new();
    if (!a->base)
        return es_no_memory(err);
    file_limit_raise(); /* a connection a node, and commands' pipes */
    /* Until the fence is through a signal just ends us: there is nothing to
     * clean up, and PMIx may block for ever. */
    (void)alarm(WIRE_UP_S);
    a->on_again = evtimer_new(a->base, on_again, a);
    if (!a->on_again)
        return es_no_memory(err);
    if (open_listener(a, err) < 0 || join(a, err) < 0)
        return -1;
    listener_set_self(a->listener, a->wireup.rank);
    a->away = clock_s();
    return call_home(a, err);
}

/* Run the loop until all agents are here.  A node that calls the others before
 * would be slow to be heard: see wireup.h. */
static int await_all(struct agent *a, struct es_error *err)
{
    (void)alarm(0); /* home knows how long to wait */
    if (event_base_dispatch(a->base) < 0)
        return es_fail(err, ES_ENV, "report this", "the event loop failed");
    (void)alarm(WIRE_UP_S + a->wireup.size / WIRE_UP_EACH);
    if (a->home)
        return 0;
    return es_fail(err, ES_ENV,
                   "let the compute nodes reach the host of srun at the ports "
                   "of SrunPortRange",
                   "%s: no front end at %s:%u: %s", a->setup->node,
                   a->setup->front_address, a->setup->front_port, a->why);
}

/* What we need for work. */
static int open_all(struct agent *a, struct es_error *err)
{
    char group[STEP_NAME_MAX];

    step_dir_local_name(group, (int)getppid(), a->setup->node);
    if (signals_catch(&a->signals, a->base, on_signal, a) < 0)
        return es_no_memory(err);
    if (a->setup->speed_pct > 0
        && throttle_open(&a->throttle, a->base, a->setup->speed_pct, group,
                         THROTTLE_ANY, err)
               < 0)
        return -1;
    return open_work(a, err);
}

static int serve(struct agent *a, struct es_error *err)
{
    if (open_all(a, err) < 0)
        return -1;
    a->ready = 1;
    say_ready(a);
    a->awake = awake_start(a->base, say_clock, a);
    greet_next(a);
    if (event_base_dispatch(a->base) < 0)
        return es_fail(err, ES_ENV, "report this", "the event loop failed");
    return 0;
}

static void stop(struct agent *a)
{
    agent_work_close(a->work);
    agent_probe_destroy(a->probe);
    agent_ring_close(a->ring);
    step_tasks_close(a->tasks);
    agent_meter_stop(a->meter);
    if (a->step[0])
        step_dir_remove(a->step);
    greeting_destroy(a->greeting);
    listener_close(a->listener);
    bcast_node_destroy(a->broadcast);
    graph_node_destroy(a->graph);
    mesh_destroy(a->mesh);
    table_tree_close(a->tree);
    channel_destroy(a->home);
    throttle_close(a->throttle);
    wireup_clear(&a->wireup);
    awake_stop(a->awake);
    signals_release(&a->signals);
    if (a->on_again)
        event_free(a->on_again);
    if (a->base)
        event_base_free(a->base);
}

/* Fetch the others' endpoints, if they have not come. */
static int wire_up(struct agent *a, struct es_error *err)
{
    return a->leaving || a->wireup.agent ? 0 : wireup_exchange(&a->wireup, err);
}

int agent_serve(const struct agent_setup *setup, struct es_error *err)
{
    struct agent a = {.setup = setup};
    int rc = start(&a, err);

    if (rc == 0)
        rc = await_all(&a, err);
    if (rc == 0)
        rc = wire_up(&a, err);
    (void)alarm(0);
    if (rc == 0 && !a.leaving)
        rc = serve(&a, err);
    stop(&a);
    return rc;
}
