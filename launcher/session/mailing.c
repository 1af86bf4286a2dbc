/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/mailing.h"

#include <stdlib.h>
#include <string.h>

void mailing_begin(struct mailing *m,
                   struct session *session,
                   enum protocol_type type,
                   size_t few)
{
    *m = (struct mailing){.session = session,
                          .type = type,
                          .few = few,
                          .n = session_size(session)};
    m->w = calloc(m->n, sizeof *m->w);
    m->to = calloc(m->n, 1);
    m->node = calloc(m->n, sizeof *m->node);
    if (m->w && m->to && m->node)
        return;
    free(m->w);
    m->w = NULL;
}

void mailing_add(struct mailing *m, size_t node, struct writer *w)
{
    if (!m->w) {
        session_send(m->session, node, m->type, w);
        return;
    }
    if (m->to[node])
        mailing_send(m);
    m->w[node] = *w;
    m->to[node] = 1;
    m->node[m->count++] = node;
    *w = (struct writer){0};
}

void mailing_send(struct mailing *m)
{
    if (m->count > m->few)
        session_send_each(m->session, m->type, m->w, m->to);
    else
        for (size_t i = 0; i < m->count; i++)
            session_send(m->session, m->node[i], m->type, &m->w[m->node[i]]);
    for (size_t i = 0; i < m->count; i++)
        m->to[m->node[i]] = 0;
    m->count = 0;
}

void mailing_clear(struct mailing *m)
{
    for (size_t i = 0; i < m->count; i++)
        writer_clear(&m->w[m->node[i]]);
    free(m->w);
    free(m->to);
    free(m->node);
    *m = (struct mailing){0};
}
