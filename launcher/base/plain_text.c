/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/plain_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ESCAPE_SIZE (PLAIN_TEXT_MOST + 1) /* "\033", with its NUL */

/* The bytes of the control character that a text begins with; 0: it is none.  Those of
 * two are U+0080 to U+009F in UTF-8, of which some terminals obey a few. */
static size_t control(const char *text)
{
    const unsigned char *t = (const unsigned char *)text;

    if (t[0] == 0xc2 && t[1] >= 0x80 && t[1] < 0xa0)
        return 2;
    return t[0] < 0x20 || t[0] == 0x7f;
}

static void escape(char out[ESCAPE_SIZE], char c)
{
    static const char from[] = "\a\b\t\n\v\f\r", to[] = "abtnvfr";
    const char *at = c ? strchr(from, c) : NULL;

    if (at)
        (void)snprintf(out, ESCAPE_SIZE, "\\%c", to[at - from]);
    else
        (void)snprintf(out, ESCAPE_SIZE, "\\%03o", (unsigned)(unsigned char)c);
}

/* -1 if it does not fit. */
static int escape_all(char *out, size_t size, const char *text)
{
    size_t len = 0, due = 0; /* bytes of a control character */

    for (; *text && len < size; text++) {
        char word[ESCAPE_SIZE] = {*text};

        if (due == 0)
            due = control(text);
        if (due > 0) {
            escape(word, *text);
            due--;
        }
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
        for (size_t n = control(p); n > 0; n--)
            p[n - 1] = '?';
}

char *plain_text_new(const char *text)
{
    size_t size = PLAIN_TEXT_MOST * strlen(text) + 1;
    char *out = malloc(size);

    if (out)
        plain_text(out, size, text);
    return out;
}
