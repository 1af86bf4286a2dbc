/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * svg.h - pictures in SVG 1.1, each whole in itself: no style, script or font
 * from elsewhere.
 *
 * All write to a stream; whether that went well the caller asks of the stream
 * at the end.  Lengths are pixels.  Texts may be anything: what XML cannot hold
 * becomes a question mark.
 */
#ifndef LAUNCHER_BASE_SVG_H
#define LAUNCHER_BASE_SVG_H

#include "pmix_bcast/error.h"

#include <stdio.h>

enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };

struct svg_box {
    double x, y, width, height;
    const char *fill;   /* a colour */
    const char *stroke; /* likewise; NULL: none */
    const char *label;  /* in it, as much as fits; NULL: none */
    const char *title;  /* shown when pointed at; NULL: none */
};

/* What draws a whole picture: 0, or -1 if it cannot. */
typedef int (*svg_draw_fn)(FILE *out, const void *arg);

/* The FILE of an option --svg.  Fails with ES_WORK. */
int svg_write_file(const char *path,
                   svg_draw_fn draw,
                   const void *arg,
                   struct es_error *err);

void svg_open(FILE *out, double width, double height);
void svg_close(FILE *out);

void svg_box(FILE *out, const struct svg_box *b);
void svg_text(
    FILE *out, double x, double y, enum svg_anchor anchor, const char *text);
void svg_line(
    FILE *out, double x1, double y1, double x2, double y2, const char *stroke);
/* Through n points. */
void svg_curve(FILE *out,
               const double x[],
               const double y[],
               size_t n,
               const char *stroke);

#endif
