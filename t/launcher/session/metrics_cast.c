/* SPDX-License-Identifier: BSD-2-Clause */
/* What the front end queues so that all nodes know what was measured. */
#define SESSION_NODES 2048
#define SESSION_BODY  512
#include "launcher/session/metrics_cast.h"

#include "fake_session.h"
#include "tap.h"

#include <event2/event.h>

static struct session session;
static struct secret secret;
static struct qualification q;
static struct metrics_cast cast;
static struct event_base *base;
static struct es_error err;
static int over;

const struct secret *session_secret(const struct session *s)
{
    (void)s;
    return &secret;
}

struct port_range session_ports(const struct session *s)
{
    (void)s;
    return (struct port_range){0, 0};
}

struct listen_at session_listen_at(const struct session *s)
{
    (void)s;
    return (struct listen_at){0};
}

void session_drop(struct session *s, size_t node)
{
    s->node[node].present = 0;
}

static void on_ended(void *arg)
{
    (void)arg;
    over = 1;
}

static void start(void)
{
    static const struct config_profile profile = {"cpu", {{1}}, {0}, ""};
    static const struct qualification_setup setup = {.source = METRICS_EQUAL,
                                                     .profile = &profile};
    static const struct config_bcast config = {.small = 4096, .strict = 1};

    session_make(&session);
    base = event_base_new();
    if (!base || qualification_start(&q, &session, &setup, &err) < 0
        || metrics_cast_start(&cast, base, &q, &config, "1.0", on_ended, NULL,
                              &err)
               < 0)
        bail("%s: %s", err.what, err.mend);
}

static uint32_t id, shape; /* of the broadcast */

static void take_order(void)
{
    struct bcast_order order;

    if (bcast_read_order(&order, session.body[0], session.len[0]) < 0)
        bail("the order is none");
    id = order.id;
    shape = order.plan.shape;
}

static void answer(size_t node, uint32_t error)
{
    struct bcast_done told = {.id = id, .error = error};
    struct writer w = {0};

    bcast_write_done(&w, &told);
    if (!broadcast_message(&cast.broadcast, node, MSG_BCAST + BCAST_DONE, w.buf,
                           w.len))
        bail("nobody hears of it");
    writer_clear(&w);
}

static void test_queue(void)
{
    char *text = qualification_text(&q);
    size_t len = strlen(text), orders = 0;

    for (size_t i = 0; i < SESSION_NODES; i++)
        orders +=
            session.sent[i] == 1 && session.type[i] == MSG_BCAST + BCAST_ORDER;
    ok(orders == SESSION_NODES, "every node gets one order");
    ok(len > 60 * SESSION_NODES && session.bytes < 512u * SESSION_NODES,
       "of a file of %zu bytes %zu are queued for %u nodes, not %zu", len,
       session.bytes, SESSION_NODES, len * SESSION_NODES);
    free(text);
}

static void test_end(void)
{
    take_order();
    ok(shape == PLAN_BRANCHES, "it is brought by the site's scheme");
    for (size_t i = 0; i < SESSION_NODES - 1; i++)
        answer(i, i == 7 ? 28 : 0);
    ok(!over, "the last node is waited for");
    broadcast_lost(&cast.broadcast, SESSION_NODES - 1, "its link is cut");
    ok(over, "unless it is lost");
    ok(broadcast_check(&cast.broadcast, &err) < 0
           && strstr(err.what, "2 of 2048 nodes have not got the file"),
       "who has not got it is told");
}

int main(void)
{
    start();
    test_queue();
    test_end();
    metrics_cast_stop(&cast);
    qualification_clear(&q);
    event_base_free(base);
    return done();
}
