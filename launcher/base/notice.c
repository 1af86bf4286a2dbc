/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/notice.h"
#include "launcher/base/plain_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define NAME_SIZE 1024 /* of who has said something, as it is shown */

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

/* In one write: others write to the same terminal. */
static void print_line(const char *program, const char *text)
{
    size_t size = PLAIN_TEXT_MOST * strlen(text) + 1;
    char *line = malloc(size);

    if (line)
        plain_text(line, size, text);
    wipe_progress();
    fprintf(stderr, "%s: %s\n", program,
            line ? line : "a message is lost: out of memory");
    redraw_progress();
    free(line);
}

void notice(const char *fmt, ...)
{
    char *text;
    va_list ap;

    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) < 0)
        text = NULL;
    va_end(ap);
    print_line("evenstep", text ? text : fmt);
    free(text);
}

void notice_error(const char *program, const struct es_error *err)
{
    char text[sizeof err->what + sizeof err->mend + 2];

    snprintf(text, sizeof text, "%s: %s", err->what, err->mend);
    print_line(program, text);
}

void notice_lines(const char *name, const char *text, size_t len)
{
    const char *end = text + len;
    char plain[NAME_SIZE];

    plain_text(plain, sizeof plain, name);
    wipe_progress();
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));

        if (!stop)
            stop = end;
        fprintf(stderr, "%s: %.*s\n", plain, (int)(stop - text), text);
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
