/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text as a file of --queue: frames that are not empty and, of one label,
 * apart, up to the line that is refused with its reason, or to the end. */
#include "launcher/run/queue.h"

#include "folder.h"

#include <event2/event.h>

#define FRAMES_MAX 256 /* that are compared, each with all before */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
    if (!holds)
        abort();
}

static void nothing(void *arg)
{
    (void)arg;
}

static void look(const struct frame *f, const struct frame before[], size_t n)
{
    must(f->begin < f->end && f->end <= INT64_MAX);
    must(strnlen(f->label, LABEL_MAX) < LABEL_MAX && !strchr(f->label, '\n'));
    for (size_t i = 0; i < n && i < FRAMES_MAX; i++)
        must(strcmp(f->label, before[i].label) != 0 || f->end <= before[i].begin
             || before[i].end <= f->begin);
}

static void take_all(struct queue *q)
{
    static struct frame frame[FRAMES_MAX];
    struct es_error err = {0};
    struct frame f;
    size_t n = 0;
    int rc;

    while ((rc = queue_next(q, &f, &err)) == EXTRACTED_FRAME) {
        must(f.number == n);
        look(&f, frame, n);
        if (n < FRAMES_MAX)
            frame[n] = f;
        n++;
    }
    must(rc == EXTRACTED_END || (rc < 0 && err.what[0] && err.mend[0]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct event_base *base;
    static char path[4096];
    static int fd;
    const char *paths[] = {path};
    struct queue_setup setup = {.path = paths, .n = 1};
    struct es_error err = {0};
    struct queue *q = NULL;

    if (!base) {
        base = event_base_new();
        fd = folder_file("queue");
        (void)folder_path(path, "queue");
    }
    folder_fill(fd, data, size);
    if (queue_open(&q, base, &setup, nothing, NULL, &err) < 0
        || queue_look(q, &err) < 0)
        must(err.what[0] && err.mend[0]);
    else
        take_all(q);
    queue_close(q);
    return 0;
}
