/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/option.h"

#include "launcher/base/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- words ---------------------------------------------------------------- */

int option_word_find(const char *words, const char *text)
{
    size_t len = strlen(text);

    for (int i = 0;; i++) {
        size_t n = strcspn(words, "|");

        if (n == len && memcmp(words, text, n) == 0)
            return i;
        if (!words[n])
            return -1;
        words += n + 1;
    }
}

void option_words_join(char *joined, size_t size, const char *words)
{
    size_t len = 0, n;

    for (;; words += n + 1) {
        const char *behind;

        n = strcspn(words, "|");
        behind = !words[n] ? "" : strchr(words + n + 1, '|') ? ", " : " or ";
        if (len < size)
            len += (size_t)snprintf(joined + len, size - len, "%.*s%s", (int)n,
                                    words, behind);
        if (!words[n])
            return;
    }
}

/* --- numbers -------------------------------------------------------------- */

/* What a value of a type is called, and examples of it. */
static const struct kind {
    const char *none, *mend;
    struct {
        const char *text;
        double value;
    } example[3];
} kinds[] = {
    [OPTION_COUNT] = {"no whole number", "a whole number", {{0}}},
    [OPTION_NUMBER] = {"no number", "a number", {{0}}},
    [OPTION_SECONDS] = {"no time",
                        "seconds",
                        {{"90", 90}, {"1.5h", 5400}, {"20us", 20e-6}}},
    [OPTION_RATE] = {"no rate",
                     "bytes a second",
                     {{"125M", 125e6}, {"100mbit", 12.5e6}}},
    [OPTION_SIZE] = {"no size", "bytes", {{"125k", 125e3}, {"1MiB", 0x1p20}}},
};

/* The examples that the option takes, as ", as A, B or C"; none are "". */
static void example_text(char text[48], const struct option *o)
{
    const char *valid[3];
    size_t n = 0, len = 0;

    for (size_t i = 0; i < 3 && kinds[o->type].example[i].text; i++)
        if (kinds[o->type].example[i].value >= o->low
            && (o->high <= 0 || kinds[o->type].example[i].value <= o->high))
            valid[n++] = kinds[o->type].example[i].text;
    text[0] = '\0';
    for (size_t i = 0; i < n; i++)
        len += (size_t)snprintf(text + len, 48 - len, "%s%s",
                                i == 0       ? ", as "
                                : i == n - 1 ? " or "
                                             : ", ",
                                valid[i]);
}

/* Bytes with the greatest prefix that they are a multiple of. */
static void bound_text(char text[32], double v, enum option_type type)
{
    static const struct {
        const char *name;
        double bytes;
    } unit[] = {
        {"P", 1e15}, {"T", 1e12},    {"Gi", 0x1p30}, {"G", 1e9}, {"Mi", 0x1p20},
        {"M", 1e6},  {"Ki", 0x1p10}, {"k", 1e3},     {"", 1},
    };
    size_t i = type == OPTION_RATE || type == OPTION_SIZE ? 0 : 8;

    while (i < 8 && (v < unit[i].bytes || fmod(v, unit[i].bytes) > 0))
        i++;
    snprintf(text, 32, "%.16g%s", v / unit[i].bytes, unit[i].name);
}

/* As GNU parallel's --timeout has it, of the median of its tasks. */
static int is_percent(const char *text)
{
    size_t n = strspn(text, "0123456789.");

    return n > 0 && n < 20 && strcmp(text + n, "%") == 0;
}

static int refuse(const struct option *o,
                  const char *text,
                  int why,
                  struct es_error *err)
{
    const struct kind *kind = &kinds[o->type];
    char mend[160], low[32], high[32], example[48];

    example_text(example, o);
    if (o->type == OPTION_SECONDS && is_percent(text)) {
        snprintf(mend, sizeof mend, "give %s%s", kind->mend, example);
        return es_fail(err, ES_USAGE, mend,
                       "--%s: \"%s\" is a percentage, which is not known here",
                       o->name, text);
    }
    bound_text(low, o->low, o->type);
    bound_text(high, o->high, o->type);
    snprintf(mend, sizeof mend, "give %s from %s%s%s%s", kind->mend, low,
             o->high > 0 ? " to " : "", o->high > 0 ? high : "", example);
    return es_fail(err, ES_USAGE, mend, "--%s: \"%s\" is %s", o->name, text,
                   why == NUMBER_NONE ? kind->none : "out of range");
}

static int parse_number(const struct option *o, const char *text, double *v)
{
    double high = o->high > 0 ? o->high : HUGE_VAL;

    switch (o->type) {
    case OPTION_SECONDS:
        return number_parse_unit(text, NUMBER_SECONDS, o->low, high, v);
    case OPTION_RATE:
        return number_parse_unit(text, NUMBER_RATE, o->low, high, v);
    case OPTION_SIZE:
        return number_parse_unit(text, NUMBER_BYTES, o->low, high, v);
    default:
        return number_parse_double(text, o->low, high, v);
    }
}

/* By the width of the member. */
static void store_whole(void *at, size_t width, uint64_t v)
{
    uint32_t narrow = (uint32_t)v;

    if (width == sizeof v)
        memcpy(at, &v, sizeof v);
    else
        memcpy(at, &narrow, sizeof narrow);
}

static int store_number(const struct option *o,
                        void *at,
                        const char *text,
                        struct es_error *err)
{
    double v;
    int why = parse_number(o, text, &v);

    if (why < 0)
        return refuse(o, text, why, err);
    if (o->type == OPTION_SIZE)
        store_whole(at, o->width, (uint64_t)v);
    else
        memcpy(at, &v, sizeof v);
    return 0;
}

static int store_count(const struct option *o,
                       void *at,
                       const char *text,
                       struct es_error *err)
{
    int64_t high = o->high > 0                    ? (int64_t)o->high
                   : o->width == sizeof(uint64_t) ? INT64_MAX
                                                  : UINT32_MAX;
    int64_t v;
    int why = number_parse_int(text, (int64_t)o->low, high, &v);

    if (why < 0)
        return refuse(o, text, why, err);
    store_whole(at, o->width, (uint64_t)v);
    return 0;
}

size_t option_numbers_parse(double v[],
                            size_t max,
                            double low,
                            double high,
                            const char *name,
                            const char *text,
                            struct es_error *err)
{
    char number[32], mend[80];
    size_t n = 0;
    int why = 0;

    for (;; text++) {
        size_t len = strcspn(text, ",");

        snprintf(number, sizeof number, "%.*s", (int)(len < 99 ? len : 99),
                 text);
        why = n == max || len >= sizeof number
                  ? NUMBER_NONE
                  : number_parse_double(number, low, high, &v[n]);
        if (why < 0)
            break;
        n++;
        text += len;
        if (!*text)
            return n;
    }
    snprintf(mend, sizeof mend, "give numbers from %g to %g, as 80,40", low,
             high);
    if (n == max)
        es_fail(err, ES_USAGE, mend, "--%s: more than %zu numbers", name, max);
    else
        es_fail(err, ES_USAGE, mend, "--%s: \"%s\" is %s", name, number,
                why == NUMBER_NONE ? "no number" : "out of range");
    return 0;
}

/* --- the others ----------------------------------------------------------- */

int option_range_parse(struct option_range *r,
                       const char *where,
                       const char *text,
                       struct es_error *err)
{
    const char *colon = strchr(text, ':');
    char first[32];
    uint64_t b = 0, e = 0;
    size_t len = colon ? (size_t)(colon - text) : sizeof first;
    int why = NUMBER_NONE;

    if (len < sizeof first) {
        snprintf(first, sizeof first, "%.*s", (int)len, text);
        why = number_parse_u64(first, &b);
        if (why == 0)
            why = number_parse_u64(colon + 1, &e);
    }
    if (why == NUMBER_NONE)
        return es_fail(err, ES_USAGE, "give BEGIN:END, whole numbers",
                       "%s: \"%s\" is no range", where, text);
    if (why < 0 || e > INT64_MAX)
        return es_fail(err, ES_USAGE, "give an END below 2^63",
                       "%s: %s is out of range", where, text);
    if (b >= e)
        return es_fail(err, ES_USAGE, "give a begin below the end",
                       "%s: %s is %s", where, text,
                       b == e ? "empty" : "reversed");
    *r = (struct option_range){b, e};
    return 0;
}

static int store_range(const struct option *o,
                       struct option_range *at,
                       const char *text,
                       struct es_error *err)
{
    char where[40];

    snprintf(where, sizeof where, "--%s", o->name);
    return option_range_parse(at, where, text, err);
}

static int store_word(const struct option *o,
                      int *at,
                      const char *text,
                      struct es_error *err)
{
    int i = option_word_find(o->value, text);
    char known[120], mend[128];

    if (i >= 0) {
        *at = i;
        return 0;
    }
    option_words_join(known, sizeof known, o->value);
    snprintf(mend, sizeof mend, "give %s", known);
    return es_fail(err, ES_USAGE, mend, "--%s: \"%s\" is unknown", o->name,
                   text);
}

int option_store(const struct option *o,
                 void *into,
                 const char *text,
                 struct es_error *err)
{
    void *at = (char *)into + o->offset;

    switch (o->type) {
    case OPTION_FLAG:
        *(int *)at = 1;
        return 0;
    case OPTION_TEXT:
        *(const char **)at = text;
        return 0;
    case OPTION_COUNT:
        return store_count(o, at, text, err);
    case OPTION_RANGE:
        return store_range(o, at, text, err);
    case OPTION_WORD:
        return store_word(o, at, text, err);
    case OPTION_TAKE:
        return o->take(at, text, err);
    default:
        return store_number(o, at, text, err);
    }
}
