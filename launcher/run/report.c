/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/report.h"
#include "launcher/base/json_member.h"
#include "launcher/base/report_head.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

int report_open(struct report *r, const char *path, struct es_error *err)
{
    memset(r, 0, sizeof *r);
    if (report_out_open(&r->out, path, err) < 0)
        return -1;
    r->head = r->out.file ? report_head("run", 0, 0) : NULL;
    return 0;
}

void report_nodes(struct report *r,
                  uint32_t job,
                  uint32_t step,
                  const char *command,
                  json_t *nodes)
{
    json_decref(r->head);
    r->head = r->out.file ? report_head("run", job, step) : NULL;
    if (r->head)
        r->head = json_member(r->head, "command", json_text(command));
    if (r->head && nodes)
        r->head = json_member(r->head, "nodes", json_incref(nodes));
    json_decref(nodes);
}

void report_costs_before(struct report *r, json_t *costs)
{
    json_decref(r->costs_before);
    r->costs_before = costs;
}

/* Takes over line. */
static int write_line(struct report *r, json_t *line, struct es_error *err)
{
    if (r->head)
        line = json_member(line, "report", r->head);
    r->head = NULL;
    return report_out_line(&r->out, line, err);
}

static json_t *slice_json(const struct distribution *d,
                          const struct run_account *account,
                          const struct piece *p)
{
    const struct slots *slots = distribution_slots(d);
    const struct dispatch_piece *part = &p->part;
    int is_done = part->state == PIECE_DONE;
    double start = run_account_start(account, part->node);
    json_t *slice = json_pack(
        "{s:s, s:I, s:I, s:f, s:f, s:f, s:f, s:i, s:i}", "node",
        distribution_name(d, part->node), "begin",
        (json_int_t)part->units.begin, "end", (json_int_t)part->units.end,
        "seconds", part->seconds, "start", fmin(start, part->seconds), "sent",
        part->sent, "back", part->back, "attempt", (int)part->attempt, "status",
        p->status);

    if (slots_of(slots, slots->node[part->node]) > 1)
        slice = json_member(slice, "slot",
                            json_integer(slots_number(slots, part->node)));
    if (part->cpu > 0)
        slice = json_member(slice, "cpu", json_real(part->cpu));
    if (is_done != (p->status == 0)) /* as --ok-status says */
        slice = json_member(slice, "ok", json_boolean(is_done));
    if (p->signal)
        slice = json_member(slice, "signal", json_integer(p->signal));
    if (part->has_twin)
        slice = json_member(slice, "twice", json_true());
    if (part->is_beaten)
        slice = json_member(slice, "beaten", json_true());
    if (part->state == PIECE_LEFT_OUT)
        slice = json_member(slice, "left_out", json_true());
    return slice;
}

/* NULL if memory ran out. */
static json_t *slices_json(struct distribution *d,
                           const struct run_account *account)
{
    json_t *slices = json_array();
    size_t n;
    const struct piece *piece = distribution_pieces(d, &n);

    for (size_t i = 0; slices && i < n; i++)
        if (json_array_append_new(slices, slice_json(d, account, &piece[i]))
            < 0) {
            json_decref(slices);
            slices = NULL;
        }
    return slices;
}

/* Nodes that have done nothing of the frame, and why; a seat that nobody has had is
 * none. */
static json_t *with_idle(json_t *line, const struct distribution *d)
{
    const struct slots *slots = distribution_slots(d);
    json_t *list = json_array();

    for (size_t i = 0; list && i < slots->nodes; i++) {
        enum idle_reason why = distribution_idle(d, i);
        const char *name = distribution_node(d, i);

        if (why != IDLE_NOT && name[0]
            && json_array_append_new(list, json_pack("{s:s, s:s}", "node", name,
                                                     "why", idle_word(why)))
                   < 0) {
            json_decref(list);
            list = NULL;
        }
    }
    if (json_array_size(list) > 0 || !list)
        return json_member(line, "idle", list);
    json_decref(list);
    return line;
}

/* The first line has what no other does. */
static json_t *with_costs_before(struct report *r, json_t *line)
{
    json_t *costs = r->costs_before;

    r->costs_before = NULL;
    return costs ? json_member(line, "costs_before", costs) : line;
}

static json_t *meter_json(const struct steering_view *v)
{
    json_t *line =
        json_pack("{s:s, s:f, s:f, s:f}", "node", v->name, "progress",
                  v->progress, "speed", v->speed, "waiting", v->waiting);

    if (!v->unit[0])
        return line;
    line = json_member(line, "limit", json_integer((json_int_t)v->limit));
    line = json_member(line, "floor", json_integer((json_int_t)v->floor));
    line = json_member(line, "ceiling", json_integer((json_int_t)v->ceiling));
    return json_member(line, "unit", json_string(v->unit));
}

/* How far the nodes are, and what limits they have. */
static json_t *with_meters(json_t *line, const struct top_view *top)
{
    json_t *list = json_array();

    for (size_t i = 0; list && i < top->n; i++) {
        struct steering_view v = top->node(top->from, i);

        if (json_array_append_new(list, meter_json(&v)) < 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return json_member(line, "meters", list);
}

json_t *report_with_account(json_t *line, const struct account_result *r)
{
    json_t *rest = json_object();
    double efficiency = account_efficiency(r);

    for (enum account_part i = 0; i < ACCOUNT_PARTS; i++)
        rest = json_member(rest, account_name(i), json_real(r->part[i]));
    line = json_member(line, "efficiency",
                       efficiency < 0 ? json_null() : json_real(efficiency));
    line = json_member(line, "ideal", json_real(r->ideal));
    line = json_member(line, "equal_parts", json_real(r->equal));
    return json_member(line, "rest", rest);
}

int report_frame(struct report *r,
                 struct distribution *d,
                 const struct determination *t,
                 const struct run_account *account,
                 int adjusted,
                 uint64_t left_out,
                 struct es_error *err)
{
    const struct dispatch *held = distribution_dispatch(d);
    json_t *line;

    if (!r->out.file)
        return 0;
    left_out += dispatch_left_out(held);
    line = json_pack("{s:s, s:I, s:f, s:o, s:f, s:f, s:b, s:b, s:I}", "type",
                     "frame", "frame",
                     (json_int_t)distribution_frame(d)->number, "began",
                     distribution_began(d), "slices", slices_json(d, account),
                     "first", t->first, "last", t->last, "adjusted", adjusted,
                     "complete", left_out == 0 && dispatch_left(held) == 0,
                     "left_out", (json_int_t)left_out);
    if (distribution_frame(d)->work[0])
        line =
            json_member(line, "work", json_string(distribution_frame(d)->work));
    line = with_idle(with_costs_before(r, line), d);
    if (r->energy)
        line = run_energy_frame(r->energy, line);
    if (r->meters && r->meters->n > 0)
        line = with_meters(line, r->meters);
    return write_line(r, report_with_account(line, &account->last), err);
}

int report_summary(struct report *r,
                   const struct summary *s,
                   struct es_error *err)
{
    json_t *line;

    if (!r->out.file)
        return 0;
    line = json_pack("{s:s, s:s, s:I, s:I, s:f, s:s, s:s, s:s}", "type",
                     "summary", "status", s->status, "left_out",
                     (json_int_t)s->left_out, "frames", (json_int_t)s->frames,
                     "seconds", s->seconds, "policy", s->policy, "rank_by",
                     rank_by_name(s->rank_by), "elements", s->elements);
    if (r->energy)
        line = run_energy_sum(r->energy, line);
    return write_line(r, report_with_account(line, &s->account), err);
}

int report_close(struct report *r, struct es_error *err)
{
    json_decref(r->head);
    json_decref(r->costs_before);
    r->head = r->costs_before = NULL;
    return report_out_close(&r->out, err);
}
