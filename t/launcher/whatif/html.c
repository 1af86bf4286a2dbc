/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/html.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

static FILE *out;
static char *got;
static size_t len;

static void begin(void)
{
    if (out)
        fclose(out);
    free(got);
    got = NULL;
    out = open_memstream(&got, &len);
}

static int has(const char *text)
{
    fflush(out);
    return strstr(got, text) != NULL;
}

int main(void)
{
    begin();
    html_table(out, "a <b>", "|<left|right <i>");
    ok(has("<caption>a &lt;b&gt;</caption>"), "a caption is text");
    ok(has("<tr><th scope=\"col\"></th><th scope=\"col\" class=\"left\">left"
           "</th><th scope=\"col\">right &lt;i&gt;</th></tr>"),
       "heads: one that is empty, one at the left");
    ok(has("role=\"region\" aria-label=\"a &lt;b&gt;\""),
       "what is too wide can be moved by keys, and has a name");
    html_row(out, "n<0>");
    html_cell(out, "%s", "<script>");
    ok(has("<th scope=\"row\">n&lt;0&gt;</th><td>&lt;script&gt;</td>"),
       "cells are text");
    html_left(out, "a<b>");
    ok(has("<td class=\"left\">a&lt;b&gt;</td>"), "so are those at the left");
    begin();
    html_bar(out, 0.5, HTML_BAR_HATCHED);
    ok(has("class=\"hatched\" style=\"width:50.0%\""), "a bar");
    html_bar(out, 7, HTML_BAR_PLAIN);
    ok(has("width:100.0%"), "one that is too long ends with its cell");
    html_bar(out, -1, HTML_BAR_OPEN);
    ok(has("width:0.0%"), "one below 0 has no length");
    begin();
    html_open(out, "t");
    html_close(out);
    ok(has("default-src 'none'") && !has("<script") && !has("http:"),
       "a page runs and fetches nothing");
    ok(has("prefers-color-scheme:dark") && has("focus-visible"),
       "it has a dark side, and shows where the keyboard is");
    fclose(out);
    free(got);
    return done();
}
