/* SPDX-License-Identifier: BSD-2-Clause */
/* A front end or an agent that is ended by a signal. */
#include "launcher/base/signals.h"
#include "tap.h"

#include <event2/event.h>
#include <signal.h>
#include <sys/wait.h>

static int caught;

static void on_caught(void *arg, int number)
{
    caught = number;
    event_base_loopbreak(arg);
}

/* Without the timeout a signal that is not caught would be waited for. */
static int catch_one(struct event_base *base, int number)
{
    struct timeval limit = {20, 0};

    caught = 0;
    event_base_loopexit(base, &limit);
    kill(getpid(), number);
    event_base_dispatch(base);
    return caught;
}

static void test_catch(void)
{
    static const int all[] = {SIGINT, SIGTERM, SIGHUP};
    static const char *const name[] = {"SIGINT", "SIGTERM", "SIGHUP"};
    struct event_base *base = event_base_new();
    struct signals s = {0};

    if (!base || signals_catch(&s, base, on_caught, base) < 0)
        bail("no signals");
    for (int i = 0; i < 3; i++)
        ok(catch_one(base, all[i]) == all[i], "%s comes by the event loop",
           name[i]);
    signals_release(&s);
    signals_release(&s);
    ok(!s.event[0] && !s.event[2], "they may be released twice");
    event_base_free(base);
}

/* How a child ends that calls this. */
static int status_of(void (*child)(void))
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        (void)!freopen("/dev/null", "w", stderr);
        child();
        _exit(0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        bail("fork");
    return status;
}

static void ignore_and_die(void)
{
    const struct es_error err = {.kind = ES_WORK};

    (void)signal(SIGHUP, SIG_IGN);
    signals_die(SIGHUP, &err);
}

static void release_and_raise(void)
{
    struct event_base *base = event_base_new();
    struct signals s = {0};

    if (!base || signals_catch(&s, base, on_caught, base) < 0)
        _exit(1);
    signals_release(&s);
    kill(getpid(), SIGTERM);
}

static void test_die(void)
{
    int status = status_of(ignore_and_die);

    ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGHUP,
       "one that dies of a signal is seen to, whatever became of the signal");
    status = status_of(release_and_raise);
    ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM,
       "a signal that is released ends the process again");
}

int main(void)
{
    test_catch();
    test_die();
    return done();
}
