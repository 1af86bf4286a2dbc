/*
 * run_session.h - a session of NODES agents that are not there, which keeps the
 * slices that it is sent, and a distribution on it by the policy static.
 */
#ifndef RUN_SESSION_H
#define RUN_SESSION_H

#include "launcher/run/distribution.h"
#include "launcher/run/job_load_adjuster.h"
#include "launcher/run/slots.h"
#include "policy/kinds.h"
#include "send_to_all.h"
#include "tap.h"

#define NODES 3
#define RUNS  64

struct session {
    struct node node[NODES];
    struct msg_run run[RUNS]; /* in the order of sending */
    size_t to[RUNS], sent;
    char input[100]; /* of all */
    size_t input_len;
    int is_short; /* of memory, so a message may be empty */
};

static double load[2 * NODES] = {50, 30, 20};
static struct job_load_adjuster adjuster = {.load = load, .n = NODES};
static struct session session;
static struct slots slots;
static struct distribution *d;
static struct es_error err;

size_t session_size(const struct session *s)
{
    (void)s;
    return NODES;
}

const struct node *session_node(const struct session *s, size_t node)
{
    return &s->node[node];
}

void session_send(struct session *s,
                  size_t node,
                  enum protocol_type type,
                  struct writer *w)
{
    struct msg_output input;

    if (type == MSG_INPUT && msg_read_output(&input, w->buf, w->len) == 0
        && s->input_len + input.len <= sizeof s->input) {
        memcpy(s->input + s->input_len, input.bytes, input.len);
        s->input_len += input.len;
    } else if (type == MSG_RUN && s->sent < RUNS
               && msg_read_run(&s->run[s->sent], w->buf, w->len) == 0) {
        s->to[s->sent++] = node;
    } else if (!s->is_short) {
        bail("sent what is neither a slice nor its input");
    }
    writer_clear(w);
}

/* All nodes are there, and nothing was sent. */
static inline void make_distribution(uint64_t pieces, uint64_t ahead)
{
    memset(&session, 0, sizeof session);
    for (size_t i = 0; i < NODES; i++) {
        snprintf(session.node[i].name, sizeof session.node[i].name, "n%zu", i);
        session.node[i].present = 1;
    }
    memset(&err, 0, sizeof err);
    adjuster.kind = kinds_find("static");
    d = distribution_create(&session, &slots, 1, pieces, ahead);
    if (!d)
        bail("no memory");
}

/* The node says: the units of its i-th slice, one a line. */
static inline void answer_output(size_t i)
{
    char text[200] = "";
    size_t len = 0;
    struct msg_output m = {.id = session.run[i].id};

    for (uint64_t u = session.run[i].begin; u < session.run[i].end; u++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%ju\n",
                                (uintmax_t)u);
    m.bytes = (const uint8_t *)text;
    m.len = len;
    if (distribution_output(d, session.to[i], &m, &err) < 0)
        bail("output is refused");
}

static inline struct piece *answer_done(size_t i, uint32_t status)
{
    struct msg_done m = {
        .id = session.run[i].id, .status = status, .elapsed_ns = 2500000000u};

    return distribution_done(d, session.to[i], &m, m.status == 0);
}

#endif
