/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/options.h"

#include "launcher/base/named_files.h"
#include "launcher/base/suggestion.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A command line under way. */
struct parsing {
    const struct subcommand *command;
    void *into;
    char **argv; /* at the front the operands so far */
    int argc, at, operands;
    unsigned char given[OPTIONS_MAX];
    struct es_error *err;
};

static const struct option help = {.type = OPTION_FLAG, .name = "help"};
static const struct option short_help = {
    .type = OPTION_FLAG, .name = "h", .letter = 'h'};

#define HELP_ASKED 1 /* besides 0 and -1 */

/* Fill err: mended by mend, or else by a look at the help. */
__attribute__((format(printf, 3, 4))) static int fail(struct parsing *p,
                                                      const char *mend,
                                                      const char *fmt,
                                                      ...)
{
    char what[sizeof p->err->what], see[80];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(what, sizeof what, fmt, ap); /* cut off if too long */
    va_end(ap);
    snprintf(see, sizeof see, "see `evenstep %s --help`", p->command->name);
    if (!mend)
        mend = p->command->see ? p->command->see : see;
    return es_fail(p->err, ES_USAGE, mend, "%s", what);
}

/* --- names ---------------------------------------------------------------- */

static const struct option *by_letter(const struct subcommand *c, char letter)
{
    for (const struct option *o = c->option; o->type != OPTION_END; o++)
        if (options_has(c, o) && o->letter == letter)
            return o;
    return letter == short_help.letter ? &short_help : NULL;
}

/* Is text, of len bytes, how name begins? */
static int begins(const char *name, const char *text, size_t len)
{
    return name && text && strncmp(name, text, len) == 0;
}

/* The option that is called so, or whose name alone begins so. */
static const struct option *by_name(const struct subcommand *c,
                                    const char *text,
                                    size_t len)
{
    const struct option *found = begins(help.name, text, len) ? &help : NULL;
    int n = found != NULL;

    for (const struct option *o = c->option; o->type != OPTION_END; o++) {
        int has = options_has(c, o);
        int is_name = has && begins(o->name, text, len);
        int is_alias = has && begins(o->alias, text, len);

        if ((is_name && !o->name[len]) || (is_alias && !o->alias[len]))
            return o;
        if (!is_name && !is_alias)
            continue;
        found = o;
        n++;
    }
    return n == 1 ? found : NULL;
}

static int is_given(const struct parsing *p, const struct option *o)
{
    return p->given[o - p->command->option];
}

/* Does the table have one that is called so, though the command has not? */
static int is_of_others(const struct parsing *p,
                        const char *text,
                        size_t len,
                        char letter)
{
    for (const struct option *o = p->command->option; o->type != OPTION_END;
         o++)
        if (o->type != OPTION_GROUP && !options_has(p->command, o)
            && (letter ? o->letter == letter
                       : begins(o->name, text, len) && !o->name[len]))
            return 1;
    return 0;
}

static int no_such_option(struct parsing *p, const char *text, size_t len)
{
    char typed[40], mend[80];
    struct suggestion s = {.typed = typed};

    if (is_of_others(p, text, len, 0))
        return fail(p, p->command->elsewhere, "--%.*s: not an option of %s",
                    (int)len, text, p->command->name);

    snprintf(typed, sizeof typed, "%.*s", (int)len, text);
    for (const struct option *o = p->command->option; o->type != OPTION_END;
         o++)
        if (options_has(p->command, o))
            suggestion_try(&s, o->name);
    if (s.name)
        snprintf(mend, sizeof mend, "did you mean --%s?", s.name);
    return fail(p, s.name ? mend : NULL, "--%.*s: no such option", (int)len,
                text);
}

/* --- one word of argv ------------------------------------------------------ */

/* Where a file is named, an option's name is a value that was left out. */
static int check_file(struct parsing *p,
                      const struct option *o,
                      const char *value)
{
    const struct option *other =
        o->file && begins(value, "--", 2) && value[2]
            ? by_name(p->command, value + 2, strlen(value + 2))
            : NULL;
    char mend[160];

    if (!other)
        return 0;
    snprintf(mend, sizeof mend, "give --%s %s, or --%s=%s if it is called so",
             o->name, o->value, o->name, value);
    return fail(p, mend, "--%s: \"%s\" is an option, and no file", o->name,
                value);
}

/* value NULL: what follows in argv. */
static int take(struct parsing *p, const struct option *o, const char *value)
{
    char mend[80];

    if (o == &help || o == &short_help)
        return options_help(p->command, o == &short_help, p->err) < 0
                   ? -1
                   : HELP_ASKED;
    if (!value)
        value = o->bare;
    if (o->type != OPTION_FLAG && !value) {
        p->at++;
        value = p->at < p->argc ? p->argv[p->at] : NULL;
        if (!value || strcmp(value, "--") == 0) {
            snprintf(mend, sizeof mend, "give --%s %s", o->name, o->value);
            return fail(p, mend, "--%s: a value is missing", o->name);
        }
        if (check_file(p, o, value) < 0)
            return -1;
    }
    p->given[o - p->command->option] = 1;
    return option_store(o, p->into, value, p->err);
}

/* What others call so, if any does. */
static const struct option_habit *habit_of(const struct subcommand *c,
                                           const char *name,
                                           size_t len,
                                           char letter)
{
    const struct option_habit *h = c->habit;

    for (; h && h->whose; h++)
        if (name ? begins(h->name, name, len) && !h->name[len]
                 : h->letter == letter)
            return h;
    return NULL;
}

/* typed: as it stands there, "--array" or "-S". */
static int take_habit(struct parsing *p,
                      const struct option_habit *h,
                      const char *typed,
                      const char *value)
{
    const struct option *o;

    if (h->answer)
        return fail(p, h->answer, "%s: an option of %s", typed, h->whose);
    if (h->as) {
        o = by_name(p->command, h->as, strlen(h->as));
        return o ? take(p, o, value) : no_such_option(p, h->as, strlen(h->as));
    }
    return value ? fail(p, "leave it out", "%s: it has no value", typed) : 0;
}

static int take_long(struct parsing *p, const char *word)
{
    size_t len = strcspn(word, "=");
    const struct option *o = by_name(p->command, word, len);
    const struct option_habit *h = habit_of(p->command, word, len, 0);
    char typed[40];

    if (h) {
        snprintf(typed, sizeof typed, "--%s", h->name);
        return take_habit(p, h, typed, word[len] ? word + len + 1 : NULL);
    }
    if (!o)
        return no_such_option(p, word, len);
    if (o->type == OPTION_FLAG && word[len])
        return fail(p, "leave it out", "--%s: it has no value", o->name);
    return take(p, o, word[len] ? word + len + 1 : NULL);
}

/* Letters, the last of which may have its value in the same word. */
static int take_letters(struct parsing *p, const char *word)
{
    for (const char *at = word; *at; at++) {
        const struct option *o = by_letter(p->command, *at);
        const struct option_habit *h =
            o ? NULL : habit_of(p->command, NULL, 0, *at);
        const char typed[] = {'-', *at, '\0'};
        int rc;

        if (h && !h->answer && !h->as)
            continue;
        if (h)
            return take_habit(p, h, typed, at[1] ? at + 1 : NULL);
        if (!o && is_of_others(p, NULL, 0, *at))
            return fail(p, p->command->elsewhere, "-%c: not an option of %s",
                        *at, p->command->name);
        if (!o && (*at & 0x80)) /* a part of a letter is nothing to print */
            return fail(p, NULL, "-%s: no such option", word);
        if (!o)
            return fail(p, NULL, "-%c: no such option", *at);
        if (o->type != OPTION_FLAG && !o->bare)
            return take(p, o, at[1] ? at + 1 : NULL);
        rc = take(p, o, NULL);
        if (rc != 0)
            return rc;
    }
    return 0;
}

static int take_words(struct parsing *p)
{
    int rc = 0, is_over = 0;

    for (p->at = 1; rc == 0 && p->at < p->argc; p->at++) {
        char *word = p->argv[p->at];

        if (!is_over && strcmp(word, "--") == 0) {
            is_over = 1;
        } else if (is_over || word[0] != '-' || !word[1]) {
            p->argv[++p->operands] = word;
            is_over |= p->command->stops;
        } else {
            rc = word[1] == '-' ? take_long(p, word + 2)
                                : take_letters(p, word + 1);
        }
    }
    if (rc == 0 && p->operands + 1 < p->argc)
        p->argv[p->operands + 1] = NULL;
    return rc;
}

static int take_defaults(struct parsing *p)
{
    for (const struct option *o = p->command->option; o->type != OPTION_END;
         o++)
        if (o->def && option_store(o, p->into, o->def, p->err) < 0)
            return -1;
    return 0;
}

/* --- all together --------------------------------------------------------- */

static int check_excluded(struct parsing *p, const struct option *o)
{
    const char *at = o->excludes;

    while (*at) {
        size_t len = strcspn(at, " ");
        const struct option *other = by_name(p->command, at, len);

        if (other && is_given(p, other))
            return fail(p, "give one of them",
                        "--%s and --%s exclude each other", o->name,
                        other->name);
        at += len + (at[len] == ' ');
    }
    return 0;
}

/* One of "bcast exec" will do; the first is what most give. */
static int check_needed(struct parsing *p, const struct option *o)
{
    const struct option *other, *first = NULL;
    char mend[80], names[80] = "";

    for (const char *at = o->needs; *at; at += strspn(at, " ")) {
        size_t len = strcspn(at, " "), n = strlen(names);

        other = by_name(p->command, at, len);
        at += len;
        if (!other)
            continue;
        if (is_given(p, other))
            return 0;
        first = first ? first : other;
        snprintf(names + n, sizeof names - n, "%s--%s", n > 0 ? " or " : "",
                 other->name);
    }
    if (!first)
        return 0;
    snprintf(mend, sizeof mend, "give --%s%s%s, too", first->name,
             first->value ? " " : "", first->value ? first->value : "");
    return fail(p, mend, "--%s: there is no %s", o->name, names);
}

static int check_given(struct parsing *p, const struct option *o)
{
    const char *first = p->operands > 0 ? p->argv[1] : "";

    if (o->only && strcmp(first, o->only) != 0)
        return fail(p, NULL, "%s %s: --%s is not for it", p->command->name,
                    first, o->name);
    if (o->needs && check_needed(p, o) < 0)
        return -1;
    return o->excludes ? check_excluded(p, o) : 0;
}

static int check_options(struct parsing *p)
{
    char mend[80];

    for (const struct option *o = p->command->option; o->type != OPTION_END;
         o++) {
        if (is_given(p, o) && check_given(p, o) < 0)
            return -1;
        if (!o->required || is_given(p, o))
            continue;
        snprintf(mend, sizeof mend, "give --%s %s", o->name, o->value);
        return fail(p, p->command->see ? NULL : mend, "%s: --%s is missing",
                    p->command->name, o->name);
    }
    return 0;
}

static int check_operand(struct parsing *p, const char *words, const char *text)
{
    char known[80], mend[96];

    option_words_join(known, sizeof known, words);
    snprintf(mend, sizeof mend, "give %s", known);
    if (!text)
        return fail(p, mend, "%s: no action", p->command->name);
    return option_word_find(words, text) >= 0
               ? 0
               : fail(p, mend, "%s: no such action: %s", p->command->name,
                      text);
}

static int count_words(const char *at)
{
    int n = 0;

    while (*at) {
        size_t len = strcspn(at, " ");

        at += len + (at[len] == ' ');
        n++;
    }
    return n;
}

/* Of "SRC... DST" from the i-th on, one of each at least. */
static int check_many(struct parsing *p,
                      int i,
                      const char *word,
                      const char *rest)
{
    int after = count_words(rest), least = (*word != '[') + after;
    const char *last = strrchr(rest, ' ');

    if (p->operands >= i - 1 + least)
        return 0;
    if (*word != '[' && p->operands < i)
        return fail(p, NULL, "%s: no %.*s", p->command->name,
                    (int)strcspn(word, "."), word);
    return fail(p, NULL, "%s: no %s", p->command->name, last ? last + 1 : rest);
}

static int fail_more(struct parsing *p, int i)
{
    const char *name = p->command->name, *operands = p->command->operands;
    char mend[200];

    if (operands)
        snprintf(mend, sizeof mend, "give `evenstep %s %s`, and options", name,
                 operands);
    else
        snprintf(mend, sizeof mend,
                 "give options alone; see `evenstep %s --help`", name);
    return fail(p, p->command->see ? NULL : mend,
                "%s: unexpected argument \"%s\"%s%s%s", name, p->argv[i],
                operands ? " behind \"" : "", operands ? p->argv[i - 1] : "",
                operands ? "\"" : "");
}

static int check_operands(struct parsing *p)
{
    const char *at = p->command->operands ? p->command->operands : "";
    char word[80];
    int i = 1;

    for (; *at; i++) {
        size_t len = strcspn(at, " ");

        snprintf(word, sizeof word, "%.*s", (int)len, at);
        if (strstr(word, "..."))
            return check_many(p, i, word, at + len + (at[len] == ' '));
        if (*word != '[' && strchr(word, '|')
            && check_operand(p, word, i <= p->operands ? p->argv[i] : NULL) < 0)
            return -1;
        if (i > p->operands && *word != '[')
            return fail(p, NULL, "%s: no %s", p->command->name, word);
        at += len + (at[len] == ' ');
    }
    if (i <= p->operands)
        return fail_more(p, i);
    return 0;
}

int options_parse(const struct subcommand *c,
                  void *into,
                  int argc,
                  char **argv,
                  struct es_error *err)
{
    struct parsing p = {
        .command = c, .into = into, .argv = argv, .argc = argc, .err = err};
    struct named_files files;
    int rc = take_defaults(&p);

    if (rc == 0)
        rc = take_words(&p);
    if (rc == 0)
        rc = check_operands(&p);
    if (rc == 0)
        rc = check_options(&p);
    return rc == 0 ? named_files_of_options(&files, c->option, into, err) : rc;
}

const struct subcommand *subcommand_find(const struct subcommand *const list[],
                                         const char *name)
{
    while (*list && strcmp((*list)->name, name) != 0)
        list++;
    return *list;
}
