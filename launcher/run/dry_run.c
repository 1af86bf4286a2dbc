/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/dry_run.h"
#include "launcher/exec/template.h"
#include "launcher/run/shell_words.h"

#include <stdlib.h>
#include <string.h>

/* Counted from 1, and lines with those of the header, as an editor does. */
static void print_stdin(FILE *to,
                        const struct run_options *o,
                        const struct msg_run *piece)
{
    const struct record_rule *r = &o->record;
    int are_lines = !r->start.given && !r->end.given && r->lines <= 1;
    uint64_t header = are_lines ? r->header : 0;

    fprintf(to, ", with %s %ju to %ju of %s on stdin",
            are_lines ? "lines" : "records",
            (uintmax_t)(header + piece->begin + 1),
            (uintmax_t)(header + piece->end),
            strcmp(o->lines, "-") == 0 ? "standard input" : o->lines);
}

/* Where it will have been brought. */
static int name_program(char **words,
                        const struct run_options *o,
                        const struct msg_run *piece,
                        const char *node)
{
    char *own[] = {(char *)o->exec.destination, NULL}, **filled;

    if (!o->exec.destination[0])
        return 0;
    filled = template_argv(own, piece, node);
    if (!filled)
        return -1;
    free(words[0]);
    words[0] = filled[0];
    filled[0] = NULL;
    template_free(filled);
    return 0;
}

int dry_run_print(FILE *to,
                  const struct run_options *o,
                  const struct msg_run *piece,
                  const char *node,
                  uint64_t slice)
{
    char **words = template_argv(o->command, piece, node);

    if (!words || name_program(words, o, piece, node) < 0) {
        template_free(words);
        return -1;
    }
    fprintf(to, "%s:", node);
    putc(' ', to);
    shell_words_print(to, words);
    template_free(words);
    fprintf(to, "  # units %ju:%ju", (uintmax_t)piece->begin,
            (uintmax_t)piece->end);
    if (slice > 0 && slice >= piece->end - piece->begin)
        fprintf(to, " of its %ju", (uintmax_t)slice);
    if (o->lines)
        print_stdin(to, o, piece);
    putc('\n', to);
    return ferror(to) ? -1 : 0;
}
