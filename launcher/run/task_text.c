/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/task_text.h"
#include "launcher/base/plain_text.h"
#include "launcher/run/shell_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

char **task_text_words(const struct task_text *t,
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
