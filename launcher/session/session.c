/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/session.h"
#include "launcher/base/awake.h"
#include "launcher/base/file_limit.h"
#include "launcher/base/notice.h"
#include "launcher/session/arrival.h"
#include "launcher/session/host_check.h"
#include "launcher/session/launch.h"
#include "launcher/session/lingering.h"
#include "launcher/session/members.h"
#include "launcher/session/recall.h"

#include <event2/event.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define START_MS 30000 /* from srun to the last READY */
/* After the last HERE that came: a node's prolog may take its time. */
#define CALL_MS 15000
/* After the last READY that came: all are through the same fence, so more
 * follow at once.  Slurm 22.05's PMIx now and then keeps some in it for ever;
 * a second step has always been well. */
#define STALL_MS 5000
/* For agents and srun to go by themselves; above the 2 s that a command has
 * after its SIGTERM. */
#define LEAVE_MS 4000
#define FORCE_MS 2000 /* after scancel, before SIGKILL to srun */
/* For agents that have stayed to answer; then others are started. */
#define RECALL_MS 5000
/* For agents to agree to stay. */
#define LINGER_MS 5000
/* For each agent of --local more: what one needs to go on a busy machine. */
#define LEAVE_EACH_MS 20
#define START_EACH_MS 100

struct session {
    struct event_base *base;
    const struct session_events *on;
    void *arg;
    struct secret secret; /* another one for each start */
    struct listener *listener;
    struct port_range ports;
    enum wireup_way wireup;
    int is_local;
    size_t wanted; /* nodes that there must be; 0: not known */
    struct launch *launch;
    struct arrival *arrival;
    struct members *members; /* NULL: no agent is READY */
    size_t n, here;          /* at the start; of them READY or lost again */
    size_t seats;            /* of nodes that may join */
    char *sat;               /* one a seat: its agent has been READY */
    uint32_t job, step;
    struct event *deadline;
    int again; /* the deadline is that of another start */
    struct awake *awake;
    int ready, failed, closing;
    int recalled;      /* the agents were there */
    uint32_t linger_s; /* the agents are to stay; 0: they are not */
    char linger_name[STEP_NAME_MAX], linger_path[STEP_PATH_MAX];
    struct recall *recall;      /* of those that have stayed, or NULL */
    struct lingering lingering; /* where they will */
    size_t agreed;              /* of them; n + 1: one does not stay */
};

/* --- start and failure ---------------------------------------------------- */

static void fail_start(struct session *s, const char *mend, const char *what)
{
    struct es_error err = {0};

    if (s->ready || s->failed || s->closing)
        return;
    s->failed = 1;
    es_fail(&err, ES_ENV, mend, "%s", what);
    s->on->failed(s->arg, &err);
}

static int set_deadline(struct session *s, int ms)
{
    struct timeval tv = {ms / 1000, ms % 1000 * 1000};

    return evtimer_add(s->deadline, &tv);
}

/* Start once more, from the loop. */
static void start_soon(struct session *s)
{
    s->again = 1;
    (void)set_deadline(s, 0);
}

static void without_pmix(struct session *s)
{
    const char *said = launch_said(s->launch), *last = strrchr(said, ';');
    char what[800];

    if (s->wireup != WIREUP_AUTO) {
        snprintf(what, sizeof what, "Slurm has no PMIx for the agents: %s",
                 last ? last + 1 : said);
        fail_start(s,
                   "install its mpi/pmix plugin, or set wireup = \"auto\" in "
                   "evenstep.conf",
                   what);
    } else if (launch_without_pmix(s->launch) < 0) {
        fail_start(s, "free some memory", "out of memory");
    } else {
        notice("Slurm has no PMIx here: the agents wire up over TCP (wireup = "
               "\"tcp\" in evenstep.conf does so at once)");
        start_soon(s);
    }
}

/* The agents, or srun, have ended by themselves. */
static void on_launch_failed(void *arg)
{
    struct session *s = arg;
    const char *said = launch_said(s->launch);

    if (s->ready || s->failed || s->closing)
        return;
    if (!s->is_local && !launch_is_by_tcp(s->launch)
        && arrival_came(s->arrival) == 0 && companion_lacks_pmix(said))
        without_pmix(s);
    else
        fail_start(s,
                   s->is_local
                       ? "see what it says"
                       : "see that `srun hostname` works in this allocation",
                   said[0] ? said : "the agents ended before they were ready");
}

static void on_launch_ended(void *arg)
{
    struct session *s = arg;

    if (s->closing)
        event_base_loopbreak(s->base);
}

static void fail_lost(struct session *s, const char *node, const char *why)
{
    char text[NODE_NAME_MAX + 200];

    snprintf(text, sizeof text, "%s was lost during the start: %.150s", node,
             why);
    fail_start(s, "see that node's slurmd log", text);
}

/* --- agents that stay ------------------------------------------------------ */

/* Its place, or that it does not. */
static void note_agreed(struct session *s,
                        size_t node,
                        const uint8_t *body,
                        size_t len)
{
    struct reader r = {.at = body, .left = len};
    struct endpoint *e = &s->lingering.agent[node];

    if (e->port == 0 && len > 0)
        endpoint_read(&r, e);
    if (len > 0 && read_end(&r) == 0 && e->port > 0)
        s->agreed++;
    else
        s->agreed = s->n + 1;
    if (s->agreed >= s->n)
        event_base_loopbreak(s->base);
}

/* One is lost: they leave. */
static void end_agreeing(struct session *s)
{
    s->agreed = s->n + 1;
    event_base_loopbreak(s->base);
}

/* Ask all whether they stay; runs the loop. */
static int agree(struct session *s)
{
    s->lingering.agent = calloc(s->n, sizeof *s->lingering.agent);
    s->lingering.n = (uint32_t)s->n;
    s->lingering.secret = s->secret;
    if (!s->lingering.agent || set_deadline(s, LINGER_MS) < 0)
        return -1;
    for (size_t i = 0; i < s->n; i++) {
        struct msg_linger m = {.seconds = s->linger_s};
        struct writer w = {0};

        if (!members_node(s->members, i)->present)
            return -1;
        if (s->is_local && i == 0) /* by Slurm srun's keeper does it */
            snprintf(m.dir, sizeof m.dir, "%s", s->linger_name);
        msg_write_linger(&w, &m);
        members_send(s->members, i, MSG_LINGER, &w);
    }
    (void)event_base_dispatch(s->base);
    event_del(s->deadline);
    if (s->agreed == s->n)
        return 0;
    s->agreed = s->n + 1;
    return -1;
}

/* Leave the agents to the next command: 0 if they stay. */
static int let_linger(struct session *s)
{
    if (!s->linger_s || !s->ready || s->failed || agree(s) < 0
        || lingering_put(s->linger_name, &s->lingering, s->linger_s) < 0)
        return -1;
    launch_release(s->launch);
    return 0;
}

/* All leave, and of what was to bring them to the next command nothing is left.
 * By Slurm it goes with srun. */
static void no_linger(struct session *s)
{
    if (s->members)
        members_leave(s->members);
    if (s->linger_s && s->is_local)
        step_dir_remove(s->linger_name);
}

/* --- members -------------------------------------------------------------- */

static void on_lost(void *arg, size_t node, const char *why)
{
    struct session *s = arg;

    if (s->closing) {
        if (s->lingering.agent && s->agreed < s->n)
            end_agreeing(s);
        return;
    }
    if (s->ready)
        s->on->lost(s->arg, node, why);
    else
        fail_lost(s, members_node(s->members, node)->name, why);
}

static void on_message(
    void *arg, size_t node, uint16_t type, const uint8_t *body, size_t len)
{
    struct session *s = arg;

    if (s->closing) {
        if (type == MSG_LINGER && s->lingering.agent)
            note_agreed(s, node, body, len);
        return;
    }
    if (type == MSG_MISSED)
        arrival_missed(s->arrival, body, len);
    else if (s->ready) /* else its clock, from a node that was stopped */
        s->on->message(s->arg, node, type, body, len);
}

static const struct members_events members_events = {
    .message = on_message,
    .lost = on_lost,
};

/* The first READY tells how many agents there are. */
static int make_members(struct session *s, const struct msg_ready *m)
{
    s->members =
        members_create(s->base, m->agents, s->seats, &members_events, s);
    if (!s->members)
        return -1;
    s->n = m->agents;
    s->job = m->job;
    s->step = m->step;
    return 0;
}

/* Where srun has put its tasks otherwise than asked, nothing is begun. */
static int check_hosts(struct session *s)
{
    const char **name = calloc(s->n, sizeof *name);
    struct es_error err = {0};
    int rc;

    for (size_t i = 0; name && i < s->n; i++)
        name[i] = members_node(s->members, i)->name;
    rc = name ? host_check(name, s->n, s->wanted, &err) : es_no_memory(&err);
    free(name);
    if (rc < 0)
        fail_start(s, err.mend, err.what);
    return rc;
}

/* For those that are there. */
static int with_each(const struct session *s, int ms, int each_ms)
{
    return s->is_local ? ms + (int)launch_running(s->launch) * each_ms : ms;
}

/* An agent has got on; the next step of one must not take longer.  The last
 * start has all the time there is, and agents of --local all that it takes as
 * long as they get on: they share one machine. */
static void allow(struct session *s, int ms)
{
    if (s->recall)
        return; /* they are there, or not */
    if (s->is_local)
        (void)set_deadline(s, with_each(s, START_MS, START_EACH_MS));
    else if (launch_may_repeat(s->launch) && !s->again)
        (void)set_deadline(s, ms); /* else the one before holds */
}

static void all_ready(struct session *s)
{
    s->ready = 1;
    s->recalled = s->recall != NULL;
    recall_end(s->recall);
    s->recall = NULL;
    s->awake = awake_start(s->base, NULL, NULL);
    event_del(s->deadline);
    arrival_end(s->arrival);
    s->on->ready(s->arg);
}

/* --- what the agents' arrival brings -------------------------------------- */

static void on_here(void *arg)
{
    struct session *s = arg;
    struct es_error err = {0};

    allow(s, CALL_MS);
    if (s->is_local && !s->failed
        && launch_more(s->launch, arrival_came(s->arrival), &err) < 0)
        fail_start(s, err.mend, err.what);
}

static void on_ready(void *arg,
                     struct channel *c,
                     const struct msg_ready *ready,
                     int expected)
{
    struct session *s = arg;

    if (s->ready && !s->closing && ready->rank < s->n + s->seats) {
        if (!members_rejoin(s->members, c, ready, s->on->returned != NULL))
            return;
        if (ready->rank >= s->n)
            s->sat[ready->rank - s->n] = 1;
        s->on->returned(s->arg, ready->rank);
        return;
    }
    if (!expected || s->closing
        || (!s->members && make_members(s, ready) < 0)) {
        channel_destroy(c);
        return;
    }
    if (members_join(s->members, c, ready) < 0)
        return;
    if (++s->here < s->n)
        allow(s, launch_is_by_tcp(s->launch) ? CALL_MS : STALL_MS);
    else if (!s->failed && check_hosts(s) == 0)
        all_ready(s);
}

/* It will not be back: its agent leaves without us.  The others do, too, and
 * another start may do better. */
static void on_arrival_lost(void *arg, const char *node, const char *why)
{
    struct session *s = arg;

    if (s->is_local || s->again || s->failed)
        return; /* of --local, what it said comes with its end */
    if (!launch_may_repeat(s->launch)) {
        fail_lost(s, node, why);
        return;
    }
    notice("warning: %s was lost during the start (%s): starting them once "
           "more",
           node, why);
    start_soon(s);
}

static void on_arrival_failed(void *arg, const char *mend, const char *what)
{
    fail_start(arg, mend, what);
}

static const struct arrival_events arrival_events = {
    .here = on_here,
    .ready = on_ready,
    .lost = on_arrival_lost,
    .failed = on_arrival_failed,
};

/* --- a start, and one that does not come to its end ------------------------ */

/* With a secret of its own: no agent of a start before can come in between. */
static int start_agents(struct session *s, struct es_error *err)
{
    uint32_t encrypt = s->secret.encrypt;

    if (secret_make(&s->secret) < 0)
        return es_fail(err, ES_ENV, "see that libsodium is whole",
                       "no random numbers");
    s->secret.encrypt = encrypt;
    arrival_begin(s->arrival, launch_is_by_tcp(s->launch),
                  launch_interfaces(s->launch));
    return launch_start(s->launch, err);
}

static void forget_members(struct session *s)
{
    members_destroy(s->members);
    s->members = NULL;
    s->n = s->here = 0;
}

static void start_again(struct session *s)
{
    struct es_error err = {0};

    s->again = 0;
    recall_end(s->recall);
    s->recall = NULL;
    forget_members(s); /* whose agents leave, as their front end has */
    launch_stop(s->launch);
    if (start_agents(s, &err) < 0)
        fail_start(s, err.mend, err.what);
    else if (set_deadline(s, START_MS) < 0)
        fail_start(s, "free some memory", "out of memory");
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
    struct session *s = arg;
    char came[64] = "no agent came", text[128];
    size_t of = s->n ? s->n : arrival_size(s->arrival);

    (void)fd;
    (void)what;
    if (s->closing) {
        event_base_loopbreak(s->base);
        return;
    }
    if (s->again || s->recall) {
        start_again(s);
        return;
    }
    if (of > 0)
        snprintf(came, sizeof came, "only %zu of %zu agents came",
                 s->n ? s->here : arrival_came(s->arrival), of);
    if (launch_may_repeat(s->launch) && of > 0) {
        notice("warning: %s: starting them once more", came);
        start_again(s);
        return;
    }
    snprintf(text, sizeof text, "%s within %d s", came, START_MS / 1000);
    fail_start(
        s,
        "see that the nodes reach this host at the ports of SrunPortRange, and "
        "whether srun still waits for them (squeue -s)",
        text);
}

/* --- or with those that have stayed ---------------------------------------- */

static void on_recalled(void *arg, struct channel *c, const struct msg_ready *m)
{
    on_ready(arg, c, m, 1);
}

static void on_recall_failed(void *arg)
{
    struct session *s = arg;

    if (s->recall && !s->ready && !s->closing)
        start_soon(s);
}

static const struct recall_events recall_events = {
    .ready = on_recalled,
    .failed = on_recall_failed,
};

/* 1 if there are some, and they are called. */
static int recall_agents(struct session *s)
{
    struct lingering l;

    if (!s->linger_s || lingering_take(s->linger_name, &l) < 0)
        return 0;
    s->secret = l.secret;
    s->recall = recall_start(s->base, &l, &s->secret,
                             listener_port(s->listener), &recall_events, s);
    lingering_clear(&l);
    return s->recall && set_deadline(s, RECALL_MS) == 0;
}

static int open_listener(struct session *s, struct es_error *err)
{
    const struct listener_setup setup = {.base = s->base,
                                         .secret = &s->secret,
                                         .purpose = PURPOSE_SESSION,
                                         .self = FRONT_END,
                                         .ports = s->ports,
                                         .loopback =
                                             address_loopback_for(s->is_local),
                                         .called = arrival_accept,
                                         .full = file_limit_reached,
                                         .arg = s->arrival};

    return listener_open(&s->listener, &setup, err);
}

static int open_launch(struct session *s,
                       const struct session_setup *setup,
                       struct es_error *err)
{
    const struct launch_setup l = {
        .base = s->base,
        .session = setup,
        .secret = &s->secret,
        .ports = s->ports,
        .port = listener_port(s->listener),
        .record = s->linger_s && !s->is_local ? s->linger_path : NULL,
        .failed = on_launch_failed,
        .ended = on_launch_ended,
        .arg = s};

    return launch_open(&s->launch, &l, err);
}

/* Where there is no place for the record, they do not stay. */
static void prepare_linger(struct session *s, const struct session_setup *setup)
{
    if (!setup->linger_s || sodium_init() < 0)
        return;
    lingering_name(s->linger_name, setup);
    if (lingering_prepare(s->linger_name, s->linger_path) == 0)
        s->linger_s = setup->linger_s;
}

static int open_all(struct session *s,
                    const struct session_setup *setup,
                    struct es_error *err)
{
    s->ports = setup->ports;
    s->secret.encrypt = setup->encrypt != 0;
    s->is_local = setup->local > 0;
    s->wireup = setup->wireup;
    s->seats = setup->seats;
    s->sat = calloc(s->seats + 1, 1);
    s->deadline = evtimer_new(s->base, on_deadline, s);
    s->arrival = arrival_create(s->base, &arrival_events, s);
    if (!s->sat || !s->deadline || !s->arrival || set_deadline(s, START_MS) < 0)
        return es_no_memory(err);
    if (!s->is_local)
        s->wanted = companion_nodes(&setup->place);
    if (!s->is_local && s->ports.high == 0
        && companion_ports(s->base, &s->ports, err) < 0)
        return -1;
    prepare_linger(s, setup);
    if (open_listener(s, err) < 0 || open_launch(s, setup, err) < 0)
        return -1;
    return recall_agents(s) ? 0 : start_agents(s, err);
}

int session_open(struct session **out,
                 struct event_base *base,
                 const struct session_setup *setup,
                 const struct session_events *on,
                 void *arg,
                 struct es_error *err)
{
    struct session *s = calloc(1, sizeof *s);

    if (!s)
        return es_no_memory(err);
    s->base = base;
    s->on = on;
    s->arg = arg;
    file_limit_raise(); /* a connection a node, and some for ourselves */
    if (open_all(s, setup, err) < 0) {
        session_close(s);
        return -1;
    }
    *out = s;
    return 0;
}

size_t session_size(const struct session *s)
{
    return s->ready ? s->n + s->seats : 0;
}

size_t session_start_size(const struct session *s)
{
    return s->ready ? s->n : 0;
}

uint16_t session_port(const struct session *s)
{
    return listener_port(s->listener);
}

const struct secret *session_secret(const struct session *s)
{
    return &s->secret;
}

struct port_range session_ports(const struct session *s)
{
    return s->ports;
}

int session_is_local(const struct session *s)
{
    return s->is_local;
}

int session_is_recalled(const struct session *s)
{
    return s->recalled;
}

void session_job(const struct session *s, uint32_t *job, uint32_t *step)
{
    *job = s->job;
    *step = s->step;
}

void session_step_name(const struct session *s,
                       size_t node,
                       char name[STEP_NAME_MAX])
{
    if (s->is_local) /* all nodes are this one */
        step_dir_local_name(name, (int)getpid(), session_node(s, node)->name);
    else
        snprintf(name, 64, "%u.%u", s->job, s->step);
}

const struct node *session_node(const struct session *s, size_t node)
{
    return members_node(s->members, node);
}

void session_send(struct session *s,
                  size_t node,
                  enum protocol_type type,
                  struct writer *w)
{
    members_send(s->members, node, (uint16_t)type, w);
}

void session_send_all(struct session *s,
                      enum protocol_type type,
                      struct writer *w)
{
    members_send_all(s->members, (uint16_t)type, w);
}

void session_send_each(struct session *s,
                       enum protocol_type type,
                       struct writer w[],
                       const char to[])
{
    members_send_each(s->members, (uint16_t)type, w, to);
}

enum seats_verdict session_seats(struct session *s,
                                 const char *const name[],
                                 size_t k,
                                 size_t seat[],
                                 size_t *which)
{
    size_t n = session_size(s);
    struct seat *all = calloc(n + 1, sizeof *all);
    enum seats_verdict v = SEATS_FULL;

    for (size_t i = 0; all && i < n; i++)
        all[i] = (struct seat){session_node(s, i)->name,
                               session_node(s, i)->present};
    if (all)
        v = seats_give(all, n, s->n, name, k, seat, which);
    for (size_t i = 0; v == SEATS_GIVEN && i < k; i++)
        members_seat(s->members, seat[i], name[i]);
    free(all);
    return v;
}

void session_seat_free(struct session *s, size_t seat)
{
    if (!s->sat[seat - s->n])
        members_seat(s->members, seat, "");
}

void session_drop(struct session *s, size_t node)
{
    members_drop(s->members, node);
}

/* --- the end -------------------------------------------------------------- */

/* Run the loop until all processes have ended, at most ms. */
static void await_processes(struct session *s, int ms)
{
    if (launch_running(s->launch) == 0 || !s->deadline
        || set_deadline(s, ms) < 0)
        return;
    (void)event_base_dispatch(s->base); /* ends by the deadline at the latest */
    event_del(s->deadline);
}

static void end_processes(struct session *s)
{
    await_processes(s, s->ready ? with_each(s, LEAVE_MS, LEAVE_EACH_MS) : 0);
    if (launch_running(s->launch) == 0)
        return;
    if (!s->is_local && s->n > 0 && s->job > 0)
        companion_cancel(s->base, s->job, s->step);
    launch_stop(s->launch);
    await_processes(s, with_each(s, FORCE_MS, LEAVE_EACH_MS));
}

void session_close(struct session *s)
{
    if (!s)
        return;
    s->closing = 1;
    if (let_linger(s) < 0)
        no_linger(s);
    else
        members_leave_seats(s->members);
    listener_close(s->listener); /* who is away and calls now leaves, too */
    if (s->arrival)
        arrival_end(s->arrival);
    if (s->launch)
        end_processes(s);
    arrival_destroy(s->arrival);
    recall_end(s->recall);
    forget_members(s);
    lingering_clear(&s->lingering);
    launch_destroy(s->launch);
    awake_stop(s->awake);
    free(s->sat);
    if (s->deadline)
        event_free(s->deadline);
    sodium_memzero(&s->secret, sizeof s->secret);
    free(s);
}
