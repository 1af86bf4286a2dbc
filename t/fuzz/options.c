/* SPDX-License-Identifier: BSD-2-Clause */
/* Any words, a line each, as a command line: what is refused has its reason,
 * else all numbers are within their bounds and the operands are words of it. */
#include "launcher/base/options.h"

#include <stdlib.h>
#include <string.h>

#define WORDS 32 /* that are taken */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct values {
    int flag, word;
    uint32_t count, most;
    uint64_t bytes;
    double number, seconds, rate;
    struct option_range range;
    const char *text;
};

#define AT(member) OPTION_AT(struct values, member)

/* clang-format off */
static const struct option options[] = {
    {OPTION_FLAG, "flag", NULL, AT(flag), .letter = 'f', .help = "f"},
    {OPTION_WORD, "word", "one|two", AT(word), .letter = 'w', .help = "w"},
    {OPTION_COUNT, "count", "N", AT(count), .low = 1, .high = 9,
     .letter = 'c', .alias = "number-of", .help = "c"},
    {OPTION_COUNT, "most", "N", AT(most), .high = 9, .letter = 'm',
     .bare = "9", .help = "m"},
    {OPTION_SIZE, "bytes", "S", AT(bytes), .low = 1024, .high = 1e15,
     .letter = 'b', .excludes = "range text", .help = "b"},
    {OPTION_NUMBER, "number", "X", AT(number), .low = -1, .high = 1,
     .letter = 'n', .needs = "flag", .help = "n"},
    {OPTION_SECONDS, "seconds", "T", AT(seconds), .high = 1e6, .letter = 's',
     .help = "s"},
    {OPTION_RATE, "rate", "R", AT(rate), .high = 1e15, .letter = 'r',
     .help = "r"},
    {OPTION_RANGE, "range", "B:E", AT(range), .letter = 'g', .help = "g"},
    {OPTION_TEXT, "text", "T", AT(text), .letter = 't', .only = "plan",
     .help = "t"},
    {.type = OPTION_END},
};
/* clang-format on */

static const struct subcommand command = {
    .name = "fuzzed", .option = options, .operands = "plan|run [ARG...]"};

static int is_word(const char *word, const char *text, size_t size)
{
    return word >= text && word < text + size;
}

static void look(const struct values *v, char **argv, char *text, size_t size)
{
    size_t n = 0;

    if (v->count > 9 || v->most > 9 || v->word > 1 || v->flag > 1
        || (v->bytes > 0 && v->bytes < 1024) || v->bytes > 1000000000000000
        || !(v->number >= -1 && v->number <= 1)
        || !(v->seconds >= 0 && v->seconds <= 1e6)
        || !(v->rate >= 0 && v->rate <= 1e15) || v->range.end > INT64_MAX
        || (v->range.end > 0 && v->range.begin >= v->range.end)
        || (v->text && !is_word(v->text, text, size)))
        abort();
    while (argv[n + 1] && n < WORDS)
        if (!is_word(argv[++n], text, size))
            abort();
    if (n == 0 || n == WORDS)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *rest = text, *argv[WORDS + 1] = {"fuzzed"};
    struct values v = {0};
    struct es_error err = {0};
    int argc = 1, rc;

    if (!text)
        return 0;
    for (size_t i = 0; i < size; i++) /* --help would be printed */
        text[i] = (char)(data[i] == 'h' || data[i] == 0 ? '\n' : data[i]);
    text[size] = '\0';
    while (argc < WORDS && rest)
        argv[argc++] = strsep(&rest, "\n");
    argv[argc] = NULL;
    rc = options_parse(&command, &v, argc, argv, &err);
    if (rc == 0)
        look(&v, argv, text, size + 1);
    else if (rc > 0 || err.kind != ES_USAGE || !err.what[0] || !err.mend[0])
        abort();
    free(text);
    return 0;
}
