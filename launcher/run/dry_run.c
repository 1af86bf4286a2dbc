/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/dry_run.h"
#include "launcher/exec/template.h"

#include <string.h>

/* A word that a shell would not take as it is stands between '. */
static void print_word(FILE *to, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789%+,-./:=@_";

    if (*word && strspn(word, plain) == strlen(word)) {
        fputs(word, to);
        return;
    }
    putc('\'', to);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", to);
        else
            putc(*word, to);
    putc('\'', to);
}

int dry_run_print(FILE *to,
                  const struct run_options *o,
                  const struct msg_run *piece,
                  const char *node,
                  uint64_t slice)
{
    char **words = template_argv(o->command, piece, node);

    if (!words)
        return -1;
    fprintf(to, "%s:", node);
    for (size_t i = 0; words[i]; i++) {
        putc(' ', to);
        print_word(to, words[i]);
    }
    template_free(words);
    fprintf(to, "  # units %ju:%ju", (uintmax_t)piece->begin,
            (uintmax_t)piece->end);
    if (slice > 0)
        fprintf(to, " of its %ju", (uintmax_t)slice);
    if (o->lines)
        fprintf(to, ", with lines %ju to %ju of %s on stdin",
                (uintmax_t)piece->begin + 1, (uintmax_t)piece->end, o->lines);
    putc('\n', to);
    return ferror(to) ? -1 : 0;
}
