/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * options.h - commands and their options, declared in tables: from them come
 * the parser, --help, and what a shell completes.
 *
 *   static const struct option table[] = {
 *       {OPTION_GROUP, .name = "work:"},
 *       {OPTION_COUNT, "grain", "G", OPTION_AT(struct run, grain), .low = 1,
 *        .def = "1", .help = "slices begin at multiples of G"},
 *       {OPTION_END},
 *   };
 *
 * An option is --NAME VALUE, --NAME=VALUE or -LETTER VALUE; a name may be cut
 * short as long as it is one option's.  Letters may be joined: -fp, -fF3.
 * Behind -- nothing is an option, and -- itself is never a value.  Every
 * command has -h and --help besides.
 */
#ifndef LAUNCHER_BASE_OPTIONS_H
#define LAUNCHER_BASE_OPTIONS_H

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
    OPTION_TAKE     /* what take() makes of it */
};

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
    int required;         /* "--NAME is missing" */
    const char *excludes; /* others, with blanks between, not with this one */
    const char *needs;    /* another one, without which this makes no sense */
    const char *only;     /* it is for the command's first operand alone */
    int (*take)(void *into, const char *text, struct es_error *err);
    const char *(*word)(size_t i); /* allowed values, until NULL; to complete */
    void (*more)(void);            /* prints lines of --help below its own */
};

#define OPTION_AT(type, member)                                                \
    .offset = offsetof(type, member), .width = sizeof(((type *)0)->member)
#define OPTIONS_MAX 64 /* in a table */

struct subcommand {
    const char *name;  /* "run": without the program */
    const char *brief; /* what it does, in a line; NULL: not for people */
    const char *usage; /* behind "usage: "; NULL: as option, operands say */
    const char *about; /* paragraphs, each line ended */
    const struct option *option;
    const char *end; /* below the options, each line ended */
    /* "SRC DST", "plan|run GRAPH" (one of these words), "[FILE]" (or none),
     * "[ARG...]" (any number); NULL: none */
    const char *operands;
    const char *see; /* mends its usage; NULL: its --help */
    int stops;       /* behind the first operand nothing is an option */
    int (*run)(int argc, char **argv, struct es_error *err);
    const struct subcommand *const *sub; /* until NULL; instead of options */
};

/*
 * Fill *into from argv, argv[0] being the command's name.  What is not given
 * stays as it is, but for options with a def.  Afterwards argv[1] and those
 * that follow are the operands, up to a NULL.
 * Returns 0; 1 if --help was asked for and has been printed; -1 with err.
 */
int options_parse(const struct subcommand *c,
                  void *into,
                  int argc,
                  char **argv,
                  struct es_error *err);

/* Print --help.  Returns 0, or -1 with ES_WORK. */
int options_help(const struct subcommand *c, struct es_error *err);

/* What --NAME is given, taken as an OPTION_RANGE. */
int option_range_parse(struct option_range *r,
                       const char *name,
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
