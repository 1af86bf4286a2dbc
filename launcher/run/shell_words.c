/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/shell_words.h"

#include <string.h>

static int has_control(const char *word)
{
    for (; *word; word++)
        if ((unsigned char)*word < ' ' || *word == 0x7f)
            return 1;
    return 0;
}

/* $'...', which bash, zsh and ksh know: a line stays a line. */
static void print_escaped(FILE *to, const char *word)
{
    fputs("$'", to);
    for (; *word; word++)
        if (*word == '\n')
            fputs("\\n", to);
        else if (*word == '\t')
            fputs("\\t", to);
        else if ((unsigned char)*word < ' ' || *word == 0x7f)
            fprintf(to, "\\%03o", (unsigned)(unsigned char)*word);
        else if (*word == '\'' || *word == '\\')
            fprintf(to, "\\%c", *word);
        else
            putc(*word, to);
    putc('\'', to);
}

static void print_quoted(FILE *to, const char *word)
{
    putc('\'', to);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", to);
        else
            putc(*word, to);
    putc('\'', to);
}

static void print_word(FILE *to, const char *word, int one_line)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789%+,-./:=@_";

    if (*word && strspn(word, plain) == strlen(word))
        fputs(word, to);
    else if (one_line && has_control(word))
        print_escaped(to, word);
    else
        print_quoted(to, word);
}

static void print_words(FILE *to, char *const words[], int one_line)
{
    for (size_t i = 0; words[i]; i++) {
        if (i > 0)
            putc(' ', to);
        print_word(to, words[i], one_line);
    }
}

void shell_words_print(FILE *to, char *const words[])
{
    print_words(to, words, 0);
}

void shell_words_line(FILE *to, char *const words[])
{
    print_words(to, words, 1);
}
