/* SPDX-License-Identifier: BSD-2-Clause */
/* Pictures are whole XML, whatever the texts in them are. */
#include "launcher/base/svg.h"
#include "tree.h"

#include <string.h>

/* What draw() puts into a picture. */
static const char *drawn(void (*draw)(FILE *out, const char *text),
                         const char *text)
{
    static char picture[4096];
    FILE *out = fmemopen(picture, sizeof picture, "w");

    memset(picture, 0, sizeof picture);
    if (!out)
        bail("no stream");
    draw(out, text);
    if (fclose(out) != 0)
        bail("the picture is too large");
    return picture;
}

static void draw_text(FILE *out, const char *text)
{
    svg_text(out, 1, 2, SVG_START, text);
}

/* The text between the tags. */
static const char *text_of(const char *text)
{
    static char inner[256];
    const char *picture = drawn(draw_text, text);
    const char *begin = strchr(picture, '>'), *end = strrchr(picture, '<');

    if (!begin || !end)
        bail("no text");
    snprintf(inner, sizeof inner, "%.*s", (int)(end - begin - 1), begin + 1);
    return inner;
}

static void test_characters(void)
{
    static const struct {
        const char *text, *want, *what;
    } cases[] = {
        {"frame 12", "frame 12", "plain text stays"},
        {"<&>\"", "&lt;&amp;&gt;&quot;", "what XML uses itself is escaped"},
        {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f", "UTF-8 stays: 2 bytes"},
        {"\xe2\x82\xac", "\xe2\x82\xac", "3 bytes"},
        {"\xf0\x9f\x90\xa2", "\xf0\x9f\x90\xa2", "4 bytes"},
        {"\xf4\x8f\xbf\xbd", "\xf4\x8f\xbf\xbd", "up to U+10FFFD"},
        {"\xee\x80\x80", "\xee\x80\x80", "and right behind the surrogates"},
        {"a\tb\nc\r", "a\tb\nc\r", "blanks of XML stay"},
        {"a\x01z\x1f", "a?z?", "other control characters do not"},
        {"\xff\xfe", "??", "nor bytes that begin no character"},
        {"\x80", "?", "nor one that goes on"},
        {"\xc3", "?", "nor a character that the text's end cuts"},
        {"\xe2\x82", "??", "wherever it does"},
        {"\xc3z", "?z", "or another one"},
        {"\xc0\xaf", "??", "overlong characters are none: 2 bytes"},
        {"\xe0\x80\xaf", "???", "3 bytes"},
        {"\xf0\x80\x80\xaf", "????", "4 bytes"},
        {"\xed\xa0\x80", "???", "nor are surrogates"},
        {"\xef\xbf\xbe", "???", "U+FFFE"},
        {"\xf4\x90\x80\x80", "????", "and what is behind U+10FFFF"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        is_str(text_of(cases[i].text), cases[i].want, cases[i].what);
}

static void draw_box(FILE *out, const char *text)
{
    svg_box(out, &(struct svg_box){1, 2, 30, 40, "red", NULL, text, text});
}

static void draw_bare_box(FILE *out, const char *text)
{
    svg_box(out, &(struct svg_box){1, 2, 30, 40, text, "blue", NULL, NULL});
}

static void test_box(void)
{
    const char *box = drawn(draw_box, "a<b");

    ok(strstr(box, "<title>a&lt;b</title>") && strstr(box, ">a&lt;b</text>")
           && !strstr(box, "a<b"),
       "title and label of a box are escaped");
    ok(!strstr(box, "stroke"), "without a stroke it has none");
    box = drawn(draw_bare_box, "red");
    ok(!strstr(box, "title") && !strstr(box, "text")
           && strstr(box, "stroke=\"blue\"") && strstr(box, "fill=\"red\""),
       "without a title and a label it has neither");
}

static void draw_curve(FILE *out, const char *text)
{
    static const double x[] = {1, 2.5, 3}, y[] = {4, 5, 6.25};

    svg_curve(out, x, y, 3, text);
}

static void test_curve(void)
{
    ok(strstr(drawn(draw_curve, "red"),
              "points=\"1.00,4.00 2.50,5.00 3.00,6.25\"")
           != NULL,
       "a curve goes through all its points");
}

/* --- files ---------------------------------------------------------------- */

int main(void)
{
    tree_make();
    test_characters();
    test_box();
    test_curve();
    tree_remove();
    return done();
}
