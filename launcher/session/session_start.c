/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/session_start.h"
#include "launcher/base/awake.h"
#include "launcher/base/file_limit.h"
#include "launcher/base/front_address.h"
#include "launcher/base/notice.h"
#include "launcher/session/absence.h"
#include "launcher/session/companion.h"
#include "launcher/session/host_check.h"
#include "launcher/session/session_end.h"
#include "launcher/session/session_rescue.h"
#include "launcher/session/srun_words.h"
#include "launcher/wire/table_tree.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* After the last HERE, once all are here: what is left takes a moment.  Until then a
 * node's prolog may take its time, and PMIx can keep nobody. */
#define CALL_MS 15000
/* After the last READY that came: all are through the same fence, so more
 * follow at once.  Slurm 22.05's PMIx now and then keeps some in it for ever;
 * a second step has always been well. */
#define STALL_MS 5000
/* For agents that have stayed to answer; then others are started. */
#define RECALL_MS 5000
/* Since the last that came: who waits wants to know for whom. */
#define LATE_MS    1200
#define ABSENCE_MS 5000 /* for sinfo to say who is missing */
/* A session of more agents is ready when all are: until then there is no tree for
 * its orders. */
#define EARLY_MOST TABLE_BRANCHES
/* From the first READY on: most agents come one soon after the other. */
#define EARLY_MS 25
/* For each agent of --local more: what one needs to go on a busy machine. */
#define START_EACH_MS 100

/* --- failure ---------------------------------------------------------------- */

static void fail_start(struct session *s, const char *mend, const char *what)
{
    struct es_error err = {0};

    if (s->ready || s->failed || s->closing)
        return;
    s->failed = 1;
    es_fail(&err, ES_ENV, mend, "%s", what);
    s->on->failed(s->arg, &err);
}

/* Start once more, from the loop. */
static void start_soon(struct session *s)
{
    s->again = 1;
    (void)session_set_deadline(s, 0);
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

/* Where PMIx need not be, it is not tried twice: 1, and they are started without;
 * 0: it must be, or is not the reason. */
static int leave_pmix(struct session *s, const char *why)
{
    if (s->wireup != WIREUP_AUTO || s->is_local || launch_is_by_tcp(s->launch))
        return 0;
    if (launch_without_pmix(s->launch) < 0) {
        fail_start(s, "free some memory", "out of memory");
        return 1;
    }
    notice("warning: %s: starting them once more, to wire up over TCP and not "
           "by PMIx (wireup = \"tcp\" in evenstep.conf does so at once)",
           why);
    start_soon(s);
    return 1;
}

/* Of a session that began early: who has not come, and that was not told, is lost.
 */
static void give_up_awaited(struct session *s, const char *why)
{
    for (size_t i = 0; i < s->n && !s->closing; i++)
        if (members_is_awaited(s->members, i) && !s->given_up[i]) {
            s->given_up[i] = 1;
            s->on->lost(s->arg, i, why);
        }
}

/* Where it is not started on one srun ends it on all, and does not say which task
 * that one has. */
static void give_up_all(struct session *s, const struct launch_absent *a)
{
    size_t i = 0;

    snprintf(s->aborted, sizeof s->aborted,
             "Slurm could not start the agents' step on %.100s and has ended "
             "it on all nodes",
             a->node);
    while (i < s->n && (!members_is_awaited(s->members, i) || s->given_up[i]))
        i++;
    if (i == s->n)
        return;
    members_seat(s->members, i, a->node);
    s->given_up[i] = 1;
    s->on->lost(s->arg, i, a->why);
}

/* Nobody is to wait for those. */
static void give_up_absent(struct session *s, const struct launch_absent *a)
{
    char why[400];

    if (a->first == SRUN_WORDS_NO_TASK) {
        give_up_all(s, a);
        return;
    }
    snprintf(why, sizeof why, "its agent %s: %s",
             a->not_executed ? "does not start" : "has ended", a->why);
    for (size_t i = a->first; i <= a->last && i < s->n && !s->closing; i++) {
        if (!members_is_awaited(s->members, i) || s->given_up[i])
            continue;
        if (a->first == a->last)
            members_seat(s->members, i, a->node);
        s->given_up[i] = 1;
        s->on->lost(s->arg, i, why);
    }
}

/* Have all of them come?  Then their connections tell how they ended. */
static int have_come(const struct session *s, const struct launch_absent *a)
{
    for (uint32_t i = a->first; i <= a->last; i++)
        if (!arrival_agent(s->arrival, i))
            return 0;
    return 1;
}

/* An agent's own last words end with a mend: "evenstep-agent: what: mend". */
static const char *own_mend(const struct launch_absent *a)
{
    static const char name[] = "evenstep-agent: ";
    const char *last = NULL;

    if (strncmp(a->why, name, strlen(name)) != 0)
        return NULL;
    for (const char *p = a->why + strlen(name); (p = strstr(p, ": ")) != NULL;
         p += 2)
        last = p;
    return last ? last + 2 : NULL;
}

/* "n2: its agent does not start: execve(): ...", without a mend. */
static void tell_absent(const struct launch_absent *a, char text[], size_t size)
{
    const char *mend = own_mend(a);

    snprintf(text, size, "%s: its agent %s: %.*s", a->node,
             a->not_executed ? "does not start" : "has ended",
             mend ? (int)(mend - 2 - a->why) : (int)strlen(a->why), a->why);
}

/* By an agent's last words: front_link.c.  One whose call was refused at once is
 * started once more, which takes no time; one that had no answer is not. */
static int cannot_call(const struct launch_absent *a)
{
    return strstr(a->why, "cannot call ")
           || (strstr(a->why, "no front end at ")
               && strstr(a->why, "no answer within "));
}

/* Slurm's list of all that are left out, with some more. */
static char *with_list(const struct session *s, const char *more)
{
    const char *list = s->without.list ? s->without.list : "";
    size_t len = strlen(list), end = strlen(more);
    char *all = NULL;

    if (len >= end && strcmp(list + len - end, more) == 0
        && (len == end || list[len - end - 1] == ','))
        return strdup(list); /* ranks of one list that are not in a row */
    return asprintf(&all, "%s%s%s", list, len > 0 ? "," : "", more) < 0 ? NULL
                                                                        : all;
}

/* No use to wait for these n nodes of Slurm's list: 1, and the agents of the others
 * are soon started once more, alone; 0: that cannot be. */
static int leave_out(struct session *s,
                     const char *list,
                     size_t n,
                     const char *why)
{
    char *all;

    if (!s->without.may || s->ready || s->failed || n == 0 || n >= s->wanted)
        return 0;
    all = with_list(s, list);
    if (!all
        || launch_leave_out(s->launch, all, (uint32_t)(s->wanted - n)) < 0) {
        free(all);
        return 0;
    }
    free(s->without.list);
    s->without.list = all;
    s->without.n += n;
    s->wanted -= n;
    s->linger_s = 0; /* too few for another command */
    if (!s->without.is_due)
        snprintf(s->without.why, sizeof s->without.why, "%s", why);
    s->without.is_due = 1;
    start_soon(s);
    return 1;
}

static void tell_left_out(struct session *s)
{
    notice("warning: no agent on %.480s (%s): going on without, on %zu of %zu "
           "nodes",
           s->without.list + s->without.told, s->without.why, s->wanted,
           s->wanted + s->without.n);
    s->without.told = strlen(s->without.list) + 1;
    s->without.is_due = 0;
}

/* Of ranks that ended alike srun names all nodes with each. */
static int leave_out_at(struct session *s, const struct launch_absent *a)
{
    return leave_out(
        s, a->node,
        a->first == SRUN_WORDS_NO_TASK ? 1 : (size_t)a->last - a->first + 1,
        a->why);
}

static void fail_at(struct session *s, const struct launch_absent *a)
{
    char text[900], mend[300];

    if (leave_out_at(s, a))
        return;
    tell_absent(a, text, sizeof text);
    if (a->first == SRUN_WORDS_NO_TASK)
        snprintf(
            mend, sizeof mend,
            "see that slurmd runs on %.100s and can be reached, or leave it "
            "out (--exclude=%.100s)",
            a->node, a->node);
    else if (cannot_call(a))
        snprintf(mend, sizeof mend,
                 "see the firewalls between, and SrunPortRange in slurm.conf");
    else if (own_mend(a))
        snprintf(mend, sizeof mend, "%s", own_mend(a));
    else
        snprintf(mend, sizeof mend,
                 "%s on %.100s, or leave it out (--exclude=%.100s)",
                 a->not_executed && strstr(a->why, strerror(EACCES))
                     ? "see its rights (chmod 755), and those of the folders "
                       "above it,"
                     : "install the same evenstep",
                 a->node, a->node);
    fail_start(s, mend, text);
}

/* An agent has ended before it called: no use to wait until its time is over. */
static int on_absent(void *arg, const struct launch_absent *a)
{
    struct session *s = arg;
    char text[900];

    if (session_rescue_absent(s, a))
        return 1;
    if (s->ready && s->here < s->n)
        give_up_absent(s, a);
    if (s->again && s->without.is_due)
        (void)leave_out_at(s, a);
    if (s->ready || s->failed || s->closing || s->again || have_come(s, a)
        || companion_lacks_pmix(a->why))
        return 1;
    if (s->early && launch_is_by_tcp(s->launch)
        && a->first != SRUN_WORDS_NO_TASK)
        return 0; /* the others may begin, and it is lost then */
    tell_absent(a, text, sizeof text);
    if (!a->not_executed && leave_pmix(s, text))
        return 1;
    if (!a->not_executed && !cannot_call(a) && launch_may_repeat(s->launch)) {
        notice("warning: %s: starting them once more", text);
        start_soon(s);
    } else {
        fail_at(s, a);
    }
    return 1;
}

/* The agents, or srun, have ended by themselves. */
static void on_launch_failed(void *arg)
{
    struct session *s = arg;
    const char *said = launch_said(s->launch);

    if (s->ready)
        session_rescue_look(s);
    if (s->ready && s->here < s->n)
        give_up_awaited(s, said[0] ? said : "its agent did not start");
    if (!s->ready && !s->is_local)
        launch_look(s->launch); /* it may be one node's fault */
    if (s->ready || s->failed || s->closing || s->again)
        return;
    if (!s->is_local && !launch_is_by_tcp(s->launch)
        && arrival_came(s->arrival) == 0 && companion_lacks_pmix(said))
        without_pmix(s);
    else if (arrival_came(s->arrival) > 0
             || !leave_pmix(s, said[0] ? said : "no agent came"))
        fail_start(s,
                   s->is_local
                       ? "see what it says"
                       : "see that `srun hostname` works in this allocation",
                   said[0] ? said : "the agents ended before they were ready");
}

static void on_launch_aborted(void *arg)
{
    session_rescue_look(arg);
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

/* --- members -------------------------------------------------------------- */

static void on_lost(void *arg, size_t node, const char *why)
{
    struct session *s = arg;

    if (s->closing) {
        session_end_lost(s);
        return;
    }
    if (!s->ready) {
        fail_lost(s, members_node(s->members, node)->name, why);
        return;
    }
    if (s->here < s->n)
        launch_look(s->launch); /* that may be the reason */
    session_rescue_lost(s, node);
    s->on->lost(s->arg, node, s->aborted[0] ? s->aborted : why);
}

static void on_message(
    void *arg, size_t node, uint16_t type, const uint8_t *body, size_t len)
{
    struct session *s = arg;

    if (s->closing)
        session_end_heard(s, node, type, body, len);
    else if (type == MSG_MISSED)
        arrival_missed(s->arrival, body, len);
    else if (s->ready) { /* else its clock, from a node that was stopped */
        if (type == MSG_LEAVE && len == 0 && node < s->n)
            session_rescue_refuse(s);
        s->on->message(s->arg, node, type, body, len);
    }
}

static const struct members_events members_events = {
    .message = on_message,
    .lost = on_lost,
};

/* The first READY tells how many agents there are. */
static int make_members(struct session *s, const struct msg_ready *m)
{
    s->members = members_create(s->base, m->agents, s->seats, s->number,
                                &members_events, s);
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

/* An agent has got on; the next step of one must not take longer.  The last
 * start has all the time there is, and agents of --local all that it takes as
 * long as they get on: they share one machine. */
static void allow(struct session *s, int ms)
{
    if (s->recall)
        return; /* they are there, or not */
    if (s->is_local)
        (void)session_set_deadline(
            s, session_with_each(s, s->start_ms, START_EACH_MS));
    else if (launch_may_repeat(s->launch) && !s->again)
        (void)session_set_deadline(s, ms); /* else the one before holds */
}

static void begin(struct session *s)
{
    s->ready = 1;
    event_del(s->early_timer);
    s->recalled = s->recall != NULL;
    recall_end(s->recall);
    s->recall = NULL;
    s->awake = awake_start(s->base, NULL, NULL);
    s->on->ready(s->arg);
}

static void await_no_more(struct session *s)
{
    event_del(s->deadline);
    arrival_end(s->arrival);
}

/* Some agents are READY: is that enough?  For agents that have stayed it is not, they
 * all come at once or not at all. */
static int may_begin(const struct session *s)
{
    return s->early && !s->recall && !s->ready && !s->failed && !s->again
           && s->here > 0 && s->n == s->wanted && launch_is_by_tcp(s->launch);
}

static void on_early(evutil_socket_t fd, short what, void *arg)
{
    struct session *s = arg;

    (void)fd;
    (void)what;
    if (!may_begin(s) || s->closing)
        return;
    s->given_up = calloc(s->n, 1);
    if (!s->given_up)
        return; /* it begins when all are here */
    members_await(s->members);
    begin(s);
}

static void begin_soon(struct session *s)
{
    const struct timeval tv = {0, EARLY_MS * 1000};

    if (!evtimer_pending(s->early_timer, NULL))
        (void)evtimer_add(s->early_timer, &tv); /* else when all are here */
}

/* One more since then. */
static void come(struct session *s,
                 struct channel *c,
                 const struct msg_ready *ready)
{
    struct writer nothing = {0};

    if (members_come(s->members, c, ready) < 0)
        return;
    if (s->closing) {
        members_send(s->members, ready->rank, MSG_LEAVE, &nothing);
        return;
    }
    if (++s->here == s->n)
        await_no_more(s);
    s->on->came(s->arg, ready->rank);
}

/* --- what the agents' arrival brings -------------------------------------- */

/* Slurm is asked which nodes have not come.  0 or -1. */
static int ask_who(struct session *s,
                   struct absence **who,
                   absence_told_fn told)
{
    uint32_t n = arrival_size(s->arrival);
    const char **came = calloc((size_t)n + 1, sizeof *came);
    size_t here = 0;
    int rc = -1;

    for (uint32_t i = 0; came && i < n; i++)
        if (arrival_agent(s->arrival, i))
            came[here++] = arrival_agent(s->arrival, i)->node;
    if (came && s->nodes && !*who)
        rc = absence_ask(who, s->base, s->nodes, came, here, told, s);
    free(came);
    return rc;
}

/* Of a session that has begun: is there a node that may yet come? */
static int awaits_some(const struct session *s)
{
    for (size_t i = 0; s->here < s->n && i < s->n; i++)
        if (members_is_awaited(s->members, i) && !s->given_up[i])
            return 1;
    return 0;
}

static int is_waiting(const struct session *s)
{
    return !s->closing && !s->failed && !s->again && !s->recall
           && (s->ready ? awaits_some(s)
                        : arrival_came(s->arrival) < arrival_size(s->arrival));
}

static void on_late_told(void *arg, const struct absent_nodes *absent)
{
    struct session *s = arg;

    if (absent->n > 0 && is_waiting(s))
        notice(
            "waiting for the agent of %.1400s, %d s at most: see slurmd's log "
            "there",
            absent->text, s->start_ms / 1000);
    absence_destroy(s->late);
    s->late = NULL;
}

static void on_late(evutil_socket_t fd, short what, void *arg)
{
    struct session *s = arg;

    (void)fd;
    (void)what;
    if (!is_waiting(s) || s->told_late)
        return;
    s->told_late = 1;
    (void)ask_who(s, &s->late, on_late_told);
}

static void on_here(void *arg)
{
    static const struct timeval late = {LATE_MS / 1000, LATE_MS % 1000 * 1000};
    struct session *s = arg;
    struct es_error err = {0};

    if (!s->is_local && !s->told_late)
        (void)evtimer_add(s->late_timer, &late);
    if (s->is_local || arrival_came(s->arrival) == arrival_size(s->arrival))
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

    if (s->ready && expected && ready->rank < s->n
        && members_is_awaited(s->members, ready->rank)) {
        come(s, c, ready);
        return;
    }
    if (s->ready && !s->closing && ready->rank < s->n + s->seats) {
        if (!members_rejoin(s->members, c, ready, s->on->returned != NULL))
            return;
        if (ready->rank >= s->n)
            s->sat[ready->rank - s->n] = 1;
        session_rescue_back(s, ready);
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
    if (++s->here < s->n) {
        if (s->is_local || !s->early || !launch_is_by_tcp(s->launch))
            allow(s, launch_is_by_tcp(s->launch) ? CALL_MS : STALL_MS);
        if (may_begin(s))
            begin_soon(s);
    } else if (!s->failed && check_hosts(s) == 0) {
        await_no_more(s);
        begin(s);
    }
}

/* Those that are READY are told where the others are. */
static void on_complete(void *arg, const uint8_t *body, size_t len)
{
    struct session *s = arg;
    struct msg_fence m;

    if (msg_read_fence(&m, body, len) < 0)
        return;
    for (size_t i = 0; i < s->n && s->members; i++) {
        struct writer w = {0};

        msg_write_fence(&w, &m);
        members_send(s->members, i, MSG_FENCE, &w);
    }
}

/* It will not be back: its agent leaves without us.  The others do, too, and
 * another start may do better. */
static void on_arrival_lost(void *arg,
                            size_t rank,
                            const char *node,
                            const char *why)
{
    struct session *s = arg;
    char text[NODE_NAME_MAX + 200];

    if (s->ready) {
        members_seat(s->members, rank, node);
        if (s->given_up[rank])
            return;
        s->given_up[rank] = 1;
        s->on->lost(s->arg, rank, why);
        return;
    }
    if (!s->is_local)
        launch_look(
            s->launch); /* where srun ends all, it names whose fault it is */
    if (s->is_local || s->again || s->failed)
        return; /* of --local, what it said comes with its end */
    snprintf(text, sizeof text, "%s was lost during the start (%.150s)", node,
             why);
    if (leave_pmix(s, text))
        return;
    if (!launch_may_repeat(s->launch)) {
        fail_lost(s, node, why);
        return;
    }
    notice("warning: %s: starting them once more", text);
    start_soon(s);
}

static void on_arrival_failed(void *arg, const char *mend, const char *what)
{
    const struct session *s = arg;

    if (s->ready)
        notice("warning: %s: %s", what, mend); /* it works without that one */
    else
        fail_start(arg, mend, what);
}

static const struct arrival_events arrival_events = {
    .here = on_here,
    .ready = on_ready,
    .complete = on_complete,
    .lost = on_arrival_lost,
    .failed = on_arrival_failed,
};

/* --- a start, and one that does not come to its end ----------------------- */

/* With a secret of its own: no agent of a start before can come in between. */
static int start_agents(struct session *s, struct es_error *err)
{
    uint32_t encrypt = s->secret.encrypt;

    if (secret_make(&s->secret) < 0)
        return es_fail(err, ES_ENV, "see that libsodium is whole",
                       "no random numbers");
    s->secret.encrypt = encrypt;
    arrival_begin(s->arrival, launch_is_by_tcp(s->launch),
                  s->early && launch_is_by_tcp(s->launch),
                  launch_interfaces(s->launch));
    return launch_start(s->launch, err);
}

void session_start_forget(struct session *s)
{
    members_destroy(s->members);
    s->members = NULL;
    s->n = s->here = 0;
}

static void start_again(struct session *s)
{
    struct es_error err = {0};

    s->again = 0;
    if (s->without.is_due)
        tell_left_out(s);
    recall_end(s->recall);
    s->recall = NULL;
    s->number = 0;
    session_start_forget(s); /* whose agents leave, as their front end has */
    launch_stop(s->launch);
    if (start_agents(s, &err) < 0)
        fail_start(s, err.mend, err.what);
    else if (session_set_deadline(s, s->start_ms) < 0)
        fail_start(s, "free some memory", "out of memory");
}

/* In the end: those that have not come, and where they were to call. */
static void fail_absent(struct session *s, const char *absent)
{
    char text[1700], mend[300], address[ADDRESS_MAX] = "";

    front_address_find(companion_job_nodes(), address);
    snprintf(
        mend, sizeof mend,
        "see slurmd's log there, and that these nodes reach this host at "
        "%s, port %u (SrunPortRange), or give them longer (agents { timeout "
        "} of evenstep.conf)",
        address[0] ? address : "its address", listener_port(s->listener));
    snprintf(text, sizeof text, "%.480s%s%s within %d s", absent,
             absent[0] ? " did not come: " : "", s->absent, s->start_ms / 1000);
    fail_start(s, mend, text);
}

static void on_absent_told(void *arg, const struct absent_nodes *absent)
{
    struct session *s = arg;
    char why[sizeof s->absent + 40];

    snprintf(why, sizeof why, "%s within %d s", s->absent, s->start_ms / 1000);
    if (absent->n == 0 || arrival_came(s->arrival) + absent->n != s->wanted
        || !leave_out(s, absent->list, absent->n, why))
        fail_absent(s, absent->text);
    absence_destroy(s->absence);
    s->absence = NULL; /* others may be missed later */
}

/* 1 if Slurm is asked who is missing. */
static int ask_absent(struct session *s)
{
    return ask_who(s, &s->absence, on_absent_told) == 0
           && session_set_deadline(s, ABSENCE_MS) == 0;
}

/* 1 if Slurm says that the agents' step is still to be created, as srun waits for
 * it, too: that is told once. */
static int await_slurm(struct session *s)
{
    const char *why = s->launch ? launch_queued(s->launch) : "";

    if (!why[0] || session_set_deadline(s, s->start_ms) < 0)
        return 0;
    if (!s->told_queued)
        notice("waiting for Slurm to start the agents (%s): Ctrl-C ends it",
               why);
    s->told_queued = 1;
    return 1;
}

/* Another start helps agents that were stuck in PMIx or on the way to READY; those
 * that did not call have had all the time there is. */
static int is_stuck(const struct session *s)
{
    return !launch_is_by_tcp(s->launch) || s->n > 0
           || (arrival_size(s->arrival) > 0
               && arrival_came(s->arrival) == arrival_size(s->arrival));
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
    struct session *s = arg;
    char came[64] = "no agent came";
    size_t of = s->n ? s->n : arrival_size(s->arrival);

    (void)fd;
    (void)what;
    if (s->closing) {
        event_base_loopbreak(s->base);
        return;
    }
    if (s->ready) {
        give_up_awaited(s, "it has not come yet");
        return;
    }
    if (s->again || s->recall) {
        start_again(s);
        return;
    }
    if (await_slurm(s))
        return;
    if (of > 0)
        snprintf(came, sizeof came, "only %zu of %zu agents came",
                 s->n ? s->here : arrival_came(s->arrival), of);
    if (leave_pmix(s, came))
        return;
    if (launch_may_repeat(s->launch) && of > 0 && is_stuck(s)) {
        notice("warning: %s: starting them once more", came);
        start_again(s);
        return;
    }
    snprintf(s->absent, sizeof s->absent, "%s", came);
    if (!ask_absent(s))
        fail_absent(s, "");
}

/* --- or with those that have stayed --------------------------------------- */

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
    s->number = l.number;
    s->lingering.keeper = l.keeper;
    s->recall = recall_start(s->base, &l, &s->secret,
                             listener_port(s->listener), &recall_events, s);
    lingering_clear(&l);
    return s->recall && session_set_deadline(s, RECALL_MS) == 0;
}

/* --- begin ---------------------------------------------------------------- */

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
        .absent = s->is_local ? NULL : on_absent,
        .aborted = s->is_local ? NULL : on_launch_aborted,
        .ended = on_launch_ended,
        .arg = s};

    return launch_open(&s->launch, &l, err);
}

/* NULL: it is not known, or there is no memory to name them. */
static char *copy_nodes(const struct companion_place *place)
{
    const char *list = place->nodes[0] ? place->nodes : companion_job_nodes();

    return list ? strdup(list) : NULL;
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

int session_start(struct session *s,
                  const struct session_setup *setup,
                  struct es_error *err)
{
    s->ports = setup->ports;
    s->secret.encrypt = setup->encrypt != 0;
    s->is_local = setup->local > 0;
    s->wireup = setup->wireup;
    s->start_ms = (int)setup->timeout_s * 1000;
    s->seats = setup->seats;
    s->without.may = setup->spare;
    s->sat = calloc(s->seats + 1, 1);
    s->deadline = evtimer_new(s->base, on_deadline, s);
    s->early_timer = evtimer_new(s->base, on_early, s);
    s->late_timer = evtimer_new(s->base, on_late, s);
    s->arrival = arrival_create(s->base, &arrival_events, s);
    if (!s->sat || !s->deadline || !s->early_timer || !s->late_timer
        || !s->arrival || session_set_deadline(s, s->start_ms) < 0)
        return es_no_memory(err);
    if (!s->is_local)
        s->wanted = companion_nodes(&setup->place);
    if (!s->is_local && !setup->place.srun_args)
        s->nodes = copy_nodes(&setup->place);
    if (!s->is_local && s->ports.high == 0
        && companion_ports(s->base, &s->ports, err) < 0)
        return -1;
    prepare_linger(s, setup);
    /* Agents that are to stay must all have come. */
    s->early = setup->early && !s->linger_s && !setup->place.srun_args
               && s->seats == 0 && s->wanted > 0 && s->wanted <= EARLY_MOST;
    if (open_listener(s, err) < 0 || open_launch(s, setup, err) < 0)
        return -1;
    return recall_agents(s) ? 0 : start_agents(s, err);
}
