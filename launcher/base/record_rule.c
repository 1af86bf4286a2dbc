/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/record_rule.h"

#include <string.h>

/* What stands behind a backslash; -1: nothing that is known. */
static int escaped(char c)
{
    static const char names[] = "nrt0\\", bytes[] = "\n\r\t\0\\";
    const char *at = c ? strchr(names, c) : NULL;

    return at ? bytes[at - names] : -1;
}

int record_mark_parse(struct record_mark *m,
                      const char *name,
                      const char *text,
                      struct es_error *err)
{
    struct record_mark mark = {.given = 1};

    for (; *text; text++) {
        int c = *text;

        if (mark.len == RECORD_MARK_MAX)
            return es_fail(err, ES_USAGE, "give 256 bytes at most",
                           "--%s: is too long", name);
        if (c == '\\' && (c = escaped(*++text)) < 0)
            return es_fail(err, ES_USAGE, "give \\n, \\r, \\t, \\0 or \\\\",
                           "--%s: \"\\%.1s\" is unknown", name, text);
        mark.bytes[mark.len++] = (char)c;
    }
    *m = mark;
    return 0;
}

int record_rule_check(const struct record_rule *r, struct es_error *err)
{
    if (r->start.given && r->start.len == 0)
        return es_fail(err, ES_USAGE, "say what a record begins with, as '>'",
                       "--recstart is empty");
    if (r->end.given && r->end.len == 0 && !r->start.given)
        return es_fail(err, ES_USAGE,
                       "say what a record ends or begins with (--recstart)",
                       "--recend is empty");
    return 0;
}
