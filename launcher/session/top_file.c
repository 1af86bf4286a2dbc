/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/top_file.h"
#include "launcher/base/json_member.h"
#include "launcher/base/step_dir.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *top_kind_name(enum top_kind kind)
{
    static const char *const name[TOP_KINDS] = {
        [TOP_STEP] = "step",
        [TOP_RUN] = "run",
        [TOP_BCAST] = "bcast",
        [TOP_GRAPH] = "graph",
    };

    return kind < TOP_KINDS ? name[kind] : "";
}

const char *top_state_name(enum top_state state)
{
    static const char *const name[TOP_STATES] = {
        [TOP_WORKING] = "working", [TOP_IDLE] = "idle",
        [TOP_DONE] = "done",       [TOP_BAD] = "bad",
        [TOP_LEAVING] = "leaving", [TOP_LOST] = "lost",
    };

    return state < TOP_STATES ? name[state] : "";
}

static json_t *node_to_json(const struct steering_view *v)
{
    const struct energy_view *e = &v->energy;
    json_t *json = json_pack(
        "{s:s, s:s, s:I, s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:I, s:s}", "name",
        v->name, "rack", v->rack, "slots", (json_int_t)v->slots, "progress",
        v->progress, "speed", v->speed, "waiting", v->waiting, "skew", v->skew,
        "misuse", (json_int_t)v->misuse, "limit", (json_int_t)v->limit, "floor",
        (json_int_t)v->floor, "ceiling", (json_int_t)v->ceiling, "unit",
        v->unit);

    if (e->source == ENERGY_UNKNOWN)
        return json;
    json =
        json_member(json, "energy", json_string(energy_source_name(e->source)));
    json = json_member(json, "joules", json_real(e->joules));
    return json_member(json, "energy_seconds", json_real(e->seconds));
}

/* To the object of the node. */
static json_t *add_ranks(json_t *json, const struct step_times *t, size_t i)
{
    const struct step_node *n = &t->node[i];
    json_t *ranks;

    if (!json || n->sum.ranks == 0)
        return json;
    ranks = json_pack(
        "{s:f, s:f, s:f, s:f, s:f, s:f}", "n", (double)n->sum.ranks, "useful",
        n->sum.useful / 1e9, "waiting", n->sum.waiting / 1e9, "most",
        n->sum.most / 1e9, "elapsed", n->sum.elapsed / 1e9, "last", n->last);
    if (n->sum.room > 0) {
        ranks = json_member(ranks, "busy", json_real(n->sum.busy / 1e9));
        ranks = json_member(ranks, "room", json_real(n->sum.room / 1e9));
    }
    return json_member(json, "ranks", ranks);
}

/* NULL without memory. */
static json_t *longest_to_json(const struct top_longest *l)
{
    char task[TOP_TASK_MAX];

    snprintf(task, sizeof task, "%s", l->task);
    for (char *at = task; *at; at++)
        if (*at < ' ' || *at > '~')
            *at = '?';
    return json_pack("{s:s, s:s, s:f}", "task", task, "node", l->node,
                     "seconds", l->seconds);
}

/* NULL without memory. */
static json_t *progress_to_json(const struct top_progress *p)
{
    json_t *json = json_pack(
        "{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "frame", p->frame,
        "frames", p->frames, "done", p->done, "all", p->all, "rate", p->rate,
        "left", p->left, "elapsed", p->elapsed, "planned", p->planned,
        "efficiency", p->efficiency, "gain", p->gain);

    if (p->are_tasks)
        json = json_member(json, "failed", json_real(p->failed));
    if (p->are_tasks && p->longest.task[0])
        json = json_member(json, "longest", longest_to_json(&p->longest));
    if (p->is_open)
        json = json_member(json, "open", json_true());
    if (!p->energy[0])
        return json;
    json = json_member(json, "energy", json_string(p->energy));
    json = json_member(json, "joules", json_real(p->joules));
    return json_member(json, "watts", json_real(p->watts));
}

static json_t *part_to_json(const struct top_part *p)
{
    json_t *json =
        json_pack("{s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}",
                  "name", p->name, "state", top_state_name(p->state), "slots",
                  p->slots, "running", p->running, "part", p->part, "done",
                  p->done, "underway", p->underway, "total", p->total, "rate",
                  p->rate, "left", p->left, "waiting", p->waiting);

    return p->why == IDLE_NOT
               ? json
               : json_member(json, "why", json_string(idle_word(p->why)));
}

/* NULL without memory. */
static json_t *parts_to_json(const struct top_view *top)
{
    json_t *list = json_array();

    for (size_t i = 0; i < top->parts; i++)
        if (json_array_append_new(list, part_to_json(&top->part[i])) < 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *nodes_to_json(const struct top_view *top)
{
    json_t *list = json_array();

    for (size_t i = 0; i < top->n; i++) {
        struct steering_view view = top->node(top->from, i);
        json_t *node = node_to_json(&view);

        if (top->times)
            node = add_ranks(node, top->times, i);
        if (top->times && top->times->node[i].is_lost)
            node = json_member(
                node, "lost", json_real(top->times->node[i].sum.elapsed / 1e9));
        if (json_array_append_new(list, node) < 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* The end of a path or of a text, of plain characters only. */
static void plain_what(char out[TOP_WHAT_MAX], const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_./";
    const char *slash = text ? strrchr(text, '/') : NULL;
    size_t n = 0;

    if (slash && slash[1])
        text = slash + 1;
    for (; text && text[n] && n < TOP_WHAT_MAX - 1; n++)
        out[n] = (char)(strchr(plain, text[n]) ? text[n] : '_');
    out[n] = '\0';
}

/* NULL without memory. */
static json_t *view_to_json(const struct top_view *top)
{
    char what[TOP_WHAT_MAX];
    json_t *all;

    plain_what(what, top->what);
    all = json_pack("{s:s, s:s, s:I, s:I, s:I, s:f, s:s, s:s}", "kind",
                    top_kind_name(top->kind), "what", what, "pid",
                    (json_int_t)getpid(), "job", (json_int_t)top->job, "step",
                    (json_int_t)top->step, "skew", top->skew, "meter",
                    top->meter, "aggregate", aggregate_name(top->aggregate));
    all = json_member(all, "nodes", nodes_to_json(top));
    if (top->kind == TOP_STEP) {
        all = json_member(all, "seconds", json_real(top->seconds));
        all = json_member(all, "reason",
                          json_string(top->reason ? top->reason : ""));
    }
    if (top->has_saved)
        all = json_member(all, "joules_saved", json_real(top->saved));
    if (!top->progress)
        return all;
    all = json_member(all, "progress", progress_to_json(top->progress));
    return json_member(all, "parts", parts_to_json(top));
}

int top_file_write(const char *dir, const struct top_view *top)
{
    json_t *all = view_to_json(top);
    char *text = all ? json_dumps(all, JSON_COMPACT) : NULL;
    int why = ENOMEM;

    if (text)
        why = step_dir_put(dir, TOP_FILE, text, strlen(text));
    free(text);
    json_decref(all);
    return why;
}
