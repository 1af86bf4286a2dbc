/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/task_text.h"
#include "launcher/base/plain_text.h"
#include "launcher/run/shell_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define BLOCK (64u << 10)

int task_text_read(struct task_text *t,
                   const struct lines *list,
                   uint64_t unit,
                   struct es_error *err)
{
    uint64_t from, to;
    size_t len;

    if (lines_find(list, unit, unit + 1, &from, &to, err) < 0)
        return -1;
    len = (size_t)(to - from);
    if (len + 1 > t->room) {
        char *more = realloc(t->line, len + 1);

        if (!more)
            return es_no_memory(err);
        t->line = more;
        t->room = len + 1;
    }
    if (lines_read(list, from, t->line, len, err) < 0)
        return -1;
    len -= len > 0 && t->line[len - 1] == '\n';
    return task_record_parse(&t->record, t->line, len) == 0
               ? 0
               : es_fail(err, ES_WORK, "report it as a fault of evenstep",
                         "task %ju: no record", (uintmax_t)unit + 1);
}

/* Where one is in the records. */
struct summing {
    XXH3_state_t *state;
    int is_value; /* behind the number of the line */
    uint64_t *sum;
    size_t n, most;
};

/* A newline is a record's end, wherever it stands. */
static int sum_bytes(struct summing *s, const char *bytes, size_t len)
{
    const char *end = bytes + len;

    while (bytes < end) {
        const char *at = memchr(bytes, '\n', (size_t)(end - bytes));
        const char *to = at ? at : end;
        const char *tab =
            s->is_value ? bytes : memchr(bytes, '\t', (size_t)(to - bytes));

        if (tab
            && XXH3_64bits_update(s->state, tab, (size_t)(to - tab)) != XXH_OK)
            return -1;
        s->is_value = tab != NULL;
        bytes = to;
        if (!at)
            return 0;
        bytes++;
        if (s->n < s->most)
            s->sum[s->n++] = XXH3_64bits_digest(s->state);
        s->is_value = 0;
        if (XXH3_64bits_reset(s->state) != XXH_OK)
            return -1;
    }
    return 0;
}

int task_text_sums(const struct lines *list,
                   uint64_t begin,
                   uint64_t end,
                   uint64_t sum[],
                   struct es_error *err)
{
    struct summing s = {
        .state = XXH3_createState(), .sum = sum, .most = (size_t)(end - begin)};
    char *text = malloc(BLOCK);
    uint64_t at = 0, to = 0;
    int rc = -1;

    if (!s.state || !text || XXH3_64bits_reset(s.state) != XXH_OK)
        rc = es_no_memory(err);
    else
        rc = lines_find(list, begin, end, &at, &to, err);
    while (rc == 0 && at < to) {
        size_t len = to - at < BLOCK ? (size_t)(to - at) : BLOCK;

        rc = lines_read(list, at, text, len, err);
        if (rc == 0 && sum_bytes(&s, text, len) < 0)
            rc = es_no_memory(err);
        at += len;
    }
    (void)XXH3_freeState(s.state);
    free(text);
    return rc;
}

/* As task_words() has it; NULL: errno. */
static char **task_text_words(const struct task_text *t,
                              const struct run_options *o,
                              const struct task_place *place)
{
    char *none[] = {NULL};
    unsigned how = (o->shell ? TASK_SHELL : 0) | (o->repeats ? TASK_REPEAT : 0);

    return task_words(o->is_tasks ? none : o->command, &t->record, place, how);
}

void task_text_say(const struct task_text *t,
                   const struct run_options *o,
                   const struct task_place *place,
                   char *text,
                   size_t size)
{
    char **words = task_text_words(t, o, place), *line = NULL;
    size_t len = 0;
    FILE *to = words ? open_memstream(&line, &len) : NULL;

    text[0] = '\0';
    if (to && o->shell)
        (void)fputs(words[0], to);
    else if (to)
        shell_words_line(to, words);
    if (to && fclose(to) == 0)
        plain_text(text, size, line);
    free(line);
    free(words);
}

char *task_text_tag(const struct task_text *t)
{
    char *values = NULL, *plain = NULL, *tag = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&values, &len);

    for (size_t i = 0; to && i < t->record.n; i++)
        fprintf(to, "%s%s", i > 0 ? " " : "", t->record.value[i]);
    if (to && fclose(to) == 0)
        plain = plain_text_new(values);
    if (plain && asprintf(&tag, "%s\t", plain) < 0)
        tag = NULL;
    free(plain);
    free(values);
    return tag;
}

void task_text_clear(struct task_text *t)
{
    task_record_free(&t->record);
    free(t->line);
    *t = (struct task_text){.line = NULL};
}
