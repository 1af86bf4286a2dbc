/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/agent.h"
#include "launcher/agent/agent_orders.h"
#include "launcher/agent/greeting.h"
#include "launcher/agent/inbox.h"
#include "launcher/agent/lingerer.h"
#include "launcher/agent/own_endpoint.h"
#include "launcher/base/awake.h"
#include "launcher/base/file_limit.h"
#include "launcher/base/notice.h"
#include "launcher/base/signals.h"
#include "launcher/base/step_dir.h"
#include "launcher/base/sysfs.h"
#include "launcher/exec/throttle.h"
#include "launcher/wire/protocol.h"
#include "launcher/wire/table_tree.h"
#include "pmix_bcast/clock.h"
#include "pmix_bcast/mesh.h"

#include <errno.h>
#include <event2/event.h>
#include <sched.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
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
#define WORDS_MS  50 /* for last words to go out */
/* For what is to be passed on to go out, at most: then whoever lacks it has it
 * from the front end. */
#define PASS_MS 1000

struct agent {
    const struct agent_setup *setup;
    struct agent_setup
        own; /* it is this, but for where the front end listens */
    struct event_base *base;
    struct channel *front; /* to the front end */
    struct wireup wireup;
    struct endpoint mine;
    struct adapter adapter;
    struct listener *listener;
    struct mesh *mesh;
    struct table_tree *tree;
    struct inbox *inbox;
    struct greeting *greeting;
    struct throttle *throttle;
    struct signals signals;
    struct event *on_again;
    struct awake *awake;
    struct lingerer *linger;     /* we wait for another front end */
    char linger_dir[64];         /* to be removed if none comes, or "" */
    struct agent_orders *orders; /* NULL before it is wired up */
    int ready;                   /* wired up, and READY has been sent */
    int met;                     /* the front end has proved itself, once */
    int is_there;                /* the front end is, now */
    int leaving;                 /* only what runs is waited for */
    int has_words;               /* and its last words are to go out */
    int ending;                  /* nothing runs any more */
    double away;                 /* since when it is called, by the clock */
    char why[200];               /* why it was lost before READY */
};

static void exit_loop(struct agent *a, int ms)
{
    struct timeval later = {ms / 1000, ms % 1000 * 1000};

    event_base_loopexit(a->base, ms > 0 ? &later : NULL);
}

/* Not before those below have what is for them, too. */
static void end_loop(struct agent *a)
{
    if (a->ending)
        return;
    a->ending = 1;
    if (a->tree && table_tree_is_passing(a->tree))
        exit_loop(a, PASS_MS);
    else
        exit_loop(a, a->has_words ? WORDS_MS : 0);
}

static void on_passed(void *arg)
{
    struct agent *a = arg;

    if (a->ending)
        exit_loop(a, a->has_words ? WORDS_MS : 0);
}

/* Gone when its commands have ended. */
static void agent_leave(struct agent *a)
{
    a->leaving = 1;
    if (!agent_orders_stop(a->orders, 1))
        end_loop(a);
}

static void on_agent_idle(void *arg)
{
    struct agent *a = arg;

    if (a->leaving)
        end_loop(a);
}

/* Send what w holds to the front end, if it is there. */
static void send_front(void *arg, enum protocol_type type, struct writer *w)
{
    struct agent *a = arg;
    int lost =
        a->front
        && (w->bad
            || channel_send(a->front, (uint16_t)type, w->buf, w->len) < 0);

    writer_clear(w);
    if (lost && !a->leaving)
        channel_hang_up(a->front);
    else if ((type == MSG_OUTPUT || type == MSG_FILE) && a->front && !a->leaving
             && channel_backlog(a->front) > BACKLOG_HIGH)
        agent_orders_hold(a->orders, 1);
}

/* --- time ----------------------------------------------------------------- */

static void send_clock(void *arg)
{
    struct writer w = {0};

    write_u64(&w, (uint64_t)clock_stopped_ns());
    send_front(arg, MSG_CLOCK, &w);
}

/* --- the conversation with the front end ------------------------------------------- */

/* All are here: agent_serve() goes on, with the table or to PMIx. */
static int end_waiting(struct agent *a, const uint8_t *body, size_t len)
{
    struct msg_fence m;

    if (a->wireup.agent)
        return 0; /* it has come twice: a parent missed us */
    if (msg_read_fence(&m, body, len) < 0 || (m.len == 0 && a->setup->by_tcp)
        || (m.len > 0 && wireup_take(&a->wireup, m.table, m.len) < 0))
        return -1;
    if (m.len > 0)
        table_tree_pass(a->tree, &a->wireup, m.branches, body, len);
    event_base_loopbreak(a->base);
    return 0;
}

static int on_table(void *arg, const uint8_t *body, size_t len)
{
    return end_waiting(arg, body, len);
}

/* Not before the front end has us, nor while it is away. */
static int on_order(void *arg, const uint8_t *body, size_t len)
{
    const struct agent *a = arg;

    return a->ready && a->is_there && !a->leaving
               ? inbox_parent(a->inbox, body, len)
               : 0;
}

static void on_missed(void *arg, uint32_t rank)
{
    struct writer w = {0};

    write_u32(&w, rank);
    send_front(arg, MSG_MISSED, &w);
}

static const struct table_tree_events tree_events = {
    .receive = on_table,
    .order = on_order,
    .missed = on_missed,
    .passed = on_passed,
};

static void begin_lingering(struct agent *a, const struct msg_linger *m);

/* The front end ends, and another may come. */
static int receive_linger(struct agent *a, const uint8_t *body, size_t len)
{
    struct endpoint e = a->mine;
    struct writer w = {0};
    struct msg_linger m;

    if (msg_read_linger(&m, body, len) < 0 || a->linger)
        return -1;
    if (!agent_orders_busy(a->orders))
        begin_lingering(a, &m);
    if (a->linger) {
        e.port = lingerer_port(a->linger);
        endpoint_write(&w, &e);
    }
    send_front(a, MSG_LINGER, &w);
    return 0;
}

/* LEAVE, or nothing that we know, or a breach: in all cases we go. */
static void take_message(void *arg,
                         uint16_t type,
                         const uint8_t *body,
                         size_t len)
{
    struct agent *a = arg;
    int rc = -1;

    if (a->leaving)
        return;
    if (type == MSG_FENCE) {
        rc = end_waiting(a, body, len);
    } else if (a->ready && type == MSG_CLOCK) {
        send_clock(a);
        rc = len == 0 ? 0 : -1;
    } else if (a->ready && type == MSG_LINGER) {
        rc = receive_linger(a, body, len);
    } else if (a->ready) {
        rc = agent_orders_receive(a->orders, type, body, len);
    }
    if (rc < 0)
        agent_leave(a);
}

static void pass_order(void *arg,
                       const struct msg_relay *m,
                       const uint8_t *body,
                       size_t len)
{
    const struct agent *a = arg;

    if (a->wireup.agent)
        table_tree_order(a->tree, &a->wireup, m, body, len);
}

static void tell_taken(void *arg, uint32_t number)
{
    struct writer w = {0};

    write_u32(&w, number);
    send_front(arg, MSG_TAKEN, &w);
}

static void on_front_message(struct channel *c,
                             void *arg,
                             uint16_t type,
                             const uint8_t *body,
                             size_t len)
{
    struct agent *a = arg;

    (void)c;
    if (!a->leaving && inbox_front(a->inbox, type, body, len) < 0)
        agent_leave(a);
}

static int open_inbox(struct agent *a, struct es_error *err)
{
    const struct inbox_setup setup = {.base = a->base,
                                      .rank = a->wireup.rank,
                                      .take = take_message,
                                      .pass = pass_order,
                                      .taken = tell_taken,
                                      .arg = a};

    a->inbox = inbox_create(&setup);
    return a->inbox ? 0 : es_no_memory(err);
}

static uint32_t count_cpus(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) == 0
               ? (uint32_t)CPU_COUNT(&set)
               : 0;
}

static void read_boot_id(char id[BOOT_ID_MAX])
{
    char line[SYSFS_LINE];

    id[0] = '\0';
    if (sysfs_read(line, "/proc/sys/kernel/random/boot_id") == 0
        && strlen(line) < BOOT_ID_MAX)
        memcpy(id, line, strlen(line) + 1);
}

static void send_ready(struct agent *a)
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
    read_boot_id(m.boot_id);
    msg_write_ready(&w, &m);
    send_front(a, MSG_READY, &w);
}

static void send_here(struct agent *a)
{
    const struct msg_here m = {
        .rank = a->wireup.rank, .agents = a->wireup.size, .endpoint = a->mine};
    struct writer w = {0};

    msg_write_here(&w, &m);
    send_front(a, MSG_HERE, &w);
}

static void on_greeting(void *arg, int reached, const char *why)
{
    struct agent *a = arg;
    struct msg_peer m = {.reached = (uint32_t)reached};
    struct writer w = {0};

    snprintf(m.text, sizeof m.text, "%s", why);
    msg_write_peer(&w, &m);
    send_front(a, MSG_PEER, &w);
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

static void on_front_opened(struct channel *c, void *arg)
{
    struct agent *a = arg;

    channel_backlog_mark(c, BACKLOG_LOW);
    a->met = a->is_there = 1;
    if (a->ready)
        send_ready(a); /* again */
    else
        send_here(a);
}

static void on_front_drained(struct channel *c, void *arg)
{
    struct agent *a = arg;

    (void)c;
    if (a->ready)
        agent_orders_hold(a->orders, 0);
}

/* In ms and up to half of it more, so that not all come at once. */
static void call_later(struct agent *a, int ms, double until)
{
    int wait = ms + (int)randombytes_uniform((uint32_t)ms / 2 + 1);
    struct timeval delay = {wait / 1000, wait % 1000 * 1000};

    if (clock_s() > until || event_add(a->on_again, &delay) < 0)
        agent_leave(a);
}

/* The front end is gone, or the way to it: forget what was to be done, and call again;
 * but where nobody listens any more, there is nothing to stay for, nor is there
 * beside a step that does not survive the loss of nodes: its frames have ended
 * with it, and Slurm ends us soon. */
static void on_front_closed(struct channel *c, void *arg, const char *why)
{
    struct agent *a = arg;
    int nobody_listens = strcmp(why, strerror(ECONNREFUSED)) == 0;

    (void)c;
    a->front = NULL;
    if (a->is_there)
        a->away = clock_s();
    a->is_there = 0;
    if (a->linger && !a->leaving)
        return;
    snprintf(a->why, sizeof a->why, "%s", why);
    if (!a->met && !a->leaving && !nobody_listens
        && strcmp(why, CHANNEL_STRANGER) != 0) {
        call_later(a, TURNED_MS, a->away + START_S);
        return;
    }
    if (!a->ready || a->leaving || agent_orders_feed_step(a->orders)
        || nobody_listens) {
        agent_leave(a);
        return;
    }
    inbox_away(a->inbox);
    table_tree_forget(a->tree);
    (void)agent_orders_stop(a->orders, 0);
    call_later(a, AGAIN_MS, a->away + AWAY_S);
}

static const struct channel_events events = {
    .opened = on_front_opened,
    .message = on_front_message,
    .drained = on_front_drained,
    .closed = on_front_closed,
};

/* --- start and end -------------------------------------------------------- */

/* Said first, as a run whose nodes are all told to end goes on another day. */
static void on_agent_signal(void *arg, int number)
{
    struct agent *a = arg;
    struct writer nothing = {0};

    if (number == SIGTERM && a->is_there && !a->leaving) {
        a->has_words = 1;
        agent_orders_part(a->orders);
        send_front(a, MSG_LEAVE, &nothing);
    }
    agent_leave(a);
}

static int open_listener(struct agent *a, struct es_error *err)
{
    const struct agent_setup *s = a->setup;
    struct listener_setup door = {.base = a->base,
                                  .secret = &s->secret,
                                  .purpose = PURPOSE_MESH,
                                  .self = FRONT_END, /* until we have a rank */
                                  .ports = s->ports,
                                  .called = mesh_take,
                                  .full = file_limit_reached};

    a->mesh = mesh_create(a->base);
    if (!a->mesh)
        return es_no_memory(err);
    if (own_endpoint_find(&a->mine, &a->adapter, s, err) < 0)
        return -1;
    door.loopback = address_loopback(a->mine.address);
    door.arg = a->mesh;
    if (listener_open(&a->listener, &door, err) < 0)
        return -1;
    a->mine.port = a->adapter.tcp_port = listener_port(a->listener);
    return 0;
}

/* For our parent in the tree. */
static int open_door(struct agent *a, struct es_error *err)
{
    const struct table_tree_setup setup = {
        .base = a->base,
        .secret = &a->setup->secret,
        .branches = TABLE_BRANCHES,
        .ports = a->setup->ports,
        .loopback = address_loopback(a->mine.address),
        .on = &tree_events,
        .arg = a};

    if (table_tree_open(&a->tree, &setup, err) < 0)
        return -1;
    a->mine.door = table_tree_door(a->tree);
    return 0;
}

/* Get to know our rank, and of how many. */
static int join_agents(struct agent *a, struct es_error *err)
{
    if (a->setup->by_tcp) {
        a->wireup.rank = a->setup->rank;
        a->wireup.size = a->setup->agents;
    } else if (wireup_join(&a->wireup, &a->mine, err) < 0) {
        return -1;
    }
    listener_set_self(a->listener, a->wireup.rank);
    table_tree_set_self(a->tree, a->wireup.rank);
    a->mine.door = table_tree_door(a->tree);
    return open_inbox(a, err);
}

/* Where the front end is, as people write it. */
static const char *front_name(const struct agent *a,
                              char name[ADDRESS_PORT_MAX])
{
    address_join(name, a->setup->front_address, a->setup->front_port);
    return name;
}

static int call_front_end(struct agent *a, struct es_error *err)
{
    char name[ADDRESS_PORT_MAX];
    const struct parties parties = {PURPOSE_SESSION, a->wireup.rank, FRONT_END};
    struct address at = own_endpoint_front(a->setup);

    a->front = channel_call(a->base, (const struct sockaddr *)&at.at, at.len,
                            &a->setup->secret, &parties, &events, a);
    if (a->front)
        return 0;
    return es_fail(err, ES_ENV, "let the compute nodes reach the host of srun",
                   "%s: cannot call %s: %s", a->setup->node,
                   front_name(a, name), strerror(errno));
}

static void call_again(int fd, short what, void *arg)
{
    struct agent *a = arg;

    (void)fd;
    (void)what;
    if (a->ready && agent_orders_busy(a->orders)) {
        /* what was stopped is not over yet */
        call_later(a, AGAIN_MS, a->away + AWAY_S);
        return;
    }
    if (a->ready)
        agent_orders_forget(a->orders);
    if (call_front_end(a, NULL) < 0)
        agent_leave(a);
}

static int open_orders(struct agent *a, struct es_error *err)
{
    const struct agent_orders_setup setup = {
        .base = a->base,
        .agent = a->setup,
        .wireup = &a->wireup,
        .mesh = a->mesh,
        .throttle = a->throttle,
        .loopback = address_loopback(a->mine.address),
        .ip = a->adapter.ip,
        .send = send_front,
        .idle = on_agent_idle,
        .arg = a};

    return agent_orders_open(&a->orders, &setup, err);
}

/* --- from one front end to the next ---------------------------------------- */

static void on_recalled(void *arg, struct channel *c, uint16_t port)
{
    struct agent *a = arg;

    channel_destroy(a->front); /* the one before has ended */
    lingerer_close(a->linger);
    a->linger = NULL;
    a->own.front_port = port;
    a->front = c;
    a->is_there = 1;
    channel_set_events(c, &events, a);
    channel_backlog_mark(c, BACKLOG_LOW);
    send_ready(a);
}

static void on_linger_over(void *arg)
{
    agent_leave(arg);
}

/* Nothing of what the front end has ordered is left, and its end is none for
 * us. */
static void begin_lingering(struct agent *a, const struct msg_linger *m)
{
    const struct lingerer_setup setup = {.base = a->base,
                                         .secret = &a->setup->secret,
                                         .self = a->wireup.rank,
                                         .ports = a->setup->ports,
                                         .loopback =
                                             address_loopback(a->mine.address),
                                         .seconds = m->seconds,
                                         .called = on_recalled,
                                         .over = on_linger_over,
                                         .arg = a};

    snprintf(a->linger_dir, sizeof a->linger_dir, "%s", m->dir);
    inbox_begin(a->inbox);
    agent_orders_close(a->orders);
    a->orders = NULL;
    if (open_orders(a, NULL) == 0 && prctl(PR_SET_PDEATHSIG, 0) == 0)
        a->linger = lingerer_open(&setup);
    else
        agent_leave(a);
}

static int start_agent(struct agent *a, struct es_error *err)
{
    a->base = event_base_new();
    if (!a->base)
        return es_no_memory(err);
    file_limit_raise(); /* a connection a node, and commands' pipes */
    /* Until the fence is through a signal just ends us: there is nothing to
     * clean up, and PMIx may block for ever. */
    (void)alarm(WIRE_UP_S);
    a->on_again = evtimer_new(a->base, call_again, a);
    if (!a->on_again)
        return es_no_memory(err);
    if (open_listener(a, err) < 0 || open_door(a, err) < 0
        || join_agents(a, err) < 0)
        return -1;
    a->away = clock_s();
    return a->setup->joins ? 0 : call_front_end(a, err);
}

/* Run the loop until all agents are here.  A node that calls the others before
 * would be slow to be heard: see wireup.h. */
static int await_all(struct agent *a, struct es_error *err)
{
    char name[ADDRESS_PORT_MAX];

    (void)alarm(0); /* the front end knows how long to wait */
    if (event_base_dispatch(a->base) < 0)
        return es_fail(err, ES_ENV, "report this", "the event loop failed");
    (void)alarm(WIRE_UP_S + a->wireup.size / WIRE_UP_EACH);
    if (a->front)
        return 0;
    return es_fail(err, ES_ENV,
                   "let the compute nodes reach the host of srun at the ports "
                   "of SrunPortRange",
                   "%s: no front end at %s: %s", a->setup->node,
                   front_name(a, name), a->why);
}

/* What we need for work. */
static int open_for_work(struct agent *a, struct es_error *err)
{
    char group[STEP_NAME_MAX];

    step_dir_local_name(group, (int)getppid(), a->setup->node);
    if (signals_catch(&a->signals, a->base, on_agent_signal, a) < 0)
        return es_no_memory(err);
    if (a->setup->speed_pct > 0
        && throttle_open(&a->throttle, a->base, a->setup->speed_pct, group,
                         THROTTLE_ANY, err)
               < 0)
        return -1;
    return open_orders(a, err);
}

static int serve_front_end(struct agent *a, struct es_error *err)
{
    if (open_for_work(a, err) < 0)
        return -1;
    a->ready = 1;
    send_ready(a);
    a->awake = awake_start(a->base, send_clock, a);
    greet_next(a);
    if (event_base_dispatch(a->base) < 0)
        return es_fail(err, ES_ENV, "report this", "the event loop failed");
    return 0;
}

/* There is nobody to wire up with: to the front end we are one that was lost
 * and calls again. */
static int serve_joined(struct agent *a, struct es_error *err)
{
    char name[ADDRESS_PORT_MAX];

    if (open_for_work(a, err) < 0)
        return -1;
    a->ready = 1;
    if (call_front_end(a, err) < 0)
        return -1;
    a->awake = awake_start(a->base, send_clock, a);
    if (event_base_dispatch(a->base) < 0)
        return es_fail(err, ES_ENV, "report this", "the event loop failed");
    if (a->met)
        return 0;
    return es_fail(err, ES_ENV,
                   "let the compute nodes reach the host of the run",
                   "%s: no front end at %s: %s", a->setup->node,
                   front_name(a, name), a->why);
}

static void stop_agent(struct agent *a)
{
    agent_orders_close(a->orders);
    greeting_destroy(a->greeting);
    if (a->linger && a->linger_dir[0])
        step_dir_remove(a->linger_dir);
    lingerer_close(a->linger);
    listener_close(a->listener);
    mesh_destroy(a->mesh);
    table_tree_close(a->tree);
    inbox_destroy(a->inbox);
    channel_destroy(a->front);
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
    struct agent a = {.own = *setup};
    int rc;

    a.setup = &a.own;
    rc = start_agent(&a, err);
    if (rc == 0 && !setup->joins)
        rc = await_all(&a, err);
    if (rc == 0 && !setup->joins)
        rc = wire_up(&a, err);
    (void)alarm(0);
    if (rc == 0 && setup->joins)
        rc = serve_joined(&a, err);
    else if (rc == 0 && !a.leaving)
        rc = serve_front_end(&a, err);
    stop_agent(&a);
    return rc;
}
