/*
 * fake_session.h - a session of NODES agents that are not there: who is
 * present is the test's to say, and what they are sent is kept for it.
 */
#ifndef FAKE_SESSION_H
#define FAKE_SESSION_H

#include "launcher/session/session.h"
#include "send_to_all.h"

#include <stdio.h>
#include <string.h>

#ifndef SESSION_NODES
#    define SESSION_NODES 4
#endif
#ifndef SESSION_BODY
#    define SESSION_BODY 4096 /* bytes of a message that are kept */
#endif

struct session {
    int is_local; /* as with --local */
    struct node node[SESSION_NODES];
    size_t sent[SESSION_NODES]; /* messages */
    size_t bytes;               /* of their bodies, to all together */
    /* the last one to each, its body cut off where it is long */
    enum protocol_type type[SESSION_NODES];
    uint8_t body[SESSION_NODES][SESSION_BODY];
    size_t len[SESSION_NODES];
};

static inline void session_make(struct session *s)
{
    memset(s, 0, sizeof *s);
    for (int i = 0; i < SESSION_NODES; i++) {
        snprintf(s->node[i].name, sizeof s->node[i].name, "n%d", i);
        s->node[i].present = 1;
    }
}

size_t session_size(const struct session *s)
{
    (void)s;
    return SESSION_NODES;
}

size_t session_start_size(const struct session *s)
{
    (void)s;
    return SESSION_NODES;
}

int session_is_local(const struct session *s)
{
    return s->is_local;
}

int session_has_come(const struct session *s, size_t node)
{
    (void)s, (void)node;
    return 1;
}

int session_is_awaited(const struct session *s, size_t node)
{
    (void)s, (void)node;
    return 0;
}

void session_step_name(const struct session *s, size_t node, char name[64])
{
    (void)s;
    (void)node;
    strcpy(name, "1.0");
}

void session_job(const struct session *s, uint32_t *job, uint32_t *step)
{
    (void)s;
    *job = 1;
    *step = 0;
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
    s->sent[node]++;
    s->bytes += w->len;
    s->type[node] = type;
    s->len[node] = w->len < sizeof s->body[0] ? w->len : sizeof s->body[0];
    if (w->len > 0)
        memcpy(s->body[node], w->buf, s->len[node]);
    writer_clear(w);
}

#endif
