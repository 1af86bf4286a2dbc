/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/exec/template.h"
#include "fault.h"
#include "tap.h"

static const struct msg_run slice = {
    .id = 7, .frame = 3, .begin = 10, .end = 25, .slot = 4, .label = "dawn"};

static const struct {
    const char *word, *want;
} words[] = {
    {"", ""},
    {"plain", "plain"},
    {"{begin}", "10"},
    {"+SR{begin}+ER{end}", "+SR10+ER25"},
    {"{count}{count}", "1515"},
    {"{frame}/{label}/{node}", "3/dawn/n1"},
    {"gpu{slot}", "gpu4"},
    {"{", "{"},
    {"{begin", "{begin"},
    {"{unknown} {} {BEGIN}", "{unknown} {} {BEGIN}"},
    {"{{begin}}", "{begin}"},
    {"{{{begin}}}", "{10}"},
    {"{{{{begin}}}}", "{{begin}}"},
    {"{{begin}", "{10"},
    {"{\"a\":{\"b\":{begin}}}", "{\"a\":{\"b\":10}}"},
    {"f\"{{end}}\" {end}", "f\"{end}\" 25"},
    {"{{}} {{{}}} {{}", "{} {{}} {{}"},
    {"{{print}} {{ .Name }} {{line}}", "{{print}} {{ .Name }} {{line}}"},
    {"{begin}{", "10{"},
    {"{ begin}{begin }", "{ begin}{begin }"},
    {"%s%n{end}", "%s%n25"},
    {"$(x) `x` 'x' \"x\" {count}", "$(x) `x` 'x' \"x\" 15"},
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

static const struct {
    const char *mark, *word, *want;
} marked[] = {
    {"[[]]", "[[begin]]-[[end]]", "10-25"},
    {"[[]]", "{begin} {} {{}} {{{count}}} {line}",
     "{begin} {} {{}} {{{count}}} {line}"},
    {"[[]]", "{[[count]]}} {{[[count]] [[[count]]]", "{15}} {{15 [15]"},
    {"[[]]", "{\"{end}\": [[[end]]]}", "{\"{end}\": [25]}"},
    {"[[]]", "[[begin] [begin]] [[line]]", "[[begin] [begin]] [[line]]"},
    {"<>", "<label><node>", "dawnn1"},
    {"@@", "a@slot@b", "a4b"},
};

static void test_marks(void)
{
    for (size_t i = 0; i < sizeof marked / sizeof marked[0]; i++) {
        char *argv[] = {(char *)marked[i].word, NULL};
        char **own = template_renamed(argv, marked[i].mark);
        char **got = own ? template_argv(own, &slice, "n1") : NULL;

        is_str(got ? got[0] : NULL, marked[i].want, marked[i].word);
        template_free(got);
        template_free(own);
    }
    ok(template_is_mark("[[]]") && template_is_mark("@@"), "two halves");
    ok(!template_is_mark("") && !template_is_mark("[[]")
           && !template_is_mark("{}") && !template_is_mark("ab")
           && !template_is_mark("[[[[[[[[[]]]]]]]]]"),
       "not none, nor with letters or braces, nor long ones");
}

static void test_next(void)
{
    const char *text = "{{end}} {x} {{{count}}} {node", *at = NULL;

    is_str(template_next(text, &at), "{count}", "the first that is filled in");
    ok(at && strncmp(at, "{count}}}", 9) == 0, "and where it is");
    ok(!template_next("{{end}} {} {", &at), "there may be none");
}

/* What is filled in is not looked at again. */
static void test_values(void)
{
    struct msg_run odd = {.frame = UINT64_MAX,
                          .begin = UINT64_MAX,
                          .end = UINT64_MAX,
                          .label = "{node}"};
    char numbers[] = "{begin} {end} {count} {frame}", label[] = "{label}";
    char *argv[] = {numbers, label, NULL}, *none[] = {NULL};
    char node[NODE_NAME_MAX], **got = template_argv(argv, &odd, "{end}");

    is_str(got[0],
           "18446744073709551615 18446744073709551615 0 18446744073709551615",
           "the largest numbers, and an empty slice");
    is_str(got[1], "{node}", "a label that looks like a field stays");
    ok(!got[2], "there are as many words as there were");
    template_free(got);
    memset(node, 'n', sizeof node);
    node[sizeof node - 1] = '\0';
    memset(odd.label, 'l', sizeof odd.label);
    odd.label[sizeof odd.label - 1] = '\0';
    argv[0] = label;
    argv[1] = (char[]){"{node}"};
    got = template_argv(argv, &odd, node);
    ok(strcmp(got[0], odd.label) == 0 && strcmp(got[1], node) == 0,
       "the longest label and name fit");
    template_free(got);
    got = template_argv(none, &odd, "n");
    ok(got && !got[0], "of no word nothing comes");
    template_free(got);
    template_free(NULL);
    ok(1, "nothing at all may be freed");
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
    char share[] = "EVENSTEP_SHARE=0.5", near[] = "EVENSTEP_ENDING=x";
    char bare[] = "EVENSTEP_END", odd[] = "=x";
    char *env[] = {path, stale, share, near, bare, odd, NULL};
    char *none[] = {NULL};
    char **got = template_environ(env, &slice, "n1");

    is_str(value(got, "PATH="), "/bin", "what was there stays");
    is_str(value(got, "EVENSTEP_SHARE="), "0.5", "also of ours");
    is_str(value(got, "EVENSTEP_BEGIN="), "10", "a stale slice is replaced");
    is_str(value(got, "EVENSTEP_END="), "25", "the end is set");
    is_str(value(got, "EVENSTEP_COUNT="), "15", "the count is set");
    is_str(value(got, "EVENSTEP_FRAME="), "3", "the frame is set");
    is_str(value(got, "EVENSTEP_SLOT="), "4", "the slot is set");
    is_str(value(got, "EVENSTEP_LABEL="), "dawn", "the label is set");
    is_str(value(got, "EVENSTEP_NODE="), "n1", "the node is set");
    is_str(value(got, "EVENSTEP_ENDING="), "x", "a longer name stays");
    ok(strcmp(got[3], "EVENSTEP_END") == 0 && strcmp(got[4], "=x") == 0,
       "so does what is no variable");
    template_free(got);
    got = template_environ(none, &slice, "n1");
    ok(got && got[6] && !got[7], "an empty environment gets the seven");
    template_free(got);
}

static void test_put(void)
{
    char path[] = "PATH=/bin", cuda[] = "CUDA_VISIBLE_DEVICES=0,1";
    char *env[] = {path, cuda, NULL};
    char **got = template_environ(env, &slice, "n1");

    ok(template_put(&got, "CUDA_VISIBLE_DEVICES=1") == 0
           && template_put(&got, "CUDA=x") == 0,
       "more can be put in");
    is_str(value(got, "CUDA_VISIBLE_DEVICES="), "1", "in place of what was");
    is_str(value(got, "CUDA="), "x", "or behind it, if only a part is alike");
    is_str(value(got, "PATH="), "/bin", "what else there is stays");
    fault_at = 0;
    is_int(template_put(&got, "A=b"), -1, "without memory it is not put in");
    fault_at = -1;
    ok(value(got, "A=") == NULL && value(got, "CUDA="), "and nothing is lost");
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
    got = NULL;
    for (fault_at = n = 0; !got && n < 100; fault_at = ++n)
        got = template_environ(argv, &slice, "n1");
    fault_at = -1;
    ok(got && n > 1 && strcmp(got[0], "a{begin}") == 0,
       "nor half an environment");
    template_free(got);
    got = NULL;
    for (fault_at = n = 0; !got && n < 100; fault_at = ++n)
        got = template_copy(argv);
    fault_at = -1;
    ok(got && n > 1 && got[1] != word && strcmp(got[1], "a{begin}") == 0
           && !got[2],
       "nor a part of a copy");
    template_free(got);
    got = NULL;
    for (fault_at = n = 0; !got && n < 100; fault_at = ++n)
        got = template_renamed(argv, "<>");
    fault_at = -1;
    ok(got && n > 1 && strcmp(got[0], "a{{begin}}") == 0,
       "nor half a command with other marks");
    template_free(got);
}

int main(void)
{
    test_words();
    test_marks();
    test_next();
    test_values();
    test_environ();
    test_put();
    test_no_memory();
    return done();
}
