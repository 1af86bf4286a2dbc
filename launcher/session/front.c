/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/front.h"
#include "launcher/base/number.h"
#include "launcher/base/paths.h"

#include <event2/event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

int front_begin(struct front *f, struct es_error *err)
{
    f->err = err;
    f->base = event_base_new();
    return f->base ? 0 : es_no_memory(err);
}

static void on_front_signal(void *arg, int number)
{
    struct front *f = arg;

    if (f->over)
        return; /* what ended it is to be told */
    if (number == SIGTERM && f->on_term) {
        int (*on)(void *) = f->on_term;

        f->on_term = NULL;
        if (on(f->term_arg)) {
            signals_forget();
            return;
        }
    }
    f->number = number;
    front_finish(f, es_fail(f->err, ES_WORK, f->left, "%s", strsignal(number))
                        < 0);
}

int front_catch(struct front *f, const char *left)
{
    f->left = left;
    if (signals_catch(&f->signals, f->base, on_front_signal, f) < 0)
        return es_no_memory(f->err);
    signals_end_at_second();
    return 0;
}

void front_on_term(struct front *f, int (*on)(void *arg), void *arg)
{
    f->on_term = on;
    f->term_arg = arg;
}

/* --- the session's events, to the command that has not ended yet ---------- */

static void front_ready(void *arg)
{
    struct front *f = arg;

    if (!f->over)
        f->on->ready(f->arg);
}

static void front_message(
    void *arg, size_t node, uint16_t type, const uint8_t *body, size_t len)
{
    struct front *f = arg;

    if (!f->over)
        f->on->message(f->arg, node, type, body, len);
}

static void front_lost(void *arg, size_t node, const char *why)
{
    struct front *f = arg;

    if (!f->over)
        f->on->lost(f->arg, node, why);
}

static void front_came(void *arg, size_t node)
{
    struct front *f = arg;

    if (!f->over)
        f->on->came(f->arg, node);
}

static void front_returned(void *arg, size_t node)
{
    struct front *f = arg;

    if (!f->over)
        f->on->returned(f->arg, node);
}

static void front_stranded(void *arg)
{
    struct front *f = arg;

    if (!f->over)
        f->on->stranded(f->arg);
}

static void front_failed(void *arg, const struct es_error *err)
{
    struct front *f = arg;

    if (f->over)
        return;
    *f->err = *err;
    if (f->on->failed)
        f->on->failed(f->arg, err);
    front_finish(f, 1);
}

int front_is_alone(int is_local, struct es_error *err)
{
    const char *task = getenv("SLURM_PROCID");
    const char *tasks = getenv("SLURM_STEP_NUM_TASKS");
    int64_t n;

    if (is_local || !task || !tasks
        || number_parse_int(tasks, 2, UINT32_MAX, &n) < 0)
        return 0;
    return es_fail(err, ES_USAGE,
                   "start it without srun, or by one task (srun -n1)",
                   "started by srun as one of %s tasks: each would do all of "
                   "the work",
                   tasks);
}

int front_has_nodes(int is_local, struct es_error *err)
{
    if (is_local || companion_job_from_environ() != 0)
        return 0;
    return es_fail(err, ES_ENV,
                   "run it inside salloc or sbatch, or give --local N",
                   "no allocation");
}

/* PMIx is loaded beside a step that has it anyhow. */
static enum wireup_way choose_way(enum wireup_way way, int beside_a_step)
{
    if (way != WIREUP_AUTO || (beside_a_step && companion_step_has_pmix()))
        return way;
    return WIREUP_TCP;
}

int front_open(struct front *f,
               const struct config *config,
               struct session_setup *setup,
               const struct session_events *on,
               void *arg)
{
    char agent[4096];
    int rc;

    if (!setup->place.job && front_has_nodes(setup->local > 0, f->err) < 0)
        return -1;
    if (path_of_agent(agent, sizeof agent, config->agent_path, f->err) < 0)
        return -1;
    setup->agent_path = agent;
    setup->ports = config->bcast.ports;
    setup->encrypt = config->encrypt;
    setup->timeout_s = (uint32_t)config->timeout_s;
    setup->interfaces = config->bcast.interface;
    setup->wireup = choose_way(config->wireup, setup->place.job != 0);
    /* An srun that has no job around it ends its own with the step. */
    if (!setup->place.job || setup->place.job == companion_job_from_environ())
        setup->linger_s = (uint32_t)config->linger_s;
    f->on = on;
    f->arg = arg;
    f->events = (struct session_events){
        .ready = front_ready,
        .came = front_came,
        .message = front_message,
        .lost = front_lost,
        .returned = on->returned ? front_returned : NULL,
        .stranded = on->stranded ? front_stranded : NULL,
        .failed = front_failed,
    };
    rc = session_open(&f->session, f->base, setup, &f->events, f, f->err);
    setup->agent_path = NULL; /* it was ours */
    return rc;
}

int front_run(struct front *f)
{
    if (!f->over && event_base_dispatch(f->base) < 0)
        front_finish(f, es_fail(f->err, ES_ENV, "report this", "no event loop")
                            < 0);
    return f->failed ? -1 : 0;
}

void front_finish(struct front *f, int failed)
{
    if (f->over)
        return;
    f->over = 1;
    f->failed = failed != 0;
    if (f->base)
        event_base_loopbreak(f->base);
}

void front_close(struct front *f)
{
    session_close(f->session);
    f->session = NULL;
}

void front_end(struct front *f)
{
    signals_release(&f->signals);
    if (f->base)
        event_base_free(f->base);
    f->base = NULL;
    if (f->number)
        signals_die(f->number, f->err);
}
