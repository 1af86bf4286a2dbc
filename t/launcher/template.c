/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/template.h"
#include "fault.h"
#include "tap.h"

static const struct msg_run slice = {7, 3, 10, 25, "dawn"};

static const struct {
    const char *word, *want;
} words[] = {
    {"", ""},
    {"plain", "plain"},
    {"{begin}", "10"},
    {"+SR{begin}+ER{end}", "+SR10+ER25"},
    {"{count}{count}", "1515"},
    {"{frame}/{label}/{node}", "3/dawn/n1"},
    {"{", "{"},
    {"{begin", "{begin"},
    {"{unknown} {} {BEGIN}", "{unknown} {} {BEGIN}"},
    {"{{begin}}", "{10}"},
};

static void test_words(void)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        char *argv[] = {(char *)words[i].word, NULL};
        char **got = template_argv(argv, &slice, "n1");
        char what[100];

        snprintf(what, sizeof what, "\"%s\"", words[i].word);
        is_str(got ? got[0] : NULL, words[i].want, what);
        template_free(got);
    }
}

static const char *value(char **env, const char *name)
{
    const char *found = NULL;

    for (size_t i = 0; env[i]; i++)
        if (strncmp(env[i], name, strlen(name)) == 0)
            found = found ? "twice" : env[i] + strlen(name);
    return found;
}

static void test_environ(void)
{
    char path[] = "PATH=/bin", stale[] = "EVENSTEP_BEGIN=99";
    char share[] = "EVENSTEP_SHARE=0.5";
    char *env[] = {path, stale, share, NULL};
    char **got = template_environ(env, &slice, "n1");

    is_str(value(got, "PATH="), "/bin", "what was there stays");
    is_str(value(got, "EVENSTEP_SHARE="), "0.5", "also of ours");
    is_str(value(got, "EVENSTEP_BEGIN="), "10", "a stale slice is replaced");
    is_str(value(got, "EVENSTEP_END="), "25", "the end is set");
    is_str(value(got, "EVENSTEP_COUNT="), "15", "the count is set");
    is_str(value(got, "EVENSTEP_FRAME="), "3", "the frame is set");
    is_str(value(got, "EVENSTEP_LABEL="), "dawn", "the label is set");
    is_str(value(got, "EVENSTEP_NODE="), "n1", "the node is set");
    template_free(got);
}

static void test_no_memory(void)
{
    char word[] = "a{begin}";
    char *argv[] = {word, word, NULL};
    char **got = NULL;
    long n = 0;

    for (fault_at = n; !got && n < 100; fault_at = ++n)
        got = template_argv(argv, &slice, "n1");
    fault_at = -1;
    ok(got && n > 1 && strcmp(got[1], "a10") == 0,
       "each allocation that fails gives none at all");
    template_free(got);
}

int main(void)
{
    test_words();
    test_environ();
    test_no_memory();
    return done();
}
