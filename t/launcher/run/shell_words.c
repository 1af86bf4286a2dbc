/* SPDX-License-Identifier: BSD-2-Clause */
/* Words as a shell takes them: bash itself says so. */
#include "launcher/run/shell_words.h"
#include "tap.h"

#include <stdlib.h>

static char *const words[] = {
    (char[]){"printf"}, (char[]){"%s|"},          (char[]){""},
    (char[]){"a b"},    (char[]){"it's"},         (char[]){"$HOME"},
    (char[]){"tab\t'"}, (char[]){"new\nline\\n"}, (char[]){"\001\177"},
    (char[]){"a*?"},    (char[]){"\303\251"},     NULL};

int main(void)
{
    char line[500], said[500], want[500] = "", command[600];
    FILE *to = fmemopen(line, sizeof line, "w"), *from;
    size_t n;

    if (!to)
        bail("no memory");
    shell_words_print(to, words);
    fclose(to);
    ok(!strchr(line, '\n') && !strchr(line, '\t'), "all is on one line: %s",
       line);
    is_str(strncmp(line, "printf '%s|' '' 'a b'", 21) == 0 ? "plain" : line,
           "plain", "only what needs it is quoted");
    if (setenv("LINE", line, 1) < 0)
        bail("setenv");
    snprintf(command, sizeof command, "exec bash -c \"$LINE\"");
    from = popen(command, "r");
    n = from ? fread(said, 1, sizeof said - 1, from) : 0;
    said[n] = '\0';
    for (size_t i = 2; words[i]; i++) {
        strcat(want, words[i]);
        strcat(want, "|");
    }
    ok(from && pclose(from) == 0, "bash runs it");
    is_str(said, want, "and each word comes out as it was");
    return done();
}
