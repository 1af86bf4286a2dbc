/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/iteration.h"
#include "launcher/base/notice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int iteration_init(struct iteration *it,
                   struct session *session,
                   const struct policy_option *policy,
                   const struct threshold_rule *threshold,
                   const struct metric metric[],
                   const struct profile *profile,
                   struct es_error *err)
{
    size_t n = session_size(session);

    memset(it, 0, sizeof *it);
    it->session = session;
    it->threshold = *threshold;
    it->n = it->missing = n;
    it->completion = calloc(n, sizeof *it->completion);
    it->cut = calloc(n, sizeof *it->cut);
    it->awaited = malloc(n);
    if (!it->completion || !it->cut || !it->awaited)
        return es_no_memory(err);
    memset(it->awaited, 1, n);
    return job_load_adjuster_init(&it->adjuster, policy->kind, policy->value,
                                  metric, profile, n, err);
}

void iteration_clear(struct iteration *it)
{
    job_load_adjuster_clear(&it->adjuster);
    free(it->completion);
    free(it->cut);
    free(it->awaited);
    memset(it, 0, sizeof *it);
}

/* No task gets a slice any more: 0, or an errno that tells why. */
static void end(struct iteration *it, uint32_t error)
{
    const struct msg_over over = {.error = error};

    if (it->over)
        return;
    it->over = 1;
    for (size_t i = 0; i < it->n; i++) {
        struct writer w = {0};

        msg_write_over(&w, &over);
        session_send(it->session, i, MSG_OVER, &w);
    }
}

/* Tasks have waited for their first slice for too long: whose fault is it? */
static void blame(const struct iteration *it)
{
    size_t first = 0;
    char others[40] = "";

    while (first + 1 < it->n && !it->awaited[first])
        first++;
    if (it->missing > 1)
        snprintf(others, sizeof others, " and %zu more", it->missing - 1);
    notice("not every task on %s%s has called evenstep_open() and "
           "evenstep_next(): no task of the step gets a slice; let all call "
           "them, or raise patience in evenstep.conf",
           session_node(it->session, first)->name, others);
}

/* Step 8 of US 8,645,454. */
static void begin_frame(struct iteration *it)
{
    if (it->work.frames > 0 && it->frame == it->work.frames) {
        end(it, 0);
        return;
    }
    /* The loads are the policy's, and nobody has left. */
    (void)shares_cut(0, it->work.units, 1, it->adjuster.load, it->cut, it->n);
    for (size_t i = 0; i < it->n; i++) {
        struct msg_run run = {.id = it->frame,
                              .frame = it->frame,
                              .begin = it->cut[i].begin,
                              .end = it->cut[i].end};
        struct writer w = {0};

        msg_write_run(&w, &run);
        session_send(it->session, i, MSG_RUN, &w);
    }
    memset(it->awaited, 1, it->n);
    it->missing = it->n;
    it->running = 1;
}

/* Steps 10 to 12. */
static void end_frame(struct iteration *it)
{
    const struct completion *c = it->completion;
    double first = 0, last = 0, limit;
    int worked = 0;

    for (size_t i = 0; i < it->n; i++) {
        if (c[i].units == 0)
            continue;
        if (!worked++ || c[i].seconds < first)
            first = c[i].seconds;
        if (c[i].seconds > last)
            last = c[i].seconds;
    }
    limit = threshold_seconds(&it->threshold, &it->noise, c, it->n, 1);
    threshold_feedback(&it->noise, c, it->n);
    (void)it->adjuster.kind->adjust(it->adjuster.state, c, last - first > limit,
                                    it->adjuster.load);
    it->frame++;
}

/* This node's answer is here; is it the last one? */
static int is_last(struct iteration *it, size_t node)
{
    it->awaited[node] = 0;
    it->missing--;
    return it->missing == 0;
}

static void on_idle(struct iteration *it, size_t node, const struct msg_idle *m)
{
    if (it->work.units > 0
        && (m->units != it->work.units || m->frames != it->work.frames)) {
        end(it, EPROTO);
        return;
    }
    it->work = *m;
    if (is_last(it, node))
        begin_frame(it);
}

static void on_done(struct iteration *it, size_t node, const struct msg_done *m)
{
    it->completion[node] = (struct completion){
        .units = it->cut[node].end - it->cut[node].begin,
        .seconds = (double)m->elapsed_ns * 1e-9,
        .presence = PRESENCE_PRESENT,
    };
    if (is_last(it, node)) {
        end_frame(it);
        begin_frame(it);
    }
}

static void on_over(struct iteration *it, uint32_t error)
{
    if (error == ETIMEDOUT && it->running)
        return; /* the first slice was on its way to who has waited */
    if (error == ETIMEDOUT && !it->over)
        blame(it);
    end(it, error);
}

void iteration_message(struct iteration *it,
                       size_t node,
                       uint16_t type,
                       const uint8_t *body,
                       size_t len)
{
    struct msg_idle idle;
    struct msg_done done;
    struct msg_over over;

    if (type == MSG_OVER && msg_read_over(&over, body, len) == 0)
        on_over(it, over.error);
    else if (it->over)
        return;
    else if (type == MSG_IDLE && !it->running && it->awaited[node]
             && msg_read_idle(&idle, body, len) == 0)
        on_idle(it, node, &idle);
    else if (type == MSG_DONE && it->running && it->awaited[node]
             && msg_read_done(&done, body, len) == 0 && done.id == it->frame)
        on_done(it, node, &done);
    else
        session_drop(it->session, node);
}

void iteration_lost(struct iteration *it)
{
    end(it, ECONNABORTED);
}
