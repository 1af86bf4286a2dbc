/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_need.h"
#include "launcher/session/qualification_rank.h"

#include <stdlib.h>

/* each: room for one a node. */
static int take_slots(struct run *r, uint32_t each[])
{
    size_t n = r->slots.nodes, left = 0;
    int taken = 0;

    for (size_t i = 0; i < n; i++) {
        each[i] = (uint32_t)slots_of(&r->slots, i);
        if (each[i] > 0 && !session_is_vacant(r->front.session, i)
            && qualification_lacks(&r->qualification, i)) {
            each[i] = 0;
            taken = 1;
        }
        left += each[i];
    }
    if (left == 0)
        return es_fail(
            r->err, ES_ENV, "give nodes that have it, or another --profile",
            "no node has what the profile %s needs", r->profile.name);
    if (!taken)
        return 0;
    slots_clear(&r->slots);
    return slots_init(&r->slots, n, each) < 0 ? es_no_memory(r->err) : 0;
}

int run_need_check(struct run *r)
{
    uint32_t *each = calloc(r->slots.nodes, sizeof *each);
    int rc = each ? take_slots(r, each) : es_no_memory(r->err);

    free(each);
    return rc;
}
