/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/srun_words.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number at *p, which is moved behind it: 0, or -1 if there is none. */
static int take_number(const char **p, uint32_t *n)
{
    unsigned long value;
    char *after;

    if (!isdigit((unsigned char)**p))
        return -1;
    errno = 0;
    value = strtoul(*p, &after, 10);
    if (errno || value >= UINT32_MAX)
        return -1;
    *n = (uint32_t)value;
    *p = after;
    return 0;
}

const char *srun_words_unlabelled(const char *line)
{
    const char *p = line + strspn(line, " ");
    uint32_t task;

    return take_number(&p, &task) == 0 && strncmp(p, ": ", 2) == 0 ? p + 2
                                                                   : line;
}

/* "slurmstepd-n2: error: execve()..." from "execve()" on. */
static const char *own_words(const char *text)
{
    static const char error[] = ": error: ";
    const char *p;

    if (strncmp(text, "slurmstepd", strlen("slurmstepd")) != 0)
        return text;
    p = strstr(text, error);
    return p ? p + strlen(error) : text;
}

static struct srun_task *task_of(struct srun_words *w, uint32_t task)
{
    for (size_t i = 0; i < w->n_said; i++)
        if (w->said[i].task == task)
            return &w->said[i];
    if (w->n_said == SRUN_WORDS_TASKS)
        return NULL;
    w->said[w->n_said].task = task;
    return &w->said[w->n_said++];
}

static void keep_task(struct srun_words *w, uint32_t task, const char *text)
{
    struct srun_task *t = text[0] ? task_of(w, task) : NULL;

    if (t)
        snprintf(t->last, sizeof t->last, "%s", own_words(text));
}

static void keep_end(struct srun_words *w,
                     const struct srun_end *of,
                     const char *tasks)
{
    struct srun_end *e;

    do {
        uint32_t first, last;

        tasks += *tasks == ',';
        if (take_number(&tasks, &first) < 0)
            return;
        last = first;
        if (*tasks == '-' && (tasks++, take_number(&tasks, &last)) < 0)
            return;
        if (last < first || w->n_ends == SRUN_WORDS_TASKS)
            return;
        e = &w->end[w->n_ends++];
        *e = *of;
        e->first = first;
        e->last = last;
    } while (*tasks == ',');
}

/* "Task launch for StepId=21.3 failed on node n2: Communication connection
 * failure": 1, and *e is filled. */
static int read_launch(struct srun_end *e, const char *text)
{
    static const char launch[] = "Task launch for ", on[] = " failed on node ";
    const char *node = strstr(text, on), *why;

    if (strncmp(text, launch, strlen(launch)) != 0 || !node)
        return 0;
    node += strlen(on);
    why = strstr(node, ": ");
    if (!why || why == node || (size_t)(why - node) >= sizeof e->node)
        return 0;
    snprintf(e->node, sizeof e->node, "%.*s", (int)(why - node), node);
    snprintf(e->how, sizeof e->how, "%s", why + 2);
    e->first = e->last = SRUN_WORDS_NO_TASK;
    return 1;
}

/* What follows "srun: error: ": "n[2-3]: tasks 2-3: Exited with exit code 13". */
static void read_error(struct srun_words *w, const char *text)
{
    const char *mid = strstr(text, ": task"), *tasks, *how;
    struct srun_end e = {.first = 0};

    if (w->n_ends < SRUN_WORDS_TASKS && read_launch(&e, text)) {
        w->end[w->n_ends++] = e;
        return;
    }
    if (!mid || mid == text || (size_t)(mid - text) >= sizeof e.node)
        return;
    tasks = mid + strlen(": task");
    tasks += *tasks == 's';
    how = strstr(tasks, ": ");
    if (*tasks != ' ' || !how)
        return;
    snprintf(e.node, sizeof e.node, "%.*s", (int)(mid - text), text);
    snprintf(e.how, sizeof e.how, "%s", how + 2);
    keep_end(w, &e, tasks + 1);
}

/* srun asks for the step until Slurm creates it. */
static void read_queue(struct srun_words *w, const char *line)
{
    static const char job[] = "srun: Job ",
                      retrying[] = " disabled, retrying (",
                      created[] = "srun: Step created for ";
    const char *why = strstr(line, retrying);
    size_t len;

    if (strncmp(line, created, strlen(created)) == 0) {
        w->queued[0] = '\0';
    } else if (why && strncmp(line, job, strlen(job)) == 0) {
        why += strlen(retrying);
        len = strcspn(why, ")");
        if (len > 0 && len < sizeof w->queued)
            snprintf(w->queued, sizeof w->queued, "%.*s", (int)len, why);
    }
}

static void read_line(struct srun_words *w, const char *line)
{
    static const char error[] = "srun: error: ",
                      aborted[] = "srun: Job step aborted";
    const char *text = srun_words_unlabelled(line), *p = line;
    uint32_t task;

    if (text != line) {
        p += strspn(p, " ");
        if (take_number(&p, &task) == 0)
            keep_task(w, task, text);
    } else if (strncmp(line, error, strlen(error)) == 0) {
        read_error(w, line + strlen(error));
    } else if (strncmp(line, aborted, strlen(aborted)) == 0) {
        w->aborted = 1;
    } else {
        read_queue(w, line);
    }
}

void srun_words_take(struct srun_words *w, const void *buf, size_t len)
{
    const char *text = buf;

    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\n') {
            w->line[w->len] = '\0';
            read_line(w, w->line);
            w->len = 0;
        } else if (w->len < sizeof w->line - 1) {
            w->line[w->len++] = text[i];
        }
    }
}

static const char *words_of(const struct srun_words *w,
                            const struct srun_end *end)
{
    for (size_t i = 0; i < w->n_said; i++)
        if (w->said[i].task >= end->first && w->said[i].task <= end->last)
            return w->said[i].last;
    return "";
}

const char *srun_words_why(const struct srun_words *w,
                           const struct srun_end *end)
{
    const char *own = words_of(w, end);

    return own[0] ? own : end->how;
}

int srun_words_not_executed(const struct srun_words *w,
                            const struct srun_end *end)
{
    /* As a shell has it, whose script starts the agent: POSIX, "exit". */
    return end->first == SRUN_WORDS_NO_TASK
           || strncmp(words_of(w, end), "execve()", strlen("execve()")) == 0
           || strcmp(end->how, "Exited with exit code 126") == 0
           || strcmp(end->how, "Exited with exit code 127") == 0;
}
