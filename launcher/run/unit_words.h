/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_words.h - what people call units: the lines of --lines by their numbers in
 * the file, as an editor counts them, its records from 1, and others B:E.
 */
#ifndef LAUNCHER_RUN_UNIT_WORDS_H
#define LAUNCHER_RUN_UNIT_WORDS_H

#include "launcher/base/record_rule.h"
#include "policy/shares.h"

#define UNIT_RANGE_MAX 48 /* bytes of a range, with its NUL */

struct unit_words {            /* all zero: units have no other name */
    const char *one, *several; /* NULL: "units" */
    uint64_t first;            /* the number of unit 0 */
};

/* Of --lines, with the rule that makes units of them; NULL: of a range. */
struct unit_words unit_words_of(const struct record_rule *lines);
/* "line", where they are more than one "lines", or "units". */
const char *unit_words_noun(const struct unit_words *w, uint64_t n);
/* "58", "58 to 60" or "57:60"; returns text. */
const char *unit_words_range(const struct unit_words *w,
                             struct slice units,
                             char text[UNIT_RANGE_MAX]);

#endif
