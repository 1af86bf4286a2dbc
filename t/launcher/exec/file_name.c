/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of the files of a piece: each its own, and none elsewhere. */
#include "launcher/exec/file_name.h"
#include "tap.h"

#include <string.h>

static void test_templates(void)
{
    static const struct {
        const char *text;
        enum frames frames;
        int inside, good;
    } cases[] = {
        {"out-{begin}", FRAMES_ONE, 1, 1},
        {"a/b/out-{end}.png", FRAMES_ONE, 1, 1},
        {"/tmp/out-{begin}", FRAMES_ONE, 0, 1},
        {"../out-{begin}", FRAMES_ONE, 0, 1},
        {"{frame}-{begin}", FRAMES_MANY, 1, 1},
        {"{label}/{begin}", FRAMES_LABELLED, 1, 1},
        {"..out{begin}..", FRAMES_ONE, 1, 1},
        {"", FRAMES_ONE, 0, 0},
        {"out", FRAMES_ONE, 0, 0},
        {"out-{node}-{slot}", FRAMES_ONE, 0, 0},
        {"out-{begn}", FRAMES_ONE, 0, 0},
        {"{begin}/", FRAMES_ONE, 0, 0},
        {"{begin}/..", FRAMES_ONE, 0, 0},
        {"{begin}/.", FRAMES_ONE, 0, 0},
        {"/tmp/out-{begin}", FRAMES_ONE, 1, 0},
        {"../out-{begin}", FRAMES_ONE, 1, 0},
        {"a/../out-{begin}", FRAMES_ONE, 1, 0},
        {"out-{begin}", FRAMES_MANY, 1, 0},
        {"{label}-{begin}", FRAMES_MANY, 1, 0},
        {"out-{begin}", FRAMES_LABELLED, 1, 0},
        {"{frame}{begin}", FRAMES_MANY, 1, 0},
        {"{label}0{begin}", FRAMES_LABELLED, 1, 0},
        {"{begin}{end}", FRAMES_ONE, 1, 0},
        {"{frame}x{begin}{}", FRAMES_MANY, 1, 0},
        {"{frame}/{begin}", FRAMES_MANY, 1, 1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct es_error err = {0};
        int rc = file_name_check(cases[i].text, "return", cases[i].frames,
                                 cases[i].inside, &err);

        ok(cases[i].good ? rc == 0 : rc < 0 && err.kind == ES_USAGE,
           "\"%s\" is %s: %s", cases[i].text,
           cases[i].good ? "good" : "refused", err.what);
    }
}

static void test_may_be(void)
{
    static const struct {
        const char *text, *path;
        int may;
    } names[] = {
        {"out-{begin}", "out-7", 1},
        {"out-{begin}", "./out-7", 1},
        {"./out-{begin}", "out-12", 1},
        {"out-{begin}", "out-", 0},
        {"out-{begin}", "out-x", 0},
        {"out-{begin}", "out-7.txt", 0},
        {"out-{begin}", "/tmp/../tmp/out-7", 0},
        {"/tmp/out-{begin}", "/tmp/../tmp/out-7", 1},
        {"{frame}-{begin}", "1-2", 1},
        {"{label}{begin}", "tasks1", 1},
        {"{label}.{begin}", "a.b.1", 1},
        {"{label}.{begin}", ".1", 0},
        {"no/{begin}/x", "no/7/x", 0}, /* there is no such folder */
        {"/{label}/x{begin}", "/tmp/x1", 1},
        {"/{label}/x{begin}", "/tmp/y1", 0},
        {"plain", "plain", 1},
        {"plain", "plai", 0},
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ok(file_name_may_be(names[i].text, names[i].path) == names[i].may,
           "%s %s be %s", names[i].text, names[i].may ? "may" : "cannot",
           names[i].path);
}

static void test_clash(void)
{
    ok(file_name_clash("a/{begin}", "a/{end}"),
       "one piece's end is another's begin");
    ok(file_name_clash("{end}.x", "{end}.x"),
       "what is given twice is one file");
    ok(!file_name_clash("a/{begin}", "b/{end}"), "unlike folders are not");
    ok(!file_name_clash("{begin}.x", "{begin}.xy")
           && !file_name_clash("{begin}", "x{begin}"),
       "nor what is longer");
}

static int fill(char *name, const char *text, const char *label)
{
    struct msg_run run = {.frame = 3, .begin = 7, .end = 9};
    struct es_error err;

    snprintf(run.label, sizeof run.label, "%s", label);
    return file_name_fill(name, text, "return", &run, "n1", &err);
}

static void test_names(void)
{
    static const char *const bad[] = {"..", "../x", "x/..", "a/../b", "/"};
    char name[FILE_NAME_MAX], text[FILE_NAME_MAX];

    ok(fill(name, "o/{frame}-{begin}-{end}-{node}-{label}", "l") == 0,
       "fields are filled in");
    is_str(name, "o/3-7-9-n1-l", "each with its own");
    ok(fill(name, "{label}/{begin}", "a/b") == 0, "a label may be a folder");
    ok(fill(name, "../{label}/{begin}", "a..b") == 0,
       "the template may go up, and a label have dots");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ok(fill(name, "{label}/{begin}", bad[i]) < 0, "a label \"%s\" may not",
           bad[i]);
    ok(fill(name, "{begin}/{label}", "") < 0, "an empty one names no file");
    memset(text, 'x', sizeof text);
    memcpy(text, "{begin}{label}", 14);
    text[sizeof text - 10] = '\0';
    ok(fill(name, text, "a label that makes it longer than it may be") < 0,
       "a name has a limit");
}

int main(void)
{
    test_templates();
    test_clash();
    test_may_be();
    test_names();
    return done();
}
