/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe/probe_json.h"

#include <stdio.h>
#include <string.h>

/* Text that is not UTF-8, as a directory's name may be, is left out. */
static json_t *text_to_json(const char *text)
{
    json_t *json = json_string(text);

    return json ? json : json_string("(not in UTF-8)");
}

/* Of GPUs only; null if it was not measured, or there is none. */
static json_t *compute_to_json(enum element e, const struct probe_result *r)
{
    if (e != ELEMENT_G)
        return NULL;
    return r->compute > 0 ? json_real(r->compute) : json_null();
}

static json_t *element_to_json(enum element e, const struct probe_result *r)
{
    json_t *value =
        r->state == PROBE_MEASURED ? json_real(r->value) : json_null();

    return json_pack(
        "{s:o, s:o, s:o, s:f, s:f, s:I, s:I, s:o, s:s*, s:o*, s:o*}", "name",
        text_to_json(probe_name(r, e)), "unit", text_to_json(probe_unit(r, e)),
        "value", value, "spread", r->spread, "seconds", r->seconds, "count",
        (json_int_t)r->count, "capacity_bytes", (json_int_t)r->capacity_bytes,
        "what", text_to_json(r->what), "better", r->less ? "less" : NULL,
        "between", r->between ? json_true() : NULL, "compute",
        compute_to_json(e, r));
}

json_t *probe_to_json(const struct probe_result result[ELEMENTS])
{
    json_t *json = json_object();

    for (int e = 0; e < ELEMENTS; e++) {
        char letter[2] = {element_letter((enum element)e), '\0'};

        if (result[e].state == PROBE_LEFT_OUT)
            continue;
        if (json_object_set_new(json, letter,
                                element_to_json((enum element)e, &result[e]))
            < 0) {
            json_decref(json);
            return NULL;
        }
    }
    return json;
}

/* The core elements have names that everybody knows; the site's bring theirs. */
static int take_words(struct probe_result *r,
                      enum element e,
                      const char *name,
                      const char *unit,
                      const char *better)
{
    const struct probe_result core = {0};

    if (e < ELEMENT_SITE)
        return !better && strcmp(name, probe_name(&core, e)) == 0
                       && strcmp(unit, probe_unit(&core, e)) == 0
                   ? 0
                   : -1;
    if (!probe_is_label(name, sizeof r->name)
        || (*unit && !probe_is_label(unit, sizeof r->unit))
        || (better && strcmp(better, "less") != 0))
        return -1;
    (void)snprintf(r->name, sizeof r->name, "%s", name);
    (void)snprintf(r->unit, sizeof r->unit, "%s", unit);
    r->less = better != NULL;
    return 0;
}

static int is_amount_or_null(const json_t *json)
{
    return json_is_null(json) || json_is_number(json);
}

static int element_from_json(enum element e,
                             struct probe_result *r,
                             json_t *json,
                             struct es_error *err)
{
    const char *name, *unit, *what, *better = NULL;
    int between = 0;
    json_int_t count, capacity;
    json_t *value, *compute = NULL;
    json_error_t why;

    memset(r, 0, sizeof *r);
    if (json_unpack_ex(json, &why, JSON_STRICT,
                       "{s:s, s:s, s:o, s:F, s:F, s:I, s:I, s:s, s?:s, s?:b, "
                       "s?:o}",
                       "name", &name, "unit", &unit, "value", &value, "spread",
                       &r->spread, "seconds", &r->seconds, "count", &count,
                       "capacity_bytes", &capacity, "what", &what, "better",
                       &better, "between", &between, "compute", &compute)
        < 0)
        return es_fail(err, ES_WORK, "measure again", "%c: %s",
                       element_letter(e), why.text);
    if (take_words(r, e, name, unit, better) < 0)
        return es_fail(err, ES_WORK, "measure again",
                       "%c: %.20s in %.20s is not known", element_letter(e),
                       name, unit);
    r->state = json_is_null(value) ? PROBE_NOT_MEASURED : PROBE_MEASURED;
    r->between = between;
    r->value = json_number_value(value);     /* 0 if it is null */
    r->compute = json_number_value(compute); /* 0 also if it is not there */
    r->count = (uint32_t)count;
    r->capacity_bytes = (uint64_t)capacity;
    (void)snprintf(r->what, sizeof r->what, "%s", what);
    if (!is_amount_or_null(value) || (compute && e != ELEMENT_G)
        || (compute && !is_amount_or_null(compute)) || count < 0
        || count > UINT32_MAX || capacity < 0 || strlen(what) >= sizeof r->what
        || (between && e != ELEMENT_I) || !probe_result_holds(r))
        return es_fail(err, ES_WORK, "measure again",
                       "%c: a value is out of range", element_letter(e));
    return 0;
}

int probe_from_json(struct probe_result result[ELEMENTS],
                    json_t *json,
                    struct es_error *err)
{
    struct probe_result read[ELEMENTS] = {0};
    const char *key;
    json_t *value;

    if (!json_is_object(json))
        return es_fail(err, ES_WORK, "measure again",
                       "the results are no object");
    json_object_foreach(json, key, value)
    {
        enum element e = strlen(key) == 1 ? element_of(*key) : ELEMENTS;

        if (e == ELEMENTS)
            return es_fail(err, ES_WORK, "measure again",
                           "\"%.20s\" is no element", key);
        if (element_from_json(e, &read[e], value, err) < 0)
            return -1;
    }
    memcpy(result, read, sizeof read);
    return 0;
}
