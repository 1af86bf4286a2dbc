/* SPDX-License-Identifier: BSD-2-Clause */
/* What a front end makes of its nodes' energy: counters that vanish in the
 * middle, jump, or need rights; those who have none; and the model's part. */
#include "launcher/session/energy.h"
#include "launcher/session/energy_saved.h"
#define SESSION_NODES 2
#include "fake_session.h"
#include "tap.h"

#include <event2/event.h>
#include <math.h>
#include <unistd.h>

#define S UINT64_C(1000000000)
#define J UINT64_C(1000000)

static struct event_base *base;
static struct session session;
static struct config config;
static struct energy_watch *e;
static char said[4096];

static int take(size_t node, const struct msg_energy *m)
{
    struct writer w = {0};
    int rc;

    msg_write_energy(&w, m);
    rc = energy_message(e, node, MSG_ENERGY, w.buf, w.len);
    writer_clear(&w);
    return rc;
}

static void counted(size_t node, uint64_t ns, uint64_t uj)
{
    const struct msg_energy m = {.source = ENERGY_COUNTED, .ns = ns, .uj = uj};

    if (!take(node, &m))
        bail("a count is not taken");
}

static void cpus(size_t node, uint64_t ns, uint64_t busy_ms, uint64_t idle_ms)
{
    const struct msg_energy m = {.source = ENERGY_CPUS,
                                 .ns = ns,
                                 .busy_ms = busy_ms,
                                 .idle_ms = idle_ms};

    if (!take(node, &m))
        bail("CPU times are not taken");
}

/* What is said on stderr of it stands in said. */
static void ends(size_t node, const char *why)
{
    struct msg_energy m = {.source = ENERGY_NONE};
    FILE *file = tmpfile();
    int before = dup(STDERR_FILENO);
    size_t n;

    if (!file || before < 0 || dup2(fileno(file), STDERR_FILENO) < 0)
        bail("no file");
    snprintf(m.text, sizeof m.text, "%s", why);
    (void)take(node, &m);
    (void)fflush(stderr);
    (void)dup2(before, STDERR_FILENO);
    (void)close(before);
    rewind(file);
    n = fread(said, 1, sizeof said - 1, file);
    said[n] = '\0';
    (void)fclose(file);
}

static int is_local;

static void start(int has_model)
{
    energy_stop(e);
    session_make(&session);
    session.is_local = is_local;
    config = (struct config){.has_energy = has_model};
    config.energy = (struct power){.busy = 10, .idle = 1, .base = 100};
    e = energy_start(base, &session, &config, 1);
    if (!e)
        bail("no memory");
}

static int is_used(size_t node,
                   enum energy_source source,
                   double joules,
                   double seconds)
{
    struct energy_view v = energy_view(e, node);

    return v.source == source && fabs(v.joules - joules) < 1e-6
           && fabs(v.seconds - seconds) < 1e-6;
}

static void test_order(void)
{
    struct msg_energy_order order;

    start(0);
    ok(session.sent[0] == 1 && session.sent[1] == 1
           && session.type[1] == MSG_ENERGY
           && msg_read_energy_order(&order, session.body[1], session.len[1])
                  == 0
           && order.guard == 1 && order.record_ms >= 1000,
       "each node is asked, once a second at most");
    energy_order(e, 1);
    is_int((int)session.sent[1], 2, "one that has come anew is, too");
    ok(!energy_message(e, 0, MSG_ENERGY, (const uint8_t *)"rubbish", 7)
           && !energy_message(e, 0, MSG_POWER, NULL, 0)
           && energy_view(e, 0).source == ENERGY_UNKNOWN,
       "what is no energy is not taken");
}

static void test_local(void)
{
    is_local = 1;
    start(0);
    energy_order(e, 1);
    ok(session.sent[0] == 1 && session.sent[1] == 0,
       "of agents on one machine the first is asked, and counts it once");
    is_local = 0;
}

static void test_counted(void)
{
    struct energy_saved saved[2] = {0};
    double joules;

    start(1);
    cpus(0, 2 * S, 1000, 3000);
    ok(is_used(0, ENERGY_MODELLED, 10 + 3 + 200, 2),
       "until it is counted it is modelled");
    counted(0, 1 * S, 0);
    ok(is_used(0, ENERGY_MEASURED, 0, 1),
       "a count is of all the time, and better");
    counted(0, 3 * S, 500 * J);
    cpus(0, 3 * S, 2000, 4000);
    ok(is_used(0, ENERGY_MEASURED, 500, 3), "nothing is added to it");
    counted(1, 3 * S, 700 * J);
    ok(energy_sum(e).source == ENERGY_MEASURED
           && fabs(energy_sum(e).joules - 1200) < 1e-6
           && fabs(energy_sum(e).seconds - 3) < 1e-6,
       "of both nodes");
    for (size_t i = 0; i < 2; i++)
        energy_saved_look(&saved[i], 1, 0,
                          (struct energy_view){ENERGY_MEASURED, 0, 1});
    for (size_t i = 0; i < 2; i++)
        energy_saved_look(&saved[i], 1, 0, energy_view(e, i));
    counted(0, 5 * S, 700 * J);
    counted(1, 6 * S, 1000 * J);
    for (size_t i = 0; i < 2; i++)
        energy_saved_look(&saved[i], 1, 0, energy_view(e, i));
    for (size_t i = 0; i < 2; i++)
        energy_saved_look(&saved[i], 1, 1, energy_view(e, i));
    ok(!energy_saved_sum(saved, e, &joules), "nothing is saved as yet");
    counted(0, 7 * S, 750 * J);
    ok(energy_saved_sum(saved, e, &joules) && fabs(joules - 150) < 1e-6,
       "what one has saved, while the other is not heard of");
    counted(1, 10 * S, 1300 * J);
    ok(energy_saved_sum(saved, e, &joules) && fabs(joules - 250) < 1e-6,
       "and of both, each by its own seconds");
}

static void test_jumps(void)
{
    start(0);
    counted(0, 1 * S, 100 * J);
    counted(0, 2 * S, 10000000 * J);
    ok(is_used(0, ENERGY_MEASURED, 100, 1),
       "more than a node can use: left out");
    counted(0, 3 * S, 10000100 * J);
    ok(is_used(0, ENERGY_MEASURED, 200, 2), "it goes on from there");
    counted(0, 4 * S, 50 * J);
    ok(is_used(0, ENERGY_MEASURED, 200, 2), "backwards: left out");
    counted(0, 5 * S, 150 * J);
    ok(is_used(0, ENERGY_MEASURED, 300, 3), "and goes on");
    counted(0, 5 * S, 900 * J);
    counted(0, 4 * S, 950 * J);
    ok(is_used(0, ENERGY_MEASURED, 300, 3), "in no time: left out");
}

static void test_vanishes(void)
{
    start(1);
    counted(0, 1 * S, 100 * J);
    cpus(0, 1 * S, 500, 500);
    ends(0,
         "energy: energy_uj: No such file or directory: see that it is there");
    is_str(said,
           "evenstep: warning: n0: energy: energy_uj: No such file or "
           "directory: see that it is there; modelled from here on\n",
           "a counter has vanished: one line says so");
    ok(is_used(0, ENERGY_MEASURED, 100, 1), "what it has counted stays");
    cpus(0, 3 * S, 1500, 1500);
    ok(is_used(0, ENERGY_MODELLED, 100 + 10 + 1 + 200, 3),
       "the model goes on, and is named");
    counted(0, 4 * S, 300 * J);
    ok(is_used(0, ENERGY_MODELLED, 311, 3), "it is not taken back");
    ends(1, "energy: energy_uj: Permission denied: give --evenstep-report");
    is_str(said, "", "one line is enough");
    start(0);
    counted(0, 1 * S, 100 * J);
    ends(0,
         "energy: energy_uj has jumped from 1 to 99: see if it was suspended");
    ok(strstr(said, "; no more is known of it\n") != NULL,
       "without a model it says that, too");
    cpus(0, 9 * S, 1500, 1500);
    ok(is_used(0, ENERGY_MEASURED, 100, 1), "and nothing is made up");
}

static void test_none(void)
{
    start(0);
    cpus(0, 2 * S, 1000, 3000);
    cpus(1, 2 * S, 1000, 3000);
    ok(energy_sum(e).source == ENERGY_UNKNOWN, "no counters and no model");
    ends(1, "energy: energy_uj: Permission denied: give --evenstep-report");
    ok(energy_sum(e).source == ENERGY_UNKNOWN && strstr(said, "n1: energy: "),
       "nor one that may not be read, and that is said");
    counted(0, 2 * S, 30 * J);
    ok(energy_sum(e).source == ENERGY_MEASURED
           && fabs(energy_sum(e).joules - 30) < 1e-6,
       "what is known of the others is told");
}

int main(void)
{
    base = event_base_new();
    if (!base)
        bail("no memory");
    test_order();
    test_local();
    test_counted();
    test_jumps();
    test_vanishes();
    test_none();
    energy_stop(e);
    energy_stop(NULL);
    event_base_free(base);
    return done();
}
