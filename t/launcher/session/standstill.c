/* SPDX-License-Identifier: BSD-2-Clause */
/* Late, or stopped?  Clocks are the test's own. */
#include "launcher/session/standstill.h"
#include "fake_session.h"
#include "pmix_bcast/clock.h"
#include "tap.h"

#include <unistd.h>

#define S INT64_C(1000000000)

static struct session session;
static struct standstill *standstill;
static int64_t now, stopped; /* our clocks, in ns */
static int dropped[SESSION_NODES];

int64_t clock_ns(void)
{
    return now;
}

int64_t clock_stopped_ns(void)
{
    return stopped;
}

double clock_s(void)
{
    return (double)now * 1e-9;
}

void session_drop(struct session *s, size_t node)
{
    (void)s;
    dropped[node]++;
}

static void begin(void)
{
    standstill_destroy(standstill);
    session_make(&session);
    memset(dropped, 0, sizeof dropped);
    now = 1000 * S;
    stopped = 0;
    standstill = standstill_create(&session);
    if (!standstill)
        bail("no memory");
}

/* Its clock says that it was stopped for so long: by how much a deadline of
 * its moves. */
static int64_t answer(size_t node, int64_t ns)
{
    struct writer w = {0};
    int64_t moved;

    write_u64(&w, (uint64_t)ns);
    is_int(
        standstill_message(standstill, node, MSG_CLOCK, w.buf, w.len, &moved),
        1, "CLOCK is taken");
    writer_clear(&w);
    return moved;
}

static void test_alone(void)
{
    begin();
    session.node[3].present = 0;
    is_int(standstill_is_late(standstill, 1), 0,
           "a node that is late is asked first");
    ok(session.sent[0] == 1 && session.sent[1] == 1 && session.sent[2] == 1
           && session.type[1] == MSG_CLOCK,
       "and all others that are there");
    is_int((intmax_t)session.sent[3], 0, "but none that is lost");
    now += 100 * S;
    is_int(standstill_is_late(standstill, 1), 0,
           "while nobody answers it waits");
    is_int((intmax_t)session.sent[1], 1, "nobody is asked twice");
    is_int(answer(0, 0), 0, "another answers");
    now += 5 * S;
    is_int(standstill_is_late(standstill, 1), 0, "ours has 5 s more");
    now += 1;
    is_int(standstill_is_late(standstill, 1), 1, "then it hangs alone");
}

static void test_answers(void)
{
    begin();
    (void)standstill_is_late(standstill, 1);
    now += S;
    (void)answer(1, 0);
    now += S - 1;
    is_int(standstill_is_late(standstill, 1), 1,
           "who answers and still is late may be given up");
    now += 1;
    is_int(standstill_is_late(standstill, 1), 0,
           "after 1 s the answer does not count: it is asked again");
    is_int((intmax_t)session.sent[1], 2, "so are all");
    (void)answer(0, 0);
    now += 6 * S;
    is_int(standstill_is_late(standstill, 1), 1,
           "an answer of before is none to this question");
}

static void test_moves(void)
{
    begin();
    is_int(answer(1, 7 * S), 7 * S, "a node that was stopped: deadlines move");
    is_int(answer(1, 9 * S), 2 * S, "by what is new");
    is_int(answer(1, 9 * S), 0, "once");
    stopped = 3 * S;
    is_int(answer(1, 12 * S), 0, "not by what we were stopped ourselves");
    is_int(answer(2, 2 * S), 0, "nor if that was more");
    stopped += S;
    is_int(answer(1, 15 * S), 2 * S, "but by the rest of it");
    is_int(answer(2, 4 * S), S, "each by its own");
}

static void test_breach(void)
{
    struct writer w = {0};
    int64_t moved = 1;

    begin();
    (void)answer(1, 7 * S);
    is_int(answer(1, 6 * S), 0, "a clock that goes back moves nothing");
    is_int(dropped[1], 1, "its node is given up");
    write_u32(&w, 1);
    is_int(standstill_message(standstill, 2, MSG_CLOCK, w.buf, w.len, &moved),
           1, "CLOCK of another length is taken");
    ok(dropped[2] == 1 && moved == 0, "and its node given up");
    (void)answer(3, -1);
    is_int(dropped[3], 1, "so is one that was stopped for ever");
    is_int(standstill_message(standstill, 0, MSG_DONE, w.buf, w.len, &moved), 0,
           "another message is not taken");
    ok(dropped[0] == 0 && moved == 0, "nor looked at");
    writer_clear(&w);
}

int main(void)
{
    test_alone();
    test_answers();
    test_moves();
    test_breach();
    standstill_destroy(standstill);
    standstill_destroy(NULL);
    return done();
}
