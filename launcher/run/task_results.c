/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/task_results.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    struct task_results *to;
    uint64_t most;
    int error; /* errno of what went wrong, or 0 */
};

static void on_text(void *arg, enum task_part kind, const void *bytes, size_t n)
{
    struct reading *r = arg;
    struct spool *s = kind == TASK_OUT ? &r->to->out : &r->to->err;

    if (r->error == 0 && spool_add(s, bytes, n) < 0)
        r->error = errno;
}

static int make_room(struct task_results *t)
{
    size_t cap = t->cap * 2 + 16;
    struct task_result *more;

    if (t->n < t->cap)
        return 0;
    more = reallocarray(t->task, cap, sizeof *more);
    if (!more)
        return -1;
    t->task = more;
    t->cap = cap;
    return 0;
}

int task_results_add(struct task_results *t, const struct task_end *e)
{
    if (make_room(t) < 0)
        return -1;
    t->task[t->n++] = (struct task_result){
        .end = *e, .out = spool_size(&t->out), .err = spool_size(&t->err)};
    return 0;
}

static void on_end(void *arg, const struct task_end *e)
{
    struct reading *r = arg;
    struct task_results *t = r->to;

    if (r->error)
        return;
    if (t->n == r->most) {
        r->error = EBADMSG;
        return;
    }
    if (task_results_add(t, e) < 0)
        r->error = ENOMEM;
}

static void on_again(void *arg)
{
    struct task_results *t = ((struct reading *)arg)->to;

    spool_cut(&t->out, task_results_out(t, t->n));
}

static const struct task_events events = {
    .text = on_text, .again = on_again, .end = on_end};

int task_results_copy(struct spool *to_spool,
                      const struct spool *of,
                      uint64_t from,
                      uint64_t to)
{
    char bytes[16384];

    while (from < to) {
        size_t n =
            to - from < sizeof bytes ? (size_t)(to - from) : sizeof bytes;

        if (spool_read(of, from, bytes, n) < 0
            || spool_add(to_spool, bytes, n) < 0)
            return -1;
        from += n;
    }
    return 0;
}

static int fail(int error)
{
    errno = error;
    return -1;
}

int task_results_read(struct task_results *t,
                      const struct spool *from,
                      uint64_t most)
{
    struct reading r = {.to = t, .most = most};
    struct task_stream reader = {0};
    uint64_t size = spool_size(from), at = 0;
    uint8_t bytes[16384];

    *t = (struct task_results){0};
    while (at < size) {
        size_t n =
            size - at < sizeof bytes ? (size_t)(size - at) : sizeof bytes;

        if (spool_read(from, at, bytes, n) < 0)
            return -1;
        if (task_stream_read(&reader, bytes, n, &events, &r) < 0)
            return fail(EBADMSG);
        if (r.error)
            return fail(r.error);
        at += n;
    }
    spool_cut(&t->out,
              task_results_out(t, t->n)); /* of one that has not ended */
    spool_cut(&t->err, task_results_err(t, t->n));
    return 0;
}

uint64_t task_results_out(const struct task_results *t, size_t i)
{
    return i > 0 ? t->task[i - 1].out : 0;
}

uint64_t task_results_err(const struct task_results *t, size_t i)
{
    return i > 0 ? t->task[i - 1].err : 0;
}

static int tag_part(struct spool *to,
                    const struct spool *of,
                    uint64_t from,
                    uint64_t end,
                    const char *tag)
{
    char bytes[16384];
    int begins = 1;

    for (size_t n; from < end; from += n) {
        n = end - from < sizeof bytes ? (size_t)(end - from) : sizeof bytes;
        if (spool_read(of, from, bytes, n) < 0)
            return -1;
        for (size_t at = 0, next; at < n; at = next) {
            const char *newline = memchr(bytes + at, '\n', n - at);

            next = newline ? (size_t)(newline - bytes) + 1 : n;
            if ((begins && spool_add(to, tag, strlen(tag)) < 0)
                || spool_add(to, bytes + at, next - at) < 0)
                return -1;
            begins = newline != NULL;
        }
    }
    return 0;
}

static void take(struct spool *s, struct spool *from)
{
    spool_clear(s);
    *s = *from;
    *from = (struct spool){0};
}

int task_results_tag(struct task_results *t,
                     char *(*tag)(void *arg, size_t i),
                     void *arg)
{
    struct task_results new = {.task = calloc(t->n + 1, sizeof *new.task)};
    int rc = new.task ? 0 : -1;

    for (size_t i = 0; rc == 0 && i < t->n; i++) {
        const struct task_result *task = &t->task[i];
        char *text = tag(arg, i);

        if (!text
            || tag_part(&new.out, &t->out, task_results_out(t, i), task->out,
                        text)
                   < 0
            || tag_part(&new.err, &t->err, task_results_err(t, i), task->err,
                        text)
                   < 0)
            rc = -1;
        new.task[i] = (struct task_result){.end = task->end,
                                           .out = spool_size(&new.out),
                                           .err = spool_size(&new.err)};
        free(text);
    }
    if (rc == 0) {
        memcpy(t->task, new.task, t->n * sizeof *t->task);
        take(&t->out, &new.out);
        take(&t->err, &new.err);
    }
    task_results_clear(&new);
    return rc;
}

void task_results_clear(struct task_results *t)
{
    free(t->task);
    spool_clear(&t->out);
    spool_clear(&t->err);
    *t = (struct task_results){0};
}
