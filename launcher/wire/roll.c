/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/wire/roll.h"

#include <stdlib.h>
#include <string.h>

int roll_call(struct roll *r, const struct msg_here *m)
{
    if (r->called == 0)
        roll_clear(r); /* agents of another start may give another number */
    if (!r->agent) {
        r->agent = calloc(m->agents, sizeof *r->agent);
        r->n = r->agent ? m->agents : 0;
    }
    if (m->agents != r->n || m->rank >= r->n || r->agent[m->rank].port > 0)
        return -1;
    r->agent[m->rank] = m->endpoint;
    r->called++;
    return 0;
}

void roll_lost(struct roll *r, uint32_t rank)
{
    if (rank >= r->n || r->agent[rank].port == 0)
        return;
    r->agent[rank].port = 0;
    r->called--;
}

int roll_is_complete(const struct roll *r)
{
    return r->n > 0 && r->called == r->n;
}

void roll_clear(struct roll *r)
{
    free(r->agent);
    memset(r, 0, sizeof *r);
}
