/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session.h - the front end's side of a set of agents, from the start of the
 * companion step (or of the agents of --local) until the last has left.
 *
 * Nodes are numbered by rank.  A node that is lost may return, with nothing of
 * what it did or was told before.  All callbacks come from the event loop.
 */
#ifndef LAUNCHER_SESSION_SESSION_H
#define LAUNCHER_SESSION_SESSION_H

#include "launcher/base/step_dir.h"
#include "launcher/session/node.h"
#include "launcher/session/session_setup.h"
#include "launcher/wire/protocol.h"
#include "policy/seats.h"

struct session;

struct session_events {
    /* Every agent is here; or, of a session that may be early, one is. */
    void (*ready)(void *arg);
    /* One that was not here then is; or it will not be, which is told by lost().
     * Only of such a session. */
    void (*came)(void *arg, size_t node);
    void (*message)(
        void *arg, size_t node, uint16_t type, const uint8_t *body, size_t len);
    /* A node has gone, why in words.  Not called during session_close(). */
    void (*lost)(void *arg, size_t node, const char *why);
    /* A node that was lost is here again.  NULL: it is told to leave. */
    void (*returned)(void *arg, size_t node);
    /* All nodes are lost, and none will be here again: only after
     * session_is_rescued().  NULL: none is waited for. */
    void (*stranded)(void *arg);
    /* The agents cannot be had; only before ready. */
    void (*failed)(void *arg, const struct es_error *err);
};

/*
 * Start the agents; ready or failed follows.  setup may be forgotten after
 * the call, on and arg must outlive the session.
 */
int session_open(struct session **s,
                 struct event_base *base,
                 const struct session_setup *setup,
                 const struct session_events *on,
                 void *arg,
                 struct es_error *err);
/* Nodes, and seats of those that may join; 0 before ready.  A seat's node is not
 * present, and its name is "" until a node has joined. */
size_t session_size(const struct session *s);
/* Those that it began with: the first ones. */
size_t session_start_size(const struct session *s);
/* Up to the last that is or was a node. */
/* What other connections of this step's agents go by. */
const struct secret *session_secret(const struct session *s);
struct port_range session_ports(const struct session *s);
uint16_t session_port(const struct session *s); /* where agents call */
/* At which of our addresses they do, for what they are to call next. */
struct listen_at session_listen_at(const struct session *s);
int session_is_local(const struct session *s);
/* Its agents are those of a session before? */
int session_is_recalled(const struct session *s);
/* Of its agents, 0 and 0 outside Slurm. */
void session_job(const struct session *s, uint32_t *job, uint32_t *step);
/* The name of the step directory on a node, unlike that of any other session
 * whose agents are on it now. */
void session_step_name(const struct session *s,
                       size_t node,
                       char name[STEP_NAME_MAX]);
const struct node *session_node(const struct session *s, size_t node);

/* Has it been READY; if not, is it yet to come, as the session began early and it
 * was not given up? */
int session_has_come(const struct session *s, size_t node);
int session_is_awaited(const struct session *s, size_t node);
/* Are all nodes lost, and their agents started once more? */
int session_is_rescued(const struct session *s);

/* A seat that nobody has had yet? */
static inline int session_is_vacant(const struct session *s, size_t node)
{
    return session_node(s, node)->name[0] == '\0';
}

/* Up to the last that is or was a node. */
static inline size_t session_known_size(const struct session *s)
{
    size_t n = session_size(s);

    while (n > 0 && session_is_vacant(s, n - 1))
        n--;
    return n;
}

/* Send what w holds and clear it.  If that fails the node is lost, which
 * lost() tells later, from the loop. */
void session_send(struct session *s,
                  size_t node,
                  enum protocol_type type,
                  struct writer *w);
/*
 * Send to all nodes that are present what w holds and clear it; or w[i] to node
 * i if to[i] (NULL: to all), and clear them.  It goes down a tree of the agents,
 * so it costs the front end the same for any number of them (order_tree.h).
 * These come to a node in the order in which they are sent, and before whatever
 * is sent to it alone later; but they may overtake what was sent to it alone
 * before.
 */
void session_send_all(struct session *s,
                      enum protocol_type type,
                      struct writer *w);
void session_send_each(struct session *s,
                       enum protocol_type type,
                       struct writer w[],
                       const char to[]);
/*
 * Find seats for k nodes that would join, see policy/seats.h: seat[] (k) has
 * their numbers, and each is kept for the agent of that node, whose READY is
 * told by returned().
 */
enum seats_verdict session_seats(struct session *s,
                                 const char *const name[],
                                 size_t k,
                                 size_t seat[],
                                 size_t *which);
/* That agent will not come; of a seat that had a node before it is nothing. */
void session_seat_free(struct session *s, size_t seat);
/* Give a node up that does not keep to the protocol; lost() follows. */
void session_drop(struct session *s, size_t node);
/*
 * Tell all agents to leave and see that they and the step end: politely
 * within 4 s, then by force.  Runs the event loop; NULL is allowed.
 */
void session_close(struct session *s);

#endif
