/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/config/policy_option.h"
#include "launcher/base/number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_MAX   64  /* far above any parameter's name */
#define VALUE_MAX 512 /* -DBL_MAX in full has 310 */

const struct config_set *policy_option_find_set(const struct config *c,
                                                const char *name)
{
    for (size_t i = 0; i < c->sets; i++)
        if (strcmp(c->set[i].name, name) == 0)
            return &c->set[i];
    return NULL;
}

void policy_option_names(const struct config *c, char *text, size_t size)
{
    const struct policy_kind *kind;
    size_t len = (size_t)snprintf(text, size, "give one of:");

    for (size_t i = 0; (kind = kinds_at(i)) != NULL && len < size; i++)
        len += (size_t)snprintf(text + len, size - len, " %s", kind->name);
    for (size_t i = 0; c && i < c->sets && len < size; i++)
        len += (size_t)snprintf(text + len, size - len, " %s", c->set[i].name);
}

static int unknown_policy(const struct config *c,
                          const char *name,
                          struct es_error *err)
{
    char known[POLICY_NAMES_MAX];

    policy_option_names(c, known, sizeof known);
    return es_fail(err, ES_USAGE, known, "--policy: \"%s\" is unknown", name);
}

void policy_option_range(const struct policy_param *param,
                         char *text,
                         size_t size)
{
    const char *what = param->integer ? "a whole number" : "a number";
    int digits = param->integer ? 17 : 6;

    if (param->min > 0 && param->min < DBL_MIN)
        snprintf(text, size, "give %s above 0, to %g", what, param->max);
    else
        snprintf(text, size, "give %s from %.*g to %.*g", what, digits,
                 param->min, digits, param->max);
}

/* A value that is a number but not accepted. */
static int settle(struct policy_option *o,
                  const struct policy_param *p,
                  double v,
                  enum policy_strictness strictness,
                  double *settled)
{
    size_t len = strlen(o->warnings);

    *settled = policy_param_settle(p, v);
    if (strictness != POLICY_SETTLE || isnan(*settled))
        return -1;
    snprintf(o->warnings + len, sizeof o->warnings - len,
             "%s: %s: %.17g is out of range, %.17g is taken\n", o->kind->name,
             p->key, v, *settled);
    return 0;
}

/* A number, and for JPPF with blanks around it. */
static int parse_value(const char *text,
                       enum policy_strictness strictness,
                       double *v)
{
    static const char blanks[] = " \t";
    char bare[VALUE_MAX];
    size_t len;

    if (strictness == POLICY_STRICT)
        return number_parse_double(text, -DBL_MAX, DBL_MAX, v);
    text += strspn(text, blanks);
    len = strlen(text);
    while (len > 0 && strchr(blanks, text[len - 1]))
        len--;
    if (len >= sizeof bare)
        return -1;
    snprintf(bare, sizeof bare, "%.*s", (int)len, text);
    return number_parse_double(bare, -DBL_MAX, DBL_MAX, v);
}

static int take_param(struct policy_option *o,
                      const char *key,
                      const char *text,
                      enum policy_strictness strictness,
                      struct es_error *err)
{
    const struct policy_kind *kind = o->kind;
    size_t k = policy_param_find(kind, key);
    const struct policy_param *p;
    char range[100];
    double v;

    if (k == kind->n_params)
        return es_fail(err, ES_USAGE, "see `evenstep run --help`",
                       "--policy: %s has no parameter \"%s\"", kind->name, key);
    p = &kind->params[k];
    if (parse_value(text, strictness, &v) == 0
        && (policy_param_accepts(p, v)
            || settle(o, p, v, strictness, &v) == 0)) {
        o->value[k] = v;
        return 0;
    }
    policy_option_range(p, range, sizeof range);
    return es_fail(err, ES_USAGE, range,
                   "--policy: %s: %s: \"%s\" is out of range", kind->name, key,
                   text);
}

int policy_option_set(struct policy_option *o,
                      const char *text,
                      enum policy_strictness strictness,
                      struct es_error *err)
{
    size_t len = strcspn(text, "=");
    char key[KEY_MAX];

    if (text[len] != '=')
        return es_fail(err, ES_USAGE, "give NAME:key=value,...",
                       "--policy: \"%s\" has no value", text);
    snprintf(key, sizeof key, "%.*s", (int)(len < KEY_MAX ? len : KEY_MAX),
             text);
    return take_param(o, key, text + len + 1, strictness, err);
}

/* What is known before the first key=value. */
static void take_defaults(struct policy_option *o, const struct config *c)
{
    if (c)
        memcpy(o->value, c->policy[kinds_place(o->kind)], sizeof o->value);
    else
        policy_defaults(o->kind, o->value);
}

static int take_name(struct policy_option *o,
                     const struct config *c,
                     const char *name,
                     struct es_error *err)
{
    const struct config_set *set = c ? policy_option_find_set(c, name) : NULL;

    o->kind = set ? set->kind : kinds_find(name);
    if (!o->kind)
        return unknown_policy(c, name, err);
    snprintf(o->name, sizeof o->name, "%s", name);
    if (set)
        memcpy(o->value, set->value, sizeof o->value);
    else
        take_defaults(o, c);
    return 0;
}

int policy_option_parse(struct policy_option *o,
                        const struct config *c,
                        const char *text,
                        enum policy_strictness strictness,
                        struct es_error *err)
{
    struct policy_option parsed = {0};
    char *copy = strdup(text), *rest, *item;
    int rc;

    if (!copy)
        return es_no_memory(err);
    rest = strchr(copy, ':');
    if (rest)
        *rest++ = '\0';
    rc = take_name(&parsed, c, copy, err);
    while (rc == 0 && (item = strsep(&rest, ",")) != NULL)
        rc = policy_option_set(&parsed, item, strictness, err);
    if (rc == 0)
        *o = parsed;
    free(copy);
    return rc;
}

const char *policy_option_text(const char *text,
                               const struct config_profile *profile)
{
    if (text)
        return text;
    return profile->policy[0] ? profile->policy : KINDS_DEFAULT;
}

/* A bound that is only there as a type ends. */
static int is_open_above(const struct policy_param *p)
{
    return p->max >= INT32_MAX;
}

static int is_open_below(const struct policy_param *p)
{
    return p->min <= INT32_MIN;
}

void policy_option_span(const struct policy_param *param,
                        char text[POLICY_SPAN])
{
    int is_above = param->min > 0 && param->min < DBL_MIN;

    if (is_above && is_open_above(param))
        snprintf(text, POLICY_SPAN, "above 0");
    else if (is_above)
        snprintf(text, POLICY_SPAN, "above 0, to %.10g", param->max);
    else if (is_open_below(param))
        snprintf(text, POLICY_SPAN,
                 is_open_above(param) ? "any" : "%.10g or less", param->max);
    else if (is_open_above(param))
        snprintf(text, POLICY_SPAN, "%.10g or more", param->min);
    else
        snprintf(text, POLICY_SPAN, "%.10g to %.10g", param->min, param->max);
}

void policy_option_print(void)
{
    const struct policy_kind *kind;
    char span[POLICY_SPAN];

    for (size_t i = 0; (kind = kinds_at(i)) != NULL; i++) {
        printf("%s%-12s %s\n", i > 0 ? "\n" : "", kind->name, kind->help);
        for (size_t k = 0; k < kind->n_params; k++) {
            policy_option_span(&kind->params[k], span);
            printf("  %s=%.10g\n      %s (%s)\n", kind->params[k].key,
                   kind->params[k].def, kind->params[k].help, span);
        }
    }
}
