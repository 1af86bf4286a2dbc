/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/balance_trace.h"
#include "launcher/whatif/report_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is known of a node at the frame that is looked at. */
struct node {
    size_t number;         /* in the trace, if it has a speed */
    double speed;          /* the last known; 0: none yet */
    double units, seconds; /* done in that frame */
};

static void add_up(struct node node[],
                   const struct report_file *f,
                   const struct report_frame *frame)
{
    for (size_t i = 0; i < f->nodes; i++)
        node[i].units = node[i].seconds = 0;
    for (size_t i = 0; i < frame->n; i++) {
        const struct report_slice *s = &f->slice[frame->slice + i];

        if (!s->done)
            continue;
        node[s->node].units += (double)s->units;
        node[s->node].seconds += s->seconds;
    }
}

/* The first speed that is known counts from the start; each that differs from
 * the one before is a change. */
static void note(struct balance_trace *t, struct node *n, uint64_t frame)
{
    double speed = n->seconds > 0 ? n->units / n->seconds : 0;

    if (!(speed > 0))
        return;
    if (!(n->speed > 0)) {
        n->number = t->n++;
        t->speed[n->number] = speed;
    } else if (speed < n->speed || speed > n->speed) {
        t->change[t->n_changes++] =
            (struct balance_change){frame, 0, n->number, speed};
    }
    n->speed = speed;
}

static int take_node(struct balance_trace *t,
                     const struct report_file *f,
                     struct es_error *err)
{
    struct node *node = calloc(f->nodes + 1, sizeof *node);
    double units = 0;

    t->speed = calloc(f->nodes + 1, sizeof *t->speed);
    t->change = calloc(f->n_slices + 1, sizeof *t->change);
    if (!node || !t->speed || !t->change) {
        free(node);
        return es_no_memory(err);
    }
    for (size_t i = 0; i < f->n; i++) {
        add_up(node, f, &f->frame[i]);
        for (size_t k = 0; k < f->nodes; k++)
            note(t, &node[k], i);
        units += (double)f->frame[i].units;
    }
    free(node);
    t->frames = f->n;
    t->units = (uint64_t)fmax(1, units / fmax(1, (double)f->n)); /* < 2^63 */
    return 0;
}

int balance_trace_read(struct balance_trace *t,
                       const char *path,
                       struct es_error *err)
{
    struct report_file f;
    int rc;

    memset(t, 0, sizeof *t);
    rc = report_file_read(&f, "--trace", path, err);
    if (rc == 0)
        rc = take_node(t, &f, err);
    report_file_clear(&f);
    if (rc == 0 && t->n == 0)
        return es_fail(err, ES_USAGE,
                       "give the report or journal of a run that worked",
                       "--trace: %s: no node has done anything", path);
    return rc;
}

void balance_trace_clear(struct balance_trace *t)
{
    free(t->speed);
    free(t->change);
    memset(t, 0, sizeof *t);
}
