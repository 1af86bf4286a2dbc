/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * task_source.h - where the values of tasks come from: lists on the command line,
 * files and numbers; and a source read row by row.
 */
#ifndef LAUNCHER_RUN_TASK_SOURCE_H
#define LAUNCHER_RUN_TASK_SOURCE_H

#include "pmix_bcast/error.h"
#include "policy/needs.h"

#include <stddef.h>
#include <stdint.h>

#define TASK_SOURCES_MAX 32u
#define TASK_COLSEP_MAX  32u
/* Bytes of a line: more than a command line may have. */
#define TASK_LINE_MAX (8u << 20)

enum task_source_kind { TASK_LIST, TASK_FILE, TASK_RANGE };

struct task_source {
    enum task_source_kind kind;
    const char *option;  /* for messages: ":::", "--arg-file" */
    char *const *words;  /* of a list, ended by NULL */
    const char *path;    /* of a file; "-": standard input */
    uint64_t begin, end; /* of a range */
    int linked;          /* to the source before it: :::+ */
};

struct task_sources { /* all zero: none */
    struct task_source source[TASK_SOURCES_MAX];
    size_t n;
    char colsep
        [TASK_COLSEP_MAX]; /* "": a line is one value; ",": CSV of RFC 4180 */
    int header; /* the first row of each source has the names of its columns */
    int nul;    /* lines end with a NUL: -0 */
    int commands; /* blank lines, and those that begin with #, are no tasks */
    int follow;   /* a file may grow until a line of it ends it */
    const char
        *no_needs; /* the option with which no line says what a task needs;
                             NULL: one may */
    int none;      /* -n 0: a task gets no values */
    uint64_t
        most; /* rows of a task at most: -n N; 0: 1, or with `room` any number */
    size_t
        room; /* bytes of the values of a task at most, each with its NUL; 0: no
                      bound (-X) */
    size_t word; /* bytes that a value may have; 0: what an argument may have */
    int joined; /* ... or all values of a task together, with a blank between: they
                      are of one word (--shell, commands) */
    int shuf;   /* in an order by chance */
    int seeded; /* ... which the seed gives */
    uint64_t seed;
};

/*
 * Cut the words behind "--" into the command, which ends with NULL then, and the
 * sources behind it: "CMD ... ::: a b :::+ 1 2 :::: FILE ::::+ FILE".  sep: NULL for
 * ":::", or what --arg-sep has instead.  Fails with ES_USAGE.
 */
int task_sources_split(struct task_sources *s,
                       char **words,
                       const char *sep,
                       struct es_error *err);
/* Add a file of --arg-file FILE or the like, or a range of numbers.  Likewise. */
int task_sources_file(struct task_sources *s,
                      const char *option,
                      const char *path,
                      struct es_error *err);
int task_sources_range(struct task_sources *s,
                       uint64_t begin,
                       uint64_t end,
                       struct es_error *err);
/* The text of --colsep, in which \t is a tab, and a backslash in front of a character
 * that is no letter makes that one plain.  Refuses other regular expressions. */
int task_sources_colsep(struct task_sources *s,
                        const char *text,
                        struct es_error *err);

/* --- rows ----------------------------------------------------------------- */

struct task_value {
    const char *at;
    size_t len;
};

struct task_row {  /* all zero: none; valid up to the next one */
    uint64_t line; /* of the file, from 1; 0: it is of none */
    struct unit_need
        need; /* that a line before it has said; line 0: none has */
    size_t n;
    struct task_value *value; /* from malloc(3) */
    size_t room;
};

struct task_reader;

/* Lines that are no tasks, of commands and of what is followed: the first ends the
 * list, whatever stands behind it; others are of task_need.h. */
#define TASK_LINE_END     "#EVENSTEP end"
#define TASK_LINE_BARRIER "#EVENSTEP barrier"

/* What is next in a source. */
enum task_next {
    ROW_END,
    ROW_THERE,
    ROW_BARRIER, /* what stands before it is to be done before what is behind it */
    ROW_LATER, /* of a file that is followed: nothing for now */
};

/* What is read again and again.  s and its source i must outlive it.  NULL: fails with
 * ES_USAGE: there is no such file, a folder, ... */
struct task_reader *task_reader_open(const struct task_sources *s,
                                     size_t i,
                                     struct es_error *err);
void task_reader_close(struct task_reader *r);
/* The next row: an enum task_next, or -1: with ES_USAGE it is no good; with ES_WORK
 * a file that is followed has become shorter, or another one. */
int task_reader_next(struct task_reader *r,
                     struct task_row *row,
                     struct es_error *err);
/* Of what is followed: a pipe, which can be waited for, or -1: a file, which is to be
 * looked at now and then. */
int task_reader_pipe(const struct task_reader *r);
/* As messages have it: "--arg-file: FILE", or a separator in quotes. */
const char *task_reader_name(const struct task_reader *r);

#endif
