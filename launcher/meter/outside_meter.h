/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * outside_meter.h - the progress of a program that has no meter of its own:
 * found in its output, or estimated from the CPU time that it uses.
 *
 * The last line of the output that matches the pattern counts.  The pattern is
 * a POSIX extended regular expression with one or two groups.  Two groups are
 * what is done and the total; one group is the fraction done, 0 to 1, or with a
 * % behind it the percentage.  A line with a total of 0, with more than the
 * total or with less than before is counted as misuse and otherwise ignored.
 * Lines end with \n or \r.
 *
 * The CPU time of a unit is learnt from the slices before.
 */
#ifndef LAUNCHER_METER_OUTSIDE_METER_H
#define LAUNCHER_METER_OUTSIDE_METER_H

#include "pmix_bcast/error.h"

#include <regex.h>
#include <stddef.h>
#include <stdint.h>

#define OUTSIDE_LINE 1024 /* bytes of a line that are matched */

enum outside_kind {
    OUTSIDE_NONE,
    OUTSIDE_UNITS,  /* by the pieces done, which the front end counts itself */
    OUTSIDE_OUTPUT, /* by what the program prints */
    OUTSIDE_CPU,    /* by its CPU time */
};

enum outside_stream { OUTSIDE_OUT, OUTSIDE_ERR, OUTSIDE_STREAMS };

struct outside_meter {
    enum outside_kind kind;
    regex_t pattern; /* of OUTSIDE_OUTPUT */
    struct outside_line {
        char text[OUTSIDE_LINE];
        size_t len;
    } line[OUTSIDE_STREAMS]; /* the line that has not ended yet */
    double fraction;         /* of the slice, 0 to 1 */
    uint64_t misuse;
    uint64_t units;           /* of the slice */
    double cpu_s, cpu_before; /* of this slice, and of all before */
    double units_before;
};

/*
 * Check that a text is an expression with one or two groups.  0, or -1 with
 * ES_USAGE.
 */
int outside_pattern_check(const char *pattern, struct es_error *err);
/* 0, or -1 if the pattern is bad.  To be ended by outside_meter_clear(). */
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
/* It has used so many seconds of CPU time since the slice began. */
void outside_meter_cpu(struct outside_meter *m, double seconds);
/* The slice is done. */
void outside_meter_end(struct outside_meter *m);

#endif
