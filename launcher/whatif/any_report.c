/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/any_report.h"
#include "launcher/base/report_head.h"
#include "launcher/base/text_file.h"
#include "launcher/base/user_file.h"
#include "launcher/whatif/report_file.h"
#include "policy/cost.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- report account ------------------------------------------------------------ */

/* What a report does not tell of a run's costs, worked out
 * from its slices as the run would have: ideal, equal parts, what the rest went
 * to, and each slice's start-up. */

struct working {
    struct report_file *f;
    struct cost *cost;
    struct account *account;
    double *speed, *lag; /* one a node */
    struct cost_terms terms;
};

static void learn(const struct working *w)
{
    for (size_t i = 0; i < w->f->n_slices; i++) {
        const struct report_slice *s = &w->f->slice[i];

        if (s->done && s->seconds > 0)
            cost_add(w->cost, s->node,
                     &(struct cost_part){.units = (double)s->units},
                     &(struct cost_run){.seconds = s->seconds, .cpu = s->cpu});
    }
    cost_fit(w->cost);
}

static void set_startups(const struct working *w)
{
    for (size_t i = 0; i < w->f->n_slices; i++) {
        struct report_slice *s = &w->f->slice[i];

        if (s->startup < 0)
            s->startup = cost_seconds(w->cost, s->node, 0);
        s->startup = fmin(s->startup, s->seconds);
    }
}

/* All nodes of the file may work in each of its frames: where one has died,
 * that is waiting. */
static void weigh(const struct working *w, struct report_frame *frame)
{
    account_clear(w->account);
    for (size_t i = 0; i < frame->n; i++) {
        const struct report_slice *s = &w->f->slice[frame->slice + i];

        account_add(w->account,
                    &(struct account_piece){.node = s->node,
                                            .units = (double)s->units,
                                            .sent = s->start,
                                            .back = s->start + s->seconds,
                                            .seconds = s->seconds,
                                            .counts = s->done});
    }
    frame->account =
        account_close(w->account, &w->terms, w->speed, frame->last);
}

static void work_out(struct working *w)
{
    learn(w);
    w->terms = cost_terms(w->cost);
    for (size_t i = 0; i < w->f->nodes; i++)
        w->speed[i] = cost_speed(w->cost, i);
    for (size_t i = 0; i < w->f->nodes; i++)
        w->lag[i] = cost_lag(w->cost, i);
    account_lag(w->account, w->lag);
    set_startups(w);
    for (size_t i = 0; i < w->f->n; i++)
        if (!w->f->frame[i].is_told)
            weigh(w, &w->f->frame[i]);
}

/* A run is its frames, and waiting between them. */
static void add_up(struct report_file *f)
{
    struct account_result *a = &f->account;

    if (!f->is_told) {
        *a = (struct account_result){.time = 0};
        for (size_t i = 0; i < f->n; i++)
            account_sum(a, &f->frame[i].account);
        if (f->seconds > a->time)
            a->part[ACCOUNT_WAITING] += f->seconds - a->time;
        a->ideal = fmin(a->ideal, f->seconds);
    }
    a->time = f->seconds;
}

/* 0, or -1 if memory ran out. */
static int report_account(struct report_file *f)
{
    struct working w = {.f = f};
    size_t n = f->nodes > 0 ? f->nodes : 1;
    int rc = -1;

    w.cost = cost_create(n, NULL);
    w.account = account_create(n);
    w.speed = calloc(n, sizeof *w.speed);
    w.lag = calloc(n, sizeof *w.lag);
    if (w.cost && w.account && w.speed && w.lag) {
        work_out(&w);
        add_up(f);
        rc = 0;
    }
    cost_destroy(w.cost);
    account_destroy(w.account);
    free(w.speed);
    free(w.lag);
    return rc;
}

/* --- any report ---------------------------------------------------------------- */

static const char *const names[] = {
    [REPORT_RUN] = "run",     [REPORT_STEP] = "step",
    [REPORT_BCAST] = "bcast", [REPORT_PROBE] = "probe",
    [REPORT_GRAPH] = "graph",
};

/* Of the lines after the first. */
static const char *const line_types[] = {
    [REPORT_BCAST] = "node", [REPORT_PROBE] = "node", [REPORT_GRAPH] = "task"};

const char *report_kind_name(enum report_kind kind)
{
    return names[kind];
}

/* The first object of a regular file; NULL if there is none. */
static json_t *first_of(const char *path)
{
    const char *in = user_file_in(path);
    struct stat st;
    FILE *file = NULL;
    json_t *first;

    if (in && stat(in, &st) == 0 && S_ISREG(st.st_mode))
        file = fopen(in, "re");
    if (!file)
        return NULL;
    text_file_skip_mark(file);
    first = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL);
    (void)fclose(file); /* it was only read */
    return first;
}

/* What is none of the others is taken for a run's, whose reader says what is
 * wrong with it. */
static enum report_kind kind_of(const json_t *first)
{
    const char *type = record_text(first, "type");

    for (int k = REPORT_STEP; k <= REPORT_GRAPH; k++)
        if (strcmp(type, names[k]) == 0)
            return (enum report_kind)k;
    return REPORT_RUN;
}

static int read_run(struct any_report *r, struct es_error *err)
{
    if (report_file_read(&r->run, "report", r->path, err) < 0)
        return -1;
    return report_account(&r->run) < 0 ? es_no_memory(err) : 0;
}

int any_report_read(struct any_report *r,
                    const char *path,
                    struct es_error *err)
{
    json_t *first = first_of(path);
    struct es_error why;
    int rc = report_head_check(first, &why);

    *r = (struct any_report){.path = path, .kind = kind_of(first)};
    json_decref(first);
    if (rc < 0)
        return es_fail(err, why.kind, why.mend, "report: %s: %s", path,
                       why.what);
    if (r->kind == REPORT_RUN)
        return read_run(r, err);
    if (r->kind == REPORT_STEP)
        return step_file_read(&r->step, path, err);
    return record_file_read(&r->record, path, line_types[r->kind], err);
}

void any_report_clear(struct any_report *r)
{
    report_file_clear(&r->run);
    step_file_clear(&r->step);
    record_file_clear(&r->record);
}

const json_t *any_report_head(const struct any_report *r)
{
    const json_t *first = r->kind == REPORT_STEP
                              ? json_object_get(r->step.json, "step")
                              : r->record.first;

    return r->kind == REPORT_RUN ? r->run.head
                                 : json_object_get(first, "report");
}
