/* SPDX-License-Identifier: BSD-2-Clause */
/* What people see on stderr: whole lines, and one that shows the progress. */
#include "launcher/base/notice.h"
#include "tree.h"

#include <pty.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static int old_stderr; /* where stderr went */

static void set_stderr(int fd)
{
    fflush(stderr);
    if (dup2(fd, STDERR_FILENO) < 0)
        bail("stderr: %s", strerror(errno));
}

/* What say() prints into a file. */
static const char *printed(void (*say)(void))
{
    static char text[4096];
    char path[600];
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "%s", tree_path("stderr"));
    fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        bail("%s: %s", path, strerror(errno));
    set_stderr(fd);
    say();
    set_stderr(old_stderr);
    n = pread(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    close(fd);
    return text;
}

static void say_notice(void)
{
    notice("node %s: %d units", "n1", 3);
}

static void say_lines(void)
{
    notice_lines("n2", "one\n\ntwo\n", 9);
    notice_lines("n3", "cut in the middle", 3);
    notice_lines("n4", "", 0);
}

static void test_lines(void)
{
    is_str(printed(say_notice), "evenstep: node n1: 3 units\n",
           "a notice is one line");
    is_str(printed(say_lines), "n2: one\nn2: \nn2: two\nn3: cut\n",
           "each line of others bears its name, and ends");
}

/* --- names of any bytes ---------------------------------------------------- */

static void say_odd_name(void)
{
    notice("%s: no such file", "a\nb\033[31m\x7f\303\244\\n");
}

static void say_error(void)
{
    static const struct es_error err = {ES_WORK, "a\r\nb: is there", "mend it"};

    notice_error("evenstep-agent", &err);
}

static void say_lines_of_odd_name(void)
{
    notice_lines("n1: a\nb", "\033[1mone\n\ttwo\n", 13);
}

static void test_any_bytes(void)
{
    is_str(printed(say_odd_name),
           "evenstep: a\\nb\\033[31m\\177\303\244\\n: no such file\n",
           "control characters are shown, and UTF-8 stays as it is");
    is_str(printed(say_error), "evenstep-agent: a\\r\\nb: is there: mend it\n",
           "an error is one line, too");
    is_str(printed(say_lines_of_odd_name),
           "n1: a\\nb: \033[1mone\nn1: a\\nb: \ttwo\n",
           "what a command has written stays, behind a name in one line");
}

/* --- with a progress line ------------------------------------------------- */

static void say_below(void)
{
    notice_progress("frame 7");
    notice("n1 is lost");
    notice_progress(NULL);
    notice("over");
}

static void test_progress(void)
{
    is_str(printed(say_below),
           "frame 7"
           "\r\033[Kevenstep: n1 is lost\nframe 7"
           "\r\033[K"
           "evenstep: over\n",
           "a notice comes above the progress line, which is drawn again");
}

/* --- on a terminal -------------------------------------------------------- */

/* What a terminal of so many columns is sent for a long progress line. */
static size_t sent(unsigned short columns)
{
    const struct winsize size = {.ws_row = 24, .ws_col = columns};
    char line[1001], text[4096];
    int outer, inner;
    ssize_t n;

    memset(line, 'p', 1000);
    line[1000] = '\0';
    if (openpty(&outer, &inner, NULL, NULL, &size) < 0)
        return 0;
    set_stderr(inner);
    notice_progress(line);
    setenv("TERM", "xterm", 1);
    ok(notice_is_terminal(), "a terminal of %d columns is one", columns);
    setenv("TERM", "dumb", 1);
    ok(!notice_is_terminal(), "but not if it is dumb");
    unsetenv("TERM");
    ok(!notice_is_terminal(), "or nobody says what it is");
    set_stderr(old_stderr);
    n = read(outer, text, sizeof text);
    close(inner);
    close(outer);
    printed(say_below); /* the line is gone */
    return n > 0 ? (size_t)n : 0;
}

static void test_terminal(void)
{
    ok(sent(80) == 79, "a line that would wrap is cut");
    ok(sent(20) == 19, "to what the terminal has");
    ok(sent(2000) < 1000, "and to what we keep");
}

static void test_no_terminal(void)
{
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

    setenv("TERM", "xterm", 1);
    set_stderr(fd);
    ok(!notice_is_terminal(), "a file is no terminal, whatever TERM says");
    set_stderr(old_stderr);
    close(fd);
}

int main(void)
{
    old_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
    tree_make();
    test_lines();
    test_any_bytes();
    test_progress();
    test_terminal();
    test_no_terminal();
    tree_remove();
    return done();
}
