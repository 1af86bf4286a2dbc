/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/notice.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* The terminal has one cursor, so there is one progress line: the only state
 * of this module. */
static char shown[512];

static void wipe_progress(void)
{
    if (shown[0])
        fputs("\r\033[K", stderr);
}

static void redraw_progress(void)
{
    if (shown[0])
        fputs(shown, stderr);
    fflush(stderr);
}

void notice(const char *fmt, ...)
{
    va_list ap;

    wipe_progress();
    fputs("evenstep: ", stderr);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    redraw_progress();
}

void notice_lines(const char *name, const char *text, size_t len)
{
    const char *end = text + len;

    wipe_progress();
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));

        if (!stop)
            stop = end;
        fprintf(stderr, "%s: %.*s\n", name, (int)(stop - text), text);
        text = stop + 1;
    }
    redraw_progress();
}

int notice_is_terminal(void)
{
    const char *term = getenv("TERM");

    return isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

size_t notice_columns(void)
{
    struct winsize size;

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col - 1u;
    return 79;
}

/* A line that wraps could not be wiped: cut it to the terminal's width. */
void notice_progress(const char *line)
{
    size_t room = notice_columns() + 1;

    if (line && strcmp(line, shown) == 0)
        return;
    if (room > sizeof shown)
        room = sizeof shown;
    wipe_progress();
    snprintf(shown, room, "%s", line ? line : "");
    redraw_progress();
}
