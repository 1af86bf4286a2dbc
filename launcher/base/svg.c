/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/svg.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* --- text ----------------------------------------------------------------- */

/* Bytes of the UTF-8 character at the start of text; 0 if it is not one that
 * XML 1.0 can hold (XML 1.0, section 2.2; RFC 3629, section 4). */
static size_t character_bytes(const unsigned char *text)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = text[0] < 0x80 ? 1 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
    uint32_t c = n == 1 ? text[0] : text[0] & (0x7fu >> n);

    if (n > 1 && (text[0] < 0xc2 || text[0] > 0xf4))
        return 0;
    for (size_t i = 1; i < n; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0; /* also at the text's end */
        c = c << 6 | (text[i] & 0x3f);
    }
    if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)
        || c == 0xfffe || c == 0xffff
        || (c < 0x20 && c != '\t' && c != '\n' && c != '\r'))
        return 0;
    return n;
}

static void print_escaped(FILE *out, const char *text)
{
    while (*text) {
        size_t n = character_bytes((const unsigned char *)text);

        if (n == 0)
            putc('?', out);
        else if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '>')
            fputs("&gt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else if (*text == '"')
            fputs("&quot;", out);
        else
            fwrite(text, 1, n, out);
        text += n ? n : 1;
    }
}

/* --- the picture ---------------------------------------------------------- */

int svg_write_file(const char *path,
                   svg_draw_fn draw,
                   const void *arg,
                   struct es_error *err)
{
    FILE *out = fopen(path, "we");
    int rc;

    if (out) {
        rc = draw(out, arg);
        if (rc == 0 && ferror(out))
            rc = -1;
        if (fclose(out) == 0 && rc == 0)
            return 0;
    }
    return es_fail(err, ES_WORK, "name a file that you may write",
                   "--svg: %s: %s", path, strerror(errno));
}

void svg_open(FILE *out, double width, double height)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
            "height=\"%.0f\" font-family=\"sans-serif\" font-size=\"12\">\n"
            "<path fill=\"#fff\" d=\"M0 0h%.0fv%.0fh-%.0fz\"/>\n",
            width, height, width, height, width);
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
    print_escaped(out, text);
    fprintf(out, "</text>\n");
}

/* A nested <svg> clips what does not fit. */
static void print_label(FILE *out, const struct svg_box *b)
{
    fprintf(out,
            "<svg x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\">"
            "<text x=\"3\" y=\"%.2f\">",
            b->x, b->y, b->width, b->height, b->height / 2 + 5);
    print_escaped(out, b->label);
    fprintf(out, "</text></svg>");
}

void svg_box(FILE *out, const struct svg_box *b)
{
    fprintf(out, "<g>");
    if (b->title) {
        fprintf(out, "<title>");
        print_escaped(out, b->title);
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
