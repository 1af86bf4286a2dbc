/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/svg.h"
#include "launcher/base/markup.h"

/* --- the picture ---------------------------------------------------------- */

void svg_open(FILE *out, double width, double height)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
            "height=\"%.0f\" font-family=\"sans-serif\" font-size=\"12\">\n"
            "<path fill=\"#fff\" d=\"M0 0h%.0fv%.0fh-%.0fz\"/>\n",
            width, height, width, height, width);
}

void svg_open_part(FILE *out, double width, double height, const char *label)
{
    fprintf(out,
            "<svg viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" "
            "role=\"img\" font-family=\"sans-serif\" font-size=\"12\" "
            "aria-label=\"",
            width, height, width, height);
    markup_print(out, label);
    fprintf(out, "\">\n");
}

/* Lines at 45 and 135 degrees, across, up, crossed, and dots. */
void svg_textures(FILE *out)
{
    static const char *const drawn[SVG_TEXTURES] = {
        NULL,
        "M-1 1l2-2M0 6l6-6M5 7l2-2",
        "M-1 5l2 2M0 0l6 6M5-1l2 2",
        "M0 3h6",
        "M3 0v6",
        "M0 3h6M3 0v6",
        "M1 2h2M4 5h2",
    };

    fprintf(out, "<svg width=\"0\" height=\"0\" aria-hidden=\"true\">"
                 "<defs>\n");
    for (size_t i = 1; i < SVG_TEXTURES; i++)
        fprintf(out,
                "<pattern id=\"t%zu\" width=\"6\" height=\"6\" "
                "patternUnits=\"userSpaceOnUse\"><path d=\"%s\" "
                "fill=\"none\" stroke=\"#333\"/></pattern>\n",
                i, drawn[i]);
    fprintf(out, "</defs></svg>\n");
}

void svg_texture(
    FILE *out, double x, double y, double width, double height, size_t texture)
{
    if (texture % SVG_TEXTURES > 0)
        fprintf(out,
                "<rect class=\"t\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" "
                "height=\"%.2f\" fill=\"url(#t%zu)\"/>\n",
                x, y, width, height, texture % SVG_TEXTURES);
}

void svg_close(FILE *out)
{
    fprintf(out, "</svg>\n");
}

/* --- what is in it -------------------------------------------------------- */

void svg_text(
    FILE *out, double x, double y, enum svg_anchor anchor, const char *text)
{
    static const char *const how[] = {
        [SVG_START] = "",
        [SVG_MIDDLE] = " text-anchor=\"middle\"",
        [SVG_END] = " text-anchor=\"end\"",
    };

    fprintf(out, "<text x=\"%.2f\" y=\"%.2f\"%s>", x, y, how[anchor]);
    markup_print(out, text);
    fprintf(out, "</text>\n");
}

/* A nested <svg> clips what does not fit. */
static void print_label(FILE *out, const struct svg_box *b)
{
    fprintf(out,
            "<svg x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\">"
            "<text x=\"3\" y=\"%.2f\">",
            b->x, b->y, b->width, b->height, b->height / 2 + 5);
    markup_print(out, b->label);
    fprintf(out, "</text></svg>");
}

void svg_box(FILE *out, const struct svg_box *b)
{
    fprintf(out, "<g>");
    if (b->title) {
        fprintf(out, "<title>");
        markup_print(out, b->title);
        fprintf(out, "</title>");
    }
    fprintf(out,
            "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
            "fill=\"%s\"",
            b->x, b->y, b->width, b->height, b->fill);
    if (b->stroke)
        fprintf(out, " stroke=\"%s\"", b->stroke);
    fprintf(out, "/>");
    if (b->label)
        print_label(out, b);
    fprintf(out, "</g>\n");
}

/* Each line is clipped here, so that nothing has to be named and referred to. */
void svg_hatch(FILE *out,
               double x,
               double y,
               double width,
               double height,
               const char *stroke)
{
    fprintf(out, "<path fill=\"none\" stroke=\"%s\" d=\"", stroke);
    for (double at = SVG_HATCH / 2.0; at < width + height; at += SVG_HATCH) {
        double left = at > height ? at - height : 0;
        double right = at < width ? at : width;

        fprintf(out, "M%.2f %.2fL%.2f %.2f", x + left, y + at - left, x + right,
                y + at - right);
    }
    fprintf(out, "\"/>\n");
}

void svg_line(
    FILE *out, double x1, double y1, double x2, double y2, const char *stroke)
{
    fprintf(out,
            "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" "
            "stroke=\"%s\"/>\n",
            x1, y1, x2, y2, stroke);
}

void svg_curve(
    FILE *out, const double x[], const double y[], size_t n, const char *stroke)
{
    fprintf(out, "<polyline fill=\"none\" stroke=\"%s\" points=\"", stroke);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s%.2f,%.2f", i ? " " : "", x[i], y[i]);
    fprintf(out, "\"/>\n");
}
