/* SPDX-License-Identifier: BSD-2-Clause */
/* Work beside the loop, and things that a few threads do together. */
#include "pmix_bcast/offload.h"
#include "tap.h"

#include <event2/event.h>
#include <stdatomic.h>

#define THINGS 1000u

static atomic_uint done_once[THINGS], calls;
static struct event_base *base;
static int told;

static int do_one(void *arg, uint32_t i)
{
    const uint32_t *bad = arg;

    (void)atomic_fetch_add(&done_once[i], 1);
    (void)atomic_fetch_add(&calls, 1);
    return i == *bad ? 42 : 0;
}

static void test_each(void)
{
    uint32_t bad = UINT32_MAX, wrong = 0;

    is_int(offload_each(THINGS, do_one, &bad), 0, "a thousand things");
    for (uint32_t i = 0; i < THINGS; i++)
        wrong += atomic_load(&done_once[i]) != 1;
    is_int((int)wrong, 0, "each is done once");
    bad = 3;
    is_int(offload_each(THINGS, do_one, &bad), 42, "a failure is told");
    atomic_store(&calls, 0);
    ok(offload_each(0, do_one, &bad) == 0 && atomic_load(&calls) == 0,
       "nothing is done of nothing");
}

static int work(void *arg)
{
    return *(int *)arg + 1;
}

static void ended(void *arg, int result)
{
    (void)arg;
    told = result;
    (void)event_base_loopbreak(base);
}

static void test_aside(void)
{
    int arg = 6;
    struct offload *o;

    base = event_base_new();
    if (!base)
        bail("no loop");
    o = offload_start(base, work, ended, &arg);
    ok(o != NULL, "work begins beside the loop");
    is_int(told, 0, "which hears nothing before it runs");
    (void)event_base_dispatch(base);
    is_int(told, 7, "then what it has returned");
    offload_destroy(o);
    told = 0;
    o = offload_start(base, work, ended, &arg);
    offload_destroy(o);
    (void)event_base_dispatch(base);
    is_int(told, 0, "and nothing of what was given up");
    offload_destroy(NULL);
    event_base_free(base);
}

int main(void)
{
    test_each();
    test_aside();
    return done();
}
