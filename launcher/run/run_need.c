/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_need.h"
#include "launcher/base/notice.h"

#include <stdlib.h>

/* A disk that is too full to be measured tells its room all the same. */
static int is_known(const struct probe_result *p)
{
    return p->state == PROBE_MEASURED || p->capacity_bytes > 0;
}

/* The first element of which a node has too little, or ELEMENTS. */
static enum element find_short(const struct run *r, size_t node)
{
    enum element e = 0;

    for (; e < ELEMENTS; e++) {
        const struct probe_result *p = &r->qualification.result[node][e];

        if (is_known(p) && (double)p->capacity_bytes < r->profile.need[e])
            break;
    }
    return e;
}

static void say_short(const struct run *r, size_t node, enum element e)
{
    const struct probe_result *p = &r->qualification.result[node][e];

    notice("%s has %.1f GB of %s, and the profile %s needs %.1f GB: it gets "
           "nothing",
           session_node(r->front.session, node)->name,
           (double)p->capacity_bytes / 1e9, probe_name(p, e), r->profile.name,
           r->profile.need[e] / 1e9);
}

/* each: room for one a node. */
static int take_slots(struct run *r, uint32_t each[])
{
    size_t n = r->slots.nodes, left = 0;
    int taken = 0;

    for (size_t i = 0; i < n; i++) {
        enum element e = find_short(r, i);

        each[i] = (uint32_t)slots_of(&r->slots, i);
        if (e < ELEMENTS && each[i] > 0
            && !session_is_vacant(r->front.session, i)) {
            say_short(r, i, e);
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
