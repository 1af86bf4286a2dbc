/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/step_bringing.h"
#include "launcher/base/step_dir.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void step_bringing_init(struct step_bringing *b,
                        const struct front *front,
                        const struct config *config,
                        const struct attend_options *o,
                        const struct step_files *files)
{
    b->front = front;
    b->config = config;
    b->o = o;
    b->files = files;
    b->table_fd = -1;
}

static void expect_end(struct step_bringing *b,
                       step_bringing_fn ended,
                       void *arg)
{
    b->ended = ended;
    b->arg = arg;
}

/* --- the connection table ------------------------------------------------- */

/* From now on tasks may say where they listen. */
static int hear_listening(struct step_bringing *b)
{
    const struct front *f = b->front;

    return listening_table_start(&b->listening, f->base, f->session,
                                 &b->config->bcast, b->table_fd,
                                 b->files->tasks, b->files->step,
                                 b->config->step_patience_s)
                   < 0
               ? es_no_memory(f->err)
               : 0;
}

static void on_table(void *arg)
{
    struct step_bringing *b = arg;
    int failed =
        broadcast_check(&b->table, b->front->err) < 0 || hear_listening(b) < 0;

    b->ended(b->arg, failed);
}

int step_bringing_table(struct step_bringing *b,
                        int fd,
                        step_bringing_fn ended,
                        void *arg)
{
    expect_end(b, ended, arg);
    b->table_fd = fd;
    snprintf(b->table_path, sizeof b->table_path, "/proc/self/fd/%d", fd);
    (void)step_dir_anywhere(b->table_destination, sizeof b->table_destination,
                            b->files->step, "conntable"); /* it is short */
    b->wish = broadcast_wish(&b->config->bcast, 0);
    b->wish.source = b->table_path;
    b->wish.destination = b->table_destination;
    b->broadcast = &b->table;
    return broadcast_start(&b->table, b->front->base, b->front->session,
                           &b->wish, on_table, b, b->front->err);
}

/* --- the files of the user ------------------------------------------------ */

int step_bringing_lacks_input(const struct step_bringing *b)
{
    return b->o->asked > 0 && !b->are_copied;
}

static void on_copied(void *arg)
{
    struct step_bringing *b = arg;

    event_active(b->over, EV_TIMEOUT, 0); /* not within the broadcast's call */
}

static void on_over(evutil_socket_t fd, short what, void *arg)
{
    struct step_bringing *b = arg;

    (void)fd;
    (void)what;
    if (b->front->over)
        return;
    b->are_copied = broadcast_check(&b->inputs, b->front->err) == 0;
    if (b->are_copied) {
        b->broadcast = NULL;
        broadcast_stop(&b->inputs);
    }
    b->ended(b->arg, !b->are_copied);
}

/* A file is replaced, as by srun --bcast.  Of a folder that is there what is not in
 * the source stays: nobody has said that it may go. */
static void set_input(const struct step_bringing *b,
                      struct attend_input *given,
                      struct broadcast_input *in,
                      struct tree_wish *folder)
{
    int is_folder = broadcast_is_folder(given->source);

    *in = (struct broadcast_input){.wish = b->wish, .libs = &given->libs};
    in->wish.flags |= is_folder ? ORDER_UPDATE : ORDER_FORCE | ORDER_TIMES;
    in->wish.source = given->source;
    in->wish.destination = given->destination;
    *folder = (struct tree_wish){
        .source = &given->source, .n = 1, .parts = TREE_DIGESTS};
    if (is_folder)
        in->sources = folder;
}

static int start_inputs(struct step_bringing *b)
{
    const struct front *f = b->front;
    size_t n = b->o->inputs;
    struct broadcast_input *input = calloc(n, sizeof *input);
    struct tree_wish *folder = calloc(n, sizeof *folder);
    int rc = -1;

    for (size_t i = 0; input && folder && i < n; i++)
        set_input(b, &b->o->input[i], &input[i], &folder[i]);
    b->broadcast = &b->inputs;
    if (input && folder)
        rc = broadcast_start_inputs(&b->inputs, f->base, f->session, input, n,
                                    1, on_copied, b, f->err);
    else
        es_no_memory(f->err);
    free(input);
    free(folder);
    return rc;
}

int step_bringing_inputs(struct step_bringing *b,
                         step_bringing_fn ended,
                         void *arg)
{
    expect_end(b, ended, arg);
    if (!step_bringing_lacks_input(b)) {
        ended(arg, 0);
        return 0;
    }
    b->over = event_new(b->front->base, -1, 0, on_over, b);
    return b->over ? start_inputs(b) : es_no_memory(b->front->err);
}

/* --- what was measured ---------------------------------------------------- */

static void on_metrics(void *arg)
{
    const struct step_bringing *b = arg;

    b->ended(b->arg, metrics_cast_check(&b->metrics, b->front->err) < 0);
}

int step_bringing_metrics(struct step_bringing *b,
                          const struct qualification *q,
                          step_bringing_fn ended,
                          void *arg)
{
    expect_end(b, ended, arg);
    b->broadcast = &b->metrics.broadcast;
    return metrics_cast_start(&b->metrics, b->front->base, q, &b->config->bcast,
                              b->files->step, on_metrics, b, b->front->err)
                   < 0
               ? -1
               : 0;
}

/* --- the nodes ------------------------------------------------------------ */

int step_bringing_message(struct step_bringing *b,
                          int runs,
                          size_t node,
                          uint16_t type,
                          const uint8_t *body,
                          size_t len)
{
    return (runs
            && listening_table_message(&b->listening, node, type, body, len))
           || (b->broadcast
               && broadcast_message(b->broadcast, node, type, body, len));
}

void step_bringing_lost(struct step_bringing *b, size_t node, const char *why)
{
    listening_table_lost(&b->listening, node, why);
}

void step_bringing_returned(struct step_bringing *b)
{
    listening_table_returned(&b->listening);
}

void step_bringing_stop(struct step_bringing *b)
{
    broadcast_stop(&b->table);
    broadcast_stop(&b->inputs);
    listening_table_stop(&b->listening);
    metrics_cast_stop(&b->metrics);
    if (b->over)
        event_free(b->over);
    b->over = NULL;
    if (b->table_fd >= 0)
        close(b->table_fd);
}
