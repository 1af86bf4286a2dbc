/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/feeder.h"
#include "launcher/base/step_dir.h"
#include "launcher/libevenstep/evenstep.h"
#include "launcher/libevenstep/slice_message.h"
#include "tap.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

static char step[64];
static struct event_base *base;
static struct feeder *feeder;
static int by_speed; /* see feeder_open() */

/* --- what is heard of it -------------------------------------------------- */

static struct {
    int idle, begun, printed, done, left, culprit;
    struct msg_idle brought;
    struct feeder_result result;
    const char *why;
} heard;

static void on_idle(void *arg, const struct msg_idle *idle)
{
    (void)arg;
    heard.idle++;
    heard.brought = *idle;
}
static void on_begun(void *arg)
{
    (void)arg;
    heard.begun++;
}
static void on_printed(void *arg)
{
    (void)arg;
    heard.printed++;
}
static void on_done(void *arg, const struct feeder_result *result)
{
    (void)arg;
    heard.done++;
    heard.result = *result;
}
static void on_left(void *arg, const char *why, int culprit)
{
    (void)arg;
    heard.left++;
    heard.why = why;
    heard.culprit = culprit;
}

static const struct feeder_events quick = {
    .idle = on_idle, .done = on_done, .left = on_left};
static const struct feeder_events slow = {.idle = on_idle,
                                          .begun = on_begun,
                                          .printed = on_printed,
                                          .done = on_done,
                                          .left = on_left};

static void begin(uint32_t seats, const struct feeder_events *events)
{
    struct es_error err = {0};

    memset(&heard, 0, sizeof heard);
    if (feeder_open(&feeder, base, step, seats, by_speed, events, NULL, &err)
        < 0)
        bail("%s: %s", err.what, err.mend);
}

static void end(void)
{
    feeder_close(feeder);
}

/* --- programs ------------------------------------------------------------- */

static void turn(void)
{
    for (int i = 0; i < 8; i++)
        (void)event_base_loop(base, EVLOOP_NONBLOCK);
}

static int call(void)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);

    memcpy(to.sun_path, feeder_path(feeder), strlen(feeder_path(feeder)));
    if (connect(fd, (const struct sockaddr *)&to, sizeof to) < 0)
        bail("connect: %s", strerror(errno));
    return fd;
}

static void tell(int fd, const struct slice_message *m)
{
    if (slice_message_send(fd, m) < 0)
        bail("send: %s", strerror(errno));
    turn();
}

static void say(int fd, enum slice_message_type type)
{
    tell(fd, &(struct slice_message){.type = type});
}

static void say_done(int fd, uint64_t id)
{
    tell(fd, &(struct slice_message){.type = SLICE_DONE, .id = id});
}

/* What has come, {0} if nothing has or the other end has closed. */
static struct slice_message hear(int fd)
{
    struct slice_message m;

    (void)slice_message_receive(fd, &m);
    return m;
}

static struct slice_message hello(uint32_t rank, uint64_t units)
{
    return (struct slice_message){.type = SLICE_HELLO,
                                  .version = SLICE_VERSION,
                                  .rank = rank,
                                  .units = units,
                                  .frames = 2};
}

/* The error of its welcome, -1 if there was none. */
static int greet(int fd, const struct slice_message *m)
{
    struct slice_message answer;

    tell(fd, m);
    answer = hear(fd);
    return answer.type == SLICE_WELCOME ? (int)answer.error : -1;
}

static int sit(uint32_t rank)
{
    struct slice_message m = hello(rank, 100);
    int fd = call();

    if (greet(fd, &m) != 0)
        bail("no seat %u", rank);
    return fd;
}

static void give(uint64_t id, uint64_t from, uint64_t to)
{
    const struct msg_run run = {
        .id = id, .frame = 7, .begin = from, .end = to, .label = "seven"};

    feeder_give(feeder, &run, 0);
}

/* --- tests ---------------------------------------------------------------- */

static void test_parts(void)
{
    struct slice_message m[3];
    int fd[3];

    begin(3, &quick);
    for (uint32_t i = 0; i < 3; i++) {
        fd[i] = sit(i);
        say(fd[i], SLICE_NEXT);
        is_int(heard.idle, i == 2, i == 2 ? "idle once all ask" : "not before");
    }
    ok(heard.brought.units == 100 && heard.brought.frames == 2,
       "what they bring along is told");
    give(5, 10, 20);
    for (int i = 0; i < 3; i++)
        m[i] = hear(fd[i]);
    ok(m[0].begin == 10 && m[0].end == m[1].begin && m[1].end == m[2].begin
           && m[2].end == 20,
       "parts adjoin in the order of the seats, whole together");
    ok(m[0].id == 5 && m[0].frame == 7 && strcmp(m[0].label, "seven") == 0
           && m[0].end - m[0].begin <= 4 && m[2].end - m[2].begin >= 3,
       "and are equal; the frame is told");
    say_done(fd[2], 5);
    ok(hear(fd[2]).type == SLICE_TAKEN && heard.done == 0,
       "who is done may go on, the slice is not");
    say(fd[2], SLICE_NEXT);
    say_done(fd[0], 5);
    say_done(fd[1], 5);
    ok(heard.done == 1 && heard.result.id == 5 && heard.result.elapsed_ns > 0,
       "with the last of them it is");
    (void)hear(fd[0]);
    (void)hear(fd[1]);
    give(6, 0, 1);
    say(fd[0], SLICE_NEXT);
    say(fd[1], SLICE_NEXT);
    for (int i = 0; i < 3; i++)
        m[i] = hear(fd[i]);
    ok(m[0].type == SLICE_SLICE && m[1].type == SLICE_SLICE
           && m[2].type == SLICE_SLICE && m[2].end == 1
           && (m[0].end == m[0].begin) + (m[1].end == m[1].begin)
                      + (m[2].end == m[2].begin)
                  == 2,
       "fewer units than seats: some parts are empty, all are given");
    end();
    ok(hear(fd[0]).type == 0, "when the feeder closes they hear it");
    for (int i = 0; i < 3; i++)
        close(fd[i]);
}

static void test_printed(void)
{
    int fd;

    begin(1, &slow);
    fd = sit(0);
    give(1, 0, 10);
    ok(heard.begun == 0, "a slice waits until it is asked for");
    say(fd, SLICE_NEXT);
    ok(heard.begun == 1 && hear(fd).type == SLICE_SLICE, "then it is begun");
    say_done(fd, 1);
    ok(heard.printed == 1 && heard.done == 0 && hear(fd).type == 0,
       "done: what was printed is read first");
    feeder_taken(feeder);
    ok(heard.done == 1 && hear(fd).type == SLICE_TAKEN, "then it is taken");
    feeder_end(feeder, 0);
    say(fd, SLICE_NEXT);
    ok(hear(fd).type == SLICE_OVER && heard.idle == 0, "over: no more slices");
    say(fd, SLICE_BYE);
    ok(heard.left == 1 && !heard.why, "who closes and owes nothing, may");
    close(fd);
    end();
}

static void test_welcome(void)
{
    static const struct {
        const char *what;
        uint32_t version, rank;
        uint64_t units;
        uint32_t flags;
        int error;
    } callers[] = {
        {"another version", SLICE_VERSION + 1, 1, 100, 0, EPROTONOSUPPORT},
        {"a seat that is none", SLICE_VERSION, 2, 100, 0, EINVAL},
        {"no units", SLICE_VERSION, 1, 0, 0, EINVAL},
        {"a flag that is none", SLICE_VERSION, 1, 100, 2, EINVAL},
        {"a seat that is taken", SLICE_VERSION, 0, 100, 0, EBUSY},
        {"other units than the first", SLICE_VERSION, 1, 99, 0, EPROTO},
        {"another flag than the first", SLICE_VERSION, 1, 100,
         EVENSTEP_SURVIVES, EPROTO},
        {"a fitting one of before there were flags", SLICE_PLAIN, 1, 100, 0, 0},
    };
    int first, fd;

    begin(2, &quick);
    first = sit(0);
    for (size_t i = 0; i < sizeof callers / sizeof callers[0]; i++) {
        struct slice_message m = hello(callers[i].rank, callers[i].units);

        m.version = callers[i].version;
        m.flags = callers[i].flags;
        heard.left = 0;
        fd = call();
        ok(greet(fd, &m) == callers[i].error
               && heard.left == (callers[i].error && callers[i].error != EBUSY),
           "%s: %s", callers[i].what,
           callers[i].error ? strerror(callers[i].error) : "welcome");
        close(fd);
        turn();
    }
    fd = call();
    heard.left = 0;
    say(fd, SLICE_NEXT);
    ok(hear(fd).type == 0 && heard.left == 0, "who says no hello is sent away");
    close(fd);
    close(first);
    turn();
    end();
}

/* What a seat does that is wrong while it has slice 1 of two seats. */
static void test_wrong(const char *what,
                       const struct slice_message *m,
                       const char *why,
                       int culprit)
{
    int fd[2];

    begin(2, &quick);
    for (uint32_t i = 0; i < 2; i++) {
        fd[i] = sit(i);
        say(fd[i], SLICE_NEXT);
    }
    give(1, 0, 10);
    (void)hear(fd[0]);
    if (m)
        tell(fd[0], m);
    else
        close(fd[0]);
    turn();
    ok(heard.left == 1 && heard.why && strcmp(heard.why, why) == 0
           && heard.culprit == culprit && heard.done == 0,
       "%s: %s", what, why);
    feeder_end(feeder, ECONNABORTED);
    (void)hear(fd[1]);
    say_done(fd[1], 1);
    ok(hear(fd[1]).type == SLICE_TAKEN && heard.done == 0,
       "%s: the others go on, but the slice is never done", what);
    if (m)
        close(fd[0]);
    close(fd[1]);
    end();
}

/* Of two programs one takes 40 ms for each slice, the other next to nothing. */
static void test_speeds(void)
{
    static const struct timespec nap = {.tv_nsec = 40000000};
    uint64_t units[2] = {0, 0};
    int fd[2];

    by_speed = 1;
    begin(2, &quick);
    for (uint32_t i = 0; i < 2; i++)
        fd[i] = sit(i);
    for (uint64_t id = 1; id <= 3; id++) {
        for (uint32_t i = 0; i < 2; i++)
            say(fd[i], SLICE_NEXT);
        give(id, 0, 100);
        for (uint32_t i = 0; i < 2; i++) {
            struct slice_message m = hear(fd[i]);

            units[i] = m.end - m.begin;
            if (i == 1)
                (void)nanosleep(&nap, NULL);
            say_done(fd[i], id);
            (void)hear(fd[i]);
        }
        is_int((intmax_t)(units[0] + units[1]), 100, "the slice is whole");
        if (id == 1)
            is_int((intmax_t)units[0], 50,
                   "two programs with the same CPUs begin with equal parts");
    }
    ok(units[0] > 60, "then the faster has more: %ju of 100",
       (uintmax_t)units[0]);
    close(fd[0]);
    close(fd[1]);
    end();
    by_speed = 0;
}

static void test_socket(void)
{
    struct es_error err = {0};
    struct feeder *none = NULL;
    struct stat st;
    char path[STEP_PATH_MAX];

    begin(1, &quick);
    (void)step_dir_path(path, step, STEP_SOCKET);
    ok(strcmp(path, feeder_path(feeder)) == 0 && stat(path, &st) == 0
           && S_ISSOCK(st.st_mode),
       "the socket is where it is said to be");
    *strrchr(path, '/') = '\0';
    ok(stat(path, &st) == 0 && (st.st_mode & 077) == 0,
       "in a directory that is the user's alone");
    end();
    ok(stat(path, &st) == 0, "which stays, for its owner to remove");
    ok(feeder_open(&none, base, "a/b", 1, 0, &quick, NULL, &err) == -1 && !none
           && err.kind == ES_ENV && err.what[0] && err.mend[0],
       "no such directory can be: an error that says how to mend it");
}

int main(void)
{
    const struct slice_message next = {.type = SLICE_NEXT},
                               other = {.type = SLICE_DONE, .id = 2},
                               bye = {.type = SLICE_BYE},
                               taken = {.type = SLICE_TAKEN};

    signal(SIGPIPE, SIG_IGN); /* as the programs do */
    snprintf(step, sizeof step, "feeder-test-%d", (int)getpid());
    base = event_base_new();
    if (!base)
        bail("no loop");
    test_parts();
    test_printed();
    test_welcome();
    test_wrong("next", &next,
               "it asked for a slice before the one at hand was done", 1);
    test_wrong("another's", &other, "it reported a slice that it does not have",
               1);
    test_wrong("nonsense", &taken, "it sent what libevenstep does not send", 1);
    test_wrong("bye", &bye, "it closed before its slice was done", 0);
    test_wrong("its end", NULL, "it ended without evenstep_close()", 0);
    test_speeds();
    test_socket();
    step_dir_remove(step);
    event_base_free(base);
    return done();
}
