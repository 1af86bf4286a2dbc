/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/agent_work.h"
#include "launcher/agent/persistent.h"
#include "launcher/agent/slice_meter.h"
#include "launcher/base/notice.h"
#include "launcher/base/spool.h"
#include "launcher/base/step_dir.h"
#include "launcher/exec/execution.h"
#include "launcher/exec/template.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

struct task { /* a slice that waits for its turn */
    STAILQ_ENTRY(task) next;
    struct msg_run run;
    int in_fd; /* its stdin; 0: none */
};

struct agent_work {
    struct agent_work_setup setup;
    struct msg_command command;
    STAILQ_HEAD(task_list, task) waiting;
    int in_fd;                   /* the stdin of the slice to come; 0: none */
    uint64_t in_id;              /* of that slice */
    uint64_t id;                 /* of the slice that runs now */
    struct execution *execution; /* that runs it */
    struct persistent *program;  /* of a persistent command, or NULL */
    struct slice_meter *meter;   /* of the slices, or NULL */
    int feeding;                 /* the program has a slice */
    int stopped;                 /* what runs was told to end */
    int paused, measured;
    char place[STEP_NAME_MAX]; /* step directory of the socket, or "" */
    char directory[STEP_PATH_MAX + 16]; /* EVENSTEP_DIR=… */
    char **environ;                     /* with it; NULL: as in setup */
};

static void start_next(struct agent_work *w);

/* --- what waits ----------------------------------------------------------- */

static void close_input(int *fd)
{
    if (*fd > 0)
        close(*fd); /* it has no name: nothing of it is to stay */
    *fd = 0;
}

static void task_free(struct task *t)
{
    if (t)
        close_input(&t->in_fd);
    free(t);
}

static struct task *take_first(struct agent_work *w)
{
    struct task *t = STAILQ_FIRST(&w->waiting);

    if (t)
        STAILQ_REMOVE_HEAD(&w->waiting, next);
    return t;
}

static void drop_waiting(struct agent_work *w)
{
    struct task *t;

    while ((t = take_first(w)) != NULL)
        task_free(t);
    close_input(&w->in_fd);
}

/* --- what is said --------------------------------------------------------- */

static void work_send(struct agent_work *w,
                      enum protocol_type type,
                      struct writer *m)
{
    w->setup.send(w->setup.arg, type, m);
}

static void on_slice_output(void *arg, const void *buf, size_t len)
{
    struct agent_work *w = arg;

    slice_meter_read(w->meter, OUTSIDE_OUT, buf, len);
    for (size_t at = 0; at < len && !w->stopped; at += OUTPUT_MAX) {
        size_t n = len - at < OUTPUT_MAX ? len - at : OUTPUT_MAX;
        struct msg_output m = {w->id, (const uint8_t *)buf + at, n};
        struct writer out = {0};

        msg_write_output(&out, &m);
        work_send(w, MSG_OUTPUT, &out);
    }
}

static void on_slice_err(void *arg, const void *buf, size_t len)
{
    const struct agent_work *w = arg;

    slice_meter_read(w->meter, OUTSIDE_ERR, buf, len);
}

static void on_metered(void *arg, const struct msg_metered *m)
{
    struct writer out = {0};

    msg_write_metered(&out, m);
    work_send(arg, MSG_METERED, &out);
}

static void work_send_done(struct agent_work *w,
                           const struct execution_end *end)
{
    struct msg_done m = {
        .id = w->id,
        .status = (uint32_t)end->status,
        .signal = (uint32_t)end->signal,
        .exec_errno = (uint32_t)end->exec_errno,
        .elapsed_ns = (uint64_t)end->elapsed_ns,
        .err_dropped = end->err_dropped,
        .err = (const uint8_t *)end->err_tail,
        .err_len = end->err_len,
    };
    struct writer out = {0};

    msg_write_done(&out, &m);
    work_send(w, MSG_DONE, &out);
}

/* A slice that cannot be started is a slice that failed, with the reason. */
static void refuse_slice(struct agent_work *w, uint64_t id, const char *why)
{
    struct msg_done m = {.id = id, .status = 126};
    struct writer out = {0};

    m.err = (const uint8_t *)why;
    m.err_len = strlen(why);
    msg_write_done(&out, &m);
    work_send(w, MSG_DONE, &out);
}

static void work_send_over(struct agent_work *w,
                           int status,
                           const char *err,
                           size_t len)
{
    struct msg_over m = {(uint32_t)status, (const uint8_t *)err, len};
    struct writer out = {0};

    msg_write_over(&out, &m);
    work_send(w, MSG_OVER, &out);
}

/* --- a command for each slice --------------------------------------------- */

/* The command as it is for this slice; clear_spec() after its use. */
static int fill_spec(struct agent_work *w,
                     struct execution_spec *spec,
                     const struct msg_run *run,
                     struct es_error *err)
{
    const char *node = w->setup.node;

    spec->throttle = w->setup.throttle;
    spec->argv = template_argv(w->command.argv, run, node);
    spec->envp =
        template_environ(w->environ ? w->environ : w->setup.environ, run, node);
    spec->dir = w->command.dir[0] ? w->command.dir : NULL;
    if (spec->argv && spec->envp)
        return 0;
    return es_no_memory(err);
}

static void clear_spec(struct execution_spec *spec)
{
    template_free((char **)spec->argv);
    template_free((char **)spec->envp);
}

static void on_slice_end(void *arg, const struct execution_end *end)
{
    struct agent_work *w = arg;

    slice_meter_end(w->meter, end->status == 0);
    if (!w->stopped)
        work_send_done(w,
                       end); /* one that was stopped has not done its slice */
    execution_destroy(w->execution);
    w->execution = NULL;
    w->stopped = 0;
    start_next(w);
}

static void meter_slice(struct agent_work *w, const struct msg_run *run)
{
    if (!w->meter)
        return;
    execution_hear_err(w->execution, on_slice_err);
    slice_meter_begin(w->meter, run, execution_group(w->execution));
}

static void start_slice(struct agent_work *w, const struct task *t)
{
    struct execution_spec spec = {.in_fd = t->in_fd};
    struct es_error err = {0};

    w->id = t->run.id;
    if (!w->command.argv) {
        refuse_slice(w, w->id, "the front end sent a slice before its command");
        return;
    }
    if (fill_spec(w, &spec, &t->run, &err) < 0
        || execution_start(&w->execution, w->setup.base, &spec, on_slice_output,
                           on_slice_end, w, &err)
               < 0)
        refuse_slice(w, w->id, err.what);
    else
        meter_slice(w, &t->run);
    clear_spec(&spec);
}

/* --- a program that stays alive ------------------------------------------- */

static void on_program_idle(void *arg, const struct msg_idle *idle)
{
    struct writer out = {0};

    msg_write_idle(&out, idle);
    work_send(arg, MSG_IDLE, &out);
}

static void on_program_done(void *arg, const struct feeder_result *result)
{
    struct agent_work *w = arg;
    const struct execution_end end = {.elapsed_ns = result->elapsed_ns};

    w->feeding = 0;
    slice_meter_end(w->meter, 1);
    if (!w->stopped)
        work_send_done(w, &end);
    start_next(w);
}

static void work_send_program_over(struct agent_work *w,
                                   const struct execution_end *end)
{
    const char *why = end->exec_errno ? strerror(end->exec_errno) : NULL;

    work_send_over(w, end->status, why ? why : end->err_tail,
                   why ? strlen(why) : end->err_len);
}

static void on_program_end(void *arg, const struct execution_end *end)
{
    struct agent_work *w = arg;

    if (w->feeding)
        slice_meter_end(w->meter, 0);
    if (w->feeding && !w->stopped)
        work_send_done(w, end);
    else if (!w->stopped)
        work_send_program_over(w, end);
    persistent_destroy(w->program);
    w->program = NULL;
    w->feeding = w->stopped = 0;
    start_next(w);
}

static const struct persistent_events program_events = {
    .idle = on_program_idle,
    .output = on_slice_output,
    .err = on_slice_err,
    .done = on_program_done,
    .end = on_program_end,
};

/* Of what is filled in for a slice, only the node is known. */
static int start_program(struct agent_work *w, struct es_error *err)
{
    static const struct msg_run none;
    struct execution_spec spec = {0};
    int rc = fill_spec(w, &spec, &none, err);

    step_dir_local_name(w->place, (int)getppid(), w->setup.node);
    if (rc == 0)
        rc = persistent_start(&w->program, w->setup.base, &spec, w->place,
                              &program_events, w, err);
    clear_spec(&spec);
    return rc;
}

/* It is started when all nodes are measured, and again if it has ended. */
static void feed_program(struct agent_work *w)
{
    struct task *t = STAILQ_FIRST(&w->waiting);
    struct es_error err = {0};

    if (w->feeding || w->stopped || w->execution)
        return;
    if (!w->program && (t || (w->measured && !w->place[0]))
        && start_program(w, &err) < 0)
        work_send_over(w, 126, err.what, strlen(err.what));
    if (!t)
        return;
    (void)take_first(w);
    w->id = t->run.id;
    w->feeding = w->program != NULL;
    if (w->program) {
        slice_meter_begin(w->meter, &t->run, persistent_group(w->program));
        persistent_give(w->program, &t->run);
    } else {
        refuse_slice(w, w->id, err.what);
    }
    task_free(t);
}

/* --- both ----------------------------------------------------------------- */

static void start_next(struct agent_work *w)
{
    struct task *t;

    if (w->command.persistent)
        feed_program(w);
    while (!w->command.persistent && !w->execution && !w->paused
           && (t = take_first(w)) != NULL) {
        start_slice(w, t); /* a failure has been answered */
        task_free(t);
    }
    if (!w->execution && !w->program)
        w->setup.idle(w->setup.arg);
}

static int receive_command(struct agent_work *w,
                           const uint8_t *body,
                           size_t len)
{
    free(w->command.argv);
    if (msg_read_command(&w->command, body, len) < 0)
        return -1;
    start_next(w);
    return 0;
}

/* Keep what a slice is to read; its RUN comes next. */
static int receive_input(struct agent_work *w, const uint8_t *body, size_t len)
{
    struct msg_output m;

    if (msg_read_output(&m, body, len) < 0)
        return -1;
    if (w->in_fd > 0 && w->in_id != m.id)
        close_input(&w->in_fd);
    w->in_id = m.id;
    if (w->in_fd <= 0)
        w->in_fd = spool_open_file();
    if (w->in_fd >= 0 && write_all(w->in_fd, m.bytes, m.len) == 0)
        return 0;
    notice("%s: cannot keep the input of a slice: %s", w->setup.node,
           strerror(errno));
    return -1;
}

static int queue_slice(struct agent_work *w, const uint8_t *body, size_t len)
{
    struct task *t = calloc(1, sizeof *t);

    if (!t || msg_read_run(&t->run, body, len) < 0) {
        free(t);
        return -1;
    }
    if (w->in_fd > 0 && w->in_id == t->run.id) {
        t->in_fd = w->in_fd;
        w->in_fd = 0;
        (void)lseek(t->in_fd, 0, SEEK_SET); /* a file of ours */
    }
    STAILQ_INSERT_TAIL(&w->waiting, t, next);
    start_next(w);
    return 0;
}

static int receive_program_over(struct agent_work *w,
                                const uint8_t *body,
                                size_t len)
{
    struct msg_over m;

    if (msg_read_over(&m, body, len) < 0)
        return -1;
    if (w->program)
        persistent_finish(w->program);
    else
        work_send_over(w, 0, "", 0); /* it has ended, and that was told */
    return 0;
}

/* The last order holds, as of a front end to which we have come back. */
static int receive_meter(struct agent_work *w, const uint8_t *body, size_t len)
{
    struct msg_meter m;

    slice_meter_close(w->meter);
    w->meter = NULL;
    if (msg_read_meter(&m, body, len) == 0)
        w->meter = slice_meter_open(w->setup.base, &m, on_metered, w);
    return w->meter ? 0 : -1;
}

int agent_work_receive(struct agent_work *w,
                       enum protocol_type type,
                       const uint8_t *body,
                       size_t len)
{
    if (type == MSG_COMMAND)
        return receive_command(w, body, len);
    if (type == MSG_INPUT)
        return receive_input(w, body, len);
    if (type == MSG_RUN)
        return queue_slice(w, body, len);
    if (type == MSG_METER)
        return receive_meter(w, body, len);
    return type == MSG_OVER ? receive_program_over(w, body, len) : -1;
}

void agent_work_pause(struct agent_work *w, int on)
{
    w->paused = on;
    if (!on)
        start_next(w);
}

int agent_work_directory(struct agent_work *w, const char *step)
{
    char path[STEP_PATH_MAX];
    size_t n = 0;

    if (w->environ)
        return 0;
    while (w->setup.environ[n])
        n++;
    w->environ = calloc(n + 2, sizeof *w->environ);
    if (!w->environ)
        return ENOMEM;
    memcpy(w->environ, w->setup.environ, n * sizeof *w->environ);
    (void)step_dir_path(path, step, ""); /* it was made */
    snprintf(w->directory, sizeof w->directory, "EVENSTEP_DIR=%s", path);
    w->environ[n] = w->directory;
    return 0;
}

void agent_work_measured(struct agent_work *w)
{
    w->measured = 1;
    start_next(w);
}

void agent_work_hold(struct agent_work *w, int on)
{
    if (w->execution)
        execution_hold(w->execution, on);
    if (w->program)
        persistent_hold(w->program, on);
}

int agent_work_busy(const struct agent_work *w)
{
    return w->execution || w->stopped;
}

int agent_work_stop(struct agent_work *w)
{
    if (!w)
        return 0;
    drop_waiting(w);
    agent_work_hold(w, 0); /* its end would not be heard */
    w->stopped = w->execution || w->program;
    if (w->execution)
        execution_stop(w->execution);
    if (w->program)
        persistent_stop(w->program);
    return w->stopped;
}

void agent_work_close(struct agent_work *w)
{
    if (!w)
        return;
    execution_destroy(w->execution);
    persistent_destroy(w->program);
    drop_waiting(w);
    slice_meter_close(w->meter);
    if (w->place[0])
        step_dir_remove(w->place);
    free(w->command.argv);
    free(w->environ);
    free(w);
}

struct agent_work *agent_work_open(const struct agent_work_setup *setup)
{
    struct agent_work *w = calloc(1, sizeof *w);

    if (!w)
        return NULL;
    w->setup = *setup;
    STAILQ_INIT(&w->waiting);
    return w;
}
