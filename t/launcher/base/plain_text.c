/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as one line of text. */
#include "launcher/base/plain_text.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *text, *shown, *name;
} texts[] = {
    {"", "", "no text"},
    {"a b", "a b", "what is plain stays"},
    {"Stra\303\237e \xff", "Stra\303\237e \xff",
     "so do UTF-8, and what is none"},
    {"a\\n", "a\\n", "and a backslash"},
    {"\302\233"
     "2J\302\240",
     "\\302\\2332J\302\240", "those of two bytes"},
    {"\a\b\t\n\v\f\r", "\\a\\b\\t\\n\\v\\f\\r", "those that have a letter"},
    {"\001\033[2J\037\177", "\\001\\033[2J\\037\\177", "those that have none"},
};

static void test_texts(void)
{
    char out[100];

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char *new = plain_text_new(texts[i].text);

        plain_text(out, sizeof out, texts[i].text);
        is_str(out, texts[i].shown, texts[i].name);
        is_str(new, texts[i].shown, "... as a new string");
        free(new);
    }
}

/* None is in what becomes of any byte, which is as long as is said. */
static void test_all_bytes(void)
{
    int bad = 0;

    for (int c = 1; c < 256; c++) {
        char text[2] = {(char)c}, out[PLAIN_TEXT_MOST + 1];

        plain_text(out, sizeof out, text);
        bad += out[0] == '?' && c != '?';
        for (const char *p = out; *p; p++)
            bad += (unsigned char)*p < 0x20 || *p == 0x7f;
    }
    is_int(bad, 0, "no control character is left");
}

static void test_bounds(void)
{
    char out[8] = "xxxxxxx";

    plain_text(out, 5, "\033");
    is_str(out, "\\033", "one that just fits");
    plain_text(out, 4, "\033a");
    is_str(out, "?a", "without room for all there is a '?' for each");
    plain_text(out, 4, "a\nb");
    is_str(out, "a?b", "so that the end is there");
    plain_text(out, 4, "abcdef");
    is_str(out, "abc", "only what is longer itself is cut");
    plain_text(out, 1, "\n");
    is_str(out, "", "also to nothing");
    ok(out[5] == 'x', "nothing is written behind");
}

int main(void)
{
    test_texts();
    test_all_bytes();
    test_bounds();
    return done();
}
