/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * send_to_all.h - for tests with a session of their own: what goes to all of its
 * nodes, one after the other.
 */
#ifndef SEND_TO_ALL_H
#define SEND_TO_ALL_H

#include "launcher/session/session.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

void session_send_all(struct session *s,
                      enum protocol_type type,
                      struct writer *w)
{
    for (size_t i = 0; i < session_size(s); i++) {
        struct writer out = {.bad = w->bad, .len = w->len, .cap = w->len};

        if (w->len > 0 && !w->bad) {
            out.buf = malloc(w->len);
            if (!out.buf)
                bail("no memory");
            memcpy(out.buf, w->buf, w->len);
        }
        if (session_node(s, i)->present)
            session_send(s, i, type, &out);
        writer_clear(&out);
    }
    writer_clear(w);
}

void session_send_each(struct session *s,
                       enum protocol_type type,
                       struct writer w[],
                       const char to[])
{
    for (size_t i = 0; i < session_size(s); i++) {
        if (session_node(s, i)->present && (!to || to[i]))
            session_send(s, i, type, &w[i]);
        writer_clear(&w[i]);
    }
}

#endif
