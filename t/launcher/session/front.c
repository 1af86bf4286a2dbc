/* SPDX-License-Identifier: BSD-2-Clause */
/* The frame of a front end, around a session that is the test's. */
#include "launcher/session/front.h"
#include "tap.h"

#include <event2/event.h>
#include <signal.h>
#include <sys/wait.h>

struct session {
    struct session_setup setup;
    const struct session_events *on;
    void *arg;
};

static struct session session; /* the one that is open */
static int opens, closes, refuse;
static char agent[4096]; /* the path that it was given */

int session_open(struct session **s,
                 struct event_base *base,
                 const struct session_setup *setup,
                 const struct session_events *on,
                 void *arg,
                 struct es_error *err)
{
    (void)base;
    opens++;
    if (refuse)
        return es_fail(err, ES_ENV, "mend", "refused");
    session = (struct session){*setup, on, arg};
    snprintf(agent, sizeof agent, "%s", setup->agent_path);
    *s = &session;
    return 0;
}

// cppcheck-suppress constParameter ; it stands for that of session.h
void session_close(struct session *s)
{
    closes += s != NULL;
}

/* --- the command ------------------------------------------------------------ */

static struct front front;
static struct config config;
static struct es_error err;
static char heard[1000];

static void note(const char *word)
{
    size_t len = strlen(heard);
    int n = snprintf(heard + len, sizeof heard - len, "%s ", word);

    if (n < 0 || (size_t)n >= sizeof heard - len)
        bail("more was heard than the test has room for");
}

static void on_ready(void *arg)
{
    note(arg);
}

static void on_message(
    void *arg, size_t node, uint16_t type, const uint8_t *body, size_t len)
{
    char words[40];

    (void)arg;
    snprintf(words, sizeof words, "message:%zu:%u:%zu:%c", node, type, len,
             body[0]);
    note(words);
}

static void on_lost(void *arg, size_t node, const char *why)
{
    (void)arg;
    (void)node;
    note(why);
}

static void on_returned(void *arg, size_t node)
{
    (void)arg;
    (void)node;
    note("returned");
}

static void on_failed(void *arg, const struct es_error *e)
{
    (void)arg;
    note(e->what);
}

static const struct session_events all = {
    .ready = on_ready,
    .message = on_message,
    .lost = on_lost,
    .returned = on_returned,
    .failed = on_failed,
};
static const struct session_events few = {
    .ready = on_ready, .message = on_message, .lost = on_lost};

static int open_local(const struct session_events *on)
{
    struct session_setup setup = {.local = 2};
    int rc;

    heard[0] = '\0';
    memset(&front, 0, sizeof front);
    memset(&err, 0, sizeof err);
    opens = closes = 0;
    if (front_begin(&front, &err) < 0)
        bail("no loop");
    rc = front_open(&front, &config, &setup, on, "ready");
    if (setup.agent_path)
        bail("the agent's path is left");
    return rc;
}

static void end(void)
{
    front_close(&front);
    front_end(&front);
}

/* All that a session can say, but for the end. */
static void say_all(void)
{
    session.on->ready(session.arg);
    session.on->message(session.arg, 1, 20, (const uint8_t *)"x", 1);
    session.on->lost(session.arg, 1, "gone");
    if (session.on->returned)
        session.on->returned(session.arg, 1);
}

static void test_events(void)
{
    is_int(open_local(&all), 0, "a session is opened");
    ok(front.session == &session && agent[0] == '/' && session.setup.local == 2
           && session.setup.wireup == WIREUP_TCP && session.setup.encrypt == 1
           && session.setup.ports.low == 5000,
       "as command line and configuration say");
    say_all();
    is_str(heard, "ready message:1:20:1:x gone returned ",
           "the command hears what its session says");
    front_finish(&front, 0);
    front_finish(&front, 1);
    say_all();
    is_str(heard, "ready message:1:20:1:x gone returned ",
           "once it is over it hears nothing any more");
    is_int(front_run(&front), 0, "the first end counts, and nobody waits");
    end();
    ok(closes == 1 && !front.session && !front.base, "nothing is left");
    end();
    is_int(closes, 1, "to end twice does nothing");

    (void)open_local(&few);
    ok(!session.on->returned, "where no node may return the session is told");
    end();
}

static void test_failed(void)
{
    const struct es_error why = {ES_WORK, "what", "mend"};

    (void)open_local(&few);
    session.on->failed(session.arg, &why);
    ok(front_run(&front) == -1 && err.kind == ES_WORK
           && strcmp(err.what, "what") == 0 && strcmp(err.mend, "mend") == 0,
       "a session that cannot be had: the command fails by its reason");
    end();
    (void)open_local(&all);
    session.on->failed(session.arg, &why);
    is_str(heard, "what ", "a command that wants to hears of it");
    is_int(front_run(&front), -1, "and fails");
    end();
    (void)open_local(&all);
    front_finish(&front, 0);
    session.on->failed(session.arg, &why);
    ok(front_run(&front) == 0 && err.kind == ES_OK,
       "after its end nothing fails it");
    end();
    refuse = 1;
    ok(open_local(&all) == -1 && strcmp(err.what, "refused") == 0
           && !front.session,
       "no session: the reason is there");
    end();
    refuse = 0;
}

static void test_allocation(void)
{
    struct session_setup setup = {.local = 0};

    unsetenv("SLURM_JOB_ID");
    memset(&front, 0, sizeof front);
    (void)front_begin(&front, &err);
    opens = 0;
    ok(front_open(&front, &config, &setup, &all, NULL) == -1 && opens == 0
           && strcmp(err.what, "no allocation") == 0,
       "by Slurm, without an allocation: it is said");
    setup.place.job = 7;
    is_int(front_open(&front, &config, &setup, &all, NULL), 0,
           "a job that is named is one");
    setup.place.job = 0;
    setenv("SLURM_JOB_ID", "7", 1);
    is_int(front_open(&front, &config, &setup, &all, NULL), 0,
           "so is the one that we are in");
    end();
}

/* What never began can be ended. */
static void test_zero(void)
{
    memset(&front, 0, sizeof front);
    front_finish(&front, 1);
    is_int(front_run(&front), -1, "a command that failed before its loop");
    end();
}

/* In a child: what it was killed by, or 0. */
static int signalled(int over)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        (void)freopen("/dev/null", "w", stderr);
        memset(&front, 0, sizeof front);
        if (front_begin(&front, &err) < 0
            || front_catch(&front, "nothing is left") < 0)
            _exit(9);
        if (over)
            front_finish(&front, 0);
        (void)kill(getpid(), SIGTERM);
        if (over)
            (void)event_base_loop(front.base, EVLOOP_NONBLOCK);
        if (front_run(&front) != (over ? 0 : -1)
            || (!over && strcmp(err.mend, "nothing is left") != 0))
            _exit(8);
        end();
        _exit(0);
    }
    if (waitpid(pid, &status, 0) != pid)
        bail("no child");
    return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

static enum wireup_way way_of(enum wireup_way way, uint32_t job, char *type)
{
    struct config of = config;
    struct session_setup setup = {.local = 2, .place.job = job};

    of.wireup = way;
    if (type)
        setenv("SLURM_MPI_TYPE", type, 1);
    else
        unsetenv("SLURM_MPI_TYPE");
    if (front_begin(&front, &err) < 0
        || front_open(&front, &of, &setup, &all, "ready") < 0)
        bail("no session");
    end();
    unsetenv("SLURM_MPI_TYPE");
    return session.setup.wireup;
}

/* Beside a step of a job, or not. */
static void test_wireup(void)
{
    is_int(way_of(WIREUP_AUTO, 7, "pmix"), WIREUP_AUTO,
           "auto: PMIx, if it can be, beside a step that has it");
    is_int(way_of(WIREUP_AUTO, 7, "pmix_v4"), WIREUP_AUTO,
           "of whatever version");
    is_int(way_of(WIREUP_AUTO, 7, "none"), WIREUP_TCP,
           "TCP beside one that has none");
    is_int(way_of(WIREUP_AUTO, 7, NULL), WIREUP_TCP, "or does not say");
    is_int(way_of(WIREUP_AUTO, 0, "pmix"), WIREUP_TCP,
           "and of what is no step beside another");
    is_int(way_of(WIREUP_TCP, 7, "pmix"), WIREUP_TCP, "tcp holds anywhere");
    is_int(way_of(WIREUP_PMIX, 0, NULL), WIREUP_PMIX, "so does pmix");
}

int main(void)
{
    (void)alarm(60);
    config.wireup = WIREUP_TCP;
    config.encrypt = 1;
    config.bcast.ports = (struct port_range){5000, 5010};
    snprintf(config.agent_path, sizeof config.agent_path, "/bin/true");
    test_events();
    test_failed();
    test_allocation();
    test_zero();
    test_wireup();
    is_int(signalled(0), SIGTERM, "a signal ends it, in the end by itself");
    is_int(signalled(1), 0, "one that comes when it is over does not");
    return done();
}
