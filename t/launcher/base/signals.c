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
    ok(!s.event, "they may be released twice");
    event_base_free(base);
}

static void test_ignored(void)
{
    struct event_base *base = event_base_new();
    struct timeval soon = {0, 100000};
    struct signals s = {0};

    (void)signal(SIGHUP, SIG_IGN);
    if (!base || signals_catch(&s, base, on_caught, base) < 0)
        bail("no signals");
    caught = 0;
    event_base_loopexit(base, &soon);
    kill(getpid(), SIGHUP);
    event_base_dispatch(base);
    ok(caught == 0 && !atomic_load(signals_come()),
       "what is ignored at the start is ignored");
    ok(catch_one(base, SIGTERM) == SIGTERM, "the others come");
    signals_release(&s);
    ok(signal(SIGHUP, SIG_DFL) == SIG_IGN, "so it is after the release");
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

/* Who keeps the loop sees it; and it is told of once. */
static void test_come(void)
{
    struct event_base *base = event_base_new();
    struct signals s = {0};

    if (!base || signals_catch(&s, base, on_caught, base) < 0)
        bail("no signals");
    caught = 0;
    kill(getpid(), SIGTERM);
    ok(atomic_load(signals_come()) && caught == 0,
       "one that has come is seen before the loop tells of it");
    event_base_dispatch(base);
    ok(atomic_load(signals_come()) && caught == SIGTERM, "and after it");
    signals_forget();
    ok(!atomic_load(signals_come()), "until it is forgotten");
    ok(catch_one(base, SIGINT) == SIGINT, "then the next one comes likewise");
    signals_release(&s);
    ok(!atomic_load(signals_come()), "nobody knows of it after the release");
    event_base_free(base);
}

static void raise_again(void)
{
    struct event_base *base = event_base_new();
    struct signals s = {0};

    if (!base || signals_catch(&s, base, on_caught, base) < 0)
        _exit(1);
    signals_end_at_second();
    kill(getpid(), SIGINT);
    kill(getpid(), SIGTERM); /* one at once */
    (void)usleep(1100000);
    kill(getpid(), SIGHUP);
}

static void raise_one_more(void)
{
    struct event_base *base = event_base_new();
    struct signals s = {0};

    if (!base || signals_catch(&s, base, on_caught, base) < 0)
        _exit(1);
    kill(getpid(), SIGINT);
    (void)usleep(1100000);
    kill(getpid(), SIGINT);
}

static void test_second(void)
{
    int status = status_of(raise_again);

    ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGHUP,
       "a second one, a second later, ends a process that is still there");
    status = status_of(raise_one_more);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 0,
       "but none that does not wish so");
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
    (void)signal(SIGINT, SIG_DFL); /* or a shell ignores it for us */
    (void)signal(SIGHUP, SIG_DFL);
    test_catch();
    test_ignored();
    test_come();
    test_second();
    test_die();
    return done();
}
