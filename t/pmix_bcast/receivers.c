/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that take bytes from socket pairs: whole, in parts, wrong, cut off, taken
 * back in the middle, and many at once; and threads that come and go as there is work
 * for them.  Run it with SAN=thread, too. */
#include "pmix_bcast/receivers.h"
#include "loop.h"
#include "tap.h"

#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SIZE 100000u
#define MANY 32u

struct line { /* a socket pair, and who receives from it */
    int there, here;
    struct reception *reception;
    struct reception_result result;
    int ended, destroy; /* destroy: in ended() */
    uint8_t bytes[SIZE], other[SIZE];
    uint8_t *goes; /* what ready() says; NULL: no memory */
    atomic_int readied, checked;
    int verdict; /* of check() */
};

static struct receivers *receivers;
static uint8_t content[SIZE];
static struct line line[MANY];

static uint8_t *ready(void *arg, uint8_t *to)
{
    struct line *l = arg;

    (void)to;
    atomic_fetch_add(&l->readied, 1);
    return l->goes;
}

static int check(void *arg, const uint8_t *bytes)
{
    struct line *l = arg;

    atomic_fetch_add(&l->checked, 1);
    return l->verdict ? l->verdict : memcmp(bytes, content, SIZE);
}

static void on_ended(void *arg, const struct reception_result *so)
{
    struct line *l = arg;

    l->result = *so;
    l->ended++;
    if (l->destroy) {
        reception_destroy(l->reception);
        l->reception = NULL;
    }
}

static void open_line(struct line *l)
{
    int fd[2];

    memset(l, 0, sizeof *l);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) < 0
        || fcntl(fd[0], F_SETFL, O_NONBLOCK) < 0
        || fcntl(fd[1], F_SETFL, O_NONBLOCK) < 0)
        bail("no socket pair");
    l->there = fd[0];
    l->here = fd[1];
    l->goes = l->bytes;
    l->reception = reception_create(receivers, on_ended, l);
    if (!l->reception)
        bail("no reception");
}

static void close_line(struct line *l)
{
    reception_destroy(l->reception);
    if (l->there >= 0)
        close(l->there);
    close(l->here);
}

/* 0, or that the threads are busy just now. */
static int begin(struct line *l, size_t got)
{
    const struct reception_task t = {.fd = l->here,
                                     .to = l->bytes,
                                     .size = SIZE,
                                     .got = got,
                                     .ready = ready,
                                     .check = check,
                                     .arg = l};

    return reception_begin(l->reception, &t);
}

static void begin_at(struct line *l, size_t got)
{
    int why;

    do
        why = begin(l, got);
    while (why == EBUSY);
    if (why)
        bail("it does not begin");
}

/* Send the content from begin to end; the loop turns while the socket is full. */
static void say(const struct line *l, size_t from, size_t to)
{
    int64_t limit = now_ms() + LIMIT_MS;

    while (from < to && now_ms() < limit) {
        ssize_t n = send(l->there, content + from, to - from, MSG_NOSIGNAL);

        if (n > 0)
            from += (size_t)n;
        event_base_loop(base, EVLOOP_NONBLOCK);
    }
}

static void cut(struct line *l)
{
    close(l->there);
    l->there = -1;
}

static void test_whole(void)
{
    struct line *l = &line[0];

    open_line(l);
    begin_at(l, 0);
    say(l, 0, SIZE);
    until(l->ended);
    ok(l->ended == 1 && l->result.end == RECEPTION_WHOLE
           && l->result.got == SIZE && l->result.to == l->bytes,
       "all that was due comes");
    ok(memcmp(l->bytes, content, SIZE) == 0, "byte for byte");
    ok(l->readied == 1 && l->checked == 1, "it is readied and checked once");
    memset(l->bytes, 0, SIZE);
    memcpy(l->bytes, content, 1000);
    l->goes = l->bytes;
    begin_at(l, 1000);
    say(l, 1000, SIZE);
    until(l->ended == 2);
    ok(l->result.end == RECEPTION_WHOLE && memcmp(l->bytes, content, SIZE) == 0,
       "the same reception goes on where something stands already");
    close_line(l);
}

static void test_elsewhere(void)
{
    struct line *l = &line[0];

    open_line(l);
    l->goes = l->other;
    begin_at(l, 0);
    say(l, 0, SIZE);
    until(l->ended);
    ok(l->result.end == RECEPTION_WHOLE && l->result.to == l->other
           && memcmp(l->other, content, SIZE) == 0,
       "ready() may send it elsewhere");
    l->goes = NULL;
    begin_at(l, 0);
    say(l, 0, 1);
    until(l->ended == 2);
    ok(l->result.end == RECEPTION_FAILED && l->result.error == ENOMEM,
       "or say that there is no memory");
    close_line(l);
}

static void test_only_its_own(void)
{
    struct line *l = &line[0];
    char more[10];

    open_line(l);
    begin_at(l, 0);
    say(l, 0, SIZE);
    (void)!send(l->there, "behind", 6, MSG_NOSIGNAL);
    until(l->ended);
    is_int((int)recv(l->here, more, sizeof more, 0), 6,
           "what comes behind is left in the socket");
    close_line(l);
}

static void test_wrong(void)
{
    struct line *l = &line[0];

    open_line(l);
    l->verdict = EBADMSG;
    begin_at(l, 0);
    say(l, 0, SIZE);
    until(l->ended);
    ok(l->result.end == RECEPTION_WRONG && l->result.got == SIZE,
       "bytes with another digest are wrong");
    close_line(l);
}

static void test_short(void)
{
    struct line *l = &line[0];

    open_line(l);
    begin_at(l, 0);
    say(l, 0, SIZE - 1);
    cut(l);
    until(l->ended);
    ok(l->result.end == RECEPTION_CLOSED && l->result.got == SIZE - 1
           && l->checked == 0,
       "a peer that dies before the last byte has hung up");
    close_line(l);
    open_line(l);
    begin_at(l, 0);
    cut(l);
    until(l->ended);
    ok(l->result.end == RECEPTION_CLOSED && l->result.got == 0,
       "so has one that sends nothing");
    close_line(l);
}

static void test_no_socket(void)
{
    struct line *l = &line[0];
    int file = open("/dev/null", O_RDONLY | O_CLOEXEC), was;

    open_line(l);
    was = l->here;
    l->here = file;
    is_int(begin(l, 0), EPERM, "what is no socket is refused");
    l->here = was;
    close(file);
    close_line(l);
}

/* The thread has taken part of it, or nothing, or all. */
static int stop_after(size_t part)
{
    struct line *l = &line[0];
    struct reception_result so;
    int stopped, good;

    open_line(l);
    begin_at(l, 0);
    say(l, 0, part);
    stopped = reception_stop(l->reception, &so);
    if (!stopped) {
        until(l->ended);
        good = part == SIZE && l->ended == 1;
    } else {
        uint8_t rest[SIZE];
        size_t got = so.got;

        good =
            l->ended == 0 && got <= part && (got == 0 || so.is_ready)
            && memcmp(l->bytes, content, got) == 0
            && (got == part
                || recv(l->here, rest, part - got, 0) == (ssize_t)(part - got));
        begin_at(l, part); /* and it goes on */
        memcpy(l->bytes, content, part);
        say(l, part, SIZE);
        if (part < SIZE)
            until(l->ended);
        good &= part == SIZE
                || (l->result.end == RECEPTION_WHOLE
                    && memcmp(l->bytes, content, SIZE) == 0);
    }
    close_line(l);
    return good;
}

static void test_stop(void)
{
    int wrong = 0;

    for (unsigned i = 0; i < 100; i++)
        wrong += !stop_after(i * 999);
    is_int(wrong, 0, "stopped anywhere it says how far it came, and goes on");
    wrong = 0;
    for (unsigned i = 0; i < 20; i++)
        wrong += !stop_after(SIZE);
    is_int(wrong, 0, "or it had ended, and says that once");
}

static void test_destroy(void)
{
    struct line *l = &line[0];
    int wrong = 0;

    for (size_t i = 0; i < 50; i++) {
        open_line(l);
        begin_at(l, 0);
        say(l, 0, SIZE / 50 * i);
        reception_destroy(l->reception);
        l->reception = NULL;
        event_base_loop(base, EVLOOP_NONBLOCK);
        wrong += l->ended;
        close_line(l);
    }
    is_int(wrong, 0, "what is destroyed in the middle is not heard of");
    open_line(l);
    l->destroy = 1;
    begin_at(l, 0);
    say(l, 0, SIZE);
    until(l->ended);
    ok(l->ended == 1 && !l->reception, "it may be destroyed as it ends");
    close_line(l);
}

static int ended(void)
{
    int n = 0;

    for (unsigned i = 0; i < MANY; i++)
        n += line[i].ended;
    return n;
}

static void test_many(void)
{
    int wrong = 0;

    for (unsigned i = 0; i < MANY; i++) {
        open_line(&line[i]);
        begin_at(&line[i], 0);
    }
    for (unsigned part = 0; part < 10; part++)
        for (unsigned i = 0; i < MANY; i++)
            say(&line[i], SIZE / 10 * part, SIZE / 10 * (part + 1));
    until(ended() == (int)MANY);
    for (unsigned i = 0; i < MANY; i++) {
        wrong += line[i].result.end != RECEPTION_WHOLE
                 || memcmp(line[i].bytes, content, SIZE) != 0;
        close_line(&line[i]);
    }
    is_int(wrong, 0, "32 at once, in small parts, are all whole");
}

/* --- as many threads as the work needs -------------------------------------- */

/* Whether a thread takes it; nothing comes, and it is taken back. */
static int is_taken(struct line *l)
{
    struct reception_result so;
    int why = begin(l, 0);

    if (why == 0 && !reception_stop(l->reception, &so))
        bail("it has ended");
    return why == 0;
}

static void idle(void)
{
    (void)poll(NULL, 0, 25);
}

/* The loop's thread has work of its own. */
static void work(void)
{
    clock_t end = clock() + CLOCKS_PER_SEC / 1000;

    while (clock() < end)
        ;
}

/* Whether it comes to be taken, or not to be. */
static int becomes(struct line *l, int wanted, void (*meanwhile)(void))
{
    int64_t end = now_ms() + LIMIT_MS;
    int is;

    while ((is = is_taken(l)) != wanted && now_ms() < end)
        meanwhile();
    return is == wanted;
}

static void test_as_needed(void)
{
    struct line *l = &line[0];
    int taken = 0;

    receivers = receivers_create(base, 0, 1);
    if (!receivers)
        bail("no threads");
    open_line(l);
    for (unsigned i = 0; i < 5; i++) {
        taken += is_taken(l);
        idle();
    }
    ok(taken == 0 && receivers_peak(receivers) == 1,
       "as long as the loop has time there is no thread");
    if (!becomes(l, 1, work))
        bail("there is none when it has none");
    ok(1, "once it has none there is one");
    begin_at(l, 0);
    say(l, 0, SIZE);
    until(l->ended);
    ok(l->result.end == RECEPTION_WHOLE && memcmp(l->bytes, content, SIZE) == 0,
       "which takes what is due");
    ok(becomes(l, 0, idle), "once the loop has time again it takes nothing");
    ok(becomes(l, 1, work), "and then does so again");
    is_int((int)receivers_peak(receivers), 2, "there are no more than may be");
    close_line(l);
    receivers_destroy(receivers);
}

static void test_with(unsigned threads)
{
    printf("# %u threads\n", threads);
    receivers = receivers_create(base, threads, threads);
    if (!receivers)
        bail("no threads");
    test_whole();
    test_elsewhere();
    test_only_its_own();
    test_wrong();
    test_short();
    test_no_socket();
    test_stop();
    test_destroy();
    test_many();
    receivers_destroy(receivers);
}

int main(void)
{
    for (unsigned i = 0; i < SIZE; i++)
        content[i] = (uint8_t)(i * 2654435761u >> 24);
    base = event_base_new();
    if (!base)
        bail("no loop");
    test_with(1);
    test_with(3);
    test_as_needed();
    ok(!receivers_create(base, 0, 0), "no threads are none");
    is_int((int)receivers_peak(NULL), 1, "of which the loop is one");
    receivers_destroy(NULL);
    reception_destroy(NULL);
    event_base_free(base);
    return done();
}
