/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/slot.h"
#include "launcher/agent/output_batch.h"
#include "launcher/agent/persistent.h"
#include "launcher/agent/slice_command.h"
#include "launcher/agent/slice_input.h"
#include "launcher/agent/slice_meter.h"
#include "launcher/agent/slice_queue.h"
#include "launcher/agent/slice_spec.h"
#include "launcher/agent/slot_common.h"
#include "launcher/agent/slot_send.h"
#include "launcher/agent/task_ports.h"
#include "launcher/base/step_dir.h"
#include "launcher/exec/last_words.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- slot program -------------------------------------------------------------- */

/* In a slot of a node: the program that stays alive and does all
 * of its slices, one after another; it is started when the first is there, or
 * all nodes are measured, and again for the next if it has ended. */

struct slot_program {
    const struct slot_owner *owner;
    struct persistent *program; /* NULL: it does not run */
    uint64_t id;                /* of its slice */
    int feeding;                /* it has one */
    int in_fd;                  /* the lines of that; 0: none */
    int stopped;                /* it was told to end */
    char socket[STEP_NAME_MAX]; /* step directory of its socket; "": it has
                                   not been started yet */
};

/* owner must outlive it; NULL if memory ran out. */
static struct slot_program *slot_program_create(const struct slot_owner *owner)
{
    struct slot_program *p = calloc(1, sizeof *p);

    if (p)
        p->owner = owner;
    return p;
}

/* --- what it does --------------------------------------------------------- */

static void on_idle(void *arg, const struct msg_idle *idle)
{
    const struct slot_program *p = arg;

    slot_send_idle(p->owner->common, idle);
}

static void on_listens(void *arg, int fd, const struct slice_message *m)
{
    const struct slot_program *p = arg;

    task_ports_take(p->owner->common->ports, fd, m);
}

static void on_output(void *arg, const void *buf, size_t len)
{
    const struct slot_program *p = arg;

    slice_meter_read(p->owner->meter, OUTSIDE_OUT, buf, len);
    if (!p->stopped)
        output_batch_add(p->owner->output, p->id, buf, len);
}

static void on_err(void *arg, const void *buf, size_t len)
{
    const struct slot_program *p = arg;

    slice_meter_read(p->owner->meter, OUTSIDE_ERR, buf, len);
}

static void close_input(struct slot_program *p)
{
    if (p->in_fd > 0)
        close(p->in_fd);
    p->in_fd = 0;
}

static void on_done(void *arg, const struct feeder_result *result)
{
    struct slot_program *p = arg;
    struct execution_end end = {.elapsed_ns = result->elapsed_ns};
    char why[SLICE_INPUT_WHY], words[SLICE_INPUT_WHY + LAST_WORDS_EDGE];

    if (p->owner->common->files.all && p->in_fd > 0
        && slice_input_is_left(p->in_fd, why))
        last_words_add(&end, words, sizeof words, why);
    close_input(p);
    p->feeding = 0;
    slice_meter_end(p->owner->meter, end.status == 0, -1);
    output_batch_flush(p->owner->output);
    if (!p->stopped)
        slot_send_done(p->owner->common, p->id, &end);
    p->owner->done(p->owner->arg);
}

static void send_over(const struct slot_program *p,
                      const struct execution_end *end)
{
    const char *why = end->exec_errno ? strerror(end->exec_errno) : NULL;

    slot_send_over(p->owner->common, end->status, why ? why : end->err_tail,
                   why ? strlen(why) : end->err_len);
}

static void on_end(void *arg, const struct execution_end *end)
{
    struct slot_program *p = arg;

    if (p->feeding)
        slice_meter_end(p->owner->meter, 0, end->cpu_s);
    output_batch_flush(p->owner->output);
    if (p->feeding && !p->stopped)
        slot_send_done(p->owner->common, p->id, end);
    else if (!p->stopped)
        send_over(p, end);
    persistent_destroy(p->program);
    p->program = NULL;
    close_input(p);
    p->feeding = p->stopped = 0;
    p->owner->common->running--;
    p->owner->ended(p->owner->arg);
}

static const struct persistent_events events = {
    .idle = on_idle,
    .listens = on_listens,
    .output = on_output,
    .err = on_err,
    .done = on_done,
    .end = on_end,
};

/* --- what it is given ----------------------------------------------------- */

/* Of what is filled in for a slice, only node and slot are known. */
static int start_program(struct slot_program *p, struct es_error *err)
{
    struct slot_common *c = p->owner->common;
    const struct msg_run none = {.slot = p->owner->number};
    struct execution_spec spec = {0};
    int rc = slice_spec_fill(&spec, p->owner, &none, err);

    if (rc == 0)
        rc = slice_spec_rank(&spec, &c->measured, err);
    step_dir_local_name(p->socket, (int)getppid(), c->node);
    if (rc == 0)
        rc = persistent_start(&p->program, c->base, &spec, p->socket, &events,
                              p, err);
    if (rc == 0)
        c->running++;
    slice_spec_clear(&spec);
    return rc;
}

/* Before its first slice, when all nodes are measured. */
static int is_wanted(const struct slot_program *p,
                     const struct slice_queue *waiting)
{
    return !STAILQ_EMPTY(waiting)
           || (p->owner->common->measured.ranks > 0 && !p->socket[0]);
}

static void give(struct slot_program *p, struct waiting_slice *w)
{
    p->id = w->run.id;
    p->feeding = 1;
    p->in_fd = w->in_fd;
    w->in_fd = 0;
    slice_meter_begin(p->owner->meter, &w->run, persistent_group(p->program));
    persistent_give(p->program, &w->run, p->in_fd);
}

/* Give it the next slice, if it has none; what cannot be started is answered as
 * a slice that failed.  owner->done() follows, or owner->ended(). */
static void slot_program_feed(struct slot_program *p,
                              struct slice_queue *waiting)
{
    struct es_error err = {0};
    struct waiting_slice *w;

    if (p->feeding || p->stopped)
        return;
    if (!p->program && is_wanted(p, waiting) && start_program(p, &err) < 0)
        slot_send_over(p->owner->common, 126, err.what, strlen(err.what));
    w = slice_queue_take(waiting);
    if (w && p->program)
        give(p, w);
    else if (w)
        slot_send_refusal(p->owner->common, w->run.id, err.what);
    waiting_slice_free(w);
}

/* It gets no more slices: OVER follows when it has ended. */
static void slot_program_finish(struct slot_program *p)
{
    if (p->program)
        persistent_finish(p->program);
    else /* it has ended, and that was told */
        slot_send_over(p->owner->common, 0, "", 0);
}

/* --- meanwhile ------------------------------------------------------------ */

static int slot_program_runs(const struct slot_program *p)
{
    return p->program != NULL;
}

/* Has it a slice? */
static int slot_program_has_slice(const struct slot_program *p)
{
    return p->feeding;
}

/* Was it told to end, and has not yet? */
static int slot_program_is_ending(const struct slot_program *p)
{
    return p->stopped;
}

/* Do not read (on != 0) what it writes. */
static void slot_program_hold(struct slot_program *p, int on)
{
    if (p->program)
        persistent_hold(p->program, on);
}

/* Let it see its SIGTERM: nothing more is said of its slice. */
static void slot_program_stop(struct slot_program *p)
{
    if (!p->program)
        return;
    persistent_hold(p->program, 0); /* its end would not be heard */
    p->stopped = 1;
    output_batch_drop(p->owner->output);
    persistent_stop(p->program);
}

/* Ends it at once; NULL is allowed. */
static void slot_program_destroy(struct slot_program *p)
{
    if (!p)
        return;
    if (p->program)
        p->owner->common->running--;
    persistent_destroy(p->program);
    close_input(p);
    if (p->socket[0])
        step_dir_remove(p->socket);
    free(p);
}

/* --- slot ---------------------------------------------------------------------- */

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
