/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/agent_work.h"
#include "launcher/agent/alone.h"
#include "launcher/agent/gpus.h"
#include "launcher/agent/places.h"
#include "launcher/agent/slice_input.h"
#include "launcher/agent/slot.h"
#include "launcher/agent/task_ports.h"
#include "launcher/base/env_list.h"
#include "launcher/base/notice.h"
#include "launcher/base/spool.h"
#include "launcher/base/step_dir.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct agent_work {
    struct agent_work_setup setup;
    struct slot_common common;
    struct slot **slot;   /* n, those of one number adjoin */
    size_t n, beside;     /* so many have one number */
    struct places places; /* likewise, but for a slot with all */
    int in_fd;            /* the stdin of the slice to come; 0: none */
    uint64_t in_id;       /* of that slice */
    char directory[STEP_PATH_MAX + 16]; /* EVENSTEP_DIR=… */
    char **environ;                     /* with it; NULL: as in setup */
};

/* --- the slots ------------------------------------------------------------ */

static void start_all(struct agent_work *w)
{
    for (size_t i = 0; i < w->n; i++)
        slot_start(w->slot[i]);
}

static void on_slot_ended(void *arg)
{
    const struct agent_work *w = arg;

    if (w->common.running == 0)
        w->setup.idle(w->setup.arg);
}

static void on_slot_gone(void *arg)
{
    const struct agent_work *w = arg;

    w->setup.gone(w->setup.arg);
}

static void slot_send_out(void *arg, enum protocol_type type, struct writer *m)
{
    const struct agent_work *w = arg;

    w->setup.send(w->setup.arg, type, m);
}

static void destroy_slots(struct agent_work *w)
{
    for (size_t i = 0; i < w->n; i++)
        slot_destroy(w->slot[i]);
    free(w->slot);
    places_clear(&w->places);
    w->slot = NULL;
    w->n = 0;
}

/* In those places, which are ours from now on; {0}: one slot, with all that the
 * node has.  0, or -1: the slots are as they were. */
static int make_slots(struct agent_work *w,
                      struct places *places,
                      size_t beside)
{
    size_t n = (places->n > 0 ? places->n : 1) * beside;
    struct slot **slot = calloc(n, sizeof *slot);
    size_t made = 0;

    while (slot && made < n) {
        size_t number = made / beside;

        slot[made] = slot_create(&w->common, (uint32_t)number,
                                 places->n > 0 ? &places->place[number] : NULL);
        if (!slot[made])
            break;
        made++;
    }
    if (!slot || made < n) {
        while (made > 0)
            slot_destroy(slot[--made]);
        free(slot);
        places_clear(places);
        return -1;
    }
    destroy_slots(w);
    w->slot = slot;
    w->n = n;
    w->beside = beside;
    w->places = *places;
    w->common.places = places->n > 0 ? &w->places : NULL;
    return 0;
}

/* --- orders --------------------------------------------------------------- */

static void forget_works(struct slot_common *c)
{
    while (c->works > 0)
        free(c->work[--c->works].argv);
}

/* Of another front end, perhaps: its types of work follow. */
static int receive_command(struct agent_work *w,
                           const uint8_t *body,
                           size_t len)
{
    free(w->common.command.argv);
    forget_works(&w->common);
    if (msg_read_command(&w->common.command, body, len) < 0)
        return -1;
    if (w->common.command.kind == COMMAND_TASKS && w->common.alone_fd <= 0)
        w->common.alone_fd = alone_make(); /* without it none is run alone */
    start_all(w);
    return 0;
}

/* One that is known has another command now. */
static int receive_kind(struct agent_work *w, const uint8_t *body, size_t len)
{
    struct slot_common *c = &w->common;
    struct msg_work m;
    size_t i = 0;

    if (msg_read_work(&m, body, len) < 0)
        return -1;
    while (i < c->works && strcmp(c->work[i].name, m.name) != 0)
        i++;
    if (i == WORKS_MAX) {
        free(m.argv);
        return -1;
    }
    if (i == c->works)
        c->works++;
    else
        free(c->work[i].argv);
    c->work[i] = m;
    return 0;
}

static int receive_files(struct agent_work *w, const uint8_t *body, size_t len)
{
    free(w->common.files.name);
    return msg_read_files(&w->common.files, body, len);
}

static void close_input(struct agent_work *w)
{
    if (w->in_fd > 0)
        close(w->in_fd); /* it has no name: nothing of it is to stay */
    w->in_fd = 0;
}

/* Keep what a slice is to read; its RUN comes next. */
static int receive_input(struct agent_work *w, const uint8_t *body, size_t len)
{
    struct msg_output m;

    if (msg_read_output(&m, body, len) < 0)
        return -1;
    if (w->in_fd > 0 && w->in_id != m.id)
        close_input(w);
    w->in_id = m.id;
    if (w->in_fd <= 0)
        w->in_fd = spool_open_file();
    if (w->in_fd >= 0 && write_all(w->in_fd, m.bytes, m.len) == 0)
        return 0;
    notice("%s: cannot keep the input of a slice: %s", w->setup.node,
           strerror(errno));
    return -1;
}

/* How many there are for the work of one front end; nothing runs yet. */
static int receive_slots(struct agent_work *w, const uint8_t *body, size_t len)
{
    struct msg_slotted answer = {0};
    struct places places;
    struct writer out = {0};
    struct msg_slots m;

    if (msg_read_slots(&m, body, len) < 0 || w->common.running > 0)
        return -1;
    if (places_init(&places, &m, w->setup.environ, "", answer.text) < 0)
        return -1;
    answer.n = (uint32_t)places.n;
    answer.memory = places.memory;
    answer.gpus = (uint32_t)places.gpus->n;
    if (answer.n == 0)
        places_clear(&places);
    else if (make_slots(w, &places, m.beside) < 0)
        return -1;
    msg_write_slotted(&out, &answer);
    w->setup.send(w->setup.arg, MSG_SLOTTED, &out);
    return 0;
}

/* Of those with that number: what it gets runs at once, or soonest. */
static struct slot *freest(const struct agent_work *w, uint32_t number)
{
    struct slot *best = w->slot[number * w->beside];

    for (size_t i = 1; i < w->beside; i++) {
        struct slot *other = w->slot[number * w->beside + i];

        if (slot_load(other) < slot_load(best))
            best = other;
    }
    return best;
}

static int receive_run(struct agent_work *w, const uint8_t *body, size_t len)
{
    struct msg_run run;
    struct slot *to;
    int in_fd = 0;

    if (msg_read_run(&run, body, len) < 0 || run.slot >= w->n / w->beside)
        return -1;
    to = freest(w, run.slot);
    if (w->in_fd > 0 && w->in_id == run.id) {
        in_fd = w->in_fd;
        w->in_fd = 0;
        slice_input_rewind(in_fd);
    }
    if (slot_give(to, &run, in_fd) < 0)
        return -1;
    slot_start(to);
    return 0;
}

/* It may have ended meanwhile. */
static int receive_cancel(struct agent_work *w, const uint8_t *body, size_t len)
{
    uint64_t id;

    if (msg_read_u64(&id, body, len) < 0)
        return -1;
    for (size_t i = 0; i < w->n; i++)
        slot_cancel(w->slot[i], id);
    return 0;
}

static int receive_program_over(struct agent_work *w,
                                const uint8_t *body,
                                size_t len)
{
    struct msg_over m;

    if (msg_read_over(&m, body, len) < 0)
        return -1;
    for (size_t i = 0; i < w->n; i++)
        slot_finish(w->slot[i]);
    return 0;
}

/* Who starts later than the others' first frame is told that there is no round
 * for it. */
static int open_ports(struct agent_work *w, uint32_t patience_s)
{
    const struct task_ports_setup setup = {.base = w->setup.base,
                                           .tasks = 1,
                                           .patience_s = patience_s,
                                           .ip = w->setup.ip,
                                           .send = w->setup.send,
                                           .arg = w->setup.arg};

    task_ports_close(w->common.ports);
    w->common.ports = patience_s > 0 ? task_ports_open(&setup) : NULL;
    return patience_s > 0 && !w->common.ports ? -1 : 0;
}

/* A program may start. */
static int receive_all_measured(struct agent_work *w,
                                const uint8_t *body,
                                size_t len)
{
    if (msg_read_measured(&w->common.measured, body, len) < 0
        || open_ports(w, w->common.measured.patience_s) < 0)
        return -1;
    start_all(w);
    return 0;
}

static int receive_ports(struct agent_work *w, const uint8_t *body, size_t len)
{
    struct msg_ports_end m;

    if (msg_read_ports_end(&m, body, len) < 0)
        return -1;
    if (w->common.ports)
        task_ports_end(w->common.ports, m.round, m.error);
    return 0;
}

/* The last order holds, as of a front end to which we have come back. */
static int receive_meter(struct agent_work *w, const uint8_t *body, size_t len)
{
    struct msg_meter m;
    int rc = msg_read_meter(&m, body, len);

    for (size_t i = 0; i < w->n && rc == 0; i++)
        rc = slot_meter(w->slot[i], &m);
    return rc;
}

int agent_work_receive(struct agent_work *w,
                       enum protocol_type type,
                       const uint8_t *body,
                       size_t len)
{
    if (type == MSG_COMMAND)
        return receive_command(w, body, len);
    if (type == MSG_WORK)
        return receive_kind(w, body, len);
    if (type == MSG_FILES)
        return receive_files(w, body, len);
    if (type == MSG_INPUT)
        return receive_input(w, body, len);
    if (type == MSG_SLOTS)
        return receive_slots(w, body, len);
    if (type == MSG_CANCEL)
        return receive_cancel(w, body, len);
    if (type == MSG_RUN)
        return receive_run(w, body, len);
    if (type == MSG_METER)
        return receive_meter(w, body, len);
    if (type == MSG_MEASURED)
        return receive_all_measured(w, body, len);
    if (type == MSG_PORTS)
        return receive_ports(w, body, len);
    return type == MSG_OVER ? receive_program_over(w, body, len) : -1;
}

void agent_work_pause(struct agent_work *w, int on)
{
    w->common.paused = on;
    if (!on)
        start_all(w);
}

int agent_work_directory(struct agent_work *w, const char *step)
{
    char path[STEP_PATH_MAX];

    if (w->environ)
        return 0;
    w->environ = env_list_make(w->setup.environ, NULL, w->directory);
    if (!w->environ)
        return ENOMEM;
    (void)step_dir_path(path, step, ""); /* it was made */
    snprintf(w->directory, sizeof w->directory, "EVENSTEP_DIR=%s", path);
    w->common.environ = w->environ;
    return 0;
}

void agent_work_hold(struct agent_work *w, int on)
{
    for (size_t i = 0; i < w->n; i++)
        slot_hold(w->slot[i], on);
}

int agent_work_busy(const struct agent_work *w)
{
    for (size_t i = 0; i < w->n; i++)
        if (slot_is_busy(w->slot[i]))
            return 1;
    return 0;
}

int agent_work_stop(struct agent_work *w)
{
    if (!w)
        return 0;
    close_input(w);
    task_ports_close(w->common.ports);
    w->common.ports = NULL;
    for (size_t i = 0; i < w->n; i++)
        slot_stop(w->slot[i]);
    return w->common.running > 0;
}

void agent_work_close(struct agent_work *w)
{
    if (!w)
        return;
    destroy_slots(w);
    task_ports_close(w->common.ports);
    close_input(w);
    scratch_close(&w->common.scratch);
    free(w->common.command.argv);
    forget_works(&w->common);
    free(w->common.files.name);
    if (w->common.alone_fd > 0)
        close(w->common.alone_fd);
    free(w->environ);
    free(w);
}

struct agent_work *agent_work_open(const struct agent_work_setup *setup)
{
    struct agent_work *w = calloc(1, sizeof *w);
    struct places all = {.n = 0};

    if (!w)
        return NULL;
    w->setup = *setup;
    w->common = (struct slot_common){.base = setup->base,
                                     .throttle = setup->throttle,
                                     .node = setup->node,
                                     .environ = setup->environ,
                                     .send = slot_send_out,
                                     .gone = on_slot_gone,
                                     .ended = on_slot_ended,
                                     .arg = w};
    if (make_slots(w, &all, 1) == 0)
        return w;
    free(w);
    return NULL;
}
