/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/agent.h"
#include "launcher/agent/conversation.h"
#include "launcher/agent/front_link.h"
#include "launcher/base/awake.h"
#include "launcher/base/file_limit.h"
#include "launcher/base/signals.h"
#include "launcher/base/step_dir.h"
#include "launcher/exec/throttle.h"

#include <event2/event.h>
#include <unistd.h>

/* A wire-up that takes longer has hung; the front end gives up after 30 s. */
#define INIT_S       20 /* in PMIx_Init, which takes some ms on its node */
#define WIRE_UP_S    40
#define WIRE_UP_EACH 10 /* agents for a second more: one machine, maybe */

struct agent {
    const struct agent_setup *setup;
    struct event_base *base;
    struct peers peers;
    struct conversation *conversation;
    struct throttle *throttle;
    struct signals signals;
    struct awake *awake;
};

static int start_agent(struct agent *a, struct es_error *err)
{
    a->base = event_base_new();
    if (!a->base)
        return es_no_memory(err);
    file_limit_raise(); /* a connection a node, and commands' pipes */
    /* Until the fence is through a signal just ends us: there is nothing to
     * clean up, and PMIx may block for ever. */
    (void)alarm(INIT_S);
    a->conversation = conversation_create(a->base, a->setup, &a->peers);
    if (!a->conversation)
        return es_no_memory(err);
    return peers_open(&a->peers, a->base, a->setup, &conversation_tree_events,
                      a->conversation, err);
}

static int run_loop(struct agent *a, struct es_error *err)
{
    return event_base_dispatch(a->base) < 0
               ? es_fail(err, ES_ENV, "report this", "the event loop failed")
               : 0;
}

/* --- wire-up -------------------------------------------------------------- */

/* Run the loop until all agents are here.  A node that calls the others before
 * would be slow to be heard: see wireup.h. */
static int await_all(struct agent *a, struct es_error *err)
{
    const struct front_link *front = conversation_front(a->conversation);

    if (conversation_call(a->conversation, err) < 0)
        return -1;
    (void)alarm(0); /* the front end knows how long to wait */
    if (run_loop(a, err) < 0)
        return -1;
    (void)alarm(WIRE_UP_S + a->peers.wireup.size / WIRE_UP_EACH);
    if (front_link_is_up(front))
        return 0;
    return front_link_fail(front,
                           "let the compute nodes reach the host of srun at "
                           "the ports of SrunPortRange",
                           err);
}

static int wire_up(struct agent *a, struct es_error *err)
{
    if (await_all(a, err) < 0)
        return -1;
    return conversation_is_leaving(a->conversation)
               ? 0
               : peers_exchange(&a->peers, err);
}

/* --- work ----------------------------------------------------------------- */

static void on_signal(void *arg, int number)
{
    const struct agent *a = arg;

    conversation_end(a->conversation, number);
}

/* What we need for work. */
static int open_for_work(struct agent *a, struct es_error *err)
{
    char group[STEP_NAME_MAX];

    step_dir_local_name(group, (int)getppid(), a->setup->node);
    if (signals_catch(&a->signals, a->base, on_signal, a) < 0)
        return es_no_memory(err);
    if (a->setup->speed_pct > 0
        && throttle_open(&a->throttle, a->base, a->setup->speed_pct, group,
                         THROTTLE_ANY, err)
               < 0)
        return -1;
    return conversation_begin_work(a->conversation, a->throttle, err);
}

/* Run it until we leave; the clock is told when this machine was stopped. */
static int run_awake(struct agent *a, struct es_error *err)
{
    a->awake = awake_start(a->base, conversation_tell_clock, a->conversation);
    return run_loop(a, err);
}

static int serve_front_end(struct agent *a, struct es_error *err)
{
    if (open_for_work(a, err) < 0)
        return -1;
    conversation_ready(a->conversation);
    return run_awake(a, err);
}

/* There is nobody to wire up with: to the front end we are one that was lost
 * and calls again. */
static int serve_joined(struct agent *a, struct es_error *err)
{
    const struct front_link *front;

    if (open_for_work(a, err) < 0 || conversation_call(a->conversation, err) < 0
        || run_awake(a, err) < 0)
        return -1;
    front = conversation_front(a->conversation);
    if (front_link_was_open(front))
        return 0;
    return front_link_fail(
        front, "let the compute nodes reach the host of the run", err);
}

/* --- all of it ------------------------------------------------------------ */

static void stop_agent(struct agent *a)
{
    conversation_destroy(a->conversation);
    peers_close(&a->peers);
    throttle_close(a->throttle);
    awake_stop(a->awake);
    signals_release(&a->signals);
    if (a->base)
        event_base_free(a->base);
}

int agent_serve(const struct agent_setup *setup, struct es_error *err)
{
    struct agent a = {.setup = setup};
    int rc = start_agent(&a, err);

    if (rc == 0 && !setup->joins)
        rc = wire_up(&a, err);
    (void)alarm(0);
    if (rc == 0 && setup->joins)
        rc = serve_joined(&a, err);
    else if (rc == 0 && !conversation_is_leaving(a.conversation))
        rc = serve_front_end(&a, err);
    stop_agent(&a);
    return rc;
}
