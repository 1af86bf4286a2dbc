/* SPDX-License-Identifier: BSD-2-Clause */
/* Who of a start's agents has called. */
#include "launcher/wire/roll.h"
#include "fault.h"
#include "tap.h"

static struct msg_here here(uint32_t rank, uint32_t agents)
{
    struct msg_here m = {.rank = rank, .agents = agents};

    snprintf(m.endpoint.node, sizeof m.endpoint.node, "n%u", rank);
    snprintf(m.endpoint.address, sizeof m.endpoint.address, "10.0.0.1");
    m.endpoint.port = (uint16_t)(4000 + rank);
    return m;
}

static int call(struct roll *r, uint32_t rank, uint32_t agents)
{
    struct msg_here m = here(rank, agents);

    return roll_call(r, &m);
}

static void test_memory(void)
{
    struct roll r = {0};
    int rc;

    fault_at = 0;
    rc = call(&r, 0, 2);
    fault_at = -1;
    ok(rc == -1 && r.n == 0 && r.called == 0, "without memory nobody is here");
    is_int(call(&r, 0, 2), 0, "with it, somebody is");
    roll_clear(&r);
}

int main(void)
{
    struct roll r = {0};

    ok(!roll_is_complete(&r), "nobody has called: that is not all");
    ok(call(&r, 2, 3) == 0 && call(&r, 0, 3) == 0 && !roll_is_complete(&r),
       "two of three have");
    is_int(call(&r, 2, 3), -1, "a rank calls once");
    is_int(call(&r, 1, 4), -1, "all say the same number");
    roll_lost(&r, 2);
    roll_lost(&r, 2);
    roll_lost(&r, 7);
    is_int(r.called, 1, "one that is lost is so once, and nobody else is");
    ok(call(&r, 1, 3) == 0 && call(&r, 2, 3) == 0 && roll_is_complete(&r),
       "it may call again, and then all have");
    is_int(call(&r, 1, 3), -1, "then nobody else is expected");
    is_str(r.agent[2].node, "n2", "each is known by its rank");
    for (uint32_t i = 0; i < 3; i++)
        roll_lost(&r, i);
    ok(call(&r, 4, 5) == 0 && r.n == 5,
       "when all are lost, others may come in their place");
    roll_clear(&r);
    ok(!r.agent && r.n == 0, "and nothing is kept");
    test_memory();
    return done();
}
