/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * options.h - commands and their options, declared in tables: from them come
 * the parser, --help, and what a shell completes.
 *
 *   static const struct option table[] = {
 *       {OPTION_GROUP, .name = "work:"},
 *       {OPTION_COUNT, "grain", "G", OPTION_AT(struct run, grain), .low = 1,
 *        .def = "1", .help = "slices begin at multiples of G"},
 *       {.type = OPTION_END},
 *   };
 *
 * An option is --NAME VALUE, --NAME=VALUE or -LETTER VALUE; a name may be cut
 * short as long as it is one option's, and no habit's.  Letters may be joined: -fp, -fF3.
 * One that has a bare value may stand alone, and has another only by =.
 * Behind -- nothing is an option, and -- itself is never a value.  Every
 * command has --help besides, and -h, which is shorter where the command has many.
 */
#ifndef LAUNCHER_BASE_OPTIONS_H
#define LAUNCHER_BASE_OPTIONS_H

#include "launcher/base/option.h"

/* An option that people bring from another program. */
struct option_habit {
    const char *name;  /* without its --; NULL: it has a letter only */
    char letter;       /* or 0; not of one of ours without a value */
    const char *whose; /* "GNU parallel" */
    const char *as;    /* ours that means the same; or NULL */
    const char
        *answer; /* how to say it here, else; NULL: it is a flag, and what it
                           asks for is done anyhow */
};

struct subcommand {
    const char *name;  /* "run": without the program */
    const char *brief; /* what it does, in a line; NULL: not for people */
    const char *usage; /* behind "usage: "; NULL: as option, operands say */
    const char *about; /* paragraphs, each line ended */
    const struct option *option;
    const char
        *without; /* names of the table, with a blank before and behind each,
                            that it does not have; NULL: it has all */
    const char *elsewhere;            /* mends that one of these is given */
    const struct option_habit *habit; /* until one without whose; NULL: none */
    const char *end;                  /* below the options, each line ended */
    const char
        *often; /* what -h tells: names, as in without; NULL: as --help */
    const char
        *examples; /* and below them, each line ended; not NULL with often */
    /* "SRC DST", "plan|run GRAPH" (one of these words), "[FILE]" (or none),
     * "[ARG...]" (any number), "SRC... DST" (at least one of each); NULL: none */
    const char *operands;
    const char *see; /* mends its usage; NULL: its --help */
    int stops;       /* behind the first operand nothing is an option */
    int (*run)(int argc, char **argv, struct es_error *err);
    const struct subcommand *const *sub; /* until NULL; instead of options */
};

/*
 * Fill *into from argv, argv[0] being the command's name.  What is not given
 * stays as it is, but for options with a def.  Afterwards argv[1] and those
 * that follow are the operands, up to a NULL.  Files that options name are
 * compared as named_files.h says.
 * Returns 0; 1 if --help was asked for and has been printed; -1 with err.
 */
int options_parse(const struct subcommand *c,
                  void *into,
                  int argc,
                  char **argv,
                  struct es_error *err);

/* Is it no title, and one that c has? */
int options_has(const struct subcommand *c, const struct option *o);

/* The one of list, which ends with NULL, that is called so, or NULL. */
const struct subcommand *subcommand_find(const struct subcommand *const list[],
                                         const char *name);

/* Print --help, or what -h tells of it.  Returns 0, or -1 with ES_WORK. */
int options_help(const struct subcommand *c,
                 int is_short,
                 struct es_error *err);

#endif
