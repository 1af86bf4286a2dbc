/* SPDX-License-Identifier: BSD-2-Clause */
/* The tasks of a node say where they listen; what the front end hears of it, and
 * what they are told. */
#include "launcher/agent/task_ports.h"
#include "launcher/agent/listening.h"
#include "tap.h"

#include <errno.h>
#include <event2/event.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define TASKS  3
#define SILENT 13 /* the one port at which nobody listens */

static struct event_base *base;
static struct task_ports *ports;
static int task[TASKS + 1]; /* their ends, -1: it has not called */
static struct {
    int n;
    uint32_t round, missing, first;
    uint16_t port[TASKS];
    size_t len;
} told;

static const uint8_t ip[16] = {1};

enum listening listening_at(const uint8_t at[16], uint16_t port)
{
    if (at != ip)
        bail("not at this node's address");
    return port == SILENT ? LISTENING_NO : LISTENING_YES;
}

static void on_send(void *arg, enum protocol_type type, struct writer *w)
{
    struct msg_ports m;

    (void)arg;
    if (type != MSG_PORTS || msg_read_ports(&m, w->buf, w->len) < 0)
        bail("not PORTS");
    told.n++;
    told.round = m.round;
    told.missing = m.missing;
    told.first = m.first;
    told.len = m.len;
    for (size_t i = 0; i < m.len / 2 && i < TASKS; i++)
        told.port[i] = get_u16(m.port + 2 * i);
    writer_clear(w);
    event_base_loopbreak(base);
}

static void settle(void)
{
    for (int i = 0; i < 5; i++)
        (void)event_base_loop(base, EVLOOP_NONBLOCK);
}

static void begin(uint32_t patience_s)
{
    const struct task_ports_setup setup = {.base = base,
                                           .tasks = TASKS,
                                           .patience_s = patience_s,
                                           .ip = ip,
                                           .send = on_send};

    memset(&told, 0, sizeof told);
    for (int i = 0; i <= TASKS; i++)
        task[i] = -1;
    ports = task_ports_open(&setup);
    if (!ports)
        bail("no memory");
}

static void hang_up(int i)
{
    if (task[i] >= 0)
        close(task[i]);
    task[i] = -1;
    settle();
}

static void end(void)
{
    task_ports_close(ports);
    for (int i = 0; i <= TASKS; i++)
        hang_up(i);
}

/* Task i calls, as one of that local rank. */
static void call(int i, uint32_t rank, uint32_t port)
{
    const struct slice_message m = {.type = SLICE_LISTEN,
                                    .version = SLICE_VERSION,
                                    .rank = rank,
                                    .port = port};
    int fd[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fd) < 0)
        bail("no sockets");
    task[i] = fd[0];
    task_ports_take(ports, fd[1], &m);
    settle();
}

/* What it is told: an error, 0, or -1: nothing yet. */
static int answer(int i)
{
    struct pollfd p = {.fd = task[i], .events = POLLIN};
    struct slice_message m;
    int error = -1;

    if (poll(&p, 1, 0) == 1) {
        if (slice_message_receive(task[i], &m) != 1 || m.type != SLICE_LISTENED)
            bail("no answer");
        error = (int)m.error;
        hang_up(i);
    }
    return error;
}

static void test_round(void)
{
    begin(60);
    call(2, 2, 1002);
    call(0, 0, 0);
    is_int(told.n, 0, "two of three have called: nothing is said");
    call(1, 1, 65535);
    ok(told.n == 1 && told.round == 0 && told.missing == 0 && told.len == 6
           && told.port[0] == 0 && told.port[1] == 65535
           && told.port[2] == 1002,
       "all have: the front end hears where each listens");
    ok(answer(0) == -1 && answer(1) == -1, "they wait for the table");
    task_ports_end(ports, 1, 0);
    is_int(answer(0), -1, "the end of another round is not theirs");
    task_ports_end(ports, 0, 0);
    ok(answer(0) == 0 && answer(1) == 0 && answer(2) == 0, "it is there");
    for (int i = 0; i < TASKS; i++)
        call(i, (uint32_t)i, 7);
    ok(told.n == 2 && told.round == 1 && told.port[2] == 7,
       "all call again: a second round");
    end();
    is_int(answer(0), -1, "and nobody is left");
}

static void test_refused(void)
{
    begin(60);
    call(0, TASKS, 1);
    is_int(answer(0), EINVAL, "a task that cannot be here");
    call(0, 0, UINT16_MAX + 1);
    is_int(answer(0), EINVAL, "a port that is none");
    call(0, 0, SILENT);
    is_int(answer(0), EADDRNOTAVAIL, "a port at which nobody listens");
    call(0, 0, 1);
    call(3, 0, 2);
    is_int(answer(3), EBUSY, "two in one place");
    is_int(answer(0), -1, "the first one waits on");
    task_ports_close(ports);
    is_int(answer(0), ECONNABORTED, "until the agent ends");
    ports = NULL;
    end();
}

static void test_none(void)
{
    begin(60);
    task_ports_close(ports);
    ports = NULL;
    call(0, 0, 1);
    is_int(answer(0), ECONNABORTED, "there is no round: told at once");
    end();
}

static void test_death(void)
{
    begin(60);
    call(0, 0, 1);
    call(1, 1, 1);
    hang_up(1);
    call(2, 2, 1);
    is_int(told.n, 0, "one has died before the last called: not all are there");
    call(1, 1, 9);
    ok(told.n == 1 && told.port[1] == 9, "its successor calls");
    hang_up(0);
    task_ports_end(ports, 0, 0);
    ok(answer(1) == 0 && answer(2) == 0,
       "one that dies after that keeps nobody waiting");
    end();
}

static void test_patience(void)
{
    begin(1);
    call(1, 1, 1);
    (void)event_base_dispatch(base);
    ok(told.n == 1 && told.missing == 2 && told.first == 0 && told.len == 0,
       "two never call: the front end hears of it in time, and of the first");
    is_int(answer(1), -1, "it is the front end that ends the round");
    task_ports_end(ports, 0, ETIMEDOUT);
    is_int(answer(1), ETIMEDOUT, "which all hear of");
    call(0, 0, 1);
    is_int(answer(0), ETIMEDOUT, "those who come later, too, at once");
    end();
    begin(1);
    for (int i = 0; i < TASKS; i++)
        call(i, (uint32_t)i, 1);
    (void)event_base_dispatch(base);
    ok(told.n == 2 && told.missing == 0 && told.round == 0,
       "all of this node have called, the table does not come: told twice");
    end();
    begin(1);
    call(0, 0, 1);
    hang_up(0);
    is_int(event_base_dispatch(base), 1, "the only one died: nobody waits");
    is_int(told.n, 0, "and nothing is said");
    end();
}

static void test_away(void)
{
    begin(60);
    task_ports_away(ports);
    call(0, 0, 1);
    is_int(answer(0), -1, "a lost front end, and nobody waits: no harm");
    task_ports_away(ports);
    is_int(answer(0), ECONNABORTED, "somebody waits: that is over");
    call(1, 1, 1);
    is_int(answer(1), ECONNABORTED, "and so it is for all");
    end();
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN); /* as the programs do */
    (void)alarm(60);
    base = event_base_new();
    test_round();
    test_refused();
    test_none();
    test_death();
    test_patience();
    test_away();
    event_base_free(base);
    return done();
}
