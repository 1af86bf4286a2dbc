/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/extraction.h"
#include "launcher/run/queue.h"
#include "launcher/run/task_feed.h"

int extraction_next(struct extraction *x, struct frame *f, struct es_error *err)
{
    if (x->queue)
        return queue_next(x->queue, f, err);
    if (x->feed)
        return task_feed_next(x->feed, f, err);
    if (x->next >= x->repeat)
        return EXTRACTED_END;
    f->number = x->next++;
    f->begin = x->begin;
    f->end = x->end;
    f->label[0] = f->work[0] = '\0';
    f->type = 0;
    f->is_open = 0;
    f->most = x->next < x->repeat ? x->end - x->begin : 0;
    return EXTRACTED_FRAME;
}
