/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/options.h"

#include <stdio.h>
#include <string.h>

#define WIDTH  79 /* of a line */
#define COLUMN 23 /* where what an option does begins */

/* --- usage ---------------------------------------------------------------- */

/* Is the name in a list that has a blank before and behind each? */
static int is_in(const char *list, const char *name)
{
    char word[80];

    snprintf(word, sizeof word, " %s ", name);
    return strstr(list, word) != NULL;
}

int options_has(const struct subcommand *c, const struct option *o)
{
    return o->type != OPTION_GROUP
           && (!c->without || !is_in(c->without, o->name));
}

/* What must be given, and where the operands stand. */
static void print_usage(const struct subcommand *c)
{
    const char *operands = c->operands ? c->operands : "";
    size_t action = strcspn(operands, " ");
    int any = 0;

    printf("usage: ");
    if (c->usage) {
        printf("%s\n", c->usage);
        return;
    }
    printf("evenstep %s", c->name);
    if (*operands != '['
        && memchr(operands, '|', action)) { /* stands before the options */
        printf(" %.*s", (int)action, operands);
        operands += action + (operands[action] == ' ');
    }
    for (const struct option *o = c->option; o->type != OPTION_END; o++) {
        if (o->required)
            printf(" --%s %s", o->name, o->value);
        any |= !o->required && options_has(c, o);
    }
    printf("%s%s%s\n", any ? " [options]" : "", *operands ? " " : "", operands);
}

/* --- options -------------------------------------------------------------- */

struct lines {
    size_t at; /* column */
};

/* One more word; on a line of its own if it does not fit. */
static void print_word(struct lines *l, const char *word, size_t len)
{
    if (l->at > COLUMN && l->at + 1 + len > WIDTH) {
        printf("\n%*s", COLUMN, "");
        l->at = COLUMN;
    }
    l->at +=
        (size_t)printf("%s%.*s", l->at > COLUMN ? " " : "", (int)len, word);
}

/* Does the first sentence, or what may stand for it, end with this word? */
static int ends_sentence(const char *word, size_t len)
{
    return memchr(".;", word[len - 1], 2) != NULL;
}

static void print_words(struct lines *l, const char *text, int is_short)
{
    while (*text) {
        size_t len = strcspn(text, " ");

        if (is_short && ends_sentence(text, len)) {
            print_word(l, text, len - 1);
            return;
        }
        print_word(l, text, len);
        text += len;
        text += strspn(text, " ");
    }
}

static void print_option(const struct option *o, int is_short)
{
    struct lines l = {0};
    char def[80];

    if (o->letter)
        l.at += (size_t)printf("  -%c,", o->letter);
    l.at += (size_t)printf("%s--%s%s%s%s", o->letter ? " " : "  ", o->name,
                           !o->value ? ""
                           : o->bare ? "[="
                                     : " ",
                           o->value ? o->value : "", o->bare ? "]" : "");
    if (l.at + 1 >= COLUMN) {
        putchar('\n');
        l.at = 0;
    }
    printf("%*s", (int)(COLUMN - l.at), "");
    l.at = COLUMN;
    print_words(&l, o->help, is_short);
    if (o->alias && !is_short) {
        snprintf(def, sizeof def, "(also --%s)", o->alias);
        print_words(&l, def, 0);
    }
    if (o->def || o->required) {
        snprintf(def, sizeof def, "(%s)", o->required ? "required" : o->def);
        print_words(&l, def, 0);
    }
    putchar('\n');
}

static void print_often(const struct subcommand *c)
{
    const char *paragraph = strstr(c->about, "\n\n");

    printf("\n%.*s\noften used:\n",
           paragraph ? (int)(paragraph - c->about) + 1 : (int)strlen(c->about),
           c->about);
    for (const struct option *o = c->option; o->type != OPTION_END; o++)
        if (options_has(c, o) && is_in(c->often, o->name))
            print_option(o, 1);
    printf("\nexamples:\n%s\n`evenstep %s --help` has all options, `man "
           "evenstep-%s` more.\n",
           c->examples, c->name, c->name);
}

static void print_all(const struct subcommand *c)
{
    const char *title = NULL;

    printf("\n%s", c->about);
    if (c->option->type != OPTION_END)
        putchar('\n');
    for (const struct option *o = c->option; o->type != OPTION_END; o++) {
        if (o->type == OPTION_GROUP)
            title = o->name;
        if (!options_has(c, o))
            continue;
        if (title)
            printf("%s\n", title);
        title = NULL;
        print_option(o, 0);
    }
    if (c->end)
        printf("\n%s", c->end);
}

int options_help(const struct subcommand *c, int is_short, struct es_error *err)
{
    print_usage(c);
    if (is_short && c->often)
        print_often(c);
    else
        print_all(c);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : es_no_space(err);
}
