/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/session_end.h"
#include "launcher/base/notice.h"
#include "launcher/session/absence.h"
#include "launcher/session/companion.h"

#include <stdio.h>
#include <stdlib.h>

/* For agents and srun to go by themselves; above the 2 s that a command has
 * after its SIGTERM. */
#define LEAVE_MS 4000
#define FORCE_MS 2000 /* after scancel, before SIGKILL to srun */
/* For agents to agree to stay. */
#define LINGER_MS 5000
/* For each agent of --local more: what one needs to go on a busy machine. */
#define LEAVE_EACH_MS 20
#define ASK_MS        2000 /* for sinfo to say who has not come */

/* --- agents that stay ----------------------------------------------------- */

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

void session_end_heard(struct session *s,
                       size_t node,
                       uint16_t type,
                       const uint8_t *body,
                       size_t len)
{
    if (type == MSG_LINGER && s->lingering.agent)
        note_agreed(s, node, body, len);
}

void session_end_lost(struct session *s)
{
    if (!s->lingering.agent || s->agreed >= s->n)
        return;
    s->agreed = s->n + 1;
    event_base_loopbreak(s->base);
}

static void write_linger(const struct session *s, struct writer *w, size_t node)
{
    struct msg_linger m = {.seconds = s->linger_s};

    if (s->is_local && node == 0) /* by Slurm srun's keeper does it */
        snprintf(m.dir, sizeof m.dir, "%s", s->linger_name);
    msg_write_linger(w, &m);
}

/* All are asked whether they stay: 0, or -1. */
static int ask_all(struct session *s)
{
    size_t n = s->n + s->seats;
    struct writer *w = calloc(n, sizeof *w);
    char *to = calloc(n, 1);
    int rc = w && to ? 0 : -1;

    for (size_t i = 0; rc == 0 && i < s->n; i++)
        rc = members_node(s->members, i)->present ? 0 : -1;
    for (size_t i = 0; rc == 0 && i < s->n; i++) {
        to[i] = 1;
        write_linger(s, &w[i], i);
    }
    if (rc == 0)
        members_send_each(s->members, MSG_LINGER, w, to);
    free(w);
    free(to);
    return rc;
}

/* Runs the loop until all have agreed: 0, or -1. */
static int agree(struct session *s)
{
    s->lingering.agent = calloc(s->n, sizeof *s->lingering.agent);
    s->lingering.n = (uint32_t)s->n;
    s->lingering.secret = s->secret;
    if (launch_keeper(s->launch) > 0) /* else it is that of those recalled */
        s->lingering.keeper = launch_keeper(s->launch);
    if (!s->lingering.agent || session_set_deadline(s, LINGER_MS) < 0
        || ask_all(s) < 0)
        return -1;
    (void)event_base_dispatch(s->base);
    event_del(s->deadline);
    s->lingering.number = members_number(s->members);
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
        members_leave(s->members, s->ready);
    if (s->linger_s && s->is_local)
        step_dir_remove(s->linger_name);
}

/* --- and those that leave ------------------------------------------------- */

/* Run the loop until all processes have ended, at most ms. */
static void await_processes(struct session *s, int ms)
{
    if (launch_running(s->launch) == 0 || !s->deadline
        || session_set_deadline(s, ms) < 0)
        return;
    (void)event_base_dispatch(s->base); /* ends by the deadline at the latest */
    event_del(s->deadline);
}

/* --- nodes that did not come ---------------------------------------------- */

struct missing {
    struct event_base *base;
    char text[1600]; /* "n2 (down*: Not responding)"; "": it is not known */
};

static void on_missing_told(void *arg, const struct absent_nodes *absent)
{
    struct missing *m = arg;

    snprintf(m->text, sizeof m->text, "%s", absent->text);
    event_base_loopbreak(m->base);
}

/* Slurm has the names of all, but for those of --local; a moment is waited for it. */
static void ask_missing(struct session *s,
                        const char *const came[],
                        size_t n,
                        struct missing *m)
{
    struct absence *absence = NULL;

    if (!s->nodes || session_set_deadline(s, ASK_MS) < 0
        || absence_ask(&absence, s->base, s->nodes, came, n, on_missing_told, m)
               < 0)
        return;
    (void)event_base_dispatch(s->base); /* until then, or the deadline */
    event_del(s->deadline);
    absence_destroy(absence);
}

/* Nodes that srun still waits for now, and that nobody has told of: all was over
 * before they were missed. */
static void tell_missing(struct session *s)
{
    const char **came = calloc(s->n + 1, sizeof *came);
    struct missing m = {.base = s->base};
    size_t missing = 0, n = 0;

    for (size_t i = 0; came && i < s->n; i++)
        if (!members_is_awaited(s->members, i))
            came[n++] = members_node(s->members, i)->name;
        else
            missing += s->given_up && !s->given_up[i];
    if (missing > 0) {
        ask_missing(s, came, n, &m);
        notice("warning: %zu of %zu nodes had not come when all was over%s%s: "
               "see sinfo, and slurmd.log there",
               missing, s->n, m.text[0] ? ": " : "", m.text);
    }
    free(came);
}

static void end_processes(struct session *s)
{
    await_processes(s, s->ready ? session_with_each(s, LEAVE_MS, LEAVE_EACH_MS)
                                : 0);
    if (launch_running(s->launch) == 0)
        return;
    if (s->ready)
        tell_missing(s);
    if (!s->is_local && s->n > 0 && s->job > 0)
        companion_cancel(s->base, s->job, s->step);
    launch_stop(s->launch);
    await_processes(s, session_with_each(s, FORCE_MS, LEAVE_EACH_MS));
}

void session_end(struct session *s)
{
    if (let_linger(s) < 0)
        no_linger(s);
    else
        members_leave_seats(s->members);
    listener_close(s->listener); /* who is away and calls now leaves, too */
    if (s->arrival)
        arrival_end(s->arrival);
    if (s->launch)
        end_processes(s);
}
