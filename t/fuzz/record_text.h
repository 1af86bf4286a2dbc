/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * record_text.h - lines with the sums that a record_log wants of them, so that
 * what is behind the sums is fuzzed, too.
 */
#ifndef RECORD_TEXT_H
#define RECORD_TEXT_H

#include "launcher/base/record_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* One line, without its newline, at to; how long it is there. */
static inline size_t record_text_line(char *to, const char *line, size_t len)
{
    if (len == 0 || line[len - 1] != '}') {
        memcpy(to, line, len);
        to[len] = '\n';
        return len + 1;
    }
    memcpy(to, line, len - 1);
    snprintf(to + len - 1, RECORD_SUM_BYTES + 1, ",\"sum\":\"%016jx\"}\n",
             (uintmax_t)XXH3_64bits(line, len - 1));
    return len - 1 + RECORD_SUM_BYTES;
}

/*
 * The text with a sum at the end of each line that ends with a brace; one that
 * begins with '=' stands for itself, without that byte.  free() it; *len is
 * how long it is.
 */
static inline char *record_text(const uint8_t *data, size_t size, size_t *len)
{
    const char *at = (const char *)data, *end = at + size;
    char *text = malloc((size + 1) * (RECORD_SUM_BYTES + 1)), *to = text;

    if (!text)
        abort();
    if (size > 0 && *at == '=') {
        *len = size - 1;
        return memcpy(text, at + 1, size - 1);
    }
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));

        if (!stop)
            stop = end;
        to += record_text_line(to, at, (size_t)(stop - at));
        at = stop + 1;
    }
    *len = (size_t)(to - text);
    return text;
}

#endif
