/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the plugin starts, what it may answer, and how it ends.  That it has no
 * descriptors of srun's is tested where libc cannot close all above 2 by one
 * word, too: glibc before 2.34.
 */
#define CLOSE_EACH
#include "spank_plugin/plugin_child.c"
#include "tap.h"

static struct plugin_child child;

static void start(const char *script)
{
    char *const argv[] = {"/bin/sh", "-c", (char *)script, NULL};

    if (plugin_child_start(&child, argv) != 0)
        bail("no child");
}

static const char *all_of(int fd)
{
    static char text[256];
    size_t len = 0;
    ssize_t n;

    while ((n = read(fd, text + len, sizeof text - 1 - len)) > 0)
        len += (size_t)n;
    text[len] = '\0';
    return text;
}

static void test_start(void)
{
    char *const none[] = {"/nowhere/program", NULL};
    struct plugin_child untouched = {.pid = 7};

    for (int i = 0; i < 20; i++)
        if (open("/dev/null", O_RDONLY) < 0) /* the child is to have none */
            bail("no descriptors");
    start("ls /proc/$$/fd; echo $" CHILD_WAITS);
    is_str(all_of(child.stdout_fd), "0\n1\n2\n1\n",
           "a child has three descriptors, and hears that we wait");
    ok(plugin_child_stop(&child, 60000), "and ends");
    ok(plugin_child_start(&untouched, none) == ENOENT && untouched.pid == 7,
       "what is not there is said at once, and nothing changed");
    start("read line; echo \"got '$line'\"");
    (void)close(child.stdin_fd);
    child.stdin_fd = -1;
    is_str(all_of(child.stdout_fd), "got ''\n",
           "the end of its stdin is what it sees of ours");
    ok(plugin_child_stop(&child, 60000), "it ends by itself");
}

/* --- answers --------------------------------------------------------------- */

static const struct {
    const char *name, *script;
    enum child_answer want;
    const char *text;
} answers[] = {
    {"ready", "echo ready", ANSWER_READY, ""},
    {"ready in two parts", "printf rea; sleep .1; echo dy", ANSWER_READY, ""},
    {"a reason to go on", "echo continue: no room", ANSWER_CONTINUE, "no room"},
    {"a reason to stop", "echo fail: no file", ANSWER_FAIL, "no file"},
    {"a reason of control characters", "printf 'fail: a\\033[1mb\\tc\\177\\n'",
     ANSWER_FAIL, "a?[1mb?c?"},
    {"only the first line counts", "printf 'fail: a\\nready\\n'", ANSWER_FAIL,
     "a"},
    {"how long it may take, before", "echo wait 5; sleep .1; echo ready",
     ANSWER_READY, ""},
    {"that twice and at once", "printf 'wait 5\nwait 6\nready\n'", ANSWER_READY,
     ""},
    {"no number", "echo wait 5s", ANSWER_GARBLED, ""},
    {"a number that is too long", "echo wait 99999999", ANSWER_GARBLED, ""},
    {"only that", "echo wait 5", ANSWER_NONE, ""},
    {"nothing", ":", ANSWER_NONE, ""},
    {"an end within a line", "printf ready", ANSWER_GARBLED, ""},
    {"no reason", "echo 'fail: '", ANSWER_GARBLED, ""},
    {"another word", "echo readily", ANSWER_GARBLED, ""},
    {"a line that is too long", "printf 'fail: %2000s\\n' a", ANSWER_GARBLED,
     ""},
    {"an empty line", "echo", ANSWER_GARBLED, ""},
};

static void test_answers(void)
{
    char text[CHILD_LINE_MAX];

    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        start(answers[i].script);
        is_int(plugin_child_receive(&child, 60, -1, text), answers[i].want,
               answers[i].name);
        is_str(text, answers[i].text, answers[i].name);
        ok(plugin_child_stop(&child, 60000), "it has ended");
    }
    start("sleep 300");
    is_int(plugin_child_receive(&child, 0, -1, text), ANSWER_LATE,
           "who says nothing in time is late");
    ok(!plugin_child_stop(&child, 0), "it may still be there");
    plugin_child_kill(&child);
    ok(plugin_child_stop(&child, 60000), "it can be ended");
}

static void test_waits(void)
{
    char text[CHILD_LINE_MAX];

    start("test \"$" CHILD_WAITS "\" && echo wait 60; sleep 2; echo ready");
    is_int(plugin_child_receive(&child, 1, 0, text), ANSWER_READY,
           "it may take as long as it says");
    ok(plugin_child_stop(&child, 60000), "it has ended");
    start("echo wait 60; sleep 300");
    is_int(plugin_child_receive(&child, 1, -1, text), ANSWER_LATE,
           "but not where the site says how long");
    plugin_child_kill(&child);
    ok(plugin_child_stop(&child, 60000), "it can be ended");
}

/* As srun has them: blocked, for its signal thread. */
static void test_interrupted(void)
{
    static const int number[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    char text[CHILD_LINE_MAX];
    sigset_t set, pending;

    (void)sigemptyset(&set);
    for (size_t i = 0; i < 4; i++) {
        (void)signal(number[i], SIG_DFL); /* or a shell ignores it for us */
        (void)sigaddset(&set, number[i]);
    }
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    for (size_t i = 0; i < 4; i++) {
        start("sleep 300");
        (void)kill(getpid(), number[i]);
        is_int(plugin_child_receive(&child, 60, -1, text), ANSWER_INTERRUPTED,
               strsignal(number[i]));
        (void)sigpending(&pending);
        is_int(sigismember(&pending, number[i]), 0, "and it is used up");
        plugin_child_kill(&child);
        ok(plugin_child_stop(&child, 60000), "the child ends, though blocked");
    }
    (void)signal(SIGHUP, SIG_IGN);
    start("sleep 300");
    (void)kill(getpid(), SIGHUP);
    is_int(plugin_child_receive(&child, 1, -1, text), ANSWER_LATE,
           "what srun ignores is no interruption");
    plugin_child_kill(&child);
    ok(plugin_child_stop(&child, 60000), "the child ends then, too");
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int main(void)
{
    (void)alarm(300);
    test_start();
    test_answers();
    test_waits();
    test_interrupted();
    return done();
}
