/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/step_tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct step_tasks {
    struct feeder *feeder;
    step_tasks_say_fn say;
    void *arg;
    int busy; /* a slice is out, or its DONE waits for all to ask */
    int done; /* that DONE */
    struct feeder_result result;
};

/* A frame ends when its tasks are ready for the next one: what they do between
 * the two is nobody's time. */
static void on_idle(void *arg, const struct msg_idle *idle)
{
    struct step_tasks *t = arg;
    struct writer w = {0};

    if (t->done) {
        struct msg_done done = {.id = t->result.id,
                                .elapsed_ns = (uint64_t)t->result.elapsed_ns};

        t->done = t->busy = 0;
        msg_write_done(&w, &done);
        t->say(t->arg, MSG_DONE, &w);
    } else {
        msg_write_idle(&w, idle);
        t->say(t->arg, MSG_IDLE, &w);
    }
}

static void on_done(void *arg, const struct feeder_result *result)
{
    struct step_tasks *t = arg;

    t->done = 1;
    t->result = *result;
}

static void on_left(void *arg, const char *why, int culprit)
{
    struct step_tasks *t = arg;
    struct msg_over over = {0};
    struct writer w = {0};

    (void)culprit; /* the others' fate is the same, and Slurm sees to its */
    if (why)
        over =
            (struct msg_over){ECONNABORTED, (const uint8_t *)why, strlen(why)};
    msg_write_over(&w, &over);
    t->say(t->arg, MSG_OVER, &w);
}

static const struct feeder_events events = {
    .idle = on_idle,
    .done = on_done,
    .left = on_left,
};

int step_tasks_open(struct step_tasks **t,
                    struct event_base *base,
                    const char *step,
                    uint32_t n,
                    step_tasks_say_fn say,
                    void *arg,
                    struct es_error *err)
{
    struct step_tasks *new = calloc(1, sizeof *new);

    if (!new)
        return es_fail(err, ES_ENV, "free some memory", "out of memory");
    new->say = say;
    new->arg = arg;
    if (feeder_open(&new->feeder, base, step, n, &events, new, err) < 0) {
        free(new);
        return -1;
    }
    *t = new;
    return 0;
}

int step_tasks_run(struct step_tasks *t, const struct msg_run *run)
{
    if (t->busy)
        return -1;
    t->busy = 1;
    feeder_give(t->feeder, run);
    return 0;
}

void step_tasks_over(struct step_tasks *t, const struct msg_over *over)
{
    feeder_end(t->feeder, over->error);
}

void step_tasks_close(struct step_tasks *t)
{
    if (!t)
        return;
    feeder_end(t->feeder, ECONNABORTED); /* else it has been said */
    feeder_close(t->feeder);
    free(t);
}
