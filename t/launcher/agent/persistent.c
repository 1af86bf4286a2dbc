/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that stays alive: this one again, which behaves as its argument
 * says.  Which of its words belong to which slice, and how it ends.
 */
#include "launcher/agent/persistent.h"
#include "launcher/base/step_dir.h"
#include "launcher/libevenstep/evenstep.h"
#include "launcher/libevenstep/slice_message.h"
#include "tap.h"

#include <event2/event.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#define PATIENCE_S 120    /* for the whole program, should anything hang */
#define MUCH       300000 /* bytes: more than a pipe holds */

/* --- the program ----------------------------------------------------------- */

static const char *way;

static int does(const char *word)
{
    return strcmp(way, word) == 0;
}

static void say(const char *words)
{
    if (write(1, words, strlen(words)) < 0)
        _exit(9);
}

/* Sits down as libevenstep does, and says something that is no message. */
static void break_rules(void)
{
    const struct slice_message hello = {
        .type = SLICE_HELLO, .version = SLICE_VERSION, .units = 1};
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    struct slice_message welcome;
    int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

    snprintf(to.sun_path, sizeof to.sun_path, "%s", getenv("EVENSTEP_SOCKET"));
    if (connect(fd, (const struct sockaddr *)&to, sizeof to) < 0
        || slice_message_send(fd, &hello) < 0
        || slice_message_receive(fd, &welcome) != 1
        || send(fd, "hello", 5, 0) != 5)
        _exit(9);
    pause();
}

static void do_slice(uint64_t from, uint64_t to)
{
    char words[100];

    if (does("exit"))
        exit(3);
    if (does("leave"))
        exit(0);
    if (does("die"))
        raise(SIGKILL);
    if (does("close")) {
        evenstep_close();
        pause();
    }
    for (int i = 0; does("much") && i < MUCH / 50; i++)
        say("a line of some fifty bytes: nobody reads them all\n");
    snprintf(words, sizeof words, "%ju:%ju %ju %s\n", (uintmax_t)from,
             (uintmax_t)to, (uintmax_t)evenstep_frame(), evenstep_label());
    say(words);
    if (does("stderr"))
        fprintf(stderr, "a word\n");
}

static int program(void)
{
    uint64_t from, to;
    int rc;

    if (does("never"))
        return 5;
    if (does("noise"))
        say("before\n");
    if (does("rules"))
        break_rules();
    if (evenstep_open(17, 4) != 1)
        return 9;
    if (does("early")) {
        evenstep_close();
        say("closed\n");
        fprintf(stderr, "closed\n");
        pause();
    }
    while ((rc = evenstep_next(&from, &to)) == 1) {
        do_slice(from, to);
        if (evenstep_done() < 0)
            return 8;
        if (does("noise"))
            say("between\n");
    }
    if (rc < 0)
        return 7;
    evenstep_close();
    return does("status") ? 4 : 0;
}

/* --- what is heard of it --------------------------------------------------- */

static struct event_base *base;
static struct persistent *persistent;
static char step[64], self[4096];
static struct heard {
    int idle, done, ended;
    struct msg_idle brought;
    uint64_t id;
    size_t bytes;
    char out[400], err[200], tail[400];
    struct execution_end end;
} heard;

static void stop(void)
{
    event_base_loopbreak(base);
}

static void on_idle(void *arg, const struct msg_idle *idle)
{
    (void)arg;
    heard.idle++;
    heard.brought = *idle;
    stop();
}

static void append(char *to, size_t size, const void *buf, size_t len)
{
    size_t have = strlen(to);

    snprintf(to + have, size - have, "%.*s", (int)len, (const char *)buf);
}

static void on_output(void *arg, const void *buf, size_t len)
{
    (void)arg;
    heard.bytes += len;
    append(heard.out, sizeof heard.out, buf, len);
}

static void on_err(void *arg, const void *buf, size_t len)
{
    (void)arg;
    append(heard.err, sizeof heard.err, buf, len);
}

static void on_done(void *arg, const struct feeder_result *result)
{
    (void)arg;
    heard.done++;
    heard.id = result->id;
    stop();
}

static void on_end(void *arg, const struct execution_end *end)
{
    (void)arg;
    heard.ended++;
    heard.end = *end;
    append(heard.tail, sizeof heard.tail, end->err_tail, end->err_len);
    stop();
}

static const struct persistent_events events = {
    .idle = on_idle,
    .output = on_output,
    .err = on_err,
    .done = on_done,
    .end = on_end,
};

static void listen_once(void)
{
    (void)event_base_dispatch(base);
}

static void await_end(void)
{
    while (!heard.ended)
        listen_once();
}

static void begin(const char *how)
{
    static char stale[] = "EVENSTEP_SOCKET=/nowhere";
    char *argv[] = {self, (char *)how, NULL}, *envp[] = {stale, NULL};
    const struct execution_spec spec = {.argv = argv, .envp = envp};
    struct es_error err = {0};

    memset(&heard, 0, sizeof heard);
    if (persistent_start(&persistent, base, &spec, step, &events, NULL, &err)
        < 0)
        bail("no program: %s", err.what);
}

static void give(uint64_t id, uint64_t first, uint64_t last)
{
    const struct msg_run slice = {
        .id = id, .frame = 2, .begin = first, .end = last, .label = "l"};

    persistent_give(persistent, &slice, 0);
}

static void end(void)
{
    persistent_destroy(persistent);
    persistent = NULL;
}

/* --- tests ----------------------------------------------------------------- */

static void test_good(void)
{
    begin("good");
    ok(persistent_group(persistent) > 0, "it runs");
    listen_once();
    ok(heard.idle == 1 && heard.brought.units == 17
           && heard.brought.frames == 4,
       "it asks for its first slice, and says what it brings along");
    give(1, 0, 5);
    listen_once();
    ok(heard.done == 1 && heard.id == 1, "a slice is done");
    is_str(heard.out, "0:5 2 l\n", "its output has come before");
    give(2, 5, 5);
    listen_once();
    ok(heard.done == 2 && heard.id == 2 && heard.idle == 1,
       "so is the next, and it is not said that it is idle");
    is_str(heard.out, "0:5 2 l\n5:5 2 l\n", "both are there, in order");
    persistent_finish(persistent);
    await_end();
    ok(heard.end.status == 0 && heard.end.err_len == 0,
       "there are no more: it ends");
    end();
}

static void test_output(void)
{
    begin("noise");
    listen_once();
    give(1, 0, 5);
    listen_once();
    give(2, 5, 9);
    listen_once();
    is_str(heard.out, "0:5 2 l\n5:9 2 l\n",
           "what is written outside of slices is nobody's");
    persistent_finish(persistent);
    await_end();
    end();

    begin("much");
    listen_once();
    persistent_hold(persistent, 1);
    give(1, 0, 5);
    persistent_hold(persistent, 0);
    while (!heard.done)
        listen_once();
    is_int((intmax_t)heard.bytes, MUCH + 8,
           "of a slice with much output all has come when it is done");
    persistent_finish(persistent);
    await_end();
    end();

    begin("stderr");
    listen_once();
    give(1, 0, 5);
    listen_once();
    persistent_finish(persistent);
    await_end();
    is_str(heard.err, "a word\n", "what it writes to stderr comes");
    end();
}

static const struct {
    const char *way, *name;
    int status, signal;
    const char *words; /* how its last words begin; "": there are none */
} ends[] = {
    {"exit", "it exits with a status within a slice", 3, 0, ""},
    {"leave", "it exits well within a slice", 126, 0, "evenstep: it ended "},
    {"die", "it is killed within a slice", 137, SIGKILL, ""},
    {"close", "it closes within a slice", 126, 0,
     "evenstep: it closed before its slice was done\n"},
};

static void test_ends(void)
{
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        begin(ends[i].way);
        listen_once();
        give(1, 0, 5);
        await_end();
        ok(heard.end.status == ends[i].status
               && heard.end.signal == ends[i].signal && heard.done == 0,
           "%s: status %d", ends[i].name, ends[i].status);
        ok(ends[i].words[0] ? strstr(heard.tail, ends[i].words) == heard.tail
                            : !heard.tail[0],
           "its last words");
        end();
    }
    begin("never");
    await_end();
    ok(heard.end.status == 5 && heard.idle == 0,
       "it never asks: its status is its own");
    end();
    begin("status");
    listen_once();
    persistent_finish(persistent);
    await_end();
    is_int(heard.end.status, 4, "so it is after the last slice");
    end();
}

static void test_rules(void)
{
    begin("rules");
    await_end();
    ok(heard.end.status == 126 && strstr(heard.tail, "evenstep: "),
       "it breaks the rules: it is stopped, and why is said");
    diag("%s", heard.tail);
    end();

    begin("early");
    while (!heard.err[0])
        (void)event_base_loop(base, EVLOOP_ONCE);
    (void)event_base_loop(base, EVLOOP_NONBLOCK); /* what came before it */
    is_int(heard.ended, 0, "who closes before there is a slice may stay");
    give(1, 0, 5);
    await_end();
    is_int(heard.end.status, 126, "but not if there is one for it");
    is_str(heard.tail,
           "closed\nevenstep: it had closed when there was another slice for "
           "it\n",
           "which is said behind its own words");
    is_str(heard.out, "", "what it wrote is no slice's");
    end();
}

static void test_stop(void)
{
    begin("good");
    listen_once();
    persistent_stop(persistent);
    await_end();
    ok(heard.end.signal == SIGTERM && heard.tail[0] == '\0',
       "who is stopped ends by that, and nothing is said for it");
    end();
    begin("good");
    listen_once();
    end();
    is_int(heard.ended, 0, "one that is destroyed is not heard of");
    persistent_destroy(NULL);
}

int main(int argc, char **argv)
{
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    if (argc > 1 && n > 0) {
        way = argv[1];
        return program();
    }
    (void)alarm(PATIENCE_S);
    (void)signal(SIGPIPE, SIG_IGN);
    snprintf(step, sizeof step, "persistent.%d", (int)getpid());
    base = event_base_new();
    test_good();
    test_output();
    test_ends();
    test_rules();
    test_stop();
    event_base_free(base);
    step_dir_remove(step);
    return done();
}
