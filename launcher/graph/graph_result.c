/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_result.h"
#include "launcher/base/json_member.h"
#include "launcher/base/plain_text.h"
#include "launcher/base/report_head.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double seconds(int64_t ns)
{
    return round((double)ns / 1e3) / 1e6;
}

/* Add up how the run was, as schedule.h does for a plan. */
static int add_up(const struct graph_result *r, struct schedule_sum *sum)
{
    const struct graph_state *s = r->state;
    const struct power *w = &r->machine->power;
    uint8_t *used = calloc(s->nodes, 1);
    double busy = 0, cores = 0, span;

    *sum = (struct schedule_sum){0};
    if (!used)
        return -1;
    for (uint32_t i = 0; i < s->places; i++) {
        const struct place *p = &s->place[i];

        if (p->state != PLACE_DONE)
            continue;
        sum->processors += !used[p->node];
        cores += used[p->node] ? 0 : machine_cores(r->machine, p->node);
        used[p->node] = 1;
        busy += (double)(p->finish - p->start) / GRAPH_NS_PER_S
                * machine_width(r->machine, s->graph, p->task, p->node);
        if (p->finish > sum->makespan)
            sum->makespan = p->finish;
    }
    free(used);
    span = (double)sum->makespan / GRAPH_NS_PER_S;
    sum->energy.busy = w->busy * busy;
    sum->energy.idle = w->idle * fmax(0, cores * span - busy);
    sum->energy.base = w->base * sum->processors * span;
    sum->energy.comm = w->link * r->messages_s;
    sum->energy.total = sum->energy.busy + sum->energy.idle + sum->energy.base
                        + sum->energy.comm;
    return 0;
}

/* What the nodes have used, by what counts or measures it; the model has its own
 * figure. */
static int is_measured(const struct graph_result *r, struct energy_view *used)
{
    if (!r->energy)
        return 0;
    *used = energy_sum(r->energy);
    return used->source == ENERGY_MEASURED || used->source == ENERGY_SLURM;
}

/* --- JSON ----------------------------------------------------------------- */

static json_t *json_sum(const struct schedule_sum *s)
{
    return json_pack("{s:f,s:i,s:{s:f,s:f,s:f,s:f,s:f}}", "makespan",
                     seconds(s->makespan), "processors", (int)s->processors,
                     "energy", "busy", s->energy.busy, "idle", s->energy.idle,
                     "base", s->energy.base, "comm", s->energy.comm, "total",
                     s->energy.total);
}

static json_t *json_used(const struct energy_view *used)
{
    return json_pack("{s:f,s:f,s:s}", "joules", used->joules, "watts",
                     used->joules / used->seconds, "source",
                     energy_source_name(used->source));
}

/* What a core draws, by all counters so far; only where this run has any. */
static json_t *json_fitted(const struct watts *w)
{
    double busy, idle;

    return watts_fit(w, &busy, &idle) == 0
               ? json_pack("{s:f,s:f,s:i}", "busy", busy, "idle", idle,
                           "points", (int)w->points)
               : json_null();
}

static json_t *json_instance(const struct graph_result *r,
                             const struct place *p)
{
    return json_pack("{s:O,s:i,s:s,s:i,s:f,s:f,s:f,s:f}", "task",
                     json_array_get(r->f->ids, p->task), "processor",
                     (int)p->node, "node",
                     session_node(r->session, p->node)->name, "core",
                     (int)p->core, "planned_start", seconds(p->planned_start),
                     "planned_finish", seconds(p->planned_finish), "start",
                     seconds(p->start), "finish", seconds(p->finish));
}

static json_t *json_instances(const struct graph_result *r)
{
    const struct graph_state *s = r->state;
    json_t *all = json_array();

    for (uint32_t i = 0; all && i < s->places; i++) {
        const struct place *p = &s->place[i];

        if (p->state != PLACE_DONE)
            continue;
        if (json_array_append_new(all, json_instance(r, p)) < 0) {
            json_decref(all);
            return NULL;
        }
    }
    return all;
}

static int print_json(FILE *out,
                      const struct graph_result *r,
                      const struct schedule_sum *was)
{
    json_t *all =
        json_pack("{s:o,s:o,s:o}", "planned", json_sum(r->planned), "real",
                  json_sum(was), "instances", json_instances(r));
    struct energy_view used;
    int rc;

    if (is_measured(r, &used))
        all = json_member(json_member(all, "used", json_used(&used)), "watts",
                          json_fitted(r->watts));
    rc =
        all ? json_dumpf(all, out, JSON_COMPACT | JSON_REAL_PRECISION(12)) : -1;

    json_decref(all);
    return rc < 0 || putc('\n', out) < 0 ? -1 : 0;
}

/* --- text ----------------------------------------------------------------- */

static int print_instance(FILE *out,
                          const struct graph_result *r,
                          const struct place *p)
{
    char *task = plain_text_new(r->state->work->task[p->task].name);

    if (!task)
        return -1;
    fprintf(out, "%-24s %-12s %4u %12.6f %12.6f %12.6f %12.6f\n", task,
            session_node(r->session, p->node)->name, p->core,
            seconds(p->planned_start), seconds(p->planned_finish),
            seconds(p->start), seconds(p->finish));
    free(task);
    return 0;
}

static void print_fitted(FILE *out, const struct graph_result *r)
{
    const struct power *p = &r->machine->power;
    double busy, idle;

    if (watts_fit(r->watts, &busy, &idle) == 0)
        fprintf(out,
                "so a core draws %.3g W at work and %.3g W idle; planned with "
                "%.3g W and %.3g W\n",
                busy, idle, p->busy, p->idle);
}

static int print_text(FILE *out,
                      const struct graph_result *r,
                      const struct schedule_sum *was)
{
    double planned = seconds(r->planned->makespan);
    double took = seconds(was->makespan);
    struct energy_view used;
    char text[ENERGY_TEXT];

    fprintf(out, "%-24s %-12s %4s %12s %12s %12s %12s\n", "task", "node",
            "core", "planned s", "to", "real s", "to");
    for (uint32_t i = 0; i < r->state->places; i++)
        if (r->state->place[i].state == PLACE_DONE
            && print_instance(out, r, &r->state->place[i]) < 0)
            return -1;
    fprintf(out,
            "planned %.3f s, %.1f J on %u nodes; took %.3f s (%+.1f %%), "
            "%.1f J on %u nodes\n",
            planned, r->planned->energy.total, r->planned->processors, took,
            planned > 0 ? (took / planned - 1) * 100 : 0, was->energy.total,
            was->processors);
    if (is_measured(r, &used)) {
        energy_used_text(text, &used);
        fprintf(out, "its nodes have used %s\n", text);
        print_fitted(out, r);
    }
    return ferror(out) ? -1 : 0;
}

int graph_result_print(FILE *out, const struct graph_result *r, int json)
{
    struct schedule_sum was;

    if (add_up(r, &was) < 0)
        return -1;
    return json ? print_json(out, r, &was) : print_text(out, r, &was);
}

/* --- a report ------------------------------------------------------------- */

static json_t *report_sums(const struct graph_result *r,
                           const struct schedule_sum *was)
{
    uint32_t job, step;
    struct energy_view used;
    json_t *line = json_pack("{s:s,s:o,s:o}", "type", "graph", "planned",
                             json_sum(r->planned), "real", json_sum(was));

    if (is_measured(r, &used))
        line = json_member(line, "used", json_used(&used));
    session_job(r->session, &job, &step);
    return json_member(line, "report", report_head("graph", job, step));
}

static json_t *report_task(const struct graph_result *r, const struct place *p)
{
    json_t *line = json_instance(r, p);

    line = json_member(line, "type", json_string("task"));
    return json_member(line, "name",
                       json_text(r->state->work->task[p->task].name));
}

int graph_result_report(struct report_out *out,
                        const struct graph_result *r,
                        struct es_error *err)
{
    const struct graph_state *s = r->state;
    struct schedule_sum was;
    int rc;

    if (!out->file)
        return 0;
    if (add_up(r, &was) < 0)
        return es_no_memory(err);
    rc = report_out_line(out, report_sums(r, &was), err);
    for (uint32_t i = 0; rc == 0 && i < s->places; i++)
        if (s->place[i].state == PLACE_DONE)
            rc = report_out_line(out, report_task(r, &s->place[i]), err);
    return rc;
}
