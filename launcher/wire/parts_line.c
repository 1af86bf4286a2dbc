/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/wire/parts_line.h"
#include "launcher/base/number.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WORD_MAX 80 /* of three numbers */

/* The next word; 0 at the end.  One that is too long is none of ours. */
static int next_word(const char **text, char word[WORD_MAX])
{
    size_t len = strcspn(*text, " ");

    if (len == 0 || len >= WORD_MAX)
        return 0;
    memcpy(word, *text, len);
    word[len] = '\0';
    *text += len + ((*text)[len] == ' ');
    return 1;
}

/* Cut "A/B/C" into n numbers. */
static int read_numbers(char *word, uint64_t number[], int n)
{
    for (int i = 0; i < n; i++) {
        char *slash = strchr(word, '/');

        if ((slash != NULL) != (i < n - 1))
            return -1;
        if (slash)
            *slash = '\0';
        if (number_parse_u64(word, &number[i]) < 0)
            return -1;
        if (slash)
            word = slash + 1;
    }
    return 0;
}

static int read_rule(struct power_rule *rule, const char **text)
{
    double *const value[] = {&rule->bound, &rule->band, &rule->gain};
    char word[WORD_MAX];

    rule->variant = POWER_PAIR;
    for (size_t i = 0; i < sizeof value / sizeof *value; i++)
        if (!next_word(text, word)
            || number_parse_double(word, 0, 1, value[i]) < 0)
            return -1;
    return rule->gain > 0 ? 0 : -1;
}

static int read_part(struct node_parts *p, char *word)
{
    struct power_part part;
    uint64_t number[3];

    if (p->n == PARTS_MAX || read_numbers(word, number, 3) < 0
        || number[2] > PART_COUNT_MAX)
        return -1;
    part = (struct power_part){number[0], number[1], (uint32_t)number[2]};
    if (!power_part_is_valid(&part)
        || (p->n > 0 && (part.count > 0) != (p->part[0].count > 0)))
        return -1;
    p->part[p->n++] = part;
    return 0;
}

static int read_task(struct node_parts *p, char *word)
{
    uint64_t number[2];

    if (p->tasks == PART_TASKS_MAX || read_numbers(word, number, 2) < 0
        || number[0] < 2 || number[0] > INT32_MAX || number[1] >= p->n)
        return -1;
    p->task[p->tasks].pid = (pid_t)number[0];
    p->task[p->tasks++].part = (uint32_t)number[1];
    return 0;
}

static int read_all(struct node_parts *p, const char *text)
{
    char word[WORD_MAX];

    if (!parts_line_is(text))
        return -1;
    text += strlen("parts ");
    if (read_rule(&p->rule, &text) < 0)
        return -1;
    while (next_word(&text, word) && strcmp(word, ":") != 0)
        if (read_part(p, word) < 0)
            return -1;
    while (next_word(&text, word))
        if (read_task(p, word) < 0)
            return -1;
    return *text ? -1 : 0;
}

int parts_line_is(const char *text)
{
    return strncmp(text, "parts ", strlen("parts ")) == 0;
}

int parts_line_read(struct node_parts *p, const char *text)
{
    p->n = p->tasks = 0;
    if (read_all(p, text) == 0)
        return 0;
    p->n = p->tasks = 0;
    return -1;
}

/* Append to a text of *len bytes; -1 if there is no room for it. */
__attribute__((format(printf, 4, 5))) static int append(
    char *text, size_t room, size_t *len, const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(text + *len, room - *len, fmt, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= room - *len)
        return -1;
    *len += (size_t)n;
    return 0;
}

int parts_line_write(const struct node_parts *p, char *text, size_t room)
{
    size_t len = 0;

    if (append(text, room, &len, "parts %.9f %.9f %.9f", p->rule.bound,
               p->rule.band, p->rule.gain)
        < 0)
        return -1;
    for (size_t i = 0; i < p->n; i++)
        if (append(text, room, &len, " %" PRIu64 "/%" PRIu64 "/%" PRIu32,
                   p->part[i].least, p->part[i].most, p->part[i].count)
            < 0)
            return -1;
    if (append(text, room, &len, " :") < 0)
        return -1;
    for (size_t i = 0; i < p->tasks; i++)
        if (append(text, room, &len, " %d/%" PRIu32, (int)p->task[i].pid,
                   p->task[i].part)
            < 0)
            return -1;
    return 0;
}

int order_line_read(const char *text, uint64_t *limit, uint64_t part[PARTS_MAX])
{
    char word[WORD_MAX];
    int n = 0;

    if (!next_word(&text, word) || number_parse_u64(word, limit) < 0)
        return -1;
    for (; next_word(&text, word); n++)
        if (n == PARTS_MAX || number_parse_u64(word, &part[n]) < 0)
            return -1;
    return *text ? -1 : n;
}

int order_line_write(
    char *text, size_t room, uint64_t limit, const uint64_t part[], size_t n)
{
    size_t len = 0;

    if (append(text, room, &len, "%" PRIu64, limit) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (append(text, room, &len, " %" PRIu64, part[i]) < 0)
            return -1;
    return (int)len;
}

int threads_line_is(const char *text)
{
    size_t len = strlen("threads");

    return strncmp(text, "threads", len) == 0
           && (text[len] == ' ' || text[len] == '\0');
}

int threads_line_read(const char *text, pid_t thread[PART_TASKS_MAX])
{
    char word[WORD_MAX];
    int64_t tid;
    int n = 0;

    if (!threads_line_is(text))
        return -1;
    text += strlen("threads");
    text += *text == ' ';
    for (; next_word(&text, word); n++) {
        if (n == PART_TASKS_MAX
            || number_parse_int(word, 2, INT32_MAX, &tid) < 0)
            return -1;
        thread[n] = (pid_t)tid;
    }
    return *text ? -1 : n;
}

int threads_line_write(char *text, size_t room, const pid_t thread[], size_t n)
{
    size_t len = 0;

    if (append(text, room, &len, "threads") < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (append(text, room, &len, " %d", (int)thread[i]) < 0)
            return -1;
    return (int)len;
}
