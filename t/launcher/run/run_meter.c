/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Meters of a run's slices, and what is done with them; the session is one of
 * this test, that keeps the pieces and the orders that are sent.
 */
#include "launcher/run/run_meter.h"
#include "launcher/run/job_load_adjuster.h"
#include "policy/kinds.h"
#include "send_to_all.h"
#include "tap.h"

#define NODES 3

struct session {
    struct node node[NODES];
    struct msg_run run[NODES]; /* the first that each was sent */
    struct msg_meter order[NODES];
    unsigned orders;
};

size_t session_size(const struct session *s)
{
    (void)s;
    return NODES;
}

const struct node *session_node(const struct session *s, size_t node)
{
    return &s->node[node];
}

void session_job(const struct session *s, uint32_t *job, uint32_t *step)
{
    (void)s;
    *job = *step = 0;
}

void session_send(struct session *s,
                  size_t node,
                  enum protocol_type type,
                  struct writer *w)
{
    struct msg_run run;

    if (type == MSG_METER
        && msg_read_meter(&s->order[node], w->buf, w->len) == 0)
        s->orders++;
    else if (type == MSG_RUN && msg_read_run(&run, w->buf, w->len) == 0) {
        if (s->run[node].end == 0)
            s->run[node] = run;
    } else
        bail("sent what is neither a piece nor an order");
    writer_clear(w);
}

static double load[NODES] = {40, 40, 20};
static struct job_load_adjuster adjuster = {.load = load, .n = NODES};
static struct session session;
static struct distribution *d;
static struct determination t;
static struct run_meter m;
static struct slots slots;
static struct meter_option option;
static struct config_power power = {
    .actuator = "slice", .bound = 0.0002, .band = 0.005, .gain = 1};
static struct es_error err;

/* A frame of 400 units, in ten pieces a slice, as it was begun 1 s ago. */
static void start(enum outside_kind kind)
{
    struct run_meter_setup setup = {.session = &session,
                                    .determination = &t,
                                    .option = &option,
                                    .config = &power};
    struct frame frame = {.begin = 0, .end = 400};

    memset(&session, 0, sizeof session);
    for (size_t i = 0; i < NODES; i++) {
        snprintf(session.node[i].name, sizeof session.node[i].name, "n%zu", i);
        session.node[i].present = 1;
    }
    option = (struct meter_option){kind, "([0-9]+)%"};
    adjuster.kind = kinds_find("static");
    d = setup.distribution = distribution_create(&session, &slots, 1, 10, 0);
    if (!d || determination_init(&t, NODES) < 0
        || run_meter_start(&m, &setup) < 0)
        bail("no memory");
    distribution_begin(d, &adjuster, NULL);
    if (distribution_send(d, &frame, NULL, 0, &err) < 0)
        bail("cannot send");
    for (size_t i = 0; i < NODES; i++)
        distribution_move(d, i, -1000000000);
}

static void stop(void)
{
    run_meter_stop(&m);
    distribution_destroy(d);
    determination_clear(&t);
}

static int told(size_t node, uint64_t id, double fraction)
{
    struct msg_metered reading = {id, fraction, 0};
    struct writer w = {0};
    int rc;

    msg_write_metered(&w, &reading);
    rc = run_meter_message(&m, node, MSG_METERED, w.buf, w.len);
    writer_clear(&w);
    return rc;
}

static const struct unit_pool *pool(void)
{
    return dispatch_pool(distribution_dispatch(d));
}

static const struct dispatch_node *part_of(size_t node)
{
    return dispatch_node(distribution_dispatch(d), node);
}

static uint64_t units_held(void)
{
    uint64_t units = pool()->units;

    for (size_t i = 0; i < NODES; i++)
        units += part_of(i)->out_units + part_of(i)->waiting.units.end
                 - part_of(i)->waiting.units.begin;
    return units;
}

static void test_orders(void)
{
    start(OUTSIDE_OUTPUT);
    is_int((int)session.orders, NODES, "each agent is told what to look for");
    is_str(session.order[2].pattern, "([0-9]+)%", "the pattern");
    run_meter_order(&m, 1);
    is_int((int)session.orders, NODES + 1, "one that is back, again");
    stop();
    start(OUTSIDE_UNITS);
    is_int((int)session.orders, 0, "pieces are counted here");
    stop();
    start(OUTSIDE_NONE);
    ok(session.orders == 0 && !told(0, session.run[0].id, 0.5)
           && run_meter_look(&m, &err) == 0 && pool()->units == 0,
       "without --meter there is none");
    stop();
}

static void test_view(void)
{
    const struct tail_node *n;

    start(OUTSIDE_OUTPUT);
    n = distribution_tail(d);
    ok(n[0].speed == 0 && n[0].running == 16 && n[0].since >= 1,
       "before a meter tells, nothing is known of the first piece");
    ok(told(0, session.run[0].id, 0.5), "the meter's message is taken");
    n = distribution_tail(d);
    ok(n[0].speed > 7 && n[0].speed <= 8 && n[0].running == 8
           && n[0].since == 0,
       "then it is as fast as it is now, and has so much left");
    (void)told(1, session.run[0].id, 0.5);
    ok(distribution_tail(d)[1].speed == 0, "a piece of another's is nothing");
    stop();
}

static void test_slice(void)
{
    start(OUTSIDE_OUTPUT);
    (void)told(0, session.run[0].id, 0.5);
    (void)told(1, session.run[1].id, 0.5);
    (void)told(2, session.run[2].id, 0.1); /* at 0.8 units a second */
    is_int(run_meter_look(&m, &err), 0, "slices are steered");
    ok(part_of(2)->waiting.units.end < 400
           && part_of(2)->waiting.units.end > 340
           && pool()->units == 400 - part_of(2)->waiting.units.end,
       "the slow node gives units off its end, for who has done its own");
    is_int((int)units_held(), 400, "and every unit is still there once");
    (void)run_meter_look(&m, &err);
    ok(pool()->n == 1, "no more before these are taken");
    stop();
    strcpy(power.actuator, "cgroup");
    start(OUTSIDE_OUTPUT);
    for (size_t i = 0; i < NODES; i++)
        (void)told(i, session.run[i].id, i == 2 ? 0.1 : 0.5);
    (void)run_meter_look(&m, &err);
    ok(pool()->units == 0, "with another actuator slices stay as they are");
    stop();
}

int main(void)
{
    if (slots_init(&slots, NODES, NULL) < 0)
        bail("no memory");
    test_orders();
    test_view();
    test_slice();
    slots_clear(&slots);
    return done();
}
