/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/slice_command.h"
#include "launcher/agent/output_batch.h"
#include "launcher/agent/places.h"
#include "launcher/agent/returning.h"
#include "launcher/agent/slice_input.h"
#include "launcher/agent/slice_meter.h"
#include "launcher/agent/slice_spec.h"
#include "launcher/agent/slot_send.h"
#include "launcher/agent/task_runner.h"
#include "launcher/exec/last_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct slice_command {
    const struct slot_owner *owner;
    struct msg_run run;            /* the slice at hand, or the last one */
    struct execution *execution;   /* of its command, or NULL */
    int in_fd;                     /* its stdin; 0: none */
    char folder[SCRATCH_PATH_MAX]; /* where that is; "": ours */
    int stopped;                   /* it was told to end */
    struct returning *returning;   /* its files, when it has ended; or NULL */
    struct execution_end end;      /* its end, while they are sent */
    char words[EXECUTION_ERR_MAX + RETURNING_WHY_MAX
               + LAST_WORDS_EDGE]; /* of its stderr then */
};

struct slice_command *slice_command_create(const struct slot_owner *owner)
{
    struct slice_command *x = calloc(1, sizeof *x);

    if (x)
        x->owner = owner;
    return x;
}

/* --- its end -------------------------------------------------------------- */

/* The slice is over, whatever came of it. */
static void leave_slice(struct slice_command *x)
{
    const struct slot_common *c = x->owner->common;

    execution_destroy(x->execution);
    x->execution = NULL;
    if (x->in_fd > 0)
        close(x->in_fd); /* it has no name: nothing of it is to stay */
    x->in_fd = 0;
    if (c->files.apart)
        scratch_end(&c->scratch, x->run.id);
    if (x->owner->place && c->places)
        places_leave(c->places, x->owner->number);
}

static void finish_slice(struct slice_command *x,
                         const struct execution_end *end)
{
    struct slot_common *c = x->owner->common;

    if (!x->stopped)
        slot_send_done(c, x->run.id, end); /* else it has not done its slice */
    leave_slice(x);
    x->stopped = 0;
    c->running--;
    x->owner->ended(x->owner->arg);
}

static void on_returned(void *arg, const char *why)
{
    struct slice_command *x = arg;

    if (why)
        last_words_add(&x->end, x->words, sizeof x->words, why);
    returning_stop(x->returning);
    x->returning = NULL;
    finish_slice(x, &x->end);
}

static void send_file(void *arg, enum protocol_type type, struct writer *m)
{
    const struct slice_command *x = arg;
    const struct slot_common *c = x->owner->common;

    c->send(c->arg, type, m);
}

static void keep_end(struct slice_command *x, const struct execution_end *end)
{
    x->end = *end;
    memcpy(x->words, end->err_tail, end->err_len);
    x->end.err_tail = x->words;
}

/* It has ended well. */
static int has_done(const struct slice_command *x,
                    const struct execution_end *end)
{
    return !x->stopped && !end->signal && !end->exec_errno
           && x->owner->common->files.ok[end->status & 0xff];
}

/* 1, and the end is none that is well: it has not read all of its lines. */
static int leaves_lines(struct slice_command *x,
                        const struct execution_end *end)
{
    char why[SLICE_INPUT_WHY];

    if (!x->owner->common->files.all || x->in_fd <= 0 || !has_done(x, end)
        || !slice_input_is_left(x->in_fd, why))
        return 0;
    keep_end(x, end);
    last_words_add(&x->end, x->words, sizeof x->words, why);
    return 1;
}

/* 0, or -1 if there are no files to be sent, or they cannot be. */
static int return_files(struct slice_command *x,
                        const struct execution_end *end)
{
    const struct slot_common *c = x->owner->common;
    const struct returning_setup setup = {
        .base = c->base,
        .folder = x->folder[0] ? x->folder : ".",
        .files = &c->files,
        .run = &x->run,
        .node = c->node,
        .send = send_file,
        .ended = on_returned,
        .arg = x,
    };

    if (c->files.n == 0 || !has_done(x, end))
        return -1;
    x->returning = returning_start(&setup);
    if (!x->returning)
        return -1;
    keep_end(x, end);
    return 0;
}

static void on_command_end(void *arg, const struct execution_end *end)
{
    struct slice_command *x = arg;

    slice_meter_end(x->owner->meter, end->status == 0, end->cpu_s);
    output_batch_flush(x->owner->output);
    if (leaves_lines(x, end))
        finish_slice(x, &x->end);
    else if (return_files(x, end) < 0)
        finish_slice(x, end);
}

/* --- its begin ------------------------------------------------------------ */

static void on_output(void *arg, const void *buf, size_t len)
{
    const struct slice_command *x = arg;

    slice_meter_read(x->owner->meter, OUTSIDE_OUT, buf, len);
    if (!x->stopped)
        output_batch_add(x->owner->output, x->run.id, buf, len);
}

static void on_err(void *arg, const void *buf, size_t len)
{
    const struct slice_command *x = arg;

    slice_meter_read(x->owner->meter, OUTSIDE_ERR, buf, len);
}

static void begin_meter(struct slice_command *x)
{
    if (!x->owner->meter)
        return;
    execution_hear_err(x->execution, on_err);
    slice_meter_begin(x->owner->meter, &x->run, execution_group(x->execution));
}

/* Where the command of a slice runs; "": where we are. */
static int choose_folder(struct slice_command *x, struct es_error *err)
{
    struct slot_common *c = x->owner->common;

    if (c->files.apart)
        return scratch_begin(&c->scratch, c->node, x->run.id, x->folder, err);
    snprintf(x->folder, sizeof x->folder, "%s", c->command.dir);
    return 0;
}

static int start_command(struct slice_command *x, struct es_error *err)
{
    struct execution_spec spec = {.in_fd = x->in_fd};
    int rc = choose_folder(x, err);

    if (rc == 0)
        rc = slice_spec_fill(&spec, x->owner, &x->run, err);
    if (rc == 0) {
        spec.dir = x->folder[0] ? x->folder : NULL;
        rc = execution_start(&x->execution, x->owner->common->base, &spec,
                             on_output, on_command_end, x, err);
    }
    slice_spec_clear(&spec);
    return rc;
}

void slice_command_start(struct slice_command *x,
                         const struct msg_run *run,
                         int in_fd)
{
    struct slot_common *c = x->owner->common;
    struct es_error err = {0};

    x->run = *run;
    x->in_fd = in_fd;
    if (!slice_spec_is_known(c, run)) {
        slot_send_refusal(c, run->id,
                          "the front end sent a slice before its command");
        leave_slice(x);
    } else if (start_command(x, &err) < 0) {
        slot_send_refusal(c, run->id, err.what);
        leave_slice(x);
    } else {
        c->running++;
        begin_meter(x);
    }
}

/* --- meanwhile ------------------------------------------------------------ */

int slice_command_runs(const struct slice_command *x)
{
    return x->execution != NULL;
}

void slice_command_hold(struct slice_command *x, int on)
{
    if (x->returning)
        returning_hold(x->returning, on);
    else if (x->execution)
        execution_hold(x->execution, on);
}

/* Nobody is told of its end. */
static void abandon_slice(struct slice_command *x)
{
    returning_stop(x->returning);
    x->returning = NULL;
    leave_slice(x);
    x->owner->common->running--;
}

void slice_command_stop(struct slice_command *x)
{
    if (x->returning) /* nothing runs any more */
        abandon_slice(x);
    if (!x->execution)
        return;
    slice_command_hold(x, 0); /* its end would not be heard */
    x->stopped = 1;
    output_batch_drop(x->owner->output);
    execution_stop(x->execution);
}

void slice_command_last(struct slice_command *x)
{
    if (x->execution && !x->returning)
        execution_tell(x->execution, TASK_RUNNER_LAST);
}

void slice_command_cancel(struct slice_command *x, uint64_t id)
{
    if (!x->returning && x->run.id == id)
        slice_command_stop(x);
}

void slice_command_destroy(struct slice_command *x)
{
    if (!x)
        return;
    if (x->execution)
        abandon_slice(x);
    free(x);
}
