/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/standstill.h"
#include "launcher/base/notice.h"
#include "pmix_bcast/clock.h"

#include <stdlib.h>

/* From the first answer to that of the last: Slurm starts the nodes of a job
 * one after the other. */
#define ALONE_NS INT64_C(5000000000)
#define FRESH_NS INT64_C(1000000000) /* an answer counts for so long */

struct standstill {
    struct session *session;
    int64_t asked_ns;  /* of all nodes; 0: no question is open */
    int64_t answer_ns; /* the first to it; 0: none yet */
    int told;          /* that nobody answers */
    struct stopped {
        int64_t ns;       /* by its clock */
        int64_t own_ns;   /* and we by ours, then */
        int64_t heard_ns; /* its last answer; 0: none */
    } node[];
};

struct standstill *standstill_create(struct session *session)
{
    size_t n = session_size(session);
    struct standstill *s = calloc(1, sizeof *s + n * sizeof s->node[0]);

    if (!s)
        return NULL;
    s->session = session;
    for (size_t i = 0; i < n; i++)
        s->node[i].own_ns = clock_stopped_ns();
    return s;
}

void standstill_destroy(struct standstill *s)
{
    free(s);
}

/* All of them: an answer of another tells that ours hangs alone.  One by one, and
 * not down their tree as other orders: it is this very connection that is asked
 * about, and it is asked only when a node is late. */
static void ask_clocks(struct standstill *s, int64_t now)
{
    for (size_t i = 0; i < session_size(s->session); i++) {
        struct writer w = {0};

        if (session_node(s->session, i)->present)
            session_send(s->session, i, MSG_CLOCK, &w);
    }
    s->asked_ns = now;
    s->answer_ns = 0;
    s->told = 0;
}

int standstill_is_late(struct standstill *s, size_t node)
{
    int64_t now = clock_ns(), heard = s->node[node].heard_ns;

    if (heard > 0 && now - heard < FRESH_NS)
        return 1;
    if (s->asked_ns == 0 || heard >= s->asked_ns) {
        ask_clocks(s, now);
        return 0;
    }
    if (s->answer_ns > 0)
        return now - s->answer_ns > ALONE_NS;
    if (!s->told && now - s->asked_ns > ALONE_NS) {
        notice("no node answers, but all are there: the job is suspended, and "
               "waited for");
        s->told = 1;
    }
    return 0;
}

int standstill_message(struct standstill *s,
                       size_t node,
                       uint16_t type,
                       const uint8_t *body,
                       size_t len,
                       int64_t *moved_ns)
{
    int64_t now = clock_ns(), own = clock_stopped_ns();
    struct stopped *n = &s->node[node];
    uint64_t ns;

    *moved_ns = 0;
    if (type != MSG_CLOCK)
        return 0;
    if (msg_read_u64(&ns, body, len) < 0 || ns > INT64_MAX
        || (int64_t)ns < n->ns) {
        session_drop(s->session, node);
        return 1;
    }
    if ((int64_t)ns - n->ns > own - n->own_ns)
        *moved_ns = (int64_t)ns - n->ns - (own - n->own_ns);
    *n = (struct stopped){(int64_t)ns, own, now};
    if (s->asked_ns > 0 && s->answer_ns == 0)
        s->answer_ns = now;
    return 1;
}
