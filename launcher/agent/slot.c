/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/slot.h"
#include "launcher/agent/brought.h"
#include "launcher/agent/persistent.h"
#include "launcher/agent/places.h"
#include "launcher/agent/returning.h"
#include "launcher/agent/slice_meter.h"
#include "launcher/agent/task_ports.h"
#include "launcher/base/step_dir.h"
#include "launcher/exec/execution.h"
#include "launcher/exec/template.h"

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

struct slot {
    struct slot_common *common;
    uint32_t number;
    const struct place *place; /* NULL: as the agent */
    STAILQ_HEAD(task_list, task) waiting;
    uint64_t id;                 /* of the slice that runs now, and: */
    struct msg_run run;          /* of one with a command of its own */
    struct execution *execution; /* that runs it, or NULL */
    struct returning *returning; /* its files, when it has ended; or NULL */
    struct execution_end end;    /* its end, while they are sent */
    char words[EXECUTION_ERR_MAX + RETURNING_WHY_MAX
               + 16];              /* of its stderr then */
    struct persistent *program;    /* of a persistent command, or NULL */
    int feeding;                   /* the program has a slice */
    int stopped;                   /* what runs was told to end */
    struct slice_meter *meter;     /* of the slices, or NULL */
    char socket[STEP_NAME_MAX];    /* step directory of the socket, or "" */
    char folder[SCRATCH_PATH_MAX]; /* of the command; "": ours */
};

/* --- what waits ----------------------------------------------------------- */

static void task_free(struct task *t)
{
    if (t && t->in_fd > 0)
        close(t->in_fd); /* it has no name: nothing of it is to stay */
    free(t);
}

static struct task *take_first(struct slot *s)
{
    struct task *t = STAILQ_FIRST(&s->waiting);

    if (t)
        STAILQ_REMOVE_HEAD(&s->waiting, next);
    return t;
}

static void drop_waiting(struct slot *s)
{
    struct task *t;

    while ((t = take_first(s)) != NULL)
        task_free(t);
}

int slot_give(struct slot *s, const struct msg_run *run, int in_fd)
{
    struct task *t = calloc(1, sizeof *t);

    if (!t) {
        if (in_fd > 0)
            close(in_fd); /* a file of ours */
        return -1;
    }
    t->run = *run;
    t->in_fd = in_fd;
    STAILQ_INSERT_TAIL(&s->waiting, t, next);
    return 0;
}

/* --- what is said --------------------------------------------------------- */

static void slot_send(struct slot *s, enum protocol_type type, struct writer *m)
{
    s->common->send(s->common->arg, type, m);
}

static void on_slice_output(void *arg, const void *buf, size_t len)
{
    struct slot *s = arg;

    slice_meter_read(s->meter, OUTSIDE_OUT, buf, len);
    for (size_t at = 0; at < len && !s->stopped; at += OUTPUT_MAX) {
        size_t n = len - at < OUTPUT_MAX ? len - at : OUTPUT_MAX;
        struct msg_output m = {s->id, (const uint8_t *)buf + at, n};
        struct writer out = {0};

        msg_write_output(&out, &m);
        slot_send(s, MSG_OUTPUT, &out);
    }
}

static void on_slice_err(void *arg, const void *buf, size_t len)
{
    const struct slot *s = arg;

    slice_meter_read(s->meter, OUTSIDE_ERR, buf, len);
}

static void send_done(struct slot *s, const struct execution_end *end)
{
    struct msg_done m = {
        .id = s->id,
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
    slot_send(s, MSG_DONE, &out);
}

/* A slice that cannot be started is a slice that failed, with the reason. */
static void refuse_slice(struct slot *s, const char *why)
{
    const struct execution_end end = {
        .status = 126, .err_tail = why, .err_len = strlen(why)};

    send_done(s, &end);
}

/* --- its meter ------------------------------------------------------------ */

static void on_metered(void *arg, const struct msg_metered *m)
{
    struct writer out = {0};

    msg_write_metered(&out, m);
    slot_send(arg, MSG_METERED, &out);
}

int slot_meter(struct slot *s, const struct msg_meter *order)
{
    slice_meter_close(s->meter);
    s->meter = slice_meter_open(s->common->base, order, on_metered, s);
    return s->meter ? 0 : -1;
}

static void begin_meter(struct slot *s, const struct msg_run *run)
{
    if (!s->meter)
        return;
    execution_hear_err(s->execution, on_slice_err);
    slice_meter_begin(s->meter, run, execution_group(s->execution));
}

/* --- a command for each slice --------------------------------------------- */

/* The CPUs and the GPU that are the slot's own. */
static int take_place(const struct slot *s, struct execution_spec *spec)
{
    char **env = (char **)spec->envp;
    int rc = 0;

    if (!s->place)
        return 0;
    spec->cpus = s->place->cpus;
    spec->cpus_bytes = CPU_ALLOC_SIZE(PLACE_CPUS);
    for (size_t i = 0; i < PLACE_WORDS && rc == 0; i++)
        if (s->place->environ[i])
            rc = template_put(&env, s->place->environ[i]);
    spec->envp = env;
    return rc;
}

/* The program is the COMMAND's; its libraries are there for all. */
static int take_brought(const struct slot_common *c,
                        struct execution_spec *spec,
                        const struct msg_run *run,
                        struct es_error *err)
{
    char **env = (char **)spec->envp;
    int rc = brought_libs(&env, &c->command, c->node, c->environ, err);

    spec->envp = env;
    if (rc < 0 || run->work[0])
        return rc;
    return brought_program((char **)spec->argv, &c->command, c->node,
                           c->environ, err);
}

/* What a slice's type of work runs; NULL: nobody has said. */
static char *const *command_of(const struct slot_common *c,
                               const struct msg_run *run)
{
    if (!run->work[0])
        return c->command.argv;
    for (size_t i = 0; i < c->works; i++)
        if (strcmp(c->work[i].name, run->work) == 0)
            return c->work[i].argv;
    return NULL;
}

/* The command as it is for this slice; clear_spec() after its use. */
static int fill_spec(const struct slot *s,
                     struct execution_spec *spec,
                     const struct msg_run *run,
                     struct es_error *err)
{
    const struct slot_common *c = s->common;

    spec->throttle = c->throttle;
    spec->argv = template_argv(command_of(c, run), run, c->node);
    spec->envp = template_environ(c->environ, run, c->node);
    spec->dir = c->command.dir[0] ? c->command.dir : NULL;
    if (!spec->argv || !spec->envp || take_place(s, spec) < 0)
        return es_no_memory(err);
    return take_brought(c, spec, run, err);
}

static void clear_spec(struct execution_spec *spec)
{
    template_free((char **)spec->argv);
    template_free((char **)spec->envp);
}

/* What ran has ended: is there more? */
static void go_on(struct slot *s)
{
    s->stopped = 0;
    s->common->running--;
    s->common->gone(s->common->arg);
    slot_start(s);
    if (!s->execution && !s->program)
        s->common->ended(s->common->arg);
}

/* The slice is over, whatever came of it. */
static void leave_slice(struct slot *s)
{
    execution_destroy(s->execution);
    s->execution = NULL;
    if (s->common->files.apart)
        scratch_end(&s->common->scratch, s->id);
}

static void finish_slice(struct slot *s, const struct execution_end *end)
{
    if (!s->stopped)
        send_done(s, end); /* one that was stopped has not done its slice */
    leave_slice(s);
    go_on(s);
}

/* --- the files that it has made ------------------------------------------- */

/* As if the command itself had failed, and said so. */
static void fail_end(struct slot *s, const char *why)
{
    size_t len = s->end.err_len;
    int open_line = len > 0 && s->words[len - 1] != '\n';

    s->end.status = 126;
    s->end.err_len +=
        (size_t)snprintf(s->words + len, sizeof s->words - len,
                         "%sevenstep: %s\n", open_line ? "\n" : "", why);
}

static void on_returned(void *arg, const char *why)
{
    struct slot *s = arg;

    if (why)
        fail_end(s, why);
    returning_stop(s->returning);
    s->returning = NULL;
    finish_slice(s, &s->end);
}

static void send_file(void *arg, enum protocol_type type, struct writer *m)
{
    slot_send(arg, type, m);
}

/* 0, or -1 if there are none to be sent, or they cannot be. */
static int return_files(struct slot *s, const struct execution_end *end)
{
    const struct slot_common *c = s->common;
    const struct returning_setup setup = {
        .base = c->base,
        .folder = s->folder[0] ? s->folder : ".",
        .files = &c->files,
        .run = &s->run,
        .node = c->node,
        .send = send_file,
        .ended = on_returned,
        .arg = s,
    };

    if (s->stopped || c->files.n == 0 || end->signal || end->exec_errno
        || !c->files.ok[end->status & 0xff])
        return -1;
    s->returning = returning_start(&setup);
    if (!s->returning)
        return -1;
    s->end = *end;
    memcpy(s->words, end->err_tail, end->err_len);
    s->end.err_tail = s->words;
    return 0;
}

static void on_slice_end(void *arg, const struct execution_end *end)
{
    struct slot *s = arg;

    slice_meter_end(s->meter, end->status == 0, end->cpu_s);
    if (return_files(s, end) < 0)
        finish_slice(s, end);
}

/* --- its begin ------------------------------------------------------------ */

/* Where the command of a slice runs; "": where we are. */
static int choose_folder(struct slot *s, struct es_error *err)
{
    struct slot_common *c = s->common;

    if (c->files.apart)
        return scratch_begin(&c->scratch, c->node, s->id, s->folder, err);
    snprintf(s->folder, sizeof s->folder, "%s", c->command.dir);
    return 0;
}

static int start_command(struct slot *s,
                         const struct task *t,
                         struct es_error *err)
{
    struct execution_spec spec = {.in_fd = t->in_fd};
    int rc = choose_folder(s, err);

    if (rc == 0)
        rc = fill_spec(s, &spec, &t->run, err);
    if (rc == 0) {
        spec.dir = s->folder[0] ? s->folder : NULL;
        rc = execution_start(&s->execution, s->common->base, &spec,
                             on_slice_output, on_slice_end, s, err);
    }
    clear_spec(&spec);
    return rc;
}

static void start_slice(struct slot *s, const struct task *t)
{
    struct es_error err = {0};

    s->id = t->run.id;
    s->run = t->run;
    if (!s->common->command.argv || !command_of(s->common, &t->run)) {
        refuse_slice(s, "the front end sent a slice before its command");
    } else if (start_command(s, t, &err) < 0) {
        refuse_slice(s, err.what);
        leave_slice(s);
    } else {
        s->common->running++;
        begin_meter(s, &t->run);
    }
}

/* --- a program that stays alive ------------------------------------------- */

static void on_program_idle(void *arg, const struct msg_idle *idle)
{
    struct writer out = {0};

    msg_write_idle(&out, idle);
    slot_send(arg, MSG_IDLE, &out);
}

static void on_program_listens(void *arg, int fd, const struct slice_message *m)
{
    const struct slot *s = arg;

    task_ports_take(s->common->ports, fd, m);
}

static void on_program_done(void *arg, const struct feeder_result *result)
{
    struct slot *s = arg;
    const struct execution_end end = {.elapsed_ns = result->elapsed_ns};

    s->feeding = 0;
    slice_meter_end(s->meter, 1, -1);
    if (!s->stopped)
        send_done(s, &end);
    slot_start(s);
}

static void send_over(struct slot *s, int status, const char *err, size_t len)
{
    struct msg_over m = {(uint32_t)status, (const uint8_t *)err, len};
    struct writer out = {0};

    msg_write_over(&out, &m);
    slot_send(s, MSG_OVER, &out);
}

static void send_program_over(struct slot *s, const struct execution_end *end)
{
    const char *why = end->exec_errno ? strerror(end->exec_errno) : NULL;

    send_over(s, end->status, why ? why : end->err_tail,
              why ? strlen(why) : end->err_len);
}

static void on_program_end(void *arg, const struct execution_end *end)
{
    struct slot *s = arg;

    if (s->feeding)
        slice_meter_end(s->meter, 0, end->cpu_s);
    if (s->feeding && !s->stopped)
        send_done(s, end);
    else if (!s->stopped)
        send_program_over(s, end);
    persistent_destroy(s->program);
    s->program = NULL;
    s->feeding = 0;
    go_on(s);
}

static const struct persistent_events program_events = {
    .idle = on_program_idle,
    .listens = on_program_listens,
    .output = on_slice_output,
    .err = on_slice_err,
    .done = on_program_done,
    .end = on_program_end,
};

/* Its number among those of all nodes; a node that has come back has none. */
static int take_rank(const struct slot_common *c,
                     struct execution_spec *spec,
                     struct es_error *err)
{
    char **env = (char **)spec->envp, rank[40], ranks[40];
    int rc = 0;

    if (c->measured.ranks == 0)
        return 0;
    snprintf(rank, sizeof rank, "EVENSTEP_RANK=%u", c->measured.rank);
    snprintf(ranks, sizeof ranks, "EVENSTEP_RANKS=%u", c->measured.ranks);
    if (template_put(&env, rank) < 0 || template_put(&env, ranks) < 0)
        rc = es_no_memory(err);
    spec->envp = env;
    return rc;
}

/* Of what is filled in for a slice, only node and slot are known. */
static int start_program(struct slot *s, struct es_error *err)
{
    const struct msg_run none = {.slot = s->number};
    struct execution_spec spec = {0};
    int rc = fill_spec(s, &spec, &none, err);

    if (rc == 0)
        rc = take_rank(s->common, &spec, err);
    step_dir_local_name(s->socket, (int)getppid(), s->common->node);
    if (rc == 0)
        rc = persistent_start(&s->program, s->common->base, &spec, s->socket,
                              &program_events, s, err);
    if (rc == 0)
        s->common->running++;
    clear_spec(&spec);
    return rc;
}

/* It is started when all nodes are measured, and again if it has ended. */
static void feed_program(struct slot *s)
{
    int waits = !STAILQ_EMPTY(&s->waiting);
    struct es_error err = {0};
    struct task *t;

    if (s->feeding || s->stopped || s->execution)
        return;
    if (!s->program
        && (waits || (s->common->measured.ranks > 0 && !s->socket[0]))
        && start_program(s, &err) < 0)
        send_over(s, 126, err.what, strlen(err.what));
    t = take_first(s);
    if (!t)
        return;
    s->id = t->run.id;
    s->feeding = s->program != NULL;
    if (s->program) {
        slice_meter_begin(s->meter, &t->run, persistent_group(s->program));
        persistent_give(s->program, &t->run, t->in_fd);
    } else {
        refuse_slice(s, err.what);
    }
    task_free(t);
}

void slot_finish(struct slot *s)
{
    if (s->program)
        persistent_finish(s->program);
    else
        send_over(s, 0, "", 0); /* it has ended, and that was told */
}

/* --- both ----------------------------------------------------------------- */

void slot_start(struct slot *s)
{
    struct task *t;

    if (s->common->command.persistent) {
        feed_program(s);
        return;
    }
    while (!s->execution && !s->common->paused && (t = take_first(s)) != NULL) {
        start_slice(s, t); /* a failure has been answered */
        task_free(t);
    }
}

size_t slot_load(const struct slot *s)
{
    size_t n = s->execution || s->feeding;

    for (const struct task *t = STAILQ_FIRST(&s->waiting); t;
         t = STAILQ_NEXT(t, next))
        n++;
    return n;
}

int slot_is_busy(const struct slot *s)
{
    return s->execution || s->stopped;
}

void slot_hold(struct slot *s, int on)
{
    if (s->returning)
        returning_hold(s->returning, on);
    else if (s->execution)
        execution_hold(s->execution, on);
    if (s->program)
        persistent_hold(s->program, on);
}

void slot_stop(struct slot *s)
{
    drop_waiting(s);
    if (s->returning) { /* nothing runs any more */
        returning_stop(s->returning);
        s->returning = NULL;
        leave_slice(s);
        s->common->running--;
    }
    slot_hold(s, 0); /* its end would not be heard */
    s->stopped = s->execution || s->program;
    if (s->execution)
        execution_stop(s->execution);
    if (s->program)
        persistent_stop(s->program);
}

void slot_cancel(struct slot *s, uint64_t id)
{
    struct task *t;

    for (t = STAILQ_FIRST(&s->waiting); t; t = STAILQ_NEXT(t, next))
        if (t->run.id == id) {
            STAILQ_REMOVE(&s->waiting, t, task, next);
            task_free(t);
            return;
        }
    if (!s->execution || s->returning || s->id != id)
        return;
    slot_hold(s, 0); /* its end would not be heard */
    s->stopped = 1;
    execution_stop(s->execution);
}

struct slot *slot_create(struct slot_common *common,
                         uint32_t number,
                         const struct place *place)
{
    struct slot *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->common = common;
    s->number = number;
    s->place = place;
    STAILQ_INIT(&s->waiting);
    return s;
}

void slot_destroy(struct slot *s)
{
    if (!s)
        return;
    if (s->execution || s->program)
        s->common->running--;
    returning_stop(s->returning);
    leave_slice(s);
    persistent_destroy(s->program);
    slice_meter_close(s->meter);
    drop_waiting(s);
    if (s->socket[0])
        step_dir_remove(s->socket);
    free(s);
}
