/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/text_file.h"

#include <string.h>

#define MARK_UTF8 "\xef\xbb\xbf"

size_t text_file_mark(const char *text, size_t len)
{
    size_t n = sizeof MARK_UTF8 - 1;

    return len >= n && memcmp(text, MARK_UTF8, n) == 0 ? n : 0;
}

void text_file_skip_mark(FILE *file)
{
    int c[sizeof MARK_UTF8 - 1];
    size_t n = 0;

    do
        c[n] = getc(file);
    while (c[n] == (unsigned char)MARK_UTF8[n] && ++n < sizeof c / sizeof *c);
    if (n == sizeof c / sizeof *c)
        return;
    for (n++; n > 0; n--)
        (void)ungetc(c[n - 1], file); /* EOF is none; glibc takes all back */
}
