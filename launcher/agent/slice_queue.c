/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/slice_queue.h"

#include <stdlib.h>
#include <unistd.h>

void waiting_slice_free(struct waiting_slice *w)
{
    if (w && w->in_fd > 0)
        close(w->in_fd);
    free(w);
}

int slice_queue_put(struct slice_queue *q, const struct msg_run *run, int in_fd)
{
    struct waiting_slice *w = calloc(1, sizeof *w);

    if (!w) {
        if (in_fd > 0)
            close(in_fd);
        return -1;
    }
    w->run = *run;
    w->in_fd = in_fd;
    STAILQ_INSERT_TAIL(q, w, next);
    return 0;
}

struct waiting_slice *slice_queue_take(struct slice_queue *q)
{
    struct waiting_slice *w = STAILQ_FIRST(q);

    if (w)
        STAILQ_REMOVE_HEAD(q, next);
    return w;
}

size_t slice_queue_size(const struct slice_queue *q)
{
    size_t n = 0;

    for (const struct waiting_slice *w = STAILQ_FIRST(q); w;
         w = STAILQ_NEXT(w, next))
        n++;
    return n;
}

int slice_queue_drop(struct slice_queue *q, uint64_t id)
{
    struct waiting_slice *w;

    for (w = STAILQ_FIRST(q); w; w = STAILQ_NEXT(w, next))
        if (w->run.id == id) {
            STAILQ_REMOVE(q, w, waiting_slice, next);
            waiting_slice_free(w);
            return 1;
        }
    return 0;
}

void slice_queue_clear(struct slice_queue *q)
{
    struct waiting_slice *w;

    while ((w = slice_queue_take(q)) != NULL)
        waiting_slice_free(w);
}
