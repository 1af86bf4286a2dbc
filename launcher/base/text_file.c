/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/text_file.h"

#include <string.h>

static const unsigned char mark[] = {0xef, 0xbb, 0xbf};

size_t text_file_mark(const char *text, size_t len)
{
    return len >= sizeof mark && memcmp(text, mark, sizeof mark) == 0
               ? sizeof mark
               : 0;
}

void text_file_skip_mark(FILE *file)
{
    size_t n = 0;
    int c = EOF;

    while (n < sizeof mark && (c = getc(file)) == mark[n])
        n++;
    if (n == sizeof mark)
        return;
    (void)ungetc(c, file); /* EOF is none; glibc takes all back */
    while (n > 0)
        (void)ungetc(mark[--n], file);
}
