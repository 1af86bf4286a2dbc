/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_learn.h"
#include "launcher/base/notice.h"
#include "launcher/base/out_file.h"
#include "launcher/base/spool.h"
#include "launcher/graph/graph_text.h"
#include "launcher/session/energy.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Beyond a microsecond it is noise. */
static json_t *json_seconds(double seconds)
{
    return json_real(round(seconds * 1e6) / 1e6);
}

/* --- measured ------------------------------------------------------------- */

int graph_measured_init(struct graph_measured *m,
                        uint32_t tasks,
                        uint32_t files)
{
    m->seconds = calloc(tasks, sizeof *m->seconds);
    m->sent = calloc(files + (size_t)1, sizeof *m->sent);
    m->bytes = calloc(files + (size_t)1, sizeof *m->bytes);
    if (!m->seconds || !m->sent || !m->bytes)
        return -1;
    for (uint32_t v = 0; v < tasks; v++)
        m->seconds[v] = -1;
    for (uint32_t i = 0; i < files; i++)
        m->sent[i] = -1;
    return 0;
}

void graph_measured_clear(struct graph_measured *m)
{
    free(m->seconds);
    free(m->sent);
    free(m->bytes);
    *m = (struct graph_measured){0};
}

void graph_measured_tasks(struct graph_measured *m,
                          const struct graph_state *s,
                          const struct machine *on)
{
    for (uint32_t v = 0; v < s->graph->tasks; v++) {
        double sum = 0;
        int n = 0;

        for (uint32_t i = s->task[v].first; i != GRAPH_NOBODY;
             i = s->place[i].next) {
            const struct place *p = &s->place[i];

            if (p->state != PLACE_DONE)
                continue;
            /* As it is on the fastest node, which the graph's times are of. */
            sum += (double)(p->finish - p->start) / GRAPH_NS_PER_S
                   / (on->kind ? on->kind[p->node].slowness : 1);
            n++;
        }
        if (n > 0)
            m->seconds[v] = sum / n;
    }
}

/* Core seconds of the node's tasks that are done. */
static double busy_seconds(const struct graph_state *s,
                           const struct machine *m,
                           uint32_t node)
{
    double busy = 0;

    for (uint32_t i = 0; i < s->places; i++) {
        const struct place *p = &s->place[i];

        if (p->node == node && p->state == PLACE_DONE)
            busy += (double)(p->finish - p->start) / GRAPH_NS_PER_S
                    * machine_width(m, s->graph, p->task, node);
    }
    return busy;
}

void graph_measured_watts(struct watts *w,
                          const struct graph_state *s,
                          const struct machine *m,
                          const struct energy_watch *e)
{
    for (uint32_t i = 0; e && i < m->processors; i++) {
        const struct energy_view used = energy_view(e, i);
        double busy = busy_seconds(s, m, i);
        double all = machine_cores(m, i) * used.seconds;

        if (used.source != ENERGY_MEASURED && used.source != ENERGY_SLURM)
            continue;
        /* A node without counters, or a run too short for them, says nothing. */
        (void)watts_add(w, used.joules, fmin(busy, all), fmax(all - busy, 0));
    }
}

/* --- evenstep's own ------------------------------------------------------- */

struct learning {
    const struct graph_work *w;
    const struct graph_measured *m;
    double rate;   /* bytes/s of all that was sent; 0: nothing was */
    json_t *index; /* number of a task by its name */
};

/* Of files between nodes; the link of the front end is another. */
static double mean_rate(const struct graph_work *w,
                        const struct graph_measured *m)
{
    double bytes = 0, seconds = 0;

    for (uint32_t i = 0; i < w->files; i++)
        if (m->sent[i] > 0 && w->file[i].maker != GRAPH_NOBODY) {
            bytes += (double)m->bytes[i];
            seconds += m->sent[i];
        }
    return seconds > 0 ? bytes / seconds : 0;
}

/* The task that an identifier in the file means, or GRAPH_NOBODY. */
static uint32_t task_of(const struct learning *l, const json_t *id)
{
    const json_t *v;
    char number[24];

    if (json_is_integer(id)) {
        snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT,
                 json_integer_value(id));
        v = json_object_get(l->index, number);
    } else {
        v = json_is_string(id)
                ? json_object_get(l->index, json_string_value(id))
                : NULL;
    }
    return v ? (uint32_t)json_integer_value(v) : GRAPH_NOBODY;
}

/* Seconds that u's files for v take, or -1 if there are none, or no rate. */
static double edge_seconds(const struct learning *l, uint32_t u, uint32_t v)
{
    const struct graph_work_task *t = &l->w->task[v];
    double sum = -1;

    for (uint32_t i = 0; i < t->inputs; i++) {
        uint32_t f = t->input[i];
        double one = l->m->sent[f];

        if (l->w->file[f].maker != u)
            continue;
        if (one < 0 && l->rate > 0)
            one = (double)l->m->bytes[f] / l->rate;
        if (one < 0)
            return -1;
        sum = (sum < 0 ? 0 : sum) + one;
    }
    return sum;
}

static int learn_own(const struct learning *l, json_t *all)
{
    json_t *tasks = json_object_get(all, "tasks");
    json_t *edges = json_object_get(all, "edges");
    int bad = 0;

    for (uint32_t v = 0; v < l->w->tasks; v++)
        if (l->m->seconds[v] >= 0)
            bad |= json_object_set_new(json_array_get(tasks, v), "time",
                                       json_seconds(l->m->seconds[v]));
    for (size_t i = 0; i < json_array_size(edges); i++) {
        json_t *edge = json_array_get(edges, i);
        uint32_t u = task_of(l, json_object_get(edge, "from"));
        uint32_t v = task_of(l, json_object_get(edge, "to"));
        double seconds =
            u == GRAPH_NOBODY || v == GRAPH_NOBODY ? -1 : edge_seconds(l, u, v);

        if (seconds >= 0)
            bad |= json_object_set_new(edge, "comm", json_seconds(seconds));
    }
    return bad;
}

/* --- WfFormat ------------------------------------------------------------- */

static int learn_wfformat(const struct learning *l, json_t *workflow)
{
    json_t *tasks =
        json_object_get(json_object_get(workflow, "execution"), "tasks");
    json_t *files =
        json_object_get(json_object_get(workflow, "specification"), "files");
    int bad = 0;

    for (size_t i = 0; i < json_array_size(tasks); i++) {
        json_t *task = json_array_get(tasks, i);
        uint32_t v = task_of(l, json_object_get(task, "id"));

        if (v != GRAPH_NOBODY && l->m->seconds[v] >= 0)
            bad |= json_object_set_new(task, "runtimeInSeconds",
                                       json_seconds(l->m->seconds[v]));
    }
    for (uint32_t f = 0; f < l->w->files; f++)
        for (size_t i = 0; i < json_array_size(files); i++) {
            json_t *file = json_array_get(files, i);
            const char *id = json_string_value(json_object_get(file, "id"));

            if (id && strcmp(id, l->w->file[f].name) == 0)
                bad |= json_object_set_new(
                    file, "sizeInBytes",
                    json_integer((json_int_t)l->m->bytes[f]));
        }
    if (l->rate > 0)
        notice("files came at %.3g bytes/s: give --rate %.3g", l->rate,
               l->rate);
    return bad;
}

/* --- the file ------------------------------------------------------------- */

static int write_file(const char *path, const char *text, struct es_error *err)
{
    struct out_file to;
    int rc;

    if (out_file_open(&to, "--learn", path, OUT_UNLOCKED, err) < 0)
        return -1;
    if (write_all(to.fd, text, strlen(text)) == 0)
        return out_file_commit(&to, 1, err);
    rc = es_fail(err, ES_WORK, es_mend_file(errno), "--learn: %s: %s", path,
                 strerror(errno));
    out_file_abandon(&to);
    return rc;
}

static json_t *index_tasks(const struct graph_work *w)
{
    json_t *index = json_object();

    for (uint32_t v = 0; index && v < w->tasks; v++)
        if (json_object_set_new_nocheck(index, w->task[v].name, json_integer(v))
            < 0) {
            json_decref(index);
            return NULL;
        }
    return index;
}

int graph_learn(const char *path,
                const struct graph_work *w,
                const struct graph_measured *m,
                const struct watts *watts,
                struct es_error *err)
{
    struct learning l = {w, m, mean_rate(w, m), index_tasks(w)};
    json_t *all = graph_text_json(path);
    json_t *workflow = json_object_get(all, "workflow");
    char *text = NULL, *line = NULL;
    int rc;

    if (!all || !l.index)
        rc = es_fail(err, ES_WORK, "leave it as it was until the end",
                     "--learn: %s: cannot be read any more", path);
    else if ((workflow ? learn_wfformat(&l, workflow) : learn_own(&l, all))
             || (watts->points > 0 && graph_watts_write(all, watts) < 0))
        rc = es_no_memory(err);
    else {
        text = json_dumps(all, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
        if (!text || asprintf(&line, "%s\n", text) < 0)
            line = NULL;
        rc = line ? write_file(path, line, err) : es_no_memory(err);
    }
    free(text);
    free(line);
    json_decref(l.index);
    json_decref(all);
    return rc;
}
