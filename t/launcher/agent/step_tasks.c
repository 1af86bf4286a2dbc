/* SPDX-License-Identifier: BSD-2-Clause */
/* The tasks of a step share each slice of their node; what the front end hears
 * of them. */
#include "launcher/agent/step_tasks.h"
#include "launcher/base/step_dir.h"
#include "launcher/libevenstep/evenstep.h"
#include "launcher/libevenstep/slice_message.h"
#include "tap.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#define TASKS 2

static char step[64];
static struct event_base *base;
static struct step_tasks *tasks;
static int seat[TASKS];
static uint32_t flags; /* of the tasks */
static struct sent {
    int n;
    enum protocol_type type;
    struct msg_idle idle;
    struct msg_done done;
    uint32_t error;
    char why[200];
} sent;

static void on_send(void *arg, enum protocol_type type, struct writer *w)
{
    struct msg_over over;

    (void)arg;
    sent.n++;
    sent.type = type;
    if (type == MSG_IDLE)
        (void)msg_read_idle(&sent.idle, w->buf, w->len);
    else if (type == MSG_DONE)
        (void)msg_read_done(&sent.done, w->buf, w->len);
    else if (type == MSG_OVER && msg_read_over(&over, w->buf, w->len) == 0) {
        sent.error = over.error;
        snprintf(sent.why, sizeof sent.why, "%.*s", (int)over.err_len,
                 (const char *)over.err);
    }
    writer_clear(w);
    event_base_loopbreak(base);
}

/* Let the loop hear all that was said. */
static void settle(void)
{
    for (int i = 0; i < 20; i++)
        (void)event_base_loop(base, EVLOOP_NONBLOCK);
}

static void say(int task, enum slice_message_type type, uint64_t id)
{
    const struct slice_message m = {.type = type, .id = id};

    if (slice_message_send(seat[task], &m) < 0)
        bail("a task cannot speak");
    settle();
}

static struct slice_message hear(int task)
{
    struct slice_message m;

    if (slice_message_receive(seat[task], &m) != 1)
        bail("a task hears nothing");
    return m;
}

static void sit(int task)
{
    const struct slice_message hello = {.type = SLICE_HELLO,
                                        .version = SLICE_VERSION,
                                        .rank = (uint32_t)task,
                                        .units = 100,
                                        .frames = 5,
                                        .flags = flags};
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    char path[STEP_PATH_MAX];

    if (step_dir_path(path, step, STEP_SOCKET) < 0
        || strlen(path) >= sizeof to.sun_path)
        bail("no path");
    snprintf(to.sun_path, sizeof to.sun_path, "%s", path);
    seat[task] = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    if (connect(seat[task], (const struct sockaddr *)&to, sizeof to) < 0)
        bail("nobody listens at %s", path);
    if (slice_message_send(seat[task], &hello) < 0)
        bail("a task cannot speak");
    settle();
    if (hear(task).error != 0)
        bail("a task is not welcome");
}

static void begin(uint32_t patience_s)
{
    static const uint8_t ip[16];
    struct msg_tasks order = {.tasks = TASKS, .patience_s = patience_s};
    struct es_error err = {0};

    memset(&sent, 0, sizeof sent);
    snprintf(order.dir, sizeof order.dir, "%s", step);
    if (step_tasks_open(&tasks, base, &order, ip, on_send, NULL, &err) < 0)
        bail("%s", err.what);
    for (int i = 0; i < TASKS; i++)
        sit(i);
}

static void end(void)
{
    step_tasks_close(tasks);
    tasks = NULL;
    for (int i = 0; i < TASKS; i++)
        close(seat[i]);
    step_dir_remove(step);
}

static int run(uint64_t id)
{
    const struct msg_run slice = {.id = id, .begin = 10, .end = 20};
    int rc = step_tasks_run(tasks, &slice);

    settle();
    return rc;
}

static void test_frames(void)
{
    struct slice_message a, b;

    begin(60);
    say(0, SLICE_NEXT, 0);
    is_int(sent.n, 0, "one task alone asks: nothing is said");
    say(1, SLICE_NEXT, 0);
    ok(sent.n == 1 && sent.type == MSG_IDLE && sent.idle.units == 100
           && sent.idle.frames == 5,
       "all ask: the front end hears so, and what work they bring");
    is_int(run(7), 0, "a slice");
    a = hear(0);
    b = hear(1);
    ok(a.begin == 10 && a.end == b.begin && b.end == 20,
       "they share it, in their order");
    is_int(run(8), -1, "a second one while it runs breaks the protocol");
    say(0, SLICE_DONE, 7);
    say(1, SLICE_DONE, 7);
    (void)hear(0);
    (void)hear(1);
    is_int(sent.n, 1, "both have done their parts: nothing is said yet");
    is_int(run(8), -1, "nor is there another slice");
    say(1, SLICE_NEXT, 0);
    say(0, SLICE_NEXT, 0);
    ok(sent.n == 2 && sent.type == MSG_DONE && sent.done.id == 7
           && sent.done.status == 0,
       "it is done when both ask again");
    is_int(run(8), 0, "then there is the next");
    ok(hear(0).id == 8 && hear(1).id == 8, "which they get");
    end();
}

static void test_over(void)
{
    const struct msg_over over = {.error = ECONNABORTED};

    begin(60);
    say(0, SLICE_NEXT, 0);
    say(1, SLICE_NEXT, 0);
    step_tasks_over(tasks, &over);
    settle();
    ok(hear(0).error == ECONNABORTED && hear(1).error == ECONNABORTED,
       "the end of all slices, and why, is handed on");
    end();

    begin(60);
    say(0, SLICE_NEXT, 0);
    step_tasks_close(tasks);
    tasks = NULL;
    ok(hear(0).type == SLICE_OVER, "so is ours");
    end();
}

static void test_left(void)
{
    begin(60);
    say(0, SLICE_BYE, 0);
    ok(sent.n == 1 && sent.type == MSG_OVER && sent.error == 0 && !sent.why[0],
       "a task that closes: there are no more frames");
    end();
    begin(60);
    say(0, SLICE_NEXT, 0);
    say(1, SLICE_NEXT, 0);
    (void)run(7);
    close(seat[1]);
    settle();
    ok(sent.n == 2 && sent.type == MSG_OVER && sent.error == ECONNABORTED
           && sent.why[0],
       "one that ends within a slice: an error, and why");
    seat[1] = dup(seat[0]);
    end();
}

static void test_patience(void)
{
    begin(1);
    say(0, SLICE_NEXT, 0);
    (void)event_base_dispatch(base);
    ok(sent.n == 1 && sent.type == MSG_OVER && sent.error == ETIMEDOUT,
       "a task that waits while another never asks is told of in time");
    end();
    begin(1);
    say(0, SLICE_NEXT, 0);
    say(1, SLICE_NEXT, 0);
    (void)run(7);
    {
        const struct timeval later = {1, 500000};

        (void)event_base_loopexit(base, &later);
        (void)event_base_dispatch(base);
    }
    ok(sent.n == 1 && sent.type == MSG_IDLE,
       "after the first slice nobody runs out of patience");
    end();
}

/* The link to the front end is cut while they work, and healed. */
static void test_away(void)
{
    flags = EVENSTEP_SURVIVES;
    begin(60);
    flags = 0;
    ok(step_tasks_survive(tasks), "they survive the loss of nodes");
    say(0, SLICE_NEXT, 0);
    say(1, SLICE_NEXT, 0);
    ok(sent.idle.survives == 1, "the front end hears so");
    is_int(run(7), 0, "a slice");
    sent.n = 0;
    step_tasks_away(tasks);
    for (int i = 0; i < TASKS; i++) {
        (void)hear(i);
        say(i, SLICE_DONE, 7);
        (void)hear(i);
        say(i, SLICE_NEXT, 0);
    }
    is_int(sent.n, 0, "while it is out of reach it is told nothing");
    step_tasks_again(tasks);
    ok(sent.n == 1 && sent.type == MSG_IDLE,
       "it is back: not that the slice is done, but that all ask");
    is_int(run(9), 0, "another slice");
    step_tasks_away(tasks);
    step_tasks_again(tasks);
    is_int(sent.n, 1, "they are still at it");
    for (int i = 0; i < TASKS; i++) {
        (void)hear(i);
        say(i, SLICE_DONE, 9);
        (void)hear(i);
        say(i, SLICE_NEXT, 0);
    }
    ok(sent.n == 2 && sent.type == MSG_IDLE, "when they have done it they ask");
    step_tasks_away(tasks);
    (void)shutdown(seat[1], SHUT_RDWR);
    settle();
    is_int(sent.n, 2, "one ends meanwhile");
    step_tasks_again(tasks);
    ok(sent.n == 3 && sent.type == MSG_OVER && sent.error == ECONNABORTED,
       "which is told then");
    end();
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN); /* as the programs do */
    (void)alarm(120);
    snprintf(step, sizeof step, "step_tasks.%d", (int)getpid());
    base = event_base_new();
    test_frames();
    test_over();
    test_left();
    test_patience();
    test_away();
    event_base_free(base);
    return done();
}
