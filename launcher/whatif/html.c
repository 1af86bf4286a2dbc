/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/html.h"
#include "launcher/base/markup.h"
#include "launcher/base/svg.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#define TEXT_MAX 1024

/* --- the page ------------------------------------------------------------- */

/* Nothing is fetched, and no script is run, whatever a report holds. */
static const char policy[] = "default-src 'none'; style-src 'unsafe-inline'";

/* clang-format off */
static const char style[] =
    ":root{color-scheme:light dark;--ink:#1b1b1b;--paper:#fff;--line:#bbb;"
    "--soft:#f3f3f3;--link:#0b5394;--bar:#5b93c2}\n"
    "body{margin:0 auto;max-width:1560px;padding:1rem;"
    "font:16px/1.45 system-ui,sans-serif;color:var(--ink);"
    "background:var(--paper)}\n"
    "h1,h2,h3{line-height:1.2;overflow-wrap:anywhere}\n"
    "h2{border-top:2px solid var(--line);padding-top:1rem;margin-top:2rem}\n"
    "a{color:var(--link)}\n"
    ":focus-visible{outline:3px solid var(--link);outline-offset:2px}\n"
    ".big strong{font-size:2.8rem;line-height:1}\n"
    ".why{border-left:4px solid var(--bar);padding:.1rem 1rem;"
    "background:var(--soft)}\n"
    ".why p:first-child{font-weight:600}\n"
    ".grid{display:grid;gap:0 2.5rem;grid-template-columns:"
    "repeat(auto-fit,minmax(min(100%,40rem),1fr))}\n"
    ".grid>*{min-width:0}\n"
    "figure{margin:1rem 0}\n"
    "figcaption,caption{font-weight:600;text-align:left;padding:.3rem 0}\n"
    ".scroll{overflow-x:auto;margin:1rem 0}\n"
    "figure .scroll{margin:0}\n"
    ".scroll>svg{display:block;width:100%;height:auto;min-width:600px;"
    "max-width:900px}\n"
    ".strip .scroll>svg{min-width:0}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.2rem .6rem .2rem 0;border-bottom:1px solid var(--line);"
    "text-align:right;white-space:nowrap}\n"
    "thead th{vertical-align:bottom;white-space:normal}\n"
    "tbody th{font-weight:400}\n"
    "th:first-child,.left{text-align:left}\n"
    "td.left{white-space:normal;overflow-wrap:anywhere;min-width:7rem}\n"
    "td svg,th svg{vertical-align:-2px;margin-right:.4rem}\n"
    "td.bar{width:12rem;min-width:6rem;text-align:left}\n"
    ".bar span{display:block;height:1rem;border:1px solid var(--ink);"
    "box-sizing:border-box;background:var(--bar)}\n"
    ".bar .hatched{background:repeating-linear-gradient(135deg,var(--line) 0 "
    "3px,var(--paper) 3px 7px)}\n"
    ".bar .open{background:var(--paper)}\n"
    "summary{cursor:pointer;font-weight:600;padding:.4rem 0}\n"
    "details{margin:.5rem 0}\n"
    "@media(max-width:40rem){td.bar{min-width:4rem;width:7rem}"
    ".strip text{font-size:15px}}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6e6e6;--paper:#15171a;"
    "--line:#555;--soft:#22252a;--link:#8fc1f0;--bar:#3f74a3}\n"
    "svg text{fill:#e6e6e6}\n"
    "svg svg text{fill:#111}\n"
    "svg rect[fill='#fff']{fill:#d8dbe0}\n"
    "svg [fill='#eee']{fill:#9aa1aa}\n"
    "svg rect[stroke='#fff']{stroke:#15171a}\n"
    "svg line[stroke='#ddd']{stroke:#444}\n"
    "svg line[stroke='#555']{stroke:#ccc}}\n"
    "@media print{details>*{display:block}.scroll{overflow:visible}}\n";
/* clang-format on */

void html_open(FILE *out, const char *title)
{
    fprintf(out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
            "<meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, "
            "initial-scale=1\">\n<title>",
            policy);
    markup_print(out, title);
    fprintf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n",
            style);
    svg_textures(out);
    fprintf(out, "<h1>");
    markup_print(out, title);
    fprintf(out, "</h1>\n");
}

void html_close(FILE *out)
{
    fprintf(out, "</main>\n</body>\n</html>\n");
}

/* --- tables --------------------------------------------------------------- */

/* What is wider than the window can be moved, by keys, too. */
static void open_scroll(FILE *out, const char *label)
{
    fprintf(out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                 "aria-label=\"");
    markup_print(out, label);
    fprintf(out, "\">\n");
}

void html_table(FILE *out, const char *caption, const char *heads)
{
    char head[64];

    open_scroll(out, caption);
    fprintf(out, "<table>\n<caption>");
    markup_print(out, caption);
    fprintf(out, "</caption>\n<thead><tr>");
    for (const char *at = heads, *end; at; at = *end ? end + 1 : NULL) {
        end = at + strcspn(at, "|");
        snprintf(head, sizeof head, "%.*s", (int)(end - at), at);
        fprintf(out, "<th scope=\"col\"%s>",
                head[0] == '<' ? " class=\"left\"" : "");
        markup_print(out, head[0] == '<' ? head + 1 : head);
        fprintf(out, "</th>");
    }
    fprintf(out, "</tr></thead>\n<tbody>\n");
}

void html_table_end(FILE *out)
{
    fprintf(out, "</tbody>\n</table>\n</div>\n");
}

void html_row(FILE *out, const char *name)
{
    fprintf(out, "<tr><th scope=\"row\">");
    markup_print(out, name);
    fprintf(out, "</th>");
}

void html_row_end(FILE *out)
{
    fprintf(out, "</tr>\n");
}

static void print_formatted(FILE *out,
                            const char *tag,
                            const char *fmt,
                            va_list ap) __attribute__((format(printf, 3, 0)));
static void print_formatted(FILE *out,
                            const char *tag,
                            const char *fmt,
                            va_list ap)
{
    char text[TEXT_MAX];

    (void)vsnprintf(text, sizeof text, fmt, ap); /* cut, if it is long */
    fprintf(out, "<%s>", tag);
    markup_print(out, text);
    fprintf(out, "</%s>", tag);
}

void html_cell(FILE *out, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    print_formatted(out, "td", fmt, ap);
    va_end(ap);
}

void html_left(FILE *out, const char *text)
{
    fprintf(out, "<td class=\"left\">");
    markup_print(out, text);
    fprintf(out, "</td>");
}

void html_bar(FILE *out, double part, enum html_bar look)
{
    static const char *const classes[] = {
        [HTML_BAR_PLAIN] = "plain",
        [HTML_BAR_HATCHED] = "hatched",
        [HTML_BAR_OPEN] = "open",
    };

    fprintf(out,
            "<td class=\"bar\"><span class=\"%s\" style=\"width:%.1f%%\">"
            "</span></td>",
            classes[look], 100 * fmax(0, fmin(part, 1)));
}

/* --- figures -------------------------------------------------------------- */

void html_figure(FILE *out, const char *caption)
{
    fprintf(out, "<figure><figcaption>");
    markup_print(out, caption);
    fprintf(out, "</figcaption>\n");
    open_scroll(out, caption);
}

void html_figure_end(FILE *out)
{
    fprintf(out, "</div></figure>\n");
}

void html_details(FILE *out, const char *summary, int is_open)
{
    fprintf(out, "<details%s><summary>", is_open ? " open" : "");
    markup_print(out, summary);
    fprintf(out, "</summary>\n");
}

void html_details_end(FILE *out)
{
    fprintf(out, "</details>\n");
}

void html_line(FILE *out, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    print_formatted(out, "p", fmt, ap);
    va_end(ap);
    putc('\n', out);
}
