/* SPDX-License-Identifier: BSD-2-Clause */
/* Words as a shell takes them: sh and bash themselves say so. */
#include "launcher/run/shell_words.h"
#include "tap.h"

#include <stdlib.h>

static char *const words[] = {
    (char[]){"printf"}, (char[]){"%s|"},          (char[]){""},
    (char[]){"a b"},    (char[]){"it's"},         (char[]){"$HOME"},
    (char[]){"tab\t'"}, (char[]){"new\nline\\n"}, (char[]){"\001\177"},
    (char[]){"a*?"},    (char[]){"\303\251"},     NULL};

static const char *printed(void (*print)(FILE *, char *const[]))
{
    static char text[500];
    FILE *to = fmemopen(text, sizeof text, "w");

    if (!to)
        bail("no memory");
    print(to, words);
    if (fclose(to) != 0)
        bail("the words are not printed");
    return text;
}

static void test_read(const char *shell, const char *line)
{
    char said[500], want[500] = "", command[100];
    FILE *from;
    size_t n;

    if (setenv("LINE", line, 1) < 0)
        bail("setenv");
    snprintf(command, sizeof command, "exec %s -c \"$LINE\"", shell);
    from = popen(command, "r");
    n = from ? fread(said, 1, sizeof said - 1, from) : 0;
    said[n] = '\0';
    for (size_t i = 2; words[i]; i++) {
        strcat(want, words[i]);
        strcat(want, "|");
    }
    ok(from && pclose(from) == 0, "%s runs it", shell);
    is_str(said, want, "and each word comes out as it was");
}

int main(void)
{
    const char *line = printed(shell_words_line);

    ok(!strchr(line, '\n') && !strchr(line, '\t'), "all is on one line: %s",
       line);
    is_str(strncmp(line, "printf '%s|' '' 'a b'", 21) == 0 ? "plain" : line,
           "plain", "only what needs it is quoted");
    test_read("bash", line);
    test_read("sh", printed(shell_words_print));
    return done();
}
