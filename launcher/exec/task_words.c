/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/exec/task_words.h"
#include "launcher/exec/template.h"
#include "pmix_bcast/array.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- records -------------------------------------------------------------- */

void task_record_begin(FILE *to, uint64_t line)
{
    char digits[20];
    size_t n = sizeof digits;

    for (; line > 0; line /= 10)
        digits[--n] = (char)('0' + line % 10);
    (void)fwrite_unlocked(digits + n, 1, sizeof digits - n, to);
}

/* The first byte that must be escaped, or the end. */
static size_t plain_bytes(const char *value, size_t len)
{
    size_t i = 0;

    while (i < len && value[i] != '\t' && value[i] != '\n' && value[i] != '\\')
        i++;
    return i;
}

void task_record_value(FILE *to, const char *value, size_t len)
{
    (void)putc_unlocked('\t', to);
    for (;;) {
        size_t n = plain_bytes(value, len);

        (void)fwrite_unlocked(value, 1, n, to);
        if (n == len)
            return;
        (void)putc_unlocked('\\', to);
        (void)putc_unlocked(value[n] == '\t'   ? 't'
                            : value[n] == '\n' ? 'n'
                                               : '\\',
                            to);
        value += n + 1;
        len -= n + 1;
    }
}

void task_record_end(FILE *to)
{
    (void)putc_unlocked('\n', to);
}

/* The number in front of the first tab; NULL: it is none. */
static char *parse_line(char *text, const char *end, uint64_t *line)
{
    *line = 0;
    if (text < end && *text == '0')
        return NULL;
    for (; text < end && isdigit((unsigned char)*text); text++)
        if (__builtin_mul_overflow(*line, 10u, line)
            || __builtin_add_overflow(*line, (unsigned)(*text - '0'), line))
            return NULL;
    return text;
}

/* A value from text up to a tab or the end, in place; returns where it ends in the
 * record, NULL: it is none. */
static char *unescape(char *text, char *end)
{
    char *tab = memchr(text, '\t', (size_t)(end - text));
    char *stop = tab ? tab : end, *to, *c;

    if (memchr(text, '\n', (size_t)(stop - text))
        || memchr(text, '\0', (size_t)(stop - text)))
        return NULL;
    to = c = memchr(text, '\\', (size_t)(stop - text));
    for (; c && c < stop; c++) {
        if (*c != '\\') {
            *to++ = *c;
            continue;
        }
        if (++c == stop || !strchr("tn\\", *c))
            return NULL;
        *to++ = (char)(*c == 't' ? '\t' : *c == 'n' ? '\n' : '\\');
    }
    *(to ? to : stop) = '\0';
    return stop;
}

int task_record_parse(struct task_record *r, char *text, size_t len)
{
    char *end = text + len, **more;

    r->n = 0;
    text = parse_line(text, end, &r->line);
    while (text && text < end) {
        if (text[0] != '\t' && r->n == 0)
            break;
        if (r->n == r->room) {
            more = array_grow(r->value, &r->room, r->n + 1, sizeof *more,
                              SIZE_MAX);
            if (!more)
                return -1;
            r->value = more;
        }
        r->value[r->n++] = ++text;
        text = unescape(text, end);
    }
    if (text == end)
        return 0;
    errno = EINVAL;
    return -1;
}

void task_record_free(struct task_record *r)
{
    free(r->value);
    *r = (struct task_record){0};
}

/* --- fields --------------------------------------------------------------- */

static const char *const parts[] = {"", ".", "/", "//", "/."};

size_t task_field_part(const char *text, size_t *part)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t n = strlen(parts[i]);

        if (strncmp(text, parts[i], n) == 0 && text[n] == '}') {
            *part = i;
            return n;
        }
    }
    return SIZE_MAX;
}

/* A number that is not 0; returns its bytes, 0: there is none. */
static size_t number_at(const char *text, long *number)
{
    size_t sign = text[0] == '-', n = strspn(text + sign, "0123456789");

    *number = n == 0 || n > 9 ? 0 : strtol(text, NULL, 10);
    return *number == 0 ? 0 : sign + n;
}

static size_t parse_name(const char *text, struct task_field *f)
{
    const char *name;

    f->kind = 'n';
    for (f->name = 0; (name = template_field(f->name)); f->name++)
        if (strncmp(text, name + 1, strlen(name + 1)) == 0)
            return strlen(name) - 2;
    return SIZE_MAX;
}

size_t task_field_parse(const char *text, struct task_field *f)
{
    struct task_field unused = {0};
    size_t n;

    f = f ? f : &unused;
    *f = (struct task_field){.kind = '*'};
    if ((text[0] == '#' || text[0] == '%') && text[1] == '}') {
        f->kind = text[0];
        return 1;
    }
    if (isalpha((unsigned char)text[0]))
        return parse_name(text, f);
    f->digits = number_at(text, &f->number);
    if (f->digits > 0)
        f->kind = 'v';
    n = task_field_part(text + f->digits, &f->part);
    return n == SIZE_MAX ? n : f->digits + n;
}

static size_t length_of(const void *arg, const char *text)
{
    (void)arg;
    return task_field_parse(text, NULL);
}

/* --- parts of a value ----------------------------------------------------- */

struct text {
    const char *at;
    size_t len;
};

static struct text base_of(struct text v)
{
    const char *slash = memrchr(v.at, '/', v.len);
    size_t cut = slash ? (size_t)(slash + 1 - v.at) : 0;

    return (struct text){v.at + cut, v.len - cut};
}

static struct text stem_of(struct text v)
{
    struct text base = base_of(v);
    const char *dot = memrchr(base.at, '.', base.len);

    if (dot)
        v.len = (size_t)(dot - v.at);
    return v;
}

/* As dirname(1). */
static struct text folder_of(struct text v)
{
    while (v.len > 1 && v.at[v.len - 1] == '/')
        v.len--;
    v.len -= base_of(v).len;
    while (v.len > 1 && v.at[v.len - 1] == '/')
        v.len--;
    return v.len > 0 ? v : (struct text){".", 1};
}

static struct text part_of(const char *value, size_t part)
{
    struct text v = {value, strlen(value)};

    switch (part) {
    case 1:
        return stem_of(v);
    case 2:
        return base_of(v);
    case 3:
        return folder_of(v);
    case 4:
        return stem_of(base_of(v));
    default:
        return v;
    }
}

/* --- what is put out ------------------------------------------------------ */

struct out {
    const struct task_record *t;
    const struct task_place *place;
    unsigned how;
    const char *only; /* the value that stands for all; NULL: all */
    char *text;
    size_t n, room;
    size_t begin; /* of the word at hand */
    size_t words;
    int error; /* an errno */
};

static void put(struct out *o, const char *text, size_t len)
{
    char *more = o->text;

    if (o->error || len == 0)
        return;
    if (o->n + len - o->begin > TASK_WORD_MAX) {
        o->error = E2BIG;
        return;
    }
    if (o->n + len > o->room)
        more = array_grow(o->text, &o->room, o->n + len, 1, SIZE_MAX);
    if (!more) {
        o->error = ENOMEM;
        return;
    }
    o->text = more;
    memcpy(more + o->n, text, len);
    o->n += len;
}

static void put_times(struct out *o, char c, size_t n)
{
    while (n-- > 0)
        put(o, &c, 1);
}

static void end_word(struct out *o)
{
    put_times(o, '\0', 1);
    o->begin = o->n;
    o->words++;
}

static int is_plain(struct text v)
{
    for (size_t i = 0; i < v.len; i++)
        if (!isalnum((unsigned char)v.at[i]) && !strchr("%+,-./:@_", v.at[i]))
            return 0;
    return v.len > 0;
}

static void put_quoted(struct out *o, struct text v)
{
    const char *quote;

    put(o, "'", 1);
    while ((quote = memchr(v.at, '\'', v.len)) != NULL) {
        put(o, v.at, (size_t)(quote - v.at));
        put(o, "'\\''", 4);
        v.len -= (size_t)(quote + 1 - v.at);
        v.at = quote + 1;
    }
    put(o, v.at, v.len);
    put(o, "'", 1);
}

static void put_value(struct out *o, const char *value, size_t part)
{
    struct text v = part_of(value, part);

    if ((o->how & TASK_SHELL) && !is_plain(v))
        put_quoted(o, v);
    else
        put(o, v.at, v.len);
}

static void put_all(struct out *o, size_t part)
{
    if (o->only) {
        put_value(o, o->only, part);
        return;
    }
    for (size_t i = 0; i < o->t->n; i++) {
        if (i > 0)
            put(o, " ", 1);
        put_value(o, o->t->value[i], part);
    }
}

static void put_number(struct out *o, uint64_t number)
{
    char digits[24];

    put(o, digits,
        (size_t)snprintf(digits, sizeof digits, "%ju", (uintmax_t)number));
}

/* Of the names of template_field(), in its order. */
static void put_name(struct out *o, size_t name)
{
    const struct task_place *p = o->place;
    const uint64_t number[] = {p->unit, p->unit + 1, 1, p->frame, p->slot};
    const char *text[] = {p->label, p->node};

    if (name < 5)
        put_number(o, number[name]);
    else
        put_value(o, text[name - 5] ? text[name - 5] : "", 0);
}

/* NULL: it lacks. */
static const char *value_of(const struct task_record *t, long number)
{
    size_t i = (size_t)(number > 0 ? number - 1 : (long)t->n + number);

    return i < t->n ? t->value[i] : NULL;
}

static void put_field(struct out *o, const char *name)
{
    struct task_field f;
    const char *value;

    (void)task_field_parse(name, &f);
    if (f.kind == '#') {
        put_number(o, o->place->unit + 1);
    } else if (f.kind == '%') {
        put_number(o, o->place->slot + 1);
    } else if (f.kind == 'n') {
        put_name(o, f.name);
    } else if (f.kind == '*') {
        put_all(o, f.part);
    } else if ((value = value_of(o->t, f.number)) != NULL) {
        put_value(o, value, f.part);
    }
}

/* --- words ---------------------------------------------------------------- */

/* What of a text is next: plain bytes, or braces. */
struct piece {
    struct template_braced b;
    size_t len;
    int is_name;  /* in braces, maybe kept ones */
    int is_field; /* that is filled in */
};

static struct piece piece_at(const char *word, const char *at, const char *end)
{
    struct piece p = {.len = 1};

    if (*at != '{') {
        const char *brace = memchr(at, '{', (size_t)(end - at));

        p.len = (size_t)((brace ? brace : end) - at);
        return p;
    }
    p.is_name = template_braced(at, length_of, NULL, &p.b);
    p.len = p.b.len;
    if (at > word && at[-1] == '$' && p.b.name_len > 0)
        p.is_name = 0;
    p.is_field = p.is_name && p.b.pair % 2 == 1;
    return p;
}

static void put_text(struct out *o, const char *word, const char *end)
{
    for (const char *at = word; at < end;) {
        struct piece p = piece_at(word, at, end);

        if (p.is_name) {
            put_times(o, '{', p.b.before + p.b.pair / 2);
            if (p.is_field)
                put_field(o, p.b.name);
            else
                put(o, p.b.name, p.b.name_len);
            put_times(o, '}', p.b.pair / 2);
        } else {
            put(o, at, p.len);
        }
        at += p.len;
    }
}

/* Is it a field of all values, or of one that lacks, and nothing beside it? */
static int is_values(const struct task_record *t,
                     const char *word,
                     struct task_field *f)
{
    size_t n = word[0] == '{' ? task_field_parse(word + 1, f) : SIZE_MAX;

    if (n == SIZE_MAX || word[n + 2] != '\0')
        return 0;
    return f->kind == '*' || (f->kind == 'v' && value_of(t, f->number) == NULL);
}

static int has_all(const char *word, const char *end)
{
    struct task_field f;

    for (const char *at = word; at < end;) {
        struct piece p = piece_at(word, at, end);

        if (p.is_field && task_field_parse(p.b.name, &f) != SIZE_MAX
            && f.kind == '*')
            return 1;
        at += p.len;
    }
    return 0;
}

static int has_field(char *const cmd[])
{
    for (size_t i = 0; cmd[i]; i++) {
        const char *end = strchr(cmd[i], '\0');

        for (const char *at = cmd[i]; at < end;) {
            struct piece p = piece_at(cmd[i], at, end);

            if (p.is_field)
                return 1;
            at += p.len;
        }
    }
    return 0;
}

/* The end of a word: of the vector, or a blank of the shell's. */
static void next_word(struct out *o)
{
    if (o->how & TASK_SHELL)
        put(o, " ", 1);
    else
        end_word(o);
}

/* A word, or what is between two blanks, maybe once for each value.  Behind the last
 * one next_word() is left to the caller. */
static void put_repeated(struct out *o, const char *word, const char *end)
{
    if (!(o->how & TASK_REPEAT) || o->t->n == 0 || !has_all(word, end)) {
        put_text(o, word, end);
        return;
    }
    for (size_t i = 0; i < o->t->n; i++) {
        if (i > 0)
            next_word(o);
        o->only = o->t->value[i];
        put_text(o, word, end);
    }
    o->only = NULL;
}

static void put_values(struct out *o, size_t part)
{
    for (size_t i = 0; i < o->t->n; i++) {
        put_value(o, o->t->value[i], part);
        end_word(o);
    }
}

static void put_vector(struct out *o, char *const cmd[])
{
    struct task_field f;

    for (size_t i = 0; cmd[i]; i++)
        if (is_values(o->t, cmd[i], &f)) {
            if (f.kind == '*')
                put_values(o, f.part);
        } else {
            put_repeated(o, cmd[i], strchr(cmd[i], '\0'));
            end_word(o);
        }
    if (!has_field(cmd))
        put_values(o, 0);
}

/* Each part of a word between blanks is a word to the shell. */
static void put_typed(struct out *o, const char *word)
{
    while (*word) {
        size_t n = strcspn(word, " \t\n");

        put_repeated(o, word, word + n);
        word += n;
        n = strspn(word, " \t\n");
        put(o, word, n);
        word += n;
    }
}

static void put_line(struct out *o, char *const cmd[])
{
    size_t i = 0;

    if (!cmd[0])
        o->how = 0;
    for (; cmd[i]; i++) {
        if (i > 0)
            put(o, " ", 1);
        put_typed(o, cmd[i]);
    }
    if (i > 0 && o->t->n > 0 && !has_field(cmd))
        put(o, " ", 1);
    if (!has_field(cmd))
        put_all(o, 0);
    end_word(o);
}

/* The words behind their pointers, in one block. */
static char **vector_of(struct out *o)
{
    char **words = NULL, *text;

    if (!o->error)
        words = malloc((o->words + 1) * sizeof *words + o->n);
    if (words) {
        text = (char *)(words + o->words + 1);
        if (o->n > 0)
            memcpy(text, o->text, o->n);
        for (size_t i = 0; i < o->words; i++) {
            words[i] = text;
            text = strchr(text, '\0') + 1;
        }
        words[o->words] = NULL;
    }
    free(o->text);
    errno = o->error ? o->error : errno;
    return words;
}

char **task_words(char *const cmd[],
                  const struct task_record *t,
                  const struct task_place *place,
                  unsigned how)
{
    struct out o = {.t = t, .place = place, .how = how};

    if (how & TASK_SHELL)
        put_line(&o, cmd);
    else
        put_vector(&o, cmd);
    return vector_of(&o);
}
