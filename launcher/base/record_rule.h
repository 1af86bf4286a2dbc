/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * record_rule.h - what of a file is one unit: a line, some lines, or what is
 * between two marks; and what of it is a header.
 *
 * A record ends behind the mark `end` (a newline, if it is not given) where the
 * mark `start` follows; one that is empty is always there.  So with a start of
 * ">" a record begins at each line that begins so, and nowhere within a line.
 */
#ifndef LAUNCHER_BASE_RECORD_RULE_H
#define LAUNCHER_BASE_RECORD_RULE_H

#include "pmix_bcast/error.h"

#include <stddef.h>
#include <stdint.h>

#define RECORD_MARK_MAX 256u /* bytes of a mark */

struct record_mark {
    char bytes[RECORD_MARK_MAX];
    size_t len;
    int given;
};

struct record_rule { /* all zero: a unit is a line */
    struct record_mark start, end;
    uint64_t lines;  /* of a unit; 0: not given */
    uint64_t header; /* lines that are in no unit */
};

/* A mark, in which \n \r \t \0 and \\ stand for a byte.  Fails with ES_USAGE;
 * name is the option's. */
int record_mark_parse(struct record_mark *m,
                      const char *name,
                      const char *text,
                      struct es_error *err);
/* Marks that would be everywhere are refused with ES_USAGE. */
int record_rule_check(const struct record_rule *r, struct es_error *err);

#endif
