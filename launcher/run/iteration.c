/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/iteration.h"
#include "launcher/base/notice.h"
#include "launcher/session/mailing.h"
#include "policy/static.h"

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
                   const char *unfit,
                   struct steering *steering,
                   struct es_error *err)
{
    size_t n = session_size(session);

    memset(it, 0, sizeof *it);
    it->session = session;
    it->metric = metric;
    it->unfit = unfit;
    it->threshold = *threshold;
    it->n = it->missing = n;
    it->completion = calloc(n, sizeof *it->completion);
    it->cut = calloc(n, sizeof *it->cut);
    it->left = calloc(n, sizeof *it->left);
    it->part = calloc(n, sizeof *it->part);
    it->awaited = malloc(n);
    if (!it->completion || !it->cut || !it->left || !it->part || !it->awaited
        || history_init(&it->history, n) < 0
        || (steering && policy->kind != &static_kind
            && turns_init(&it->turns, steering, NULL, n) < 0))
        return es_no_memory(err);
    memset(it->awaited, 1, n);
    if (job_load_adjuster_init(&it->adjuster, policy->kind, policy->value,
                               metric, profile, n, err)
        < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        job_load_adjuster_threads(&it->adjuster, i,
                                  session_node(session, i)->cpus);
    it->adjuster.kind->loads(it->adjuster.state, it->adjuster.load);
    return 0;
}

void iteration_clear(struct iteration *it)
{
    job_load_adjuster_clear(&it->adjuster);
    history_clear(&it->history);
    turns_clear(&it->turns);
    free(it->completion);
    free(it->cut);
    free(it->left);
    free(it->part);
    free(it->awaited);
    memset(it, 0, sizeof *it);
}

static struct writer write_over(uint32_t error)
{
    const struct msg_over over = {.error = error};
    struct writer w = {0};

    msg_write_over(&w, &over);
    return w;
}

static void send_over(const struct iteration *it, size_t node, uint32_t error)
{
    struct writer w = write_over(error);

    session_send(it->session, node, MSG_OVER, &w);
}

/* No task gets a slice any more: 0, or an errno that tells why. */
static void end(struct iteration *it, uint32_t error)
{
    struct writer w;

    if (it->over)
        return;
    it->over = 1;
    it->error = error;
    turns_stop(&it->turns);
    w = write_over(error);
    session_send_all(it->session, MSG_OVER, &w);
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

static int is_unfit(const struct iteration *it, size_t node)
{
    return it->unfit && it->unfit[node];
}

/* Cut these units over the nodes that are there; -1: there are none. */
static int begin_round(struct iteration *it, const struct slice *units)
{
    struct mailing runs;

    it->missing = 0;
    for (size_t i = 0; i < it->n; i++)
        if (is_unfit(it, i))
            it->adjuster.load[i] = 0;
    if (shares_cut(units->begin, units->end, 1, it->adjuster.load, it->cut,
                   it->n)
        < 0)
        return -1;
    it->round++;
    mailing_begin(&runs, it->session, MSG_RUN, 0);
    for (size_t i = 0; i < it->n; i++) {
        struct msg_run run = {.id = it->round,
                              .frame = it->frame,
                              .begin = it->cut[i].begin,
                              .end = it->cut[i].end};
        struct writer w = {0};

        it->awaited[i] = it->part[i] == PART_FULL;
        if (!it->awaited[i])
            continue; /* its load is 0 */
        it->missing++;
        msg_write_run(&w, &run);
        mailing_add(&runs, i, &w);
    }
    mailing_send(&runs);
    mailing_clear(&runs);
    it->running = 1;
    return 0;
}

/* Those that are back, with what they were measured to be. */
static int take_back(struct iteration *it)
{
    for (size_t i = 0; i < it->n; i++) {
        if (it->part[i] != PART_BACK)
            continue;
        if (job_load_adjuster_join(&it->adjuster, i, it->metric, NULL) < 0)
            return -1;
        if (it->adjuster.kind->bundles) /* it has a size, and no load yet */
            (void)it->adjuster.kind->adjust(it->adjuster.state, it->completion,
                                            1, it->adjuster.load);
        it->part[i] = PART_FULL;
        turns_back(&it->turns);
    }
    return 0;
}

/* Step 8 of US 8,645,454. */
static void begin_frame(struct iteration *it)
{
    const struct slice all = {0, it->work.units};

    if (it->work.frames > 0 && it->frame == it->work.frames) {
        end(it, 0);
        return;
    }
    for (size_t i = 0; i < it->n; i++)
        it->completion[i] = (struct completion){
            .presence = it->part[i] == PART_LOST || is_unfit(it, i)
                            ? PRESENCE_GONE
                            : PRESENCE_PRESENT};
    if (it->work.frames != 1) /* else there is no other one to cut */
        turns_begin(&it->turns);
    if (take_back(it) < 0 || begin_round(it, &all) < 0)
        end(it, ECONNABORTED);
}

/* As with the limits of the start; 1 if the work stays as it is cut. */
static int take_turns(struct iteration *it)
{
    struct completion *c = it->completion;
    int stays;

    if (it->turns.n == 0)
        return 0;
    for (size_t i = 0; i < it->n; i++)
        it->turns.part[i] = (struct handover_node){c[i].units, c[i].seconds};
    stays = turns_end(&it->turns);
    for (size_t i = 0; i < it->n; i++)
        c[i].seconds = it->turns.part[i].seconds;
    return stays;
}

/* Steps 10 to 12. */
static void end_frame(struct iteration *it)
{
    const struct completion *c = it->completion;
    double first = 0, last = 0, limit;
    int worked = 0, stays = take_turns(it);

    for (size_t i = 0; i < it->n; i++) {
        if (c[i].units == 0)
            continue;
        history_add(&it->history, i, (double)c[i].units, c[i].seconds);
        if (!worked++ || c[i].seconds < first)
            first = c[i].seconds;
        if (c[i].seconds > last)
            last = c[i].seconds;
    }
    limit = threshold_seconds(&it->threshold, &it->noise, c, it->n, 1);
    threshold_feedback(&it->noise, c, it->n);
    (void)it->adjuster.kind->adjust(it->adjuster.state, c,
                                    !stays && last - first > limit,
                                    it->adjuster.load);
    it->frame++;
}

/* All that are there have answered. */
static void go_on(struct iteration *it)
{
    if (it->running && it->n_left > 0) {
        const struct slice units = it->left[--it->n_left];

        if (begin_round(it, &units) < 0)
            end(it, ECONNABORTED);
        return;
    }
    if (it->running)
        end_frame(it);
    begin_frame(it);
}

/* This node's answer is here, or will not come. */
static void answered(struct iteration *it, size_t node)
{
    it->awaited[node] = 0;
    it->missing--;
    if (it->missing == 0 && !it->over)
        go_on(it);
}

/* --- nodes come and go ---------------------------------------------------- */

/* The first IDLE of all tells whether the program survives it. */
static int is_the_end(const struct iteration *it)
{
    size_t lost = 0;

    for (size_t i = 0; i < it->n; i++)
        lost += it->part[i] == PART_LOST;
    return lost == it->n
           || (lost > 0 && it->work.units > 0 && !it->work.survives);
}

void iteration_lost(struct iteration *it, size_t node)
{
    int was_there = it->part[node] == PART_FULL;
    const struct slice *had = &it->cut[node];

    it->part[node] = PART_LOST;
    turns_back(&it->turns);
    it->completion[node] = (struct completion){.presence = PRESENCE_GONE};
    if (is_the_end(it))
        end(it, ECONNABORTED);
    if (it->over || !was_there)
        return;
    it->adjuster.load[node] = 0; /* also of what follows in this frame */
    if (it->awaited[node] && it->running && had->end > had->begin)
        it->left[it->n_left++] = *had;
    if (it->awaited[node])
        answered(it, node);
}

void iteration_returned(struct iteration *it, size_t node)
{
    if (it->over)
        send_over(it, node, it->error);
}

/* --- what nodes say ------------------------------------------------------- */

static void on_idle(struct iteration *it, size_t node, const struct msg_idle *m)
{
    if (it->work.units > 0
        && (m->units != it->work.units || m->frames != it->work.frames
            || m->survives != it->work.survives)) {
        end(it, EPROTO);
        return;
    }
    it->work = *m;
    if (it->part[node] == PART_LOST)
        it->part[node] = PART_BACK;
    if (is_the_end(it))
        end(it, ECONNABORTED);
    else if (it->awaited[node])
        answered(it, node);
}

static void on_done(struct iteration *it, size_t node, const struct msg_done *m)
{
    struct completion *c = &it->completion[node];

    c->units += it->cut[node].end - it->cut[node].begin;
    c->seconds += (double)m->elapsed_ns * 1e-9;
    answered(it, node);
}

/* Where a task has failed alone, its node's others are told, and the rest goes
 * on without. */
static void on_failed(struct iteration *it, size_t node, uint32_t error)
{
    if (!it->work.survives || it->over) {
        end(it, error);
        return;
    }
    notice("%s: a task has ended in the middle: the other nodes do its part",
           session_node(it->session, node)->name);
    send_over(it, node, error);
    iteration_lost(it, node);
}

static void on_over(struct iteration *it, size_t node, uint32_t error)
{
    if (it->part[node] == PART_LOST && it->work.survives)
        return; /* its others end, too */
    if (error == ETIMEDOUT && it->running)
        return; /* the first slice was on its way to who has waited */
    if (error == ETIMEDOUT && !it->over)
        blame(it);
    if (error == ECONNABORTED)
        on_failed(it, node, error);
    else
        end(it, error);
}

/* Before the first frame, or of a node that was lost. */
static int is_expected(const struct iteration *it, size_t node)
{
    return (!it->running && it->awaited[node]) || it->part[node] == PART_LOST;
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
        on_over(it, node, over.error);
    else if (it->over)
        return;
    else if (type == MSG_IDLE && is_expected(it, node)
             && msg_read_idle(&idle, body, len) == 0)
        on_idle(it, node, &idle);
    else if (type == MSG_DONE && it->running && it->awaited[node]
             && msg_read_done(&done, body, len) == 0 && done.id == it->round)
        on_done(it, node, &done);
    else
        session_drop(it->session, node);
}
