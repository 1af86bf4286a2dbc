/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/task_fields.h"
#include "launcher/base/suggestion.h"
#include "launcher/exec/task_words.h"
#include "launcher/exec/template.h"
#include "launcher/run/command_fields.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_SHOWN 60 /* bytes of a name in a message */

struct command {
    size_t columns;
    char *const *names;
    int shell;
    struct task_fields *f;
    struct es_error *err;
};

/* --- names ---------------------------------------------------------------- */

/* The column whose name is in front of a '}', or of a part and that; names[i] is NULL:
 * none. */
static size_t column_at(const struct command *c, const char *text, size_t *len)
{
    size_t found = c->columns, part;

    *len = SIZE_MAX;
    for (size_t i = 0; c->names && c->names[i]; i++) {
        size_t n = strlen(c->names[i]), more;

        if (n == 0 || strncmp(text, c->names[i], n) != 0)
            continue;
        more = task_field_part(text + n, &part);
        if (more == SIZE_MAX || (*len != SIZE_MAX && more > 0))
            continue;
        found = i;
        *len = n + more;
    }
    return found;
}

static size_t magnitude(long number)
{
    return (size_t)(number < 0 ? -number : number);
}

/* A number is one of a column, where there are so many: it is no name then. */
static int is_number(const struct command *c, const char *text)
{
    struct task_field f;

    return task_field_parse(text, &f) != SIZE_MAX && f.kind != 'n'
           && (f.kind != 'v' || magnitude(f.number) <= c->columns);
}

static size_t length_of(const void *arg, const char *text)
{
    const struct command *c = arg;
    size_t len = SIZE_MAX;

    if (!is_number(c, text))
        (void)column_at(c, text, &len);
    return len == SIZE_MAX ? task_field_parse(text, NULL) : len;
}

/* --- what is refused ------------------------------------------------------ */

/* "{name} {age}", or "{1} to {3}". */
static void put_columns(const struct command *c, char *out, size_t size)
{
    size_t n = 0;

    if (!c->names) {
        snprintf(out, size, c->columns > 1 ? "{1} to {%zu}" : "{}", c->columns);
        return;
    }
    out[0] = '\0';
    for (size_t i = 0; c->names[i] && n + NAME_MAX_SHOWN + 8 < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s{%.*s}", i > 0 ? " " : "",
                              NAME_MAX_SHOWN, c->names[i]);
}

static int refuse(const struct command *c,
                  const char *name,
                  size_t len,
                  const char *meant)
{
    char mend[300], columns[160];
    int n = (int)(len < NAME_MAX_SHOWN ? len : NAME_MAX_SHOWN);

    put_columns(c, columns, sizeof columns);
    snprintf(mend, sizeof mend,
             "a task has %s, {#} and {%%}%s; {{%.*s}} keeps the braces",
             columns, c->names ? "" : ", and by --header : names of columns", n,
             name);
    return es_fail(c->err, ES_USAGE, mend, "unknown field {%.*s}%s%s%s", n,
                   name, meant ? ": did you mean {" : "", meant ? meant : "",
                   meant ? "}?" : "");
}

static int refuse_number(const struct command *c, const char *name, size_t len)
{
    char mend[300], columns[160];

    put_columns(c, columns, sizeof columns);
    snprintf(mend, sizeof mend, "take %s; {{%.*s}} keeps the braces", columns,
             (int)len, name);
    return es_fail(c->err, ES_USAGE, mend, "{%.*s}: a task has %zu %s%s",
                   (int)len, name, c->columns, c->names ? "column" : "value",
                   c->columns == 1 ? "" : "s");
}

/* What people write who know other tools. */
static const struct {
    const char *names, *field;
} others[] = {
    {" line lines file filename item items arg args argument input path url record "
     "value values ",
     ""},
    {" seq index idx i n id task taskid job number num ", "#"},
    {" thread core cpu gpu device worker ", "%"},
    {" host hostname nodename ", "node"},
};

/* More of GNU parallel's, by its --plus or from Perl. */
static int is_parallels(const char *text, size_t *len)
{
    static const char *const more[] = {"..", "...", "/..", "/...", "+/",
                                       "+.", "+..", "##",  "0#",   "00#",
                                       "0%", "00%", "uq"};
    size_t digits = strspn(text, "0123456789");

    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        size_t n = strlen(more[i]),
               at = isdigit((unsigned char)more[i][0]) ? 0 : digits;

        *len = at + n;
        if (strncmp(text + at, more[i], n) == 0 && text[at + n] == '}')
            return 1;
    }
    *len = strcspn(text, "}");
    return text[0] == '='
           && (text[1] == ' ' || isdigit((unsigned char)text[1]));
}

static const char *near_to(const struct command *c, char *word)
{
    struct suggestion s = {.typed = word};
    char *names[8], *found = NULL;
    size_t n = 0;

    for (size_t i = 0; c->names && c->names[i]; i++)
        if (c->names[i][0])
            suggestion_try(&s, c->names[i]);
    for (const char *name; (name = template_field(n)) && n < 8; n++) {
        names[n] = strndup(name + 1, strlen(name) - 2);
        if (names[n])
            suggestion_try(&s, names[n]);
    }
    if (s.name)
        found = strcpy(word, strlen(s.name) < NAME_MAX_SHOWN ? s.name : "");
    while (n > 0)
        free(names[--n]);
    return found;
}

static const char *meant_by(const struct command *c, char *word)
{
    char blank[NAME_MAX_SHOWN + 3];

    snprintf(blank, sizeof blank, " %s ", word);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strstr(others[i].names, blank))
            return others[i].field;
    return near_to(c, word);
}

/* Does `at` stand in quotes, as far as a look at the word tells? */
static int is_quoted(const char *word, const char *at)
{
    char quote = '\0';

    for (; word < at; word++)
        if (*word == '\\' && quote != '\'')
            word++;
        else if (quote ? *word == quote : *word == '\'' || *word == '"')
            quote = (char)(quote ? '\0' : *word);
    return quote != '\0';
}

/* Not so near that it is clear which. */
static int is_like_field(const char *word)
{
    char braced[NAME_MAX_SHOWN + 3];
    const char *field;

    snprintf(braced, sizeof braced, "{%s}", word);
    for (size_t i = 0; strlen(word) > 3 && (field = template_field(i)); i++)
        if (suggestion_is_near(braced, field, 2))
            return 1;
    return 0;
}

/* The bytes of a name that may be meant for a field, in front of a '}'; else 0. */
static size_t strange_len(const char *text)
{
    size_t n = 0;

    while (isalnum((unsigned char)text[n])
           || (text[n] && strchr("_-", text[n])))
        n++;
    return n <= NAME_MAX_SHOWN && text[n] == '}'
                   && !isdigit((unsigned char)*text)
               ? n
               : 0;
}

/* Does a name stand in braces that is no field, and was likely meant for one?  text is
 * behind the brace, in a word.  0, or -1: it is refused. */
static int check_strange(const struct command *c,
                         const char *in,
                         const char *text)
{
    char word[NAME_MAX_SHOWN + 1];
    const char *meant;
    size_t n = 0;

    if (is_parallels(text, &n))
        return refuse(c, text, n, NULL);
    n = strange_len(text);
    if (n == 0)
        return 0;
    snprintf(word, sizeof word, "%.*s", (int)n, text);
    meant = meant_by(c, word);
    if (meant || c->names)
        return refuse(c, text, n, meant);
    if (strspn(word, "abcdefghijklmnopqrstuvwxyz_") < n
        || (c->shell && is_quoted(in, text))) /* as awk '{print}' */
        return 0;
    c->f->left = in;
    return is_like_field(word) ? refuse(c, text, n, NULL) : 0;
}

/* --- a word --------------------------------------------------------------- */

static void put_times(FILE *to, char c, size_t n)
{
    while (n-- > 0)
        (void)putc(c, to); /* the caller asks ferror() */
}

static void note_value(const struct command *c,
                       const char *word,
                       const char *at,
                       size_t number,
                       int is_text)
{
    if (number > c->f->need)
        c->f->need = number;
    if (c->shell && is_quoted(word, at))
        c->f->quoted = word;
    if (!c->shell && is_text)
        c->f->text = word;
}

/* The name of a column: its number instead. */
static void put_column(const struct command *c,
                       FILE *to,
                       const struct template_braced *b,
                       size_t column)
{
    size_t n = strlen(c->names[column]);
    size_t pair = b->pair;

    if (pair % 2 == 1) {
        put_times(to, '{', b->before + pair);
        (void)fprintf(to, "%zu%.*s", column + 1, (int)(b->name_len - n),
                      b->name + n);
    } else { /* which task_words() halves if it knows the name */
        if (task_field_parse(b->name, NULL) == SIZE_MAX)
            pair /= 2;
        put_times(to, '{', b->before + pair);
        (void)fwrite(b->name, 1, b->name_len, to);
    }
    put_times(to, '}', pair);
}

/* Braces around a name: 0, or -1. */
static int put_braced(const struct command *c,
                      FILE *to,
                      const char *word,
                      const char *at,
                      const struct template_braced *b,
                      int is_text)
{
    struct task_field f;
    size_t len = SIZE_MAX, column = 0;
    int is_field = b->pair % 2 == 1;

    c->f->any |= is_field;
    if (!is_number(c, b->name))
        column = column_at(c, b->name, &len);
    if (len != SIZE_MAX) {
        if (is_field)
            note_value(c, word, at, column + 1, is_text);
        put_column(c, to, b, column);
        return 0;
    }
    (void)task_field_parse(b->name, &f);
    if (is_field && f.kind == 'v' && c->columns > 0
        && magnitude(f.number) > c->columns) {
        if (!is_text)
            return refuse_number(c, b->name, b->name_len);
        put_times(to, '{', b->pair); /* two for one that is kept */
        (void)fwrite(at, 1, b->len, to);
        put_times(to, '}', b->pair);
        return 0;
    }
    if (is_field && (f.kind == 'v' || f.kind == '*'))
        note_value(c, word, at, magnitude(f.number), is_text);
    (void)fwrite(at, 1, b->len, to);
    return 0;
}

/* Two braces around a name that would be refused: one, as around a field.  The bytes
 * of it, 0: there are none. */
static size_t put_kept(FILE *to, const char *at)
{
    size_t n = strncmp(at, "{{", 2) == 0 ? strange_len(at + 2) : 0;

    if (n == 0 || at[2 + n + 1] != '}' || at[2 + n + 2] == '}')
        return 0;
    fprintf(to, "{%.*s}", (int)n, at + 2); /* the caller asks ferror() */
    return n + 4;
}

static int put_word(const struct command *c,
                    FILE *to,
                    const char *word,
                    int is_text)
{
    struct template_braced b;

    for (const char *at = word; *at; at += b.len) {
        char before = (char)(at > word ? at[-1] : '\0');

        if (*at != '{') {
            b.len = strcspn(at, "{");
            (void)fwrite(at, 1, b.len, to);
        } else if (template_braced(at, length_of, c, &b)
                   && (before != '$' || b.name_len == 0)) {
            if (put_braced(c, to, word, at, &b, is_text) < 0)
                return -1;
        } else if (!is_text && (b.len = put_kept(to, at)) > 0) {
            continue;
        } else {
            b.len = strspn(at, "{");
            if (!is_text && b.len == 1 && !(before && strchr("$\\%#@", before))
                && check_strange(c, word, at + 1) < 0)
                return -1;
            (void)fwrite(at, 1, b.len, to);
        }
    }
    return 0;
}

static char *settle_word(const struct command *c, const char *word, int is_text)
{
    char *out = NULL;
    size_t size;
    FILE *to = open_memstream(&out, &size);
    int rc, bad;

    if (!to) {
        es_no_memory(c->err);
        return NULL;
    }
    rc = put_word(c, to, word, is_text);
    bad = ferror(to);
    if (fclose(to) != 0 || bad)
        rc = es_no_memory(c->err);
    if (rc == 0)
        return out;
    free(out);
    return NULL;
}

char **task_fields_settle(char *const cmd[],
                          size_t columns,
                          char *const names[],
                          int shell,
                          struct task_fields *f,
                          struct es_error *err)
{
    const struct command c = {columns, names, shell, f, err};
    size_t n = 0;
    char **words;

    *f = (struct task_fields){0};
    while (cmd[n])
        n++;
    words = calloc(n + 1, sizeof *words);
    if (!words)
        es_no_memory(err);
    for (size_t i = 0; words && i < n; i++) {
        words[i] = settle_word(
            &c, cmd[i], !shell && command_fields_is_text((char **)cmd, i));
        if (!words[i]) {
            template_free(words);
            return NULL;
        }
    }
    return words;
}
