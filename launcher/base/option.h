/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * option.h - one option of a command, declared, and how its value is read.
 */
#ifndef LAUNCHER_BASE_OPTION_H
#define LAUNCHER_BASE_OPTION_H

#include "pmix_bcast/error.h"

#include <stddef.h>
#include <stdint.h>

enum option_type {
    OPTION_END,     /* of a table */
    OPTION_GROUP,   /* no option: the title of those that follow */
    OPTION_FLAG,    /* int: 1 if it is given; it has no value */
    OPTION_COUNT,   /* uint32_t or uint64_t: a whole number */
    OPTION_NUMBER,  /* double */
    OPTION_SECONDS, /* double; the next three as number_parse_unit() reads */
    OPTION_RATE,    /* double, bytes a second */
    OPTION_SIZE,    /* uint32_t or uint64_t, bytes */
    OPTION_RANGE,   /* struct option_range */
    OPTION_WORD,    /* int: which of value, "this|or|that" */
    OPTION_TEXT,    /* const char *, into argv */
    OPTION_TAKE     /* any: take() does it */
};

enum option_file { OPTION_NO_FILE, OPTION_READS, OPTION_WRITES };

struct option_range {
    uint64_t begin, end; /* both 0: not given; else begin < end < 2^63 */
};

/* Names, but for those of groups, and values are in argv's words. */
struct option {
    enum option_type type;
    const char *name, *value;
    size_t offset, width; /* of the member that it sets: OPTION_AT() */
    double low, high;     /* of a number; high 0: as high as it goes */
    const char *help;     /* one paragraph; folded where it is printed */
    const char *def;      /* taken first, as if given, and told by the help */
    char letter;
    const char *alias;    /* a second name */
    const char *bare;     /* taken where no =VALUE is given; no word that
                             follows is one */
    int file;             /* enum option_file; only of OPTION_TEXT */
    int required;         /* "--NAME is missing" */
    const char *excludes; /* others, with blanks between, not with this one */
    const char *needs;    /* others, without any of which this makes no sense */
    const char *only;     /* it is for the command's first operand alone */
    /* At is the member, or where no member is named the whole. */
    int (*take)(void *at, const char *text, struct es_error *err);
    const char *(*word)(size_t i); /* allowed values, until NULL; to complete */
};

#define OPTION_AT(type, member)                                                \
    .offset = offsetof(type, member), .width = sizeof(((type *)0)->member)
#define OPTIONS_MAX 96 /* in a table */

/* Into the member that o sets, of *into.  Returns 0, or -1 with ES_USAGE, and
 * *into as it was. */
int option_store(const struct option *o,
                 void *into,
                 const char *text,
                 struct es_error *err);

/* --- for those that take() ------------------------------------------------ */

/* "5:9"; where: what a message begins with, the option or the line. */
int option_range_parse(struct option_range *r,
                       const char *where,
                       const char *text,
                       struct es_error *err);

/* "80,40.5": numbers from low to high, max at most, with commas between.  How
 * many, or 0 with err. */
size_t option_numbers_parse(double v[],
                            size_t max,
                            double low,
                            double high,
                            const char *name,
                            const char *text,
                            struct es_error *err);

/* Which of "this|or|that" text is, or -1. */
int option_word_find(const char *words, const char *text);
/* "this, or or that". */
void option_words_join(char *joined, size_t size, const char *words);

#endif
