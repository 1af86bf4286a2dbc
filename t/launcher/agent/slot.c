/* SPDX-License-Identifier: BSD-2-Clause */
/* A slot with real commands and programs; the front end is this test. */
#include "launcher/agent/slot.h"
#include "fault.h"
#include "loop.h"
#include "tap.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

static struct slot_common common;
static struct slot *slot;
static struct {
    int done, over, output; /* messages */
    struct msg_done last;   /* of the slice that was done last */
    uint32_t status;        /* of OVER */
    int gone, ended;        /* events */
} got;

static void on_send(void *arg, enum protocol_type type, struct writer *w)
{
    struct msg_over over;

    (void)arg;
    got.output += type == MSG_OUTPUT;
    got.done +=
        type == MSG_DONE && msg_read_done(&got.last, w->buf, w->len) == 0;
    if (type == MSG_OVER && msg_read_over(&over, w->buf, w->len) == 0) {
        got.over++;
        got.status = over.error;
    }
    got.last.err = NULL; /* it goes with the message */
    writer_clear(w);
}

static void on_gone(void *arg)
{
    (void)arg;
    got.gone++;
}

static void on_ended(void *arg)
{
    (void)arg;
    got.ended++;
}

/* A slot whose slices a script does. */
static void begin(const char *script)
{
    static char sh[] = "/bin/sh", c[] = "-c", text[200];
    static char *argv[] = {sh, c, text, NULL};

    snprintf(text, sizeof text, "%s", script);
    memset(&got, 0, sizeof got);
    memset(&common, 0, sizeof common);
    common.base = base;
    common.node = "n0";
    common.environ = environ;
    common.command.argv = argv;
    common.send = on_send;
    common.gone = on_gone;
    common.ended = on_ended;
    slot = slot_create(&common, 0, NULL);
    if (!slot)
        bail("no memory");
}

static void give(uint64_t id)
{
    const struct msg_run run = {.id = id, .begin = id, .end = id + 1};

    if (slot_give(slot, &run, 0) < 0)
        bail("no memory");
    slot_start(slot);
}

static int reached(const int *count, int n)
{
    until(*count >= n);
    return *count == n;
}

/* --- commands ------------------------------------------------------------- */

static void test_order(void)
{
    begin("echo $EVENSTEP_BEGIN; exit $EVENSTEP_BEGIN");
    common.paused = 1;
    give(1);
    give(2);
    give(3);
    ok(slot_load(slot) == 3 && !slot_is_busy(slot) && common.running == 0,
       "while it is paused slices wait");
    slot_cancel(slot, 2);
    is_int((intmax_t)slot_load(slot), 2, "one that is cancelled does not");
    common.paused = 0;
    slot_start(slot);
    ok(slot_load(slot) == 2 && slot_is_busy(slot) && common.running == 1,
       "then one at a time is done");
    ok(reached(&got.done, 1) && got.last.id == 1 && got.last.status == 1,
       "the first");
    ok(reached(&got.ended, 1) && got.done == 2 && got.last.id == 3
           && got.last.status == 3 && got.output == 2 && got.gone == 2,
       "then the next, until none is left");
    ok(slot_load(slot) == 0 && !slot_is_busy(slot) && common.running == 0,
       "and nothing runs");
    slot_destroy(slot);
}

static void test_stop(void)
{
    begin("echo; exec sleep 100");
    give(1);
    give(2);
    ok(reached(&got.output, 1), "what is told to end");
    slot_stop(slot);
    ok(slot_is_busy(slot) && slot_load(slot) == 1,
       "is waited for, and the others are forgotten");
    ok(reached(&got.ended, 1) && got.done == 0 && common.running == 0
           && !slot_is_busy(slot),
       "and nothing is said of it");
    give(3);
    give(4);
    slot_cancel(slot, 3);
    ok(reached(&got.output, 2) && got.gone == 2 && got.done == 0,
       "nor of one that is cancelled, after which the next is done");
    slot_destroy(slot);
    is_int((intmax_t)common.running, 0, "nothing outlives its slot");
}

static void test_no_more_tasks(void)
{
    begin("exit 0");
    common.command.kind = COMMAND_TASKS;
    common.paused = 1;
    give(1);
    give(2);
    slot_finish(slot);
    ok(slot_load(slot) == 0 && got.done == 2 && got.last.id == 2
           && got.last.status == 143 && got.over == 0,
       "tasks that wait are said not to have been done");
    slot_destroy(slot);
}

static void test_unknown(void)
{
    begin("exit 0");
    common.command.argv = NULL;
    give(5);
    ok(got.done == 1 && got.last.id == 5 && got.last.status == 126
           && common.running == 0,
       "a slice before its command has failed");
    slot_destroy(slot);
}

/* --- a program ------------------------------------------------------------ */

static void test_program(void)
{
    begin("exit 7");
    common.command.kind = COMMAND_PERSISTENT;
    slot_start(slot);
    is_int((intmax_t)common.running, 0,
           "a program is not started while the nodes are measured");
    common.measured = (struct msg_measured){.rank = 0, .ranks = 1};
    slot_start(slot);
    is_int((intmax_t)common.running, 1, "then it is");
    ok(reached(&got.ended, 1) && got.over == 1 && got.status == 7
           && got.done == 0 && common.running == 0,
       "that it has ended is said");
    slot_start(slot);
    is_int((intmax_t)common.running, 0, "it is not started again for nothing");
    give(1);
    is_int((intmax_t)common.running, 1, "but for a slice it is");
    ok(slot_load(slot) == 1 && reached(&got.ended, 2) && got.done == 1
           && got.last.id == 1 && got.last.status == 7 && got.over == 1,
       "which it has not done when it ends");
    slot_finish(slot);
    ok(got.over == 2 && got.status == 0,
       "of one that has ended the end of all slices is its own");
    slot_destroy(slot);
}

static void test_program_stop(void)
{
    begin("exec sleep 100");
    common.command.kind = COMMAND_PERSISTENT;
    give(1);
    give(2);
    ok(slot_load(slot) == 2 && !slot_is_busy(slot), "one slice waits");
    slot_stop(slot);
    ok(slot_is_busy(slot), "a program that is told to end is waited for");
    give(3);
    ok(reached(&got.gone, 1) && common.running == 1 && slot_load(slot) == 1
           && got.done == 0 && got.ended == 0,
       "what comes meanwhile is done by the next one");
    slot_destroy(slot);
}

/* --- memory --------------------------------------------------------------- */

static void test_memory(void)
{
    long n = 0;

    begin("exit 0");
    slot_destroy(slot);
    do {
        fault_at = n++;
        slot = slot_create(&common, 0, NULL);
        fault_at = -1;
    } while (!slot && n < 100);
    ok(slot && n > 1, "without memory there is no slot, and nothing is left");
    slot_destroy(slot);
}

int main(void)
{
    base = event_base_new();
    if (!base)
        bail("no event base");
    test_order();
    test_stop();
    test_no_more_tasks();
    test_unknown();
    test_program();
    test_program_stop();
    test_memory();
    event_base_free(base);
    return done();
}
