/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/ring_keep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void ask(struct session *session,
                size_t node,
                const char *cache,
                const struct probe_result *r)
{
    struct msg_keep_ring m = {.value = r->value, .spread = r->spread};
    struct writer w = {0};

    (void)snprintf(m.cache, sizeof m.cache, "%s", cache);
    (void)snprintf(m.what, sizeof m.what, "%s", r->what);
    msg_write_keep_ring(&w, &m);
    session_send(session, node, MSG_KEEP_RING, &w);
}

int ring_keep_start(struct ring_keep *k, const struct qualification *q)
{
    memset(k, 0, sizeof *k);
    k->session = q->session;
    k->n = q->n;
    k->answered = calloc(q->n, 1);
    if (!k->answered)
        return -1;
    for (size_t i = 0; i < q->n; i++) {
        const struct probe_result *r = &q->result[i][ELEMENT_I];

        k->answered[i] = !session_node(q->session, i)->present
                         || r->state != PROBE_MEASURED || !r->between;
        if (k->answered[i])
            continue;
        k->missing++;
        ask(q->session, i, q->setup->probe->cache, r);
    }
    return 0;
}

void ring_keep_clear(struct ring_keep *k)
{
    free(k->answered);
    memset(k, 0, sizeof *k);
}

static void count_kept(struct ring_keep *k, size_t node, const char *why)
{
    if (k->missing == 0 || k->answered[node])
        return;
    k->answered[node] = 1;
    k->missing--;
    if (*why && k->failed++ == 0) {
        k->first = node;
        (void)snprintf(k->why, sizeof k->why, "%s", why);
    }
}

int ring_keep_message(struct ring_keep *k,
                      size_t node,
                      uint16_t type,
                      const uint8_t *body,
                      size_t len)
{
    char why[TEXT_MAX];

    if (type != MSG_KEPT)
        return 0;
    count_kept(k, node,
               msg_read_comment(why, body, len) < 0
                   ? "its agent does not speak evenstep's protocol"
                   : why);
    return 1;
}

void ring_keep_lost(struct ring_keep *k, size_t node)
{
    count_kept(k, node, "it was lost");
}

int ring_keep_result(const struct ring_keep *k, struct es_error *err)
{
    char more[40] = "";

    if (k->failed == 0)
        return 0;
    if (k->failed > 1)
        (void)snprintf(more, sizeof more, ", nor on %zu more", k->failed - 1);
    return es_fail(err, ES_ENV,
                   "free some space, or give another probe { cache }",
                   "what the links carried is not kept on %s%s: %s",
                   session_node(k->session, k->first)->name, more, k->why);
}
