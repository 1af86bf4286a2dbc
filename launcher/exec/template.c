/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/exec/template.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 7, VALUE_MAX = NODE_NAME_MAX + LABEL_MAX };

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

static const struct field *field_at(const struct field f[], const char *text)
{
    for (size_t i = 0; i < FIELDS; i++)
        if (strncmp(text, f[i].brace, strlen(f[i].brace)) == 0)
            return &f[i];
    return NULL;
}

/* Copy a word and replace its fields. */
static char *fill_word(const char *word, const struct field f[])
{
    char *out = NULL;
    size_t size;
    FILE *to = open_memstream(&out, &size);
    int bad;

    if (!to)
        return NULL;
    while (*word) {
        const struct field *hit = *word == '{' ? field_at(f, word) : NULL;

        if (hit) {
            (void)fputs(hit->value, to); /* ferror() is checked below */
            word += strlen(hit->brace);
        } else {
            (void)putc(*word++, to);
        }
    }
    bad = ferror(to);
    if (fclose(to) != 0 || bad) {
        free(out);
        return NULL;
    }
    return out;
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
