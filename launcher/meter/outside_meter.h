/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * outside_meter.h - how far a program is with its slice that has no meter of
 * its own: by what it prints, or, as a proxy, by the CPU time that it uses.
 *
 * Of what is printed the last line that the pattern (a POSIX extended regular
 * expression) fits counts.  With two groups they are what is done, and of how
 * much; with one it is the fraction done, 0 to 1, or with a % behind it the
 * percentage.  What makes no sense, that is beyond the total, of a total of 0,
 * or less than before, is counted and left out.  Lines end with \n or \r.
 *
 * The CPU time that a unit takes is learnt from the slices before.
 */
#ifndef LAUNCHER_METER_OUTSIDE_METER_H
#define LAUNCHER_METER_OUTSIDE_METER_H

#include "pmix_bcast/error.h"

#include <regex.h>
#include <stddef.h>
#include <stdint.h>

#define OUTSIDE_LINE 1024 /* bytes of a line that are looked at */

enum outside_kind {
    OUTSIDE_NONE,
    OUTSIDE_UNITS,  /* by the pieces that are done: the front end knows them */
    OUTSIDE_OUTPUT, /* by what the program prints */
    OUTSIDE_CPU,
};

enum outside_stream { OUTSIDE_OUT, OUTSIDE_ERR, OUTSIDE_STREAMS };

struct outside_meter {
    enum outside_kind kind;
    regex_t pattern; /* of OUTSIDE_OUTPUT */
    struct outside_line {
        char text[OUTSIDE_LINE];
        size_t len;
    } line[OUTSIDE_STREAMS]; /* that has begun */
    double fraction;         /* of the slice, 0 to 1 */
    uint64_t misuse;
    uint64_t units;           /* of the slice */
    double cpu_s, cpu_before; /* of this slice, and of all before */
    double units_before;
};

/*
 * Can this be a pattern, that is an expression with one or two groups?  0, or
 * -1 with ES_USAGE.
 */
int outside_pattern_check(const char *pattern, struct es_error *err);
/* 0, or -1 if the pattern is none; outside_meter_clear() it. */
int outside_meter_init(struct outside_meter *m,
                       enum outside_kind kind,
                       const char *pattern);
void outside_meter_clear(struct outside_meter *m);

/* A slice of so many units begins. */
void outside_meter_begin(struct outside_meter *m, uint64_t units);
/* The program has printed this. */
void outside_meter_read(struct outside_meter *m,
                        enum outside_stream stream,
                        const char *text,
                        size_t len);
/* It has used so much since the slice began. */
void outside_meter_cpu(struct outside_meter *m, double seconds);
/* The slice is done. */
void outside_meter_end(struct outside_meter *m);

#endif
