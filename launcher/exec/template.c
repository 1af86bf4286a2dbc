/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/exec/template.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 7, MARK_MAX = 16, VALUE_MAX = NODE_NAME_MAX + LABEL_MAX };

struct field {
    const char *brace;    /* in a word */
    const char *variable; /* in the environment, with its '=' */
    char value[VALUE_MAX];
};

static const char *const names[FIELDS][2] = {
    {"{begin}", "EVENSTEP_BEGIN="}, {"{end}", "EVENSTEP_END="},
    {"{count}", "EVENSTEP_COUNT="}, {"{frame}", "EVENSTEP_FRAME="},
    {"{slot}", "EVENSTEP_SLOT="},   {"{label}", "EVENSTEP_LABEL="},
    {"{node}", "EVENSTEP_NODE="},
};

const char *template_field(size_t i)
{
    return i < FIELDS ? names[i][0] : NULL;
}

static void fields_of(struct field f[FIELDS],
                      const struct msg_run *s,
                      const char *node)
{
    const uint64_t number[5] = {s->begin, s->end, s->end - s->begin, s->frame,
                                s->slot};

    for (size_t i = 0; i < FIELDS; i++) {
        f[i].brace = names[i][0];
        f[i].variable = names[i][1];
        if (i < 5)
            snprintf(f[i].value, VALUE_MAX, "%ju", (uintmax_t)number[i]);
    }
    snprintf(f[5].value, VALUE_MAX, "%s", s->label);
    snprintf(f[6].value, VALUE_MAX, "%s", node);
}

int template_braced(const char *text,
                    template_name_fn *length_of,
                    const void *arg,
                    struct template_braced *b)
{
    size_t open = strspn(text, "{"), close;

    *b = (struct template_braced){.name = text + open, .len = open};
    b->name_len = open == 0 ? SIZE_MAX : length_of(arg, b->name);
    if (b->name_len == SIZE_MAX)
        return 0;
    close = strspn(b->name + b->name_len, "}");
    b->pair = open < close ? open : close;
    b->before = open - b->pair;
    b->len = open + b->name_len + b->pair;
    return 1;
}

struct braced {
    struct template_braced b;
    size_t name; /* of names[]; FIELDS: nothing */
};

/* The name of a field that stands before a '}'; FIELDS + 1: none, FIELDS:
 * nothing does. */
static size_t name_at(const char *text)
{
    for (size_t i = 0; i < FIELDS; i++)
        if (strncmp(text, names[i][0] + 1, strlen(names[i][0]) - 1) == 0)
            return i;
    return *text == '}' ? FIELDS : FIELDS + 1;
}

static size_t name_len(size_t name)
{
    return name < FIELDS ? strlen(names[name][0]) - 2 : 0;
}

static size_t name_len_at(const void *arg, const char *text)
{
    size_t name = name_at(text);

    (void)arg;
    return name > FIELDS ? SIZE_MAX : name_len(name);
}

static int find_braced(const char *text, struct braced *b)
{
    int found = template_braced(text, name_len_at, NULL, &b->b);

    b->name = found ? name_at(b->b.name) : FIELDS + 1;
    return found;
}

/* Is it filled in? */
static int is_field(const struct braced *b)
{
    return b->name < FIELDS && b->b.pair % 2 == 1;
}

const char *template_next(const char *text, const char **at)
{
    struct braced b;

    while ((text = strchr(text, '{')) != NULL) {
        int found = find_braced(text, &b);

        if (found && is_field(&b)) {
            *at = text + b.b.before + b.b.pair - 1;
            return names[b.name][0];
        }
        text += b.b.len;
    }
    return NULL;
}

static void put_times(FILE *to, char c, size_t n)
{
    while (n-- > 0)
        (void)putc(c, to); /* the caller asks ferror() */
}

static void put_braced(FILE *to, const struct braced *b, const struct field f[])
{
    size_t kept = b->name < FIELDS ? b->b.pair / 2 : (b->b.pair + 1) / 2;

    put_times(to, '{', b->b.before + kept);
    if (is_field(b))
        (void)fputs(f[b->name].value, to);
    else if (b->name < FIELDS)
        (void)fprintf(to, "%.*s", (int)name_len(b->name), f[b->name].brace + 1);
    put_times(to, '}', kept);
}

/* Close what open_memstream() made; NULL if a byte of it is lacking. */
static char *end_text(FILE *to, char **out)
{
    int bad = ferror(to);

    if (fclose(to) == 0 && !bad)
        return *out;
    free(*out);
    return NULL;
}

/* Copy a word and replace its fields. */
static char *fill_word(const char *word, const struct field f[])
{
    char *out = NULL;
    size_t size;
    FILE *to = open_memstream(&out, &size);
    struct braced b;

    if (!to)
        return NULL;
    while (*word)
        if (*word == '{' && find_braced(word, &b)) {
            put_braced(to, &b, f);
            word += b.b.len;
        } else {
            size_t n = *word == '{' ? strspn(word, "{") : 1;

            (void)fwrite(word, 1, n, to);
            word += n;
        }
    return end_text(to, &out);
}

static size_t count_words(char *const words[])
{
    size_t n = 0;

    while (words[n])
        n++;
    return n;
}

char **template_argv(char *const argv[],
                     const struct msg_run *slice,
                     const char *node)
{
    struct field f[FIELDS];
    size_t n = count_words(argv);
    char **words = calloc(n + 1, sizeof *words);

    fields_of(f, slice, node);
    for (size_t i = 0; words && i < n; i++) {
        words[i] = fill_word(argv[i], f);
        if (!words[i]) {
            template_free(words);
            return NULL;
        }
    }
    return words;
}

/* --- other delimiters ----------------------------------------------------- */

int template_is_mark(const char *mark)
{
    size_t n = strlen(mark);

    return n > 0 && n % 2 == 0 && n <= MARK_MAX
           && strcspn(mark, "{}abcdefghijklmnopqrstuvwxyz") == n;
}

/* The name between the halves of a mark, and how long all three are. */
static size_t marked_at(const char *text, const char *mark, size_t *name)
{
    size_t half = strlen(mark) / 2;

    if (strncmp(text, mark, half) != 0)
        return 0;
    for (*name = 0; *name < FIELDS; ++*name) {
        size_t len = name_len(*name);

        if (strncmp(text + half, names[*name][0] + 1, len) == 0
            && strncmp(text + half + len, mark + half, half) == 0)
            return 2 * half + len;
    }
    return 0;
}

/* A name with twice its braces, which fill_word() halves; around a field, one
 * more. */
static size_t put_own(FILE *to, const char *word, const char *mark)
{
    size_t open = strspn(word, "{"), close, name, len, pair;
    int field;

    len = marked_at(word + open, mark, &name);
    field = len > 0;
    if (!field) {
        name = name_at(word + open);
        len = name_len(name > FIELDS ? FIELDS : name);
    }
    close = strspn(word + open + len, "}");
    pair = name > FIELDS ? 0 : open < close ? open : close;
    put_times(to, '{', open + pair + (field ? 1 : 0));
    if (name < FIELDS)
        (void)fprintf(to, "%.*s", (int)name_len(name), names[name][0] + 1);
    put_times(to, '}', 2 * pair + (field ? 1 : 0));
    return open + len + pair;
}

static char *rename_word(const char *word, const char *mark)
{
    char *out = NULL;
    size_t size, name;
    FILE *to = open_memstream(&out, &size);

    if (!to)
        return NULL;
    while (*word)
        if (*word == '{' || marked_at(word, mark, &name) > 0)
            word += put_own(to, word, mark);
        else
            (void)putc(*word++, to);
    return end_text(to, &out);
}

char **template_renamed(char *const argv[], const char *mark)
{
    size_t n = count_words(argv);
    char **words = calloc(n + 1, sizeof *words);

    for (size_t i = 0; words && i < n; i++) {
        words[i] = rename_word(argv[i], mark);
        if (!words[i]) {
            template_free(words);
            return NULL;
        }
    }
    return words;
}

/* --- the environment ------------------------------------------------------ */

static int is_slice_variable(const char *entry, const struct field f[])
{
    for (size_t i = 0; i < FIELDS; i++)
        if (strncmp(entry, f[i].variable, strlen(f[i].variable)) == 0)
            return 1;
    return 0;
}

char **template_environ(char *const env[],
                        const struct msg_run *slice,
                        const char *node)
{
    struct field f[FIELDS];
    size_t n = 0;
    char **words = calloc(count_words(env) + FIELDS + 1, sizeof *words);

    fields_of(f, slice, node);
    for (size_t i = 0; words && env[i]; i++) {
        if (is_slice_variable(env[i], f))
            continue;
        words[n] = strdup(env[i]);
        if (!words[n++])
            goto fail;
    }
    for (size_t i = 0; words && i < FIELDS; i++)
        if (asprintf(&words[n++], "%s%s", f[i].variable, f[i].value) < 0) {
            words[n - 1] = NULL;
            goto fail;
        }
    return words;
fail:
    template_free(words);
    return NULL;
}

char **template_copy(char *const words[])
{
    size_t n = count_words(words);
    char **copy = calloc(n + 1, sizeof *copy);

    for (size_t i = 0; copy && i < n; i++) {
        copy[i] = strdup(words[i]);
        if (!copy[i]) {
            template_free(copy);
            return NULL;
        }
    }
    return copy;
}

int template_put(char ***env, const char *entry)
{
    size_t len = strcspn(entry, "=") + 1, n = count_words(*env), i = 0;
    char *copy = strdup(entry), **more = NULL;

    if (copy)
        more = realloc(*env, (n + 2) * sizeof *more);
    if (!more) {
        free(copy);
        return -1;
    }
    *env = more;
    while (i < n && strncmp(more[i], entry, len) != 0)
        i++;
    if (i == n)
        more[n + 1] = NULL;
    free(more[i]);
    more[i] = copy;
    return 0;
}

void template_free(char **words)
{
    int saved = errno;

    for (size_t i = 0; words && words[i]; i++)
        free(words[i]);
    free(words);
    errno = saved;
}
