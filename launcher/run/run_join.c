/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_join.h"
#include "launcher/base/notice.h"
#include "launcher/run/run_early.h"
#include "launcher/run/run_known.h"
#include "launcher/run/run_slots.h"

#include <stdlib.h>

int run_join_is_seat(const struct run *r, size_t node)
{
    return node >= session_start_size(r->front.session);
}

/* --- taken in --------------------------------------------------------------- */

/* It knows nothing; with new it is one of whose speed only its metrics tell. */
static int take(struct run *r, size_t node, int is_new)
{
    int rc = run_slots_join(r, node);

    if (rc == 0)
        rc = is_new ? distribution_joined(r->distribution, node, r->err)
                    : distribution_returned(r->distribution, node, r->err);
    if (rc == 0)
        run_slots_threads(r, node);
    return rc;
}

/* Tasks are all in one frame, mostly: what is left of it is for them, too. */
static int may_come_in_frame(const struct run *r)
{
    return r->o->each && distribution_open(r->distribution) > 0;
}

void run_join_measured(struct run *r, size_t node)
{
    int rc = run_early_measured(r, node);

    if (rc > 0)
        return;
    if (rc == 0 && run_join_is_seat(r, node)) {
        r->join.stage[node] = JOIN_WAITS;
        r->join.waiting = 1;
        if (may_come_in_frame(r) && run_join_take_in(r) < 0)
            run_finish(r, 1);
    } else if (rc < 0 || take(r, node, 0) < 0) {
        run_finish(r, 1);
    }
}

int run_join_lost(struct run *r, size_t node)
{
    int leaves = r->join.stage && r->join.stage[node] == JOIN_LEAVES;

    if (r->join.stage)
        r->join.stage[node] = JOIN_NOTHING;
    return leaves;
}

int run_join_take_in(struct run *r)
{
    size_t n = r->join.waiting ? session_size(r->front.session) : 0;

    r->join.waiting = 0;
    for (size_t i = 0; i < n; i++) {
        if (r->join.stage[i] != JOIN_WAITS)
            continue;
        r->join.stage[i] = JOIN_NOTHING;
        notice("%s has joined", session_node(r->front.session, i)->name);
        run_known_put(r, i);
        if (take(r, i, 1) < 0)
            return -1;
    }
    return 0;
}

/* --- the door --------------------------------------------------------------- */

/* Who brought the node takes it away. */
static void on_leaves(void *arg, size_t node)
{
    struct run *r = arg;
    struct writer nothing = {0};

    r->join.stage[node] = JOIN_LEAVES;
    session_send(r->front.session, node, MSG_LEAVE, &nothing);
}

int run_join_open(struct run *r)
{
    const struct join_door_setup setup = {.base = r->front.base,
                                          .session = r->front.session,
                                          .energy = run_wants_energy(r),
                                          .leaves = on_leaves,
                                          .arg = r};

    if (r->o->joinable == 0)
        return 0;
    r->join.stage = calloc(session_size(r->front.session), 1);
    if (!r->join.stage)
        return es_no_memory(r->err);
    if (join_door_open(&r->join.door, &setup, r->err) < 0)
        return -1;
    notice("nodes may join: evenstep join %s", join_door_run(r->join.door));
    return 0;
}

void run_join_end(struct run *r)
{
    join_door_end(r->join.door);
}

void run_join_clear(struct run *r)
{
    join_door_destroy(r->join.door);
    free(r->join.stage);
    r->join.door = NULL;
    r->join.stage = NULL;
}
