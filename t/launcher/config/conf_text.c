/* SPDX-License-Identifier: BSD-2-Clause */
/* What of a configuration libconfuse is not to see. */
#include "launcher/config/conf_text.h"
#include "tap.h"

static void test_version(void)
{
    static const struct {
        const char *text;
        int is_newer;
    } files[] = {
        {"version = \"0.3\"", 1},
        {"version = \"0.2.1\"\n", 1},
        {"version = \"0.2\"", 0},
        {"version = \"0.2.0\"", 0},
        {"version = \"0.1.9\"", 0},
        {"# version = \"0.3\"\n/* version = \"0.3\" */ x = 1", 0},
        {"a { version = \"0.3\" }", 0},
        {"a { b = \"{\" }\nversion = \"1.0\"", 1},
        {"version = 0.3", 0},
        {"version = \"new\"", 0},
        {"version = \"\"", 0},
        {"version =", 0},
        {"version", 0},
        {"versions = \"0.3\"", 0},
        {"", 0},
    };

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        is_int(conf_text_is_newer(files[i].text, "0.2.0"), files[i].is_newer,
               files[i].text);
    ok(conf_text_is_version("0.3") && conf_text_is_version("10.20.30")
           && !conf_text_is_version("0") && !conf_text_is_version("0.3x")
           && !conf_text_is_version("0.3.") && !conf_text_is_version("")
           && !conf_text_is_version(" 0.3") && !conf_text_is_version("-1.3"),
       "what is a release");
}

static void test_blank(void)
{
    static const struct {
        const char *text;
        int line;
        const char *left; /* NULL: nothing is blanked */
    } keys[] = {
        {"k = 1\nb = 2", 1, "     \nb = 2"},
        {"a { k = 1 }", 1, "a {       }"},
        {"k = \"a } \\\" b\" c = 1", 1, "               c = 1"},
        {"k = {1, 2}c = 1", 1, "          c = 1"},
        {"k += { 1 } c = 1", 1, "           c = 1"},
        {"k \"t\" { a = \"}\" b { } }\nc = 1", 1,
         "                       \nc = 1"},
        {"k {\n a = 1 # }\n}\nc = 1", 1, "   \n          \n \nc = 1"},
        {"k # why\n = 1 c = 1", 1, "       \n     c = 1"},
        {"kk = 1 k = 2", 1, "kk = 1      "},
        {"\"k\" = 1", 1, NULL},
        {"# k = 1", 1, NULL},
        {"a = 1\nk = 1", 1, NULL},
        {"k = 1", 2, NULL},
        {"k = ", 1, NULL},
        {"k", 1, NULL},
        {"k }", 1, NULL},
        {"a { k = }", 1, NULL},
        {"k { a = 1", 1, NULL},
        {"k = { \"", 1, NULL},
        {"", 1, NULL},
    };
    char text[80];

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        snprintf(text, sizeof text, "%s", keys[i].text);
        is_int(conf_text_blank_key(text, keys[i].line, "k"),
               keys[i].left ? 0 : -1, keys[i].text);
        is_str(text, keys[i].left ? keys[i].left : keys[i].text,
               "what is left");
    }
}

static void test_comments(void)
{
    static const char *const texts[][2] = {
        {"a # b\nc // d\n", "a    \nc     \n"},
        {"a /* b\nc */ d", "a     \n     d"},
        {"a = \"# b\" # \"c\nd = '//'", "a = \"# b\"     \nd = '//'"},
        {"a = x#y\n", "a = x  \n"},
        {"a # b", "a    "},
        {"a /* b", "a /* b"},
        {"a /*/", "a /*/"},
        {"a /**/", "a     "},
        {"a / b", "a / b"},
        {"a = /b//c // d", "a = /b//c     "},
        {"\"a", "\"a"},
        {"", ""},
    };
    char text[80];

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        snprintf(text, sizeof text, "%s", texts[i][0]);
        conf_text_blank_comments(text);
        is_str(text, texts[i][1], texts[i][0]);
    }
}

int main(void)
{
    test_comments();
    test_version();
    test_blank();
    return done();
}
