/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/exec/last_words.h"

#include <stdio.h>
#include <string.h>

void last_words_add(struct execution_end *end,
                    char *words,
                    size_t size,
                    const char *why)
{
    size_t len = end->err_len, more;
    int open_line = len > 0 && end->err_tail[len - 1] != '\n';

    if (len > 0)
        memmove(words, end->err_tail, len);
    more = (size_t)snprintf(words + len, size - len, "%sevenstep: %s\n",
                            open_line ? "\n" : "", why);
    end->err_tail = words;
    end->err_len = len + (more < size - len ? more : size - len - 1);
    end->status = 126;
    end->signal = 0;
}
