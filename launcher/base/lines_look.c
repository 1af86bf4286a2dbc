/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/lines_look.h"
#include "launcher/base/notice.h"
#include "launcher/base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE_BYTES (1u << 20) /* some long reads */
#define SAMPLE_LINES 32u
#define SAMPLE_UNITS 500u /* that begin, and of all the file */
#define COLUMNS      64u  /* of a table that are looked at */
#define FIELD_MAX    64u  /* bytes of a number, with its NUL */
/* So many letters and nothing else are a sequence, though its end is not seen. */
#define LETTERS 1000u

struct text { /* of a line, without its end */
    const char *at;
    size_t len;
};

struct sample {
    struct text line[SAMPLE_LINES];
    size_t n;     /* the last of which may be cut off ... */
    size_t whole; /* ... and does not count here then */
    int is_all;   /* nothing follows */
};

/* --- lines and fields ----------------------------------------------------- */

/* The next line of a text; returns where the one behind it begins. */
static const char *cut_line(struct text *line,
                            const char *text,
                            const char *end)
{
    const char *stop = memchr(text, '\n', (size_t)(end - text));

    *line = (struct text){text, (size_t)((stop ? stop : end) - text)};
    if (stop && line->len > 0 && stop[-1] == '\r')
        line->len--;
    return stop ? stop + 1 : end;
}

static void cut_lines(struct sample *s, const char *text, size_t len, int whole)
{
    const char *end = text + len;

    s->n = 0;
    while (s->n < SAMPLE_LINES && text < end)
        text = cut_line(&s->line[s->n++], text, end);
    s->is_all = whole && text == end;
    s->whole = s->n;
    if (s->n > 0 && text == end && !whole && end[-1] != '\n')
        s->whole--;
}

static int begins(const struct text *t, char c)
{
    return t->len > 0 && t->at[0] == c;
}

static size_t count_fields(const struct text *t, char between)
{
    size_t n = 1;

    int is_quoted = 0;

    for (size_t i = 0; i < t->len; i++) {
        is_quoted ^= t->at[i] == '"';
        n += t->at[i] == between && !is_quoted;
    }
    return n;
}

/* Where a field ends: at the next that stands between, if it is not quoted. */
static const char *end_of(const struct text *t, char between)
{
    int is_quoted = 0;

    for (size_t i = 0; i < t->len; i++) {
        is_quoted ^= t->at[i] == '"';
        if (t->at[i] == between && !is_quoted)
            return t->at + i;
    }
    return NULL;
}

static struct text field_of(const struct text *t, char between, size_t i)
{
    struct text field = *t;
    const char *end;

    for (;; i--) {
        end = end_of(&field, between);
        if (i == 0 || !end)
            break;
        field.len -= (size_t)(end + 1 - field.at);
        field.at = end + 1;
    }
    if (end)
        field.len = (size_t)(end - field.at);
    return field;
}

/* Also one in quotes. */
static int is_number(const struct text *t)
{
    int is_quoted = t->len > 2 && t->at[0] == '"' && t->at[t->len - 1] == '"';
    size_t len = is_quoted ? t->len - 2 : t->len;
    char number[FIELD_MAX];
    double v;

    if (len == 0 || len >= sizeof number)
        return 0;
    memcpy(number, t->at + is_quoted, len);
    number[len] = '\0';
    return number_parse_double(number, -INFINITY, INFINITY, &v) == 0;
}

static int is_missing(const struct text *t)
{
    return t->len == 0 || (t->len == 2 && memcmp(t->at, "NA", 2) == 0);
}

/* --- sequences ------------------------------------------------------------ */

/* Blank lines and comments may stand above the first record. */
static int is_fasta(const struct sample *s)
{
    size_t i = 0;

    while (i < s->n && (s->line[i].len == 0 || begins(&s->line[i], ';')))
        i++;
    if (i >= s->whole || !begins(&s->line[i], '>'))
        return 0;
    while (++i < s->n)
        if (s->line[i].len > 0 && s->line[i].at[0] != '>')
            return 1;
    return 0;
}

static int is_sequence(const struct text *t)
{
    for (size_t i = 0; i < t->len; i++)
        if (!strchr("ACGTUNRYSWKMBDHVacgtunryswkmbdhv.-*", t->at[i]))
            return 0;
    return t->len > 0;
}

/* A record that begins at a line; returns its lines, 0: it is none.  The sample may
 * end within it. */
static size_t record_of_fastq(const struct sample *s, size_t at)
{
    size_t i = at + 1, letters = 0, marks = 0;

    if (at >= s->whole || !begins(&s->line[at], '@'))
        return 0;
    for (; i < s->n && is_sequence(&s->line[i]); i++)
        letters += s->line[i].len;
    if (i == s->n)
        return letters >= LETTERS || at > 0 ? i - at : 0;
    if (letters == 0 || !begins(&s->line[i], '+'))
        return 0;
    for (i++; i < s->n && marks < letters; i++)
        marks += s->line[i].len;
    return marks == letters || (marks < letters && !s->is_all) ? i - at : 0;
}

static enum lines_kind kind_of_fastq(const struct sample *s)
{
    enum lines_kind kind = LINES_FASTQ;

    for (size_t at = 0, n; at < s->whole; at += n) {
        n = record_of_fastq(s, at);
        if (n == 0)
            return LINES_PLAIN;
        if (n > 4)
            kind = LINES_FASTQ_WRAPPED;
    }
    return s->n >= 2 ? kind : LINES_PLAIN;
}

/* --- headers -------------------------------------------------------------- */

/* A column that has a name above numbers, of which some may be missing. */
static int is_named(const struct sample *s, char between, size_t i)
{
    struct text field = field_of(&s->line[0], between, i);
    size_t numbers = 0;

    if (field.len == 0)
        return 0;
    for (size_t k = 1; k < s->whole; k++) {
        field = field_of(&s->line[k], between, i);
        if (!is_number(&field) && !is_missing(&field))
            return 0;
        numbers += is_number(&field) != 0;
    }
    return numbers > 1;
}

static int has_names(const struct sample *s, char between)
{
    size_t fields = s->whole < 3 ? 0 : count_fields(&s->line[0], between);
    size_t named = 0;

    if (fields < 2)
        return 0;
    for (size_t k = 1; k < s->whole; k++)
        if (count_fields(&s->line[k], between) != fields)
            return 0;
    for (size_t i = 0; i < fields && i < COLUMNS; i++) {
        struct text name = field_of(&s->line[0], between, i);

        if (is_number(&name))
            return 0;
        named += is_named(s, between, i) != 0;
    }
    return named > 0;
}

/* SAM: "@HD", "@SQ" and the like, each with a tabulator behind it. */
static int is_of_sam(const struct text *t)
{
    return t->len > 3 && begins(t, '@') && t->at[3] == '\t' && t->at[1] >= 'A'
           && t->at[1] <= 'Z' && t->at[2] >= 'A' && t->at[2] <= 'Z';
}

/* The lines above the table that begin with '#', as in VCF and BED, or as SAM's. */
static size_t count_comments(const char *text, size_t len)
{
    const char *end = text + len;
    struct text line = {text, 0}, last = {text, 0};
    size_t n = 0, fields;
    int is_sure = 0;

    while (text < end) {
        text = cut_line(&line, text, end);
        if (!begins(&line, '#') && !is_of_sam(&line))
            break;
        is_sure |=
            is_of_sam(&line)
            || (line.len > 13 && memcmp(line.at, "##fileformat=", 13) == 0);
        last = line;
        n++;
    }
    fields = count_fields(&last, '\t');
    return n > 0 && line.at != last.at && line.len > 0
                   && (is_sure
                       || (fields > 1 && fields == count_fields(&line, '\t')))
               ? n
               : 0;
}

enum lines_kind lines_kind(const char *text,
                           size_t len,
                           int whole,
                           size_t *header)
{
    struct sample s;
    enum lines_kind kind;

    cut_lines(&s, text, len, whole);
    *header = count_comments(text, len);
    if (*header > 0)
        return LINES_HEADER;
    if (is_fasta(&s))
        return LINES_FASTA;
    kind = kind_of_fastq(&s);
    if (kind != LINES_PLAIN)
        return kind;
    *header = 1;
    for (const char *between = ",;\t"; *between; between++)
        if (has_names(&s, *between))
            return LINES_HEADER;
    return LINES_PLAIN;
}

/* --- what it comes to ----------------------------------------------------- */

static void tell_header(const char *path, size_t header)
{
    if (header > 1)
        notice(
            "--lines: %s begins with %zu lines that are no records, and are taken "
            "for units: give --header %zu; or --record 1, if each line is a unit",
            path, header, header);
    else
        notice(
            "--lines: %s has a first line of names above numbers, which is "
            "taken for a unit: give --header 1; or --record 1, if each line is "
            "a unit",
            path);
}

#define OR_LINES "; or --record 1, if each line is a unit"

static int refuse_kind(const char *path,
                       enum lines_kind kind,
                       struct es_error *err)
{
    if (kind == LINES_FASTA)
        return es_fail(err, ES_USAGE, "give --recstart '>'" OR_LINES,
                       "--lines: %s looks like FASTA, and is cut within its "
                       "records",
                       path);
    if (kind == LINES_FASTQ)
        return es_fail(err, ES_USAGE, "give --record 4" OR_LINES,
                       "--lines: %s looks like FASTQ, and is cut within its "
                       "records",
                       path);
    return es_fail(
        err, ES_USAGE,
        "write them in four, as by seqtk seq, and give --record 4" OR_LINES,
        "--lines: %s looks like FASTQ of more than four lines a record, and is "
        "cut within its records",
        path);
}

/* --- quoted fields -------------------------------------------------------- */

/* And none that a backslash makes a letter of. */
static int is_quote(const struct text *t, size_t i)
{
    return t->at[i] == '"' && (i == 0 || t->at[i - 1] != '\\');
}

/* Does a field in quotes begin in the line that does not end in it? */
static int opens_quote(const struct text *t, char between)
{
    int is_open = 0;

    for (size_t i = 0; i < t->len; i++) {
        if (!is_quote(t, i))
            continue;
        if (is_open)
            is_open = 0;
        else if (i == 0 || t->at[i - 1] == between || t->at[i - 1] == '"')
            is_open = 1;
    }
    return is_open;
}

/* And is it the end of such a field that the line begins with? */
static int closes_quote(const struct text *t, char between)
{
    for (size_t i = 0; i < t->len; i++) {
        if (!is_quote(t, i))
            continue;
        if (i + 1 < t->len && t->at[i + 1] == '"')
            i++; /* one that is quoted itself */
        else
            return i + 1 == t->len || t->at[i + 1] == between;
    }
    return 0;
}

/* The line, from 1, in which a field begins that goes on in those below; 0: none.
 * All of them are a record with as many fields as the first line has. */
static size_t find_cut_field(const char *text, size_t len, char between)
{
    const char *end = text + len;
    struct text line, opened = {NULL, 0};
    size_t number = 0, at = 0, fields = 0;

    while (text < end) {
        text = cut_line(&line, text, end);
        number++;
        if (number == 1)
            fields = count_fields(&line, between);
        if (fields < 2)
            return 0;
        if (opened.at && closes_quote(&line, between)) {
            opened.len = (size_t)(line.at + line.len - opened.at);
            if (count_fields(&opened, between) == fields)
                return at;
            opened.at = NULL;
        }
        if (!opened.at && opens_quote(&line, between)) {
            opened = line;
            at = number;
        }
    }
    return 0;
}

static int check_fields(const struct lines *l,
                        const char *text,
                        size_t len,
                        struct es_error *err)
{
    for (const char *between = ",;\t"; *between; between++) {
        size_t line = find_cut_field(text, len, *between);

        if (line > 0)
            return es_fail(
                err, ES_USAGE, "write each record in one line" OR_LINES,
                "--lines: %s: a field in quotes begins in line %ju and "
                "ends in another, and is cut between them",
                l->path, (uintmax_t)(line + l->rule->header));
    }
    return 0;
}

/* --- records -------------------------------------------------------------- */

/* Is it all of FASTQ, of four lines each? */
static int is_in_fours(const char *text, size_t len)
{
    const char *end;
    struct text line[4];

    while (len > 0 && strchr("\r\n", text[len - 1]))
        len--; /* blank lines at the end of the file */
    end = text + len;

    while (text < end) {
        for (size_t i = 0; i < 4; i++)
            text = cut_line(&line[i], text, end);
        if (!begins(&line[0], '@') || !begins(&line[2], '+')
            || line[1].len != line[3].len)
            return 0;
    }
    return 1;
}

static int check_unit(const struct lines *l,
                      uint64_t unit,
                      enum lines_kind kind,
                      struct es_error *err)
{
    const char first = kind == LINES_FASTA ? '>' : '@';
    uint64_t from, to;
    char *text;
    int is_good;

    if (lines_find(l, unit, unit + 1, &from, &to, err) < 0)
        return -1;
    if (to - from > SAMPLE_BYTES)
        to = from + 1; /* long reads: only where they begin */
    text = malloc((size_t)(to - from) + 1);
    if (!text)
        return es_no_memory(err);
    if (lines_read(l, from, text, (size_t)(to - from), err) < 0) {
        free(text);
        return -1;
    }
    is_good = text[0] == first
              && (kind == LINES_FASTA || to - from == 1
                  || is_in_fours(text, (size_t)(to - from)));
    free(text);
    if (is_good)
        return 0;
    if (kind == LINES_FASTA)
        return es_fail(
            err, ES_USAGE, "give --recstart '>'" OR_LINES,
            "--record %ju: record %ju of %s does not begin with > as "
            "the first does",
            (uintmax_t)l->rule->lines, (uintmax_t)unit + 1, l->path);
    return es_fail(err, ES_USAGE,
                   "write each in four lines, as by seqtk seq, and give "
                   "--record 4" OR_LINES,
                   "--record %ju: record %ju of %s is not FASTQ of four lines "
                   "each",
                   (uintmax_t)l->rule->lines, (uintmax_t)unit + 1, l->path);
}

/* The first ones, and as many of all of the file. */
static int check_units(const struct lines *l,
                       enum lines_kind kind,
                       struct es_error *err)
{
    uint64_t step = l->n / SAMPLE_UNITS;
    int rc = 0;

    for (uint64_t i = 0; rc == 0 && i < SAMPLE_UNITS && i < l->n; i++) {
        rc = check_unit(l, i, kind, err);
        if (rc == 0 && step > 1)
            rc = check_unit(l, l->n - 1 - i * step, kind, err);
    }
    return rc;
}

/* 0, or -1: it cannot be read. */
static int first_byte(const struct lines *l, uint64_t unit, char *c)
{
    uint64_t from, to;

    return lines_find(l, unit, unit + 1, &from, &to, NULL) < 0
                   || lines_read(l, from, c, 1, NULL) < 0
               ? -1
               : 0;
}

/* Records that begin with a mark of some format begin with it all. */
static void tell_beginnings(const struct lines *l)
{
    static const char marks[] = "[{<#*=%!|";
    uint64_t step = l->n / SAMPLE_UNITS + 1;
    char first, c;

    if (first_byte(l, 0, &first) < 0 || !first || !strchr(marks, first))
        return;
    for (uint64_t unit = 1; unit < l->n;
         unit += unit < SAMPLE_UNITS ? 1 : step) {
        if (first_byte(l, unit, &c) < 0)
            return;
        if (c == first)
            continue;
        notice(
            "warning: --record %ju: record %ju of %s does not begin with %c, as "
            "the first does",
            (uintmax_t)l->rule->lines, (uintmax_t)unit + 1, l->path, first);
        return;
    }
}

/* A mark that a line of qualities may begin with, too. */
static int is_ambiguous(const struct record_rule *r)
{
    return r->start.given && r->start.len == 1 && r->start.bytes[0] == '@';
}

static int check_kind(const struct lines *l,
                      enum lines_kind kind,
                      size_t header,
                      struct es_error *err)
{
    const struct record_rule *r = l->rule;
    int is_plain = r->lines == 0 && !r->start.given && !r->end.given;

    if (kind == LINES_HEADER && is_plain && (r->header == 0 || header > 1))
        tell_header(l->path, r->header + header);
    if (kind == LINES_PLAIN && r->lines > 1)
        tell_beginnings(l);
    if (kind == LINES_HEADER || kind == LINES_PLAIN)
        return 0;
    if (is_plain)
        return refuse_kind(l->path, kind, err);
    if (r->lines > 1)
        return check_units(l, kind, err);
    if (kind != LINES_FASTA && is_ambiguous(r))
        return es_fail(err, ES_USAGE, "give --record 4" OR_LINES,
                       "--recstart @: a line of qualities of %s may begin with "
                       "it, too",
                       l->path);
    return 0;
}

/* FASTQ of which a record is no good is meant to be FASTQ. */
static enum lines_kind kind_meant(const char *text,
                                  size_t len,
                                  int whole,
                                  size_t *header)
{
    enum lines_kind kind = lines_kind(text, len, whole, header);
    struct sample s;

    cut_lines(&s, text, len, whole);
    return kind == LINES_PLAIN && record_of_fastq(&s, 0) > 0 ? LINES_FASTQ
                                                             : kind;
}

static size_t count_bytes(const char *text, size_t len, char c)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += text[i] == c;
    return n;
}

/* Are there lines, as other programs end them?  More bytes 0 than these are of
 * UTF-16, of names with one behind each, or of what is no text. */
static int check_ends(const struct lines *l,
                      const char *text,
                      size_t len,
                      struct es_error *err)
{
    const char *cr = memchr(text, '\r', len);
    char mend[300];

    if (count_bytes(text, len, '\0') > count_bytes(text, len, '\n'))
        return es_fail(
            err, ES_USAGE,
            "give --recend '\\0' where one ends each name, or make it "
            "a text (iconv)" OR_LINES,
            "--lines: %s: has bytes 0, and is no text", l->path);
    if (!cr || cr + 1 == text + len || memchr(text, '\n', len))
        return 0;
    snprintf(mend, sizeof mend,
             "tr '\\r' '\\n' <%.200s | evenstep run --lines - ...", l->path);
    return es_fail(err, ES_USAGE, mend,
                   "--lines: %s: its lines end with CR alone", l->path);
}

int lines_look(const struct lines *l, struct es_error *err)
{
    const struct record_rule *r = l->rule;
    uint64_t all = l->size - l->header;
    size_t len = all < SAMPLE_BYTES ? (size_t)all : SAMPLE_BYTES, header;
    enum lines_kind kind;
    char *text;
    int rc = 0;

    if (r->lines == 1)
        return 0;
    text = malloc(len + 1);
    if (text && lines_read(l, l->header, text, len, NULL) == 0) {
        kind = r->lines > 1 ? kind_meant(text, len, len == all, &header)
                            : lines_kind(text, len, len == all, &header);
        rc = check_kind(l, kind, header, err);
        if (rc == 0 && r->lines == 0 && !r->start.given && !r->end.given)
            rc = check_ends(l, text, len, err) < 0
                     ? -1
                     : check_fields(l, text, len, err);
    }
    free(text);
    return rc;
}
