/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/session.h"
#include "launcher/base/awake.h"
#include "launcher/base/file_limit.h"
#include "launcher/base/home_address.h"
#include "launcher/base/notice.h"
#include "launcher/base/step_dir.h"
#include "launcher/exec/execution.h"
#include "launcher/exec/throttle.h"
#include "launcher/session/host_check.h"
#include "launcher/wire/roll.h"
#include "launcher/wire/table_tree.h"
#include "pmix_bcast/pmix_host.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/time.h>
#include <unistd.h>

#define START_MS 30000 /* from srun to the last READY */
/* After the last HERE that came: a node's prolog may take its time. */
#define CALL_MS 15000
/* After the last READY that came: all are through the same fence, so more
 * follow at once.  Slurm 22.05's PMIx now and then keeps some in it for ever;
 * a second step has always been well. */
#define STALL_MS 5000
#define STARTS   2
/* For agents and srun to go by themselves; above the 2 s that a command has
 * after its SIGTERM. */
#define LEAVE_MS 4000
#define FORCE_MS 2000 /* after scancel, before SIGKILL to srun */
/* For each agent of --local more: what one needs to go on a busy machine. */
#define LEAVE_EACH_MS 20
#define START_EACH_MS 100
/* Agents of --local that are on their way, a CPU and at least: more would only
 * be slow together, and our own loop is to hear those that call. */
#define AHEAD_EACH 4
#define AHEAD_MIN  16
/* Name of an agent of --local. */
#define LOCAL_NODE "local%zu"

struct member { /* a node and its connection */
    struct node node;
    struct channel *channel;
    struct session *session;
};

struct guest { /* a connection that has not said READY */
    LIST_ENTRY(guest) next;
    struct channel *channel;
    struct session *session;
    int here;      /* it has said HERE */
    uint32_t rank; /* as it said then */
};

struct process { /* srun, one a start, or one agent of --local */
    struct session *session;
    struct execution *execution;
};

struct session {
    struct event_base *base;
    const struct session_events *on;
    void *arg;
    struct secret secret;
    uint32_t encrypt; /* 0 or 1: of the secret of each start */
    struct listener *listener;
    struct port_range ports;
    LIST_HEAD(guest_list, guest) guests;
    struct roll roll; /* of those that have said HERE */
    struct writer go; /* FENCE, since the roll is complete */
    struct member *member;
    size_t n, here; /* nodes; of them READY or lost again */
    size_t wanted;  /* nodes that there must be; 0: not known */
    uint32_t job, step;
    struct process *process;
    size_t n_processes, running;
    size_t starts, starts_max;  /* of the companion step */
    struct session_setup local; /* of --local: what agents are started with */
    char **companion;           /* srun's arguments */
    const char *fence;          /* for PMIx in the companion step */
    enum wireup_way wireup;
    int by_tcp, is_local;
    struct pmix_host *pmix; /* of --local, or NULL */
    struct event *deadline;
    int again; /* the deadline is that of another start */
    struct awake *awake;
    int ready, failed, closing;
    char said[600]; /* the last that srun or an agent said on stderr */
};

/* --- start and failure ---------------------------------------------------- */

static void fail(struct session *s, const char *mend, const char *what)
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

static void on_said(void *arg, const void *buf, size_t len)
{
    (void)arg; /* agents say nothing on stdout */
    (void)buf;
    (void)len;
}

/* Keep the end of what was said, as one line. */
static void keep_said(struct session *s, const char *text, size_t len)
{
    size_t room = sizeof s->said - 1;

    while (len > 0 && text[len - 1] == '\n')
        len--;
    if (len == 0)
        return;
    if (len > room) {
        text += len - room;
        len = room;
    }
    memcpy(s->said, text, len);
    s->said[len] = '\0';
    for (char *p = s->said; *p; p++)
        if (*p == '\n')
            *p = ';';
}

/* What an agent of --local that was killed has left. */
static void sweep(const struct process *p)
{
    char name[32], group[STEP_NAME_MAX];

    snprintf(name, sizeof name, LOCAL_NODE, (size_t)(p - p->session->process));
    step_dir_local_name(group, (int)getpid(), name);
    throttle_sweep(group);
    step_dir_remove(group);
}

static void without_pmix(struct session *s)
{
    char what[sizeof s->said + 100];
    const char *last = strrchr(s->said, ';');

    snprintf(what, sizeof what, "Slurm has no PMIx for the agents: %s",
             last ? last + 1 : s->said);
    fail(s,
         "install its mpi/pmix plugin, or set wireup = \"auto\" in "
         "evenstep.conf",
         what);
}

/* Start once more, from the loop. */
static void start_soon(struct session *s)
{
    s->again = 1;
    (void)set_deadline(s, 0);
}

static void go_by_tcp(struct session *s)
{
    notice("Slurm has no PMIx here: the agents wire up over TCP (wireup = "
           "\"tcp\" in evenstep.conf does so at once)");
    s->by_tcp = 1;
    s->starts_max++;
    start_soon(s);
}

/* The agents, or srun, have ended by themselves. */
static void fail_early(struct session *s)
{
    int lacks_pmix = !s->is_local && !s->by_tcp && s->roll.called == 0
                     && companion_lacks_pmix(s->said);

    if (s->ready || s->failed || s->closing)
        return;
    if (lacks_pmix && s->wireup == WIREUP_AUTO)
        go_by_tcp(s);
    else if (lacks_pmix)
        without_pmix(s);
    else
        fail(s,
             s->is_local ? "see what it says"
                         : "see that `srun hostname` works in this allocation",
             s->said[0] ? s->said : "the agents ended before they were ready");
}

static void on_process_end(void *arg, const struct execution_end *end)
{
    struct process *p = arg;
    struct session *s = p->session;
    int is_last = s->is_local || p == &s->process[s->starts - 1];
    int ended_early = s->is_local ? end->status != 0 : 1;

    if (end->status != 0
        && is_last) /* else it is a warning of srun's at most */
        keep_said(s, end->err_tail, end->err_len);
    if (end->exec_errno)
        snprintf(s->said, sizeof s->said, "%s: %s",
                 s->is_local ? "evenstep-agent" : "srun",
                 strerror(end->exec_errno));
    if (s->is_local && end->signal)
        sweep(p);
    execution_destroy(p->execution); /* and *end with it */
    p->execution = NULL;
    s->running--;
    if (s->closing && s->running == 0)
        event_base_loopbreak(s->base);
    else if (ended_early && is_last)
        fail_early(s);
}

/* --- connections ---------------------------------------------------------- */

/* It may wire up. */
static void let_go(struct guest *g)
{
    const struct writer *go = &g->session->go;

    if (channel_send(g->channel, MSG_FENCE, go->buf, go->len) < 0)
        channel_hang_up(g->channel);
}

/* An agent has not got the table from the one that has it. */
static void on_missed(struct session *s, const uint8_t *body, size_t len)
{
    struct guest *g;
    uint32_t rank;

    if (msg_read_u32(&rank, body, len) < 0 || s->closing || s->go.len == 0)
        return;
    for (g = LIST_FIRST(&s->guests); g; g = LIST_NEXT(g, next))
        if (g->here && g->rank == rank)
            let_go(g);
}

static void fail_lost(struct session *s, const char *node, const char *why)
{
    char text[NODE_NAME_MAX + 200];

    snprintf(text, sizeof text, "%s was lost during the start: %.150s", node,
             why);
    fail(s, "see that node's slurmd log", text);
}

static void member_lost(struct member *m, const char *why)
{
    struct session *s = m->session;
    int was_present = m->node.present;

    m->channel = NULL;
    m->node.present = 0;
    if (s->closing || !was_present)
        return;
    if (s->ready) {
        s->on->lost(s->arg, (size_t)(m - s->member), why);
        return;
    }
    fail_lost(s, m->node.name, why);
}

static void on_member_closed(struct channel *c, void *arg, const char *why)
{
    (void)c;
    member_lost(arg, why);
}

static void on_member_message(struct channel *c,
                              void *arg,
                              uint16_t type,
                              const uint8_t *body,
                              size_t len)
{
    struct member *m = arg;
    struct session *s = m->session;
    struct msg_peer peer;

    if (s->closing)
        return;
    if (type == MSG_MISSED) {
        on_missed(s, body, len);
    } else if (type != MSG_PEER) {
        s->on->message(s->arg, (size_t)(m - s->member), type, body, len);
    } else if (msg_read_peer(&peer, body, len) < 0) {
        channel_destroy(c);
        member_lost(m, "its agent does not speak evenstep's protocol");
    } else if (!peer.reached) {
        notice("warning: %s cannot reach %s: let the nodes reach each other at "
               "the ports of SrunPortRange",
               m->node.name, peer.text);
    }
}

static void on_opened(struct channel *c, void *arg)
{
    (void)c;
    (void)arg;
}

static const struct channel_events member_events = {
    .opened = on_opened,
    .message = on_member_message,
    .closed = on_member_closed,
};

static void guest_remove(struct guest *g)
{
    LIST_REMOVE(g, next);
    free(g);
}

/* The first READY tells how many agents there are. */
static int make_members(struct session *s, const struct msg_ready *m)
{
    s->member = calloc(m->agents, sizeof *s->member);
    if (!s->member)
        return -1;
    s->n = m->agents;
    for (size_t i = 0; i < s->n; i++)
        s->member[i].session = s;
    s->job = m->job;
    s->step = m->step;
    return 0;
}

/* It has noticed before us that the connection of before is dead. */
static void drop_old(struct member *m)
{
    struct channel *old = m->channel;

    if (old)
        member_lost(m, "it calls again");
    channel_destroy(old);
}

/* A node that was lost calls again: its agent has not left. */
static void come_again(struct guest *g, const struct msg_ready *ready)
{
    struct session *s = g->session;
    struct member *m = &s->member[ready->rank];
    struct channel *c = g->channel;

    guest_remove(g);
    if (ready->agents != s->n || strcmp(m->node.name, ready->node) != 0) {
        channel_destroy(c);
        return;
    }
    drop_old(m);
    m->channel = c;
    channel_set_events(c, &member_events, m);
    if (!s->on->returned) {
        (void)channel_send(c, MSG_LEAVE, NULL, 0); /* else it is cut off */
        return;
    }
    m->node.present = 1;
    s->on->returned(s->arg, (size_t)(m - s->member));
}

/* Where srun has put its tasks otherwise than asked, nothing is begun. */
static int check_hosts(struct session *s)
{
    const char **name = calloc(s->n, sizeof *name);
    struct es_error err = {0};
    int rc;

    for (size_t i = 0; name && i < s->n; i++)
        name[i] = s->member[i].node.name;
    rc = name ? host_check(name, s->n, s->wanted, &err) : es_no_memory(&err);
    free(name);
    if (rc < 0)
        fail(s, err.mend, err.what);
    return rc;
}

/* For those that are there. */
static int with_each(const struct session *s, int ms, int each_ms)
{
    return s->is_local ? ms + (int)s->running * each_ms : ms;
}

/* An agent has got on; the next step of one must not take longer.  The last
 * start has all the time there is, and agents of --local all that it takes as
 * long as they get on: they share one machine. */
static void allow(struct session *s, int ms)
{
    if (s->is_local)
        (void)set_deadline(s, with_each(s, START_MS, START_EACH_MS));
    else if (s->starts < s->starts_max && !s->again)
        (void)set_deadline(s, ms); /* else the one before holds */
}

static void forget_roll(struct session *s)
{
    roll_clear(&s->roll);
    writer_clear(&s->go);
}

static void become_member(struct guest *g, const struct msg_ready *ready)
{
    struct session *s = g->session;
    struct member *m;
    struct channel *c = g->channel;

    if (s->ready && ready->rank < s->n && !s->closing) {
        come_again(g, ready);
        return;
    }
    if (!g->here || g->rank != ready->rank
        || (!s->member && make_members(s, ready) < 0) || ready->agents != s->n
        || s->member[ready->rank].node.name[0]) {
        channel_destroy(c);
        guest_remove(g);
        return;
    }
    m = &s->member[ready->rank];
    snprintf(m->node.name, sizeof m->node.name, "%s", ready->node);
    snprintf(m->node.rack, sizeof m->node.rack, "%s", ready->rack);
    m->node.adapter = ready->adapter;
    m->node.cpus = ready->cpus;
    m->node.present = 1;
    m->channel = c;
    channel_set_events(c, &member_events, m);
    guest_remove(g);
    if (++s->here < s->n)
        allow(s, s->by_tcp ? CALL_MS : STALL_MS);
    if (s->here < s->n || s->failed || s->closing || check_hosts(s) < 0)
        return;
    s->ready = 1;
    s->awake = awake_start(s->base, NULL, NULL);
    event_del(s->deadline);
    forget_roll(s);
    s->on->ready(s->arg);
}

/* PMIx has all endpoints to fetch; where it is not there, or so many would
 * fetch as many from it, the table of them goes along. */
static int write_fence(struct session *s, uint32_t branches)
{
    struct msg_fence m = {.branches = branches};
    struct writer table = {0};
    int bad;

    if (s->by_tcp || branches > 0)
        wireup_write(&table, s->roll.agent, s->roll.n);
    m.table = table.buf;
    m.len = table.len;
    bad = table.bad;
    msg_write_fence(&s->go, &m);
    writer_clear(&table);
    return bad || s->go.bad || s->go.len > MESSAGE_BODY_MAX ? -1 : 0;
}

/* All are here: they may wire up. */
static void open_fence(struct session *s)
{
    uint32_t branches = table_branches(s->roll.n);
    struct guest *g;

    if (write_fence(s, branches) < 0) {
        fail(s, "free some memory", "the agents' table cannot be made");
        return;
    }
    for (g = LIST_FIRST(&s->guests); g; g = LIST_NEXT(g, next))
        if (g->here && (branches == 0 || g->rank < branches))
            let_go(g);
}

static void start_more(struct session *s);

/* The last that comes lets all of them in. */
static void call_roll(struct guest *g, const struct msg_here *here)
{
    struct session *s = g->session;

    g->here = 1;
    g->rank = here->rank;
    allow(s, CALL_MS);
    start_more(s);
    if (roll_is_complete(&s->roll))
        open_fence(s);
}

static void on_guest_message(struct channel *c,
                             void *arg,
                             uint16_t type,
                             const uint8_t *body,
                             size_t len)
{
    struct guest *g = arg;
    struct msg_ready ready;
    struct session *s = g->session;
    struct msg_here here;

    if (type == MSG_HERE && !g->here && !s->closing && !s->ready
        && msg_read_here(&here, body, len) == 0
        && here.rank == channel_caller(c) && roll_call(&s->roll, &here) == 0) {
        call_roll(g, &here);
        return;
    }
    if (type == MSG_MISSED && g->here) {
        on_missed(s, body, len);
        return;
    }
    if (type == MSG_READY && msg_read_ready(&ready, body, len) == 0
        && ready.rank == channel_caller(c)) {
        become_member(g, &ready);
        return;
    }
    channel_destroy(c);
    guest_remove(g);
}

/* It will not be back: its agent leaves without us.  The others do, too, and
 * another start may do better. */
static void called_and_lost(const struct guest *g, const char *why)
{
    struct session *s = g->session;

    const char *node = s->roll.agent[g->rank].node;

    if (s->is_local || s->again || s->failed)
        return; /* of --local, what it said comes with its end */
    if (s->starts == s->starts_max) {
        fail_lost(s, node, why);
        return;
    }
    notice("warning: %s was lost during the start (%s): starting them once "
           "more",
           node, why);
    start_soon(s);
}

static void on_guest_closed(struct channel *c, void *arg, const char *why)
{
    struct guest *g = arg;
    struct session *s = g->session;

    (void)c;
    if (g->here && !s->ready && !s->closing)
        called_and_lost(g, why);
    guest_remove(g);
}

static const struct channel_events guest_events = {
    .opened = on_opened,
    .message = on_guest_message,
    .closed = on_guest_closed,
};

static void on_called(void *arg, struct listener *l, int fd)
{
    struct session *s = arg;
    struct guest *g = calloc(1, sizeof *g);

    if (!g) {
        close(fd);
        return;
    }
    g->session = s;
    g->channel = channel_take(s->base, fd, l, &guest_events, g);
    if (!g->channel) {
        free(g);
        return;
    }
    LIST_INSERT_HEAD(&s->guests, g, next);
}

/* --- the processes that bring the agents ---------------------------------- */

static int make_secret(struct session *s, struct es_error *err)
{
    if (secret_make(&s->secret) < 0)
        return es_fail(err, ES_ENV, "see that libsodium is whole",
                       "no random numbers");
    s->secret.encrypt = s->encrypt;
    return 0;
}

static int put_environ(char ***env,
                       size_t *n,
                       const char *name,
                       const char *value)
{
    char **grown = reallocarray(*env, *n + 2, sizeof **env);

    if (!grown)
        return -1;
    *env = grown;
    if (asprintf(&grown[*n], "%s=%s", name, value) < 0) {
        grown[*n] = NULL;
        return -1;
    }
    grown[++*n] = NULL;
    return 0;
}

static void environ_free(char **env)
{
    for (size_t i = 0; env && env[i]; i++)
        free(env[i]);
    free(env);
}

/* Our environment without what would bend the companion, and what every
 * agent must know.  Owned by the caller; NULL if memory ran out. */
static char **agent_environ(const struct session *s, size_t *n)
{
    char hex[SECRET_HEX_LEN + 1], home[ADDRESS_MAX + 8], ports[32];
    char address[ADDRESS_MAX] = "127.0.0.1"; /* of --local */
    char **env = NULL;
    int bad = 0;

    *n = 0;
    for (size_t i = 0; environ[i] && !bad; i++) {
        const char *value = strchr(environ[i], '=');
        char name[256];

        if (!value || companion_drops(environ[i])
            || (size_t)(value - environ[i]) >= sizeof name)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(value - environ[i]),
                 environ[i]);
        bad |= put_environ(&env, n, name, value + 1) < 0;
    }
    secret_to_hex(&s->secret, hex);
    if (!s->is_local)
        home_address_find(companion_job_nodes(), address);
    snprintf(home, sizeof home, "%s:%u", address, listener_port(s->listener));
    snprintf(ports, sizeof ports, "%u-%u", s->ports.low, s->ports.high);
    bad |= put_environ(&env, n, "EVENSTEP_COMPANION", "1") < 0;
    bad |= put_environ(&env, n, "EVENSTEP_SECRET", hex) < 0;
    bad |= put_environ(&env, n, "EVENSTEP_HOME", home) < 0;
    bad |= put_environ(&env, n, "EVENSTEP_PORTS", ports) < 0;
    bad |= put_environ(&env, n, "EVENSTEP_ENCRYPT", s->encrypt ? "1" : "0") < 0;
    bad |= put_environ(&env, n, "EVENSTEP_WIREUP",
                       wireup_way_name(s->by_tcp ? WIREUP_TCP : WIREUP_PMIX))
           < 0;
    memset(hex, 0, sizeof hex);
    if (!bad)
        return env;
    environ_free(env);
    return NULL;
}

static int start_process(struct session *s,
                         size_t i,
                         char *const argv[],
                         char *const env[],
                         struct es_error *err)
{
    /* An agent must have the time to clean up, srun to end its step. */
    struct execution_spec spec = {
        .argv = argv, .envp = env, .orphan_signal = SIGTERM};
    struct process *p = &s->process[i];

    p->session = s;
    if (execution_start(&p->execution, s->base, &spec, on_said, on_process_end,
                        p, err)
        < 0)
        return -1;
    s->running++;
    return 0;
}

/* Start srun, with a secret of its own: no agent of a start before can come
 * in between. */
static int start_companion(struct session *s, struct es_error *err)
{
    size_t n;
    char **env;
    int rc = -1;

    if (make_secret(s, err) < 0)
        return -1;
    env = agent_environ(s, &n);
    if (env && put_environ(&env, &n, COMPANION_FENCE, s->fence) == 0)
        rc = start_process(s, s->starts++, s->companion, env, err);
    else
        es_no_memory(err);
    environ_free(env);
    return rc;
}

static int start_agent(struct session *s, size_t rank, struct es_error *err)
{
    const struct session_setup *setup = &s->local;
    char path[4096], name[32], speed[16], number[24], agents[24];
    char *argv[] = {path, NULL};
    size_t n;
    char **env = agent_environ(s, &n);
    int rc = -1;

    snprintf(path, sizeof path, "%s", setup->agent_path);
    snprintf(name, sizeof name, LOCAL_NODE, rank);
    snprintf(speed, sizeof speed, "%d",
             setup->local_speed ? setup->local_speed[rank] : 0);
    snprintf(number, sizeof number, "%zu", rank);
    snprintf(agents, sizeof agents, "%zu", setup->local);
    if (!env || put_environ(&env, &n, "EVENSTEP_AGENT", name) < 0
        || put_environ(&env, &n, "EVENSTEP_RANK", number) < 0
        || put_environ(&env, &n, "EVENSTEP_AGENTS", agents) < 0
        || put_environ(&env, &n, "EVENSTEP_SPEED", speed) < 0)
        rc = es_no_memory(err);
    else if (s->by_tcp || pmix_host_environ(s->pmix, rank, &env, err) == 0)
        rc = start_process(s, rank, argv, env, err);
    environ_free(env);
    return rc;
}

/* --- agents of --local ---------------------------------------------------- */

static int keep_setup(struct session *s, const struct session_setup *setup)
{
    size_t bytes = setup->local * sizeof *setup->local_speed;
    int *speed = NULL;

    s->local.local = setup->local;
    s->local.agent_path = strdup(setup->agent_path);
    if (setup->local_speed) {
        speed = malloc(bytes);
        if (speed)
            memcpy(speed, setup->local_speed, bytes);
        s->local.local_speed = speed;
    }
    return s->local.agent_path && (speed || !setup->local_speed) ? 0 : -1;
}

static size_t most_ahead(void)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    return cpus * AHEAD_EACH > AHEAD_MIN ? (size_t)(cpus * AHEAD_EACH)
                                         : AHEAD_MIN;
}

/* So many that not too many are on their way. */
static int start_some(struct session *s, struct es_error *err)
{
    size_t most = s->roll.called + most_ahead();

    for (; s->starts < s->local.local && s->starts < most; s->starts++)
        if (start_agent(s, s->starts, err) < 0)
            return -1;
    return 0;
}

/* One of them has come. */
static void start_more(struct session *s)
{
    struct es_error err = {0};

    if (s->is_local && !s->failed && start_some(s, &err) < 0)
        fail(s, err.mend, err.what);
}

static int start_local(struct session *s,
                       const struct session_setup *setup,
                       struct es_error *err)
{
    if (make_secret(s, err) < 0)
        return -1;
    if (keep_setup(s, setup) < 0)
        return es_no_memory(err);
    return start_some(s, err);
}

static int start_processes(struct session *s,
                           const struct session_setup *setup,
                           struct es_error *err)
{
    s->starts_max = STARTS;
    /* One more that finds no PMIx. */
    s->n_processes = setup->local ? setup->local : STARTS + 1;
    s->process = calloc(s->n_processes, sizeof *s->process);
    if (!s->process)
        return es_no_memory(err);
    if (!setup->local) {
        s->wanted = companion_nodes(&setup->place);
        s->fence = companion_fence(&setup->place);
        if (companion_argv(&s->companion, &setup->place, setup->agent_path, err)
            < 0)
            return -1;
        if (s->by_tcp && companion_leave_pmix(s->companion) < 0)
            return es_no_memory(err);
        return start_companion(s, err);
    }
    return start_local(s, setup, err);
}

/* --- a start that does not come to its end -------------------------------- */

static void forget_agents(struct session *s)
{
    struct guest *g;

    while ((g = LIST_FIRST(&s->guests)) != NULL) {
        channel_destroy(g->channel);
        guest_remove(g);
    }
    for (size_t i = 0; i < s->n; i++)
        channel_destroy(s->member[i].channel);
    free(s->member);
    s->member = NULL;
    s->n = s->here = 0;
    forget_roll(s);
}

static void say_who_came(const struct session *s, char *text, size_t size)
{
    snprintf(text, size, "only %zu of %zu agents came",
             s->n ? s->here : s->roll.called, s->n ? s->n : s->roll.n);
}

static void start_again(struct session *s)
{
    struct es_error err = {0};

    s->again = 0;
    forget_agents(s); /* whose agents leave, as their front end has */
    if (s->process[s->starts - 1].execution)
        execution_stop(s->process[s->starts - 1].execution);
    if (s->by_tcp && companion_leave_pmix(s->companion) < 0)
        fail(s, "free some memory", "out of memory");
    else if (start_companion(s, &err) < 0 || set_deadline(s, START_MS) < 0)
        fail(s, err.mend[0] ? err.mend : "free some memory", err.what);
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
    struct session *s = arg;
    char came[64] = "no agent came", text[128];

    (void)fd;
    (void)what;
    if (s->closing) {
        event_base_loopbreak(s->base);
        return;
    }
    if (s->again) {
        start_again(s);
        return;
    }
    if (s->roll.n > 0)
        say_who_came(s, came, sizeof came);
    if (!s->is_local && s->starts < s->starts_max && s->roll.n > 0) {
        notice("warning: %s: starting them once more", came);
        start_again(s);
        return;
    }
    snprintf(text, sizeof text, "%s within %d s", came, START_MS / 1000);
    fail(
        s,
        "see that the nodes reach this host at the ports of SrunPortRange, and "
        "whether srun still waits for them (squeue -s)",
        text);
}

static int open_listener(struct session *s, int loopback, struct es_error *err)
{
    const struct listener_setup setup = {.base = s->base,
                                         .secret = &s->secret,
                                         .purpose = PURPOSE_SESSION,
                                         .self = FRONT_END,
                                         .ports = s->ports,
                                         .loopback = loopback,
                                         .called = on_called,
                                         .full = file_limit_reached,
                                         .arg = s};

    return listener_open(&s->listener, &setup, err);
}

static int open_all(struct session *s,
                    const struct session_setup *setup,
                    struct es_error *err)
{
    s->deadline = evtimer_new(s->base, on_deadline, s);
    if (!s->deadline || set_deadline(s, START_MS) < 0)
        return es_no_memory(err);
    s->ports = setup->ports;
    s->encrypt = setup->encrypt != 0;
    s->is_local = setup->local > 0;
    s->wireup = setup->wireup;
    s->by_tcp = setup->wireup == WIREUP_TCP;
    if (!setup->local && s->ports.high == 0
        && companion_ports(s->base, &s->ports, err) < 0)
        return -1;
    if (setup->local && !s->by_tcp
        && pmix_host_start(&s->pmix, setup->local, err) < 0)
        return -1;
    if (open_listener(s, setup->local > 0, err) < 0)
        return -1;
    return start_processes(s, setup, err);
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
    LIST_INIT(&s->guests);
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
    return s->ready ? s->n : 0;
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
    return &s->member[node].node;
}

void session_send(struct session *s,
                  size_t node,
                  enum protocol_type type,
                  struct writer *w)
{
    struct channel *c = s->member[node].channel;

    if (c && (w->bad || channel_send(c, (uint16_t)type, w->buf, w->len) < 0))
        channel_hang_up(c);
    writer_clear(w);
}

void session_drop(struct session *s, size_t node)
{
    if (s->member[node].channel)
        channel_hang_up(s->member[node].channel);
}

/* --- the end -------------------------------------------------------------- */

static void say_leave(struct session *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->member[i].channel)
            (void)channel_send(s->member[i].channel, MSG_LEAVE, NULL, 0);
}

/* Run the loop until all processes have ended, at most ms. */
static void await_processes(struct session *s, int ms)
{
    if (s->running == 0 || !s->deadline || set_deadline(s, ms) < 0)
        return;
    (void)event_base_dispatch(s->base); /* ends by the deadline at the latest */
    event_del(s->deadline);
}

static void end_processes(struct session *s)
{
    await_processes(s, s->ready ? with_each(s, LEAVE_MS, LEAVE_EACH_MS) : 0);
    if (s->running == 0)
        return;
    if (!s->is_local && s->n > 0 && s->job > 0)
        companion_cancel(s->base, s->job, s->step);
    for (size_t i = 0; i < s->n_processes; i++)
        if (s->process[i].execution)
            execution_stop(s->process[i].execution);
    await_processes(s, with_each(s, FORCE_MS, LEAVE_EACH_MS));
    for (size_t i = 0; i < s->n_processes; i++)
        execution_destroy(s->process[i].execution);
}

void session_close(struct session *s)
{
    if (!s)
        return;
    s->closing = 1;
    say_leave(s);
    listener_close(s->listener); /* who is away and calls now leaves, too */
    s->listener = NULL;
    end_processes(s);
    forget_agents(s);
    pmix_host_stop(s->pmix);
    awake_stop(s->awake);
    if (s->deadline)
        event_free(s->deadline);
    free(s->process);
    free((char *)s->local.agent_path);
    free((int *)s->local.local_speed);
    companion_argv_free(s->companion);
    memset(&s->secret, 0, sizeof s->secret);
    free(s);
}
