/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/slot.h"
#include "launcher/agent/output_batch.h"
#include "launcher/agent/slice_command.h"
#include "launcher/agent/slice_meter.h"
#include "launcher/agent/slice_queue.h"
#include "launcher/agent/slot_program.h"
#include "launcher/agent/slot_send.h"

#include <signal.h>
#include <stdlib.h>

struct slot {
    struct slot_owner owner; /* of the two: */
    struct slice_command *command;
    struct slot_program *program;
    struct slice_queue waiting;
};

/* --- slices --------------------------------------------------------------- */

int slot_give(struct slot *s, const struct msg_run *run, int in_fd)
{
    return slice_queue_put(&s->waiting, run, in_fd);
}

void slot_start(struct slot *s)
{
    const struct slot_common *c = s->owner.common;
    struct waiting_slice *w;

    if (c->command.kind == COMMAND_PERSISTENT) {
        if (!slice_command_runs(s->command))
            slot_program_feed(s->program, &s->waiting);
        return;
    }
    while (!slice_command_runs(s->command) && !c->paused
           && (w = slice_queue_take(&s->waiting)) != NULL) {
        slice_command_start(s->command, &w->run, w->in_fd);
        w->in_fd = 0;
        waiting_slice_free(w);
    }
}

static void on_slice_done(void *arg)
{
    slot_start(arg);
}

/* Is there more? */
static void on_ended(void *arg)
{
    struct slot *s = arg;
    const struct slot_common *c = s->owner.common;

    c->gone(c->arg);
    slot_start(s);
    if (!slice_command_runs(s->command) && !slot_program_runs(s->program))
        c->ended(c->arg);
}

size_t slot_load(const struct slot *s)
{
    return slice_queue_size(&s->waiting)
           + (slice_command_runs(s->command)
              || slot_program_has_slice(s->program));
}

int slot_is_busy(const struct slot *s)
{
    return slice_command_runs(s->command) || slot_program_is_ending(s->program);
}

/* What waits has not been done, and the front end is to know. */
static void begin_no_more_tasks(struct slot *s)
{
    const struct execution_end end = {.status = 128 + SIGTERM};
    struct waiting_slice *w;

    while ((w = slice_queue_take(&s->waiting)) != NULL) {
        slot_send_done(s->owner.common, w->run.id, &end);
        waiting_slice_free(w);
    }
    slice_command_last(s->command);
}

void slot_finish(struct slot *s)
{
    if (s->owner.common->command.kind == COMMAND_TASKS)
        begin_no_more_tasks(s);
    else
        slot_program_finish(s->program);
}

void slot_hold(struct slot *s, int on)
{
    slice_command_hold(s->command, on);
    slot_program_hold(s->program, on);
}

void slot_stop(struct slot *s)
{
    slice_queue_clear(&s->waiting);
    slice_command_stop(s->command);
    slot_program_stop(s->program);
}

void slot_cancel(struct slot *s, uint64_t id)
{
    if (!slice_queue_drop(&s->waiting, id))
        slice_command_cancel(s->command, id);
}

/* --- its meter ------------------------------------------------------------ */

static void on_metered(void *arg, const struct msg_metered *m)
{
    const struct slot *s = arg;

    slot_send_metered(s->owner.common, m);
}

int slot_meter(struct slot *s, const struct msg_meter *order)
{
    struct slot_owner *o = &s->owner;

    slice_meter_close(o->meter);
    o->meter = slice_meter_open(o->common->base, order, on_metered, s);
    return o->meter ? 0 : -1;
}

/* --- begin and end -------------------------------------------------------- */

struct slot *slot_create(struct slot_common *common,
                         uint32_t number,
                         const struct place *place)
{
    struct slot *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->owner = (struct slot_owner){.common = common,
                                   .number = number,
                                   .place = place,
                                   .done = on_slice_done,
                                   .ended = on_ended,
                                   .arg = s};
    STAILQ_INIT(&s->waiting);
    s->owner.output = output_batch_create(common);
    s->command = slice_command_create(&s->owner);
    s->program = slot_program_create(&s->owner);
    if (s->owner.output && s->command && s->program)
        return s;
    slot_destroy(s);
    return NULL;
}

void slot_destroy(struct slot *s)
{
    if (!s)
        return;
    slice_command_destroy(s->command);
    slot_program_destroy(s->program);
    slice_meter_close(s->owner.meter);
    output_batch_destroy(s->owner.output);
    slice_queue_clear(&s->waiting);
    free(s);
}
