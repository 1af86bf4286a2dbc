/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/options.h"

#include <stdio.h>
#include <string.h>

#define WIDTH  79 /* of a line */
#define COLUMN 23 /* where what an option does begins */

/* --- usage ---------------------------------------------------------------- */

int options_has(const struct subcommand *c, const struct option *o)
{
    char name[80];

    if (o->type == OPTION_GROUP)
        return 0;
    snprintf(name, sizeof name, " %s ", o->name);
    return !c->without || !strstr(c->without, name);
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

static void print_words(struct lines *l, const char *text)
{
    while (*text) {
        size_t len = strcspn(text, " ");

        print_word(l, text, len);
        text += len;
        text += strspn(text, " ");
    }
}

static void print_option(const struct option *o)
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
    print_words(&l, o->help);
    if (o->alias) {
        snprintf(def, sizeof def, "(also --%s)", o->alias);
        print_words(&l, def);
    }
    if (o->def || o->required) {
        snprintf(def, sizeof def, "(%s)", o->required ? "required" : o->def);
        print_words(&l, def);
    }
    putchar('\n');
    if (o->more)
        o->more();
}

int options_help(const struct subcommand *c, struct es_error *err)
{
    const char *title = NULL;

    print_usage(c);
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
        print_option(o);
    }
    if (c->end)
        printf("\n%s", c->end);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : es_no_space(err);
}
