/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/task_feed.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOK_MS 100 /* from one look at a file that grows to the next */

struct task_feed {
    struct task_list *list;
    size_t need;
    FILE *to; /* the records */
    uint64_t tasks;
    int is_open;
    struct es_error bad; /* that it has ended with */
    size_t given;        /* frames */
    struct event *event; /* NULL: nobody waits for more */
    void (*there)(void *arg);
    void *arg;
};

/* --- what comes ----------------------------------------------------------- */

/* Is there more than before, or no more to come? */
static int take(struct task_feed *f, struct es_error *err)
{
    uint64_t before = f->tasks;
    int rc = task_list_write(f->list, f->need, f->to, &f->tasks, err);

    f->is_open = rc > 0;
    return rc < 0 ? -1 : rc == 0 || f->tasks > before;
}

static int wait_for_more(struct task_feed *f)
{
    struct timeval delay = {0, LOOK_MS * 1000};

    return event_add(f->event, task_list_pipe(f->list) < 0 ? &delay : NULL);
}

static void on_more(int fd, short what, void *arg)
{
    struct task_feed *f = arg;
    size_t before, barriers;
    int is_news;

    (void)fd;
    (void)what;
    (void)task_list_barriers(f->list, &before);
    is_news = take(f, &f->bad) != 0;
    (void)task_list_barriers(f->list, &barriers);
    if (f->is_open && wait_for_more(f) < 0) {
        f->is_open = 0;
        is_news = es_no_memory(&f->bad);
    }
    if (is_news || barriers > before)
        f->there(f->arg);
}

int task_feed_watch(struct task_feed *f,
                    struct event_base *base,
                    void (*there)(void *arg),
                    void *arg,
                    struct es_error *err)
{
    int fd = task_list_pipe(f->list);

    if (!f->is_open)
        return 0;
    f->there = there;
    f->arg = arg;
    f->event = event_new(base, fd, fd < 0 ? 0 : EV_READ, on_more, f);
    return f->event && wait_for_more(f) == 0 ? 0 : es_no_memory(err);
}

/* --- open ----------------------------------------------------------------- */

struct task_feed *task_feed_open(struct task_list *list,
                                 size_t need,
                                 struct es_error *err)
{
    struct task_feed *f = calloc(1, sizeof *f);
    int fd = f ? spool_open_file() : -1;

    if (!f) {
        task_list_close(list);
        es_no_memory(err);
        return NULL;
    }
    f->list = list;
    f->need = need;
    f->to = fd >= 0 ? fdopen(fd, "w+") : NULL;
    if (f->to && take(f, err) >= 0)
        return f;
    if (!f->to) {
        es_fail(err, ES_WORK, spool_mend(errno),
                "cannot keep the list of tasks: %s", strerror(errno));
        if (fd >= 0)
            close(fd);
    }
    task_feed_close(f);
    return NULL;
}

void task_feed_close(struct task_feed *f)
{
    if (!f)
        return;
    if (f->event)
        event_free(f->event);
    if (f->to)
        (void)fclose(f->to); /* of what others need it was flushed */
    task_list_close(f->list);
    free(f);
}

int task_feed_file(const struct task_feed *f)
{
    return fcntl(fileno(f->to), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

uint64_t task_feed_tasks(const struct task_feed *f)
{
    return f->tasks;
}

const struct need_list *task_feed_needs(const struct task_feed *f)
{
    return task_list_needs(f->list);
}

int task_feed_check_needs(struct task_feed *f,
                          task_need_check *check,
                          void *arg,
                          struct es_error *err)
{
    return task_list_check_needs(f->list, check, arg, err);
}

int task_feed_is_open(const struct task_feed *f)
{
    return f->is_open;
}

/* --- frames --------------------------------------------------------------- */

/* Of a frame: is it open? */
static int find_frame(const struct task_feed *f, size_t i, struct slice *units)
{
    size_t n;
    const uint64_t *barrier = task_list_barriers(f->list, &n);

    units->begin = i > 0 ? barrier[i - 1] : 0;
    units->end = i < n ? barrier[i] : f->tasks;
    return i >= n && f->is_open;
}

int task_feed_next(struct task_feed *f,
                   struct frame *frame,
                   struct es_error *err)
{
    struct slice units = {0};
    size_t n;
    int is_open = 0;

    (void)task_list_barriers(f->list, &n);
    if (f->given <= n)
        is_open = find_frame(f, f->given, &units);
    if (units.begin < units.end) {
        *frame = (struct frame){.number = f->given++,
                                .begin = units.begin,
                                .end = units.end,
                                .is_open = is_open};
        return EXTRACTED_FRAME;
    }
    if (f->bad.kind == ES_OK)
        return f->is_open ? EXTRACTED_LATER : EXTRACTED_END;
    *err = f->bad;
    return -1;
}

int task_feed_grow(const struct task_feed *f, struct frame *frame)
{
    struct frame before = *frame;
    struct slice units;

    if (!frame->is_open)
        return 0;
    frame->is_open = find_frame(f, f->given - 1, &units);
    frame->end = units.end;
    return frame->end > before.end || !frame->is_open;
}

int task_feed_place(const struct task_feed *f,
                    struct slice units,
                    uint64_t *frame)
{
    size_t n, low = 0, high;
    const uint64_t *barrier = task_list_barriers(f->list, &n);

    for (high = n; low < high;) { /* the first that ends behind its begin */
        size_t middle = low + (high - low) / 2;

        if (barrier[middle] <= units.begin)
            low = middle + 1;
        else
            high = middle;
    }
    *frame = low;
    return units.end <= (low < n ? barrier[low] : f->tasks) ? 0 : -1;
}
