/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * html.h - the pieces of a page of HTML that needs no other file: head and style,
 * tables with a caption, bars in them, figures.
 *
 * All text is escaped here.  All write to a stream; the caller checks ferror()
 * at the end.
 */
#ifndef LAUNCHER_WHATIF_HTML_H
#define LAUNCHER_WHATIF_HTML_H

#include <stdio.h>

void html_open(FILE *out, const char *title);
void html_close(FILE *out);

/* heads: "node|units|share"; one that begins with < stands at the left. */
void html_table(FILE *out, const char *caption, const char *heads);
void html_table_end(FILE *out);
void html_row(FILE *out, const char *name); /* of which it is */
void html_row_end(FILE *out);
void html_cell(FILE *out, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* A text that stands at the left, over several lines if it is long. */
void html_left(FILE *out, const char *text);
enum html_bar { HTML_BAR_PLAIN, HTML_BAR_HATCHED, HTML_BAR_OPEN };
/* A cell with a bar of `part`, 0..1, of the longest one. */
void html_bar(FILE *out, double part, enum html_bar look);

/* A picture with a caption: write it, by svg_open_part(), between the two. */
void html_figure(FILE *out, const char *caption);
void html_figure_end(FILE *out);
/* What is shown when one asks for it. */
void html_details(FILE *out, const char *summary, int is_open);
void html_details_end(FILE *out);
/* <p>text</p>, formatted. */
void html_line(FILE *out, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
