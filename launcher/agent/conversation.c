/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/conversation.h"
#include "launcher/agent/agent_orders.h"
#include "launcher/agent/front_link.h"
#include "launcher/agent/inbox.h"
#include "launcher/agent/lingerer.h"
#include "launcher/agent/peers.h"
#include "launcher/base/sysfs.h"
#include "pmix_bcast/clock.h"

#include <event2/event.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

/* --- introduction -------------------------------------------------------------- */

/* How an agent introduces itself to its front end: HERE, when it
 * is there, and READY, when it may be given work. */

#define PLUGIN "EVENSTEP_PLUGIN" /* the plugin sets it: it is loaded here */

static void introduction_here(struct writer *w, const struct peers *p)
{
    const struct msg_here m = {
        .rank = p->wireup.rank, .agents = p->wireup.size, .endpoint = p->mine};

    msg_write_here(w, &m);
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

static void introduction_ready(struct writer *w, const struct peers *p)
{
    struct msg_ready m = {.rank = p->wireup.rank,
                          .agents = p->wireup.size,
                          .job = p->setup->job,
                          .step = p->setup->step,
                          .cpus = count_cpus(),
                          .has_plugin = getenv(PLUGIN) != NULL,
                          .adapter = p->adapter};

    snprintf(m.node, sizeof m.node, "%s", p->setup->node);
    snprintf(m.rack, sizeof m.rack, "%s", p->setup->rack);
    read_boot_id(m.boot_id);
    msg_write_ready(w, &m);
}

/* --- conversation -------------------------------------------------------------- */

#define WORDS_MS 50 /* for last words to go out */
/* For what is to be passed on to go out, at most: then whoever lacks it has it
 * from the front end. */
#define PASS_MS 1000

struct conversation {
    struct event_base *base;
    const struct agent_setup *setup;
    struct peers *peers;
    struct front_link *front;
    struct inbox *inbox; /* NULL before it is called */
    struct throttle *throttle;
    struct agent_orders *orders; /* NULL before it is wired up */
    struct lingerer *linger;     /* we wait for another front end */
    int ready;                   /* orders are taken */
    int leaving;                 /* only what runs is waited for */
    int has_words;               /* and its last words are to go out */
    int ending;                  /* nothing runs any more */
};

/* --- how it leaves -------------------------------------------------------- */

static void exit_loop(struct conversation *c, int ms)
{
    struct timeval later = {ms / 1000, ms % 1000 * 1000};

    event_base_loopexit(c->base, ms > 0 ? &later : NULL);
}

/* Not before those below have what is for them, too. */
static void end_loop(struct conversation *c)
{
    if (c->ending)
        return;
    c->ending = 1;
    if (c->peers->tree && table_tree_is_passing(c->peers->tree))
        exit_loop(c, PASS_MS);
    else
        exit_loop(c, c->has_words ? WORDS_MS : 0);
}

static void on_passed(void *arg)
{
    struct conversation *c = arg;

    if (c->ending)
        exit_loop(c, c->has_words ? WORDS_MS : 0);
}

/* Gone when its commands have ended. */
static void leave(struct conversation *c)
{
    c->leaving = 1;
    front_link_dismiss(c->front);
    if (!agent_orders_stop(c->orders, 1))
        end_loop(c);
}

static void on_agent_idle(void *arg)
{
    struct conversation *c = arg;

    if (c->leaving)
        end_loop(c);
}

/* --- what it says --------------------------------------------------------- */

static void send_front(void *arg, enum protocol_type type, struct writer *w)
{
    const struct conversation *c = arg;

    front_link_send(c->front, type, w);
}

static void send_number(void *arg, enum protocol_type type, uint32_t number)
{
    struct writer w = {0};

    write_u32(&w, number);
    send_front(arg, type, &w);
}

void conversation_tell_clock(void *arg)
{
    struct writer w = {0};

    write_u64(&w, (uint64_t)clock_stopped_ns());
    send_front(arg, MSG_CLOCK, &w);
}

static void send_here(struct conversation *c)
{
    struct writer w = {0};

    introduction_here(&w, c->peers);
    send_front(c, MSG_HERE, &w);
}

static void send_ready(struct conversation *c)
{
    struct writer w = {0};

    introduction_ready(&w, c->peers);
    send_front(c, MSG_READY, &w);
}

static void on_greeting(void *arg, int reached, const char *why)
{
    struct msg_peer m = {.reached = (uint32_t)reached};
    struct writer w = {0};

    snprintf(m.text, sizeof m.text, "%s", why);
    msg_write_peer(&w, &m);
    send_front(arg, MSG_PEER, &w);
}

/* --- from one front end to the next --------------------------------------- */

static int open_orders(struct conversation *c, struct es_error *err)
{
    const struct agent_orders_setup setup = {.base = c->base,
                                             .agent = c->setup,
                                             .wireup = &c->peers->wireup,
                                             .mesh = c->peers->mesh,
                                             .throttle = c->throttle,
                                             .at = &c->peers->at,
                                             .ip = c->peers->adapter.ip,
                                             .send = send_front,
                                             .idle = on_agent_idle,
                                             .arg = c};

    return agent_orders_open(&c->orders, &setup, err);
}

static void on_recalled(void *arg, struct channel *channel, uint16_t port)
{
    struct conversation *c = arg;

    front_link_take(c->front, channel, port);
    lingerer_close(c->linger);
    c->linger = NULL;
    send_ready(c);
}

static void on_linger_over(void *arg)
{
    leave(arg);
}

/* Nothing of what the front end has ordered is left, and its end is none for
 * us. */
static void begin_lingering(struct conversation *c, const struct msg_linger *m)
{
    const struct lingerer_setup setup = {.base = c->base,
                                         .secret = &c->setup->secret,
                                         .self = c->peers->wireup.rank,
                                         .ports = c->setup->ports,
                                         .at = &c->peers->at,
                                         .seconds = m->seconds,
                                         .dir = m->dir,
                                         .called = on_recalled,
                                         .over = on_linger_over,
                                         .arg = c};

    inbox_begin(c->inbox);
    agent_orders_close(c->orders);
    c->orders = NULL;
    if (open_orders(c, NULL) == 0 && prctl(PR_SET_PDEATHSIG, 0) == 0)
        c->linger = lingerer_open(&setup);
    else
        leave(c);
}

/* The front end ends, and another may come. */
static int receive_linger(struct conversation *c,
                          const uint8_t *body,
                          size_t len)
{
    struct endpoint e = c->peers->mine;
    struct writer w = {0};
    struct msg_linger m;

    if (msg_read_linger(&m, body, len) < 0 || c->linger)
        return -1;
    if (!agent_orders_busy(c->orders) && c->peers->wireup.agent)
        begin_lingering(c, &m);
    if (c->linger) {
        e.port = lingerer_port(c->linger);
        endpoint_write(&w, &e);
    }
    send_front(c, MSG_LINGER, &w);
    if (c->linger)
        front_link_dismiss(c->front);
    return 0;
}

/* --- what it is told ------------------------------------------------------ */

/* agent_serve() goes on, with the table or to PMIx, or before all are here: then
 * the table comes when we are READY. */
static int receive_fence(struct conversation *c,
                         const uint8_t *body,
                         size_t len)
{
    int rc = peers_fence(c->peers, body, len);

    if (rc == 0 && c->ready)
        peers_greet(c->peers, on_greeting, c);
    else if (rc == 0)
        event_base_loopbreak(c->base);
    return rc < 0 ? -1 : 0;
}

/* LEAVE, or nothing that we know, or a breach: in all cases we go. */
static void take_message(void *arg,
                         uint16_t type,
                         const uint8_t *body,
                         size_t len)
{
    struct conversation *c = arg;
    int rc = -1;

    if (c->leaving)
        return;
    if (type == MSG_FENCE) {
        rc = receive_fence(c, body, len);
    } else if (c->ready && type == MSG_CLOCK) {
        conversation_tell_clock(c);
        rc = len == 0 ? 0 : -1;
    } else if (c->ready && type == MSG_LINGER) {
        rc = receive_linger(c, body, len);
    } else if (c->ready) {
        rc = agent_orders_receive(c->orders, type, body, len);
    }
    if (rc < 0)
        leave(c);
}

static void pass_order(void *arg,
                       const struct msg_relay *m,
                       const uint8_t *body,
                       size_t len)
{
    struct conversation *c = arg;

    peers_pass(c->peers, m, body, len);
}

static void on_taken(void *arg, uint32_t number)
{
    send_number(arg, MSG_TAKEN, number);
}

static int open_inbox(struct conversation *c, struct es_error *err)
{
    const struct inbox_setup setup = {.base = c->base,
                                      .rank = c->peers->wireup.rank,
                                      .take = take_message,
                                      .pass = pass_order,
                                      .taken = on_taken,
                                      .arg = c};

    c->inbox = inbox_create(&setup);
    return c->inbox ? 0 : es_no_memory(err);
}

/* --- what its parent in the tree passes on -------------------------------------------- */

static int on_table(void *arg, const uint8_t *body, size_t len)
{
    return receive_fence(arg, body, len);
}

/* Not before the front end has us, nor while it is away. */
static int on_order(void *arg, const uint8_t *body, size_t len)
{
    const struct conversation *c = arg;

    return c->ready && front_link_is_open(c->front) && !c->leaving
               ? inbox_parent(c->inbox, body, len)
               : 0;
}

static void on_missed(void *arg, uint32_t rank)
{
    send_number(arg, MSG_MISSED, rank);
}

const struct table_tree_events conversation_tree_events = {
    .receive = on_table,
    .order = on_order,
    .missed = on_missed,
    .passed = on_passed,
};

/* --- how its front end is ----------------------------------------------------- */

static void on_front_opened(void *arg)
{
    struct conversation *c = arg;

    if (c->ready)
        send_ready(c); /* again */
    else
        send_here(c);
}

static void on_front_message(void *arg,
                             uint16_t type,
                             const uint8_t *body,
                             size_t len)
{
    struct conversation *c = arg;

    if (!c->leaving && inbox_front(c->inbox, type, body, len) < 0)
        leave(c);
}

static void on_front_full(void *arg, int on)
{
    const struct conversation *c = arg;

    if (c->ready)
        agent_orders_hold(c->orders, on);
}

/* Forget what was to be done, and call again; but there is nothing to stay for
 * beside a step that does not survive the loss of nodes: its frames have ended
 * with the front end, and Slurm ends us soon. */
static int on_front_lost(void *arg)
{
    const struct conversation *c = arg;

    if (!c->ready || agent_orders_feed_step(c->orders))
        return 0;
    inbox_away(c->inbox);
    table_tree_forget(c->peers->tree);
    (void)agent_orders_stop(c->orders, 0);
    return 1;
}

/* Not before what was stopped is over. */
static int may_call_front(void *arg)
{
    const struct conversation *c = arg;

    if (c->ready && agent_orders_busy(c->orders))
        return 0;
    if (c->ready)
        agent_orders_forget(c->orders);
    return 1;
}

static void on_front_over(void *arg)
{
    struct conversation *c = arg;

    if (!c->linger || c->leaving)
        leave(c);
}

static const struct front_link_events front_events = {
    .opened = on_front_opened,
    .message = on_front_message,
    .full = on_front_full,
    .lost = on_front_lost,
    .may_call = may_call_front,
    .over = on_front_over,
};

/* --- begin and end -------------------------------------------------------- */

struct conversation *conversation_create(struct event_base *base,
                                         const struct agent_setup *setup,
                                         struct peers *p)
{
    struct conversation *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->base = base;
    c->setup = setup;
    c->peers = p;
    c->front = front_link_create(base, setup, &front_events, c);
    if (c->front)
        return c;
    free(c);
    return NULL;
}

int conversation_call(struct conversation *c, struct es_error *err)
{
    if (open_inbox(c, err) < 0)
        return -1;
    return front_link_call(c->front, c->peers->wireup.rank, err);
}

int conversation_begin_work(struct conversation *c,
                            struct throttle *throttle,
                            struct es_error *err)
{
    c->throttle = throttle;
    if (open_orders(c, err) < 0)
        return -1;
    c->ready = 1;
    return 0;
}

void conversation_ready(struct conversation *c)
{
    send_ready(c);
    peers_greet(c->peers, on_greeting, c);
}

/* Said first, as a run whose nodes are all told to end goes on another day. */
void conversation_end(struct conversation *c, int number)
{
    struct writer nothing = {0};

    if (number == SIGTERM && front_link_is_open(c->front) && !c->leaving) {
        c->has_words = 1;
        agent_orders_part(c->orders);
        send_front(c, MSG_LEAVE, &nothing);
    }
    leave(c);
}

int conversation_is_leaving(const struct conversation *c)
{
    return c->leaving;
}

const struct front_link *conversation_front(const struct conversation *c)
{
    return c->front;
}

void conversation_destroy(struct conversation *c)
{
    if (!c)
        return;
    agent_orders_close(c->orders);
    lingerer_close(c->linger);
    inbox_destroy(c->inbox);
    front_link_destroy(c->front);
    free(c);
}
