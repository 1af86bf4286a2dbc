/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/plain_text.h"

#include <stdio.h>
#include <string.h>

#define ESCAPE_SIZE (PLAIN_TEXT_MOST + 1) /* "\033", with its NUL */

static int is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

static void escape(char out[ESCAPE_SIZE], char c)
{
    static const char from[] = "\a\b\t\n\v\f\r", to[] = "abtnvfr";
    const char *at = strchr(from, c);

    if (at)
        (void)snprintf(out, ESCAPE_SIZE, "\\%c", to[at - from]);
    else
        (void)snprintf(out, ESCAPE_SIZE, "\\%03o", (unsigned)c & 0x7f);
}

/* -1 if it does not fit. */
static int escape_all(char *out, size_t size, const char *text)
{
    size_t len = 0;

    for (; *text && len < size; text++) {
        char word[ESCAPE_SIZE] = {*text};

        if (is_control(*text))
            escape(word, *text);
        len += (size_t)snprintf(out + len, size - len, "%s", word);
    }
    out[len < size ? len : 0] = '\0';
    return len < size ? 0 : -1;
}

void plain_text(char *out, size_t size, const char *text)
{
    if (escape_all(out, size, text) == 0)
        return;
    (void)snprintf(out, size, "%s", text);
    for (char *p = out; *p; p++)
        if (is_control(*p))
            *p = '?';
}
