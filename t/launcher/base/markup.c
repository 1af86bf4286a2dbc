/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/markup.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    static const struct {
        const char *what, *text, *want;
    } table[] = {
        {"plain", "n0", "n0"},
        {"a tag", "<script>alert(1)</script>",
         "&lt;script&gt;alert(1)&lt;/script&gt;"},
        {"the end of an attribute", "\"><b", "&quot;&gt;&lt;b"},
        {"an entity is text", "&lt;", "&amp;lt;"},
        {"UTF-8", "\xc3\xa9", "\xc3\xa9"},
        {"a cut character", "\xc3", "?"},
        {"a character in too many bytes", "\xc0\xbc", "??"},
        {"half of a pair", "\xed\xa0\x80", "???"},
        {"an escape", "\033[2J", "?[2J"},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char *got = NULL;
        size_t len = 0;
        FILE *out = open_memstream(&got, &len);

        markup_print(out, table[i].text);
        fclose(out);
        is_str(got, table[i].want, table[i].what);
        free(got);
    }
    return done();
}
