/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/qualification.h"
#include "launcher/notice.h"

#include <stdlib.h>
#include <string.h>

int qualification_start(struct qualification *q,
                        struct session *session,
                        int budget_ms,
                        int equal)
{
    memset(q, 0, sizeof *q);
    q->session = session;
    q->n = session_size(session);
    q->measured = calloc(q->n, sizeof *q->measured);
    q->answered = calloc(q->n, 1);
    if (!q->measured || !q->answered) {
        qualification_clear(q);
        return -1;
    }
    if (!equal)
        q->missing = q->n;
    for (size_t i = 0; i < q->n; i++) {
        struct writer w = {0};

        if (equal) {
            q->measured[i][ELEMENT_C] = 1;
            continue;
        }
        write_u32(&w, (uint32_t)budget_ms);
        session_send(session, i, MSG_PROBE, &w);
    }
    return 0;
}

void qualification_clear(struct qualification *q)
{
    free(q->measured);
    free(q->answered);
    memset(q, 0, sizeof *q);
}

static void count(struct qualification *q, size_t node)
{
    if (q->missing == 0 || q->answered[node])
        return;
    q->answered[node] = 1;
    q->missing--;
}

void qualification_answer(struct qualification *q,
                          size_t node,
                          const uint8_t *body,
                          size_t len)
{
    struct msg_probed m;

    if (msg_read_probed(&m, body, len) == 0 && m.units_per_s > 0)
        q->measured[node][ELEMENT_C] = m.units_per_s;
    else
        notice("warning: %s could not be measured%s%s: it gets no slice",
               session_node(q->session, node)->name, m.text[0] ? ": " : "",
               m.text);
    count(q, node);
}

void qualification_lost(struct qualification *q, size_t node)
{
    count(q, node);
}

void qualification_again(struct qualification *q, size_t node, int budget_ms)
{
    struct writer w = {0};

    memset(q->measured[node], 0, sizeof q->measured[node]);
    write_u32(&w, (uint32_t)budget_ms);
    session_send(q->session, node, MSG_PROBE, &w);
}
