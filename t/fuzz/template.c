/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any words as the command of a slice, and as the environment that it has: up
 * to the first empty line the label, then a word a line.  What comes out has
 * as many words, in which nothing but our braces has changed, and each of the
 * slice's variables once.  With other marks braces stay as they are.
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

/* Of the braces around a name, or nothing, every second is kept. */
static void follow_braces(const char **in,
                          const char **out,
                          const char *const value[])
{
    size_t open = strspn(*in, "{"), hit = FIELDS, len = 0, close, pair, kept;
    const char *name = *in + open;

    for (size_t i = 0; i < FIELDS; i++)
        if (strncmp(name, braces[i] + 1, strlen(braces[i]) - 1) == 0)
            hit = i;
    len = hit < FIELDS ? strlen(braces[hit]) - 2 : 0;
    close = strspn(name + len, "}");
    pair = open < close ? open : close;
    kept = hit < FIELDS ? pair / 2 : (pair + 1) / 2;
    must(strspn(*out, "{") >= open - pair + kept);
    *out += open - pair + kept;
    if (hit < FIELDS && pair % 2 == 1) {
        must(strncmp(*out, value[hit], strlen(value[hit])) == 0);
        *out += strlen(value[hit]);
    } else {
        must(strncmp(*out, name, len) == 0);
        *out += len;
    }
    must(strspn(*out, "}") >= kept);
    *out += kept;
    *in = name + len + pair;
}

/* Does out begin with what stands for the first thing of in?  How far both go
 * on then; values are as in the slice below. */
static void follow(const char *in, const char *out, const char *const value[])
{
    while (*in)
        if (*in == '{')
            follow_braces(&in, &out, value);
        else
            must(*in++ == *out++);
    must(*out == '\0');
}

/* What is between other marks comes to the same, and braces stay. */
static void rename_words(char *words[], size_t n, const struct msg_run *slice)
{
    char **renamed = template_renamed(words, "[[]]"), **argv;

    must(renamed && count(renamed) == n);
    argv = template_argv(renamed, slice, "n0");
    must(argv && count(argv) == n);
    for (size_t i = 0; i < n; i++)
        if (!strstr(words[i], "[["))
            must(strcmp(words[i], argv[i]) == 0);
    template_free(argv);
    template_free(renamed);
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
    rename_words(words, n, &slice);
    fill_environ(words, n, &slice);
    free(text);
    return 0;
}
