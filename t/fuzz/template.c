/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any words as the command of a slice, and as the environment that it has: up
 * to the first empty line the label, then a word a line.  What comes out has
 * as many words, in which nothing but our braces has changed, and each of the
 * slice's variables once.
 */
#include "launcher/exec/template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 64

static const char *const braces[] = {"{begin}", "{end}",   "{count}", "{frame}",
                                     "{slot}",  "{label}", "{node}"};
static const char *const names[] = {
    "EVENSTEP_BEGIN=", "EVENSTEP_END=",   "EVENSTEP_COUNT=", "EVENSTEP_FRAME=",
    "EVENSTEP_SLOT=",  "EVENSTEP_LABEL=", "EVENSTEP_NODE="};
#define FIELDS (sizeof names / sizeof *names)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
    if (!holds)
        abort();
}

static size_t cut(char *words[], char *text)
{
    size_t n = 0;
    char *word;

    while (n < WORDS_MAX && (word = strsep(&text, "\n")) != NULL)
        words[n++] = word;
    words[n] = NULL;
    return n;
}

static size_t count(char **words)
{
    size_t n = 0;

    while (words[n])
        n++;
    return n;
}

/* Does out begin with what stands for the first thing of in?  How far both go
 * on then; values are as in the slice below. */
static void follow(const char *in, const char *out, const char *const value[])
{
    while (*in) {
        size_t hit = FIELDS;

        for (size_t i = 0; i < FIELDS; i++)
            if (strncmp(in, braces[i], strlen(braces[i])) == 0)
                hit = i;
        if (hit == FIELDS) {
            must(*in++ == *out++);
            continue;
        }
        must(strncmp(out, value[hit], strlen(value[hit])) == 0);
        in += strlen(braces[hit]);
        out += strlen(value[hit]);
    }
    must(*out == '\0');
}

static void fill_words(char *words[], size_t n, const struct msg_run *slice)
{
    const char *const value[] = {"18446744073709551608",
                                 "18446744073709551615",
                                 "7",
                                 "3",
                                 "11",
                                 slice->label,
                                 "n0"};
    char **argv = template_argv(words, slice, "n0");

    must(argv && count(argv) == n);
    for (size_t i = 0; i < n; i++)
        follow(words[i], argv[i], value);
    template_free(argv);
}

static void fill_environ(char *words[], size_t n, const struct msg_run *slice)
{
    char **env = template_environ(words, slice, "n0");
    size_t found[FIELDS] = {0}, all;

    must(env != NULL);
    all = count(env);
    must(all >= FIELDS && all <= n + FIELDS);
    for (size_t i = 0; i < all; i++)
        for (size_t k = 0; k < FIELDS; k++)
            found[k] += strncmp(env[i], names[k], strlen(names[k])) == 0;
    for (size_t k = 0; k < FIELDS; k++)
        must(found[k] == 1);
    template_free(env);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct msg_run slice = {
        .begin = UINT64_MAX - 7, .end = UINT64_MAX, .frame = 3, .slot = 11};
    char *text = calloc(1, size + 1), *words[WORDS_MAX + 1], *rest;
    size_t n;

    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    rest = strchr(text, '\n');
    if (rest)
        *rest++ = '\0';
    snprintf(slice.label, sizeof slice.label, "%s", text);
    n = cut(words, rest ? rest : text + size);
    fill_words(words, n, &slice);
    fill_environ(words, n, &slice);
    free(text);
    return 0;
}
