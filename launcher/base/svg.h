/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * svg.h - pictures in SVG 1.1 that need no other file: no style sheet, script
 * or font.
 *
 * All functions write to a stream; the caller checks ferror() at the end.
 * Lengths are pixels.  Texts may be any bytes: what XML cannot hold becomes a
 * question mark.
 */
#ifndef LAUNCHER_BASE_SVG_H
#define LAUNCHER_BASE_SVG_H

#include "pmix_bcast/error.h"

#include <stdio.h>

enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };

struct svg_box {
    double x, y, width, height;
    const char *fill;   /* a colour */
    const char *stroke; /* colour of the border; NULL: no border */
    const char *label;  /* text in the box, cut to its size; NULL: none */
    const char *title;  /* text shown under the pointer; NULL: none */
};

void svg_open(FILE *out, double width, double height);
/* Of a page of HTML: it has no background, and label says what it shows to who
 * does not see it. */
void svg_open_part(FILE *out, double width, double height, const char *label);
void svg_close(FILE *out);

/* For who does not see colours: textures over boxes, in a page that has
 * svg_textures() once.  Texture 0 is none; of others, the rest counts. */
#define SVG_TEXTURES 7
void svg_textures(FILE *out);
void svg_texture(
    FILE *out, double x, double y, double width, double height, size_t texture);

void svg_box(FILE *out, const struct svg_box *b);
void svg_text(
    FILE *out, double x, double y, enum svg_anchor anchor, const char *text);
/* Lines across a box, SVG_HATCH pixels apart. */
#define SVG_HATCH 5
void svg_hatch(FILE *out,
               double x,
               double y,
               double width,
               double height,
               const char *stroke);
void svg_line(
    FILE *out, double x1, double y1, double x2, double y2, const char *stroke);
/* A line through n points. */
void svg_curve(FILE *out,
               const double x[],
               const double y[],
               size_t n,
               const char *stroke);

#endif
