/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/unit_words.h"

#include <stdio.h>

struct unit_words unit_words_of(const struct record_rule *lines)
{
    if (!lines)
        return (struct unit_words){.one = NULL};
    if (lines->lines > 1 || lines->start.given || lines->end.given)
        return (struct unit_words){"record", "records", 1};
    return (struct unit_words){"line", "lines", lines->header + 1};
}

const char *unit_words_noun(const struct unit_words *w, uint64_t n)
{
    if (!w->one)
        return "units";
    return n == 1 ? w->one : w->several;
}

const char *unit_words_range(const struct unit_words *w,
                             struct slice units,
                             char text[UNIT_RANGE_MAX])
{
    uintmax_t begin = units.begin + w->first, last = units.end + w->first - 1;

    if (!w->one)
        snprintf(text, UNIT_RANGE_MAX, "%ju:%ju", (uintmax_t)units.begin,
                 (uintmax_t)units.end);
    else if (begin >= last)
        snprintf(text, UNIT_RANGE_MAX, "%ju", begin);
    else
        snprintf(text, UNIT_RANGE_MAX, "%ju to %ju", begin, last);
    return text;
}
