/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A rule waits for the rules that make its inputs.  Its time is in Makeflow's
 * log, under its first output or its number.  Names are texts, or objects whose
 * dag_name counts outside of the rule.
 */
#include "launcher/graph/graph_guess.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACE_MAX 64
#define MEGABYTE  1048576.0

struct makeflow {
    struct graph_draft *d;
    const struct graph_reading *how;
    const json_t *rules, *categories;
    json_t *makers, *kinds; /* rule by file; number by category or program */
    uint32_t *stamp;        /* by rule: the last one that waits for it, and 1 */
    struct graph_timing timing;
    struct es_error *err;
};

static int bad(const struct makeflow *m,
               const char *place,
               const char *mend,
               const char *what)
{
    return draft_fail(m->d, place, mend, what, m->err);
}

static const char *file_name(const json_t *file)
{
    if (json_is_object(file))
        file = json_object_get(file, "dag_name");
    return json_string_value(file);
}

/* --- tasks ---------------------------------------------------------------- */

/* Where tasks that take alike: its category, or its program. */
static int number_kind(struct makeflow *m, uint32_t v, const json_t *rule)
{
    const char *name = json_string_value(json_object_get(rule, "category"));
    const char *command = json_string_value(json_object_get(rule, "command"));
    char program[PLACE_MAX];
    json_t *number;

    if (!name) {
        snprintf(program, sizeof program, "%.*s",
                 (int)strcspn(command ? command : "", " \t"),
                 command ? command : "");
        name = program;
    }
    number = json_object_get(m->kinds, name);
    if (!number) {
        number = json_integer((json_int_t)json_object_size(m->kinds));
        /* A name that was cut within a letter is one of no kind. */
        if (json_object_set_new(m->kinds, name, number) < 0)
            return 0;
    }
    m->timing.kind[v] = (uint32_t)json_integer_value(number);
    return 0;
}

/* Of the rule, or of its category. */
static const json_t *resources_of(const struct makeflow *m, const json_t *rule)
{
    const json_t *own = json_object_get(rule, "resources");
    const char *category = json_string_value(json_object_get(rule, "category"));

    if (own || !category)
        return own;
    return json_object_get(json_object_get(m->categories, category),
                           "resources");
}

static void find_time(struct makeflow *m, uint32_t v, const char *output)
{
    struct graph_time *row = NULL;
    char number[24];

    if (!m->how->times)
        return;
    snprintf(number, sizeof number, "#%u", v);
    if (output)
        row = graph_times_find(m->how->times, output);
    if (!row)
        row = graph_times_find(m->how->times, number);
    if (!row)
        return;
    row->is_used = 1;
    m->timing.seconds[v] = row->seconds;
}

static int add_maker(struct makeflow *m,
                     const char *place,
                     uint32_t v,
                     const json_t *outputs)
{
    for (size_t i = 0; i < json_array_size(outputs); i++) {
        const char *name = file_name(json_array_get(outputs, i));

        if (!name)
            return bad(m, place, "give names in outputs", "no name of a file");
        if (json_object_get(m->makers, name))
            return bad(m, place, "let one rule make it",
                       "another rule makes one of its outputs, too");
        if (json_object_set_new(m->makers, name, json_integer(v)) < 0)
            return es_no_memory(m->err);
    }
    return 0;
}

static int read_rule(struct makeflow *m, uint32_t v, const json_t *rule)
{
    const json_t *outputs = json_object_get(rule, "outputs");
    const json_t *resources = resources_of(m, rule);
    const char *output = file_name(json_array_get(outputs, 0));
    char place[PLACE_MAX], number[24];
    json_t *id;
    int rc;

    snprintf(place, sizeof place, "rules[%u]", v);
    snprintf(number, sizeof number, "rule %u", v);
    if (!json_is_object(rule))
        return bad(m, place, "give its command, inputs and outputs", "no rule");
    if (json_object_get(rule, "workflow"))
        return bad(m, place, "give its rules here",
                   "a workflow within a workflow");
    id = json_string(output ? output : number);
    rc = draft_task(m->d, place, id, 0, m->err);
    json_decref(id);
    if (rc < 0
        || draft_need(
               m->d, place,
               json_number_value(json_object_get(resources, "cores")),
               MEGABYTE
                   * json_number_value(json_object_get(resources, "memory")),
               m->err)
               < 0
        || add_maker(m, place, v, outputs) < 0)
        return -1;
    find_time(m, v, output);
    return number_kind(m, v, rule);
}

/* --- edges ---------------------------------------------------------------- */

static int read_inputs(struct makeflow *m, uint32_t v, const json_t *inputs)
{
    char place[PLACE_MAX];

    snprintf(place, sizeof place, "rules[%u].inputs", v);
    for (size_t i = 0; i < json_array_size(inputs); i++) {
        const char *name = file_name(json_array_get(inputs, i));
        const json_t *maker = name ? json_object_get(m->makers, name) : NULL;
        uint32_t u;

        if (!name)
            return bad(m, place, "give names", "no name of a file");
        if (!maker)
            continue; /* the user's */
        u = (uint32_t)json_integer_value(maker);
        if (m->stamp[u] == v + 1)
            continue;
        m->stamp[u] = v + 1;
        if (draft_edge(m->d, place, u, v, 0, m->err) < 0)
            return -1;
    }
    return 0;
}

/* --- all ------------------------------------------------------------------ */

static int read_all(struct makeflow *m)
{
    size_t n = json_array_size(m->rules);

    if (!json_is_array(m->rules))
        return bad(m, "rules", "give a list, as jx2json makes it", "no list");
    if (n > GRAPH_TASKS_MAX)
        return bad(m, "rules", "give at most 1048576", "too many");
    m->stamp = calloc(n + 1, sizeof *m->stamp);
    if (!m->stamp || !m->makers || !m->kinds
        || graph_timing_init(&m->timing, (uint32_t)n) < 0)
        return es_no_memory(m->err);
    for (uint32_t v = 0; v < n; v++)
        if (read_rule(m, v, json_array_get(m->rules, v)) < 0)
            return -1;
    for (uint32_t v = 0; v < n; v++)
        if (read_inputs(m, v,
                        json_object_get(json_array_get(m->rules, v), "inputs"))
            < 0)
            return -1;
    m->timing.kinds = (uint32_t)json_object_size(m->kinds) + 1;
    return graph_guess(m->d, &m->timing, m->how, m->err);
}

int graph_read_makeflow(struct graph_draft *d,
                        const json_t *all,
                        const struct graph_reading *how,
                        struct es_error *err)
{
    struct makeflow m = {
        .d = d,
        .how = how,
        .rules = json_object_get(all, "rules"),
        .categories = json_object_get(all, "categories"),
        .makers = json_object(),
        .kinds = json_object(),
        .err = err,
    };
    int rc;

    d->understood.format = "Makeflow's JSON";
    rc = read_all(&m);
    json_decref(m.makers);
    json_decref(m.kinds);
    free(m.stamp);
    graph_timing_clear(&m.timing);
    return rc;
}
