/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/config/policy_syntax.h"
#include "launcher/config/config.h"
#include "launcher/config/policy_option.h"

#include <math.h>
#include <string.h>

/* Of a policy section: by its title, or by the kind that it gives. */
static const struct policy_kind *kind_of(cfg_t *section)
{
    const struct policy_kind *kind = kinds_find(cfg_title(section));
    const char *given = cfg_getstr(section, "kind");

    return kind || !given ? kind : kinds_find(given);
}

static int check_value(const cfg_t *cfg,
                       const char *title,
                       const struct policy_kind *kind,
                       const char *key,
                       double value)
{
    size_t k = policy_param_find(kind, key);
    char mend[100];

    if (k == kind->n_params)
        return grammar_refuse(cfg, grammar_see, "policy \"%s\" has no key %s",
                              title, key);
    if (policy_param_accepts(&kind->params[k], value))
        return 0;
    policy_option_range(&kind->params[k], mend, sizeof mend);
    return grammar_refuse(cfg, mend, "policy \"%s\": %s is out of range", title,
                          key);
}

/* libconfuse allows the parameters of all policies in each policy section.
 * Whether one is of this policy is grammar_key here, or at the section's end if its
 * kind comes later. */
static int check_param(cfg_t *cfg, cfg_opt_t *opt)
{
    const struct policy_kind *kind = kind_of(cfg);
    double value = cfg_opt_getnfloat(opt, 0);

    if (kind)
        return check_value(cfg, cfg_title(cfg), kind, opt->name, value);
    if (!isnan(value)) /* which would be as if it was not given */
        return 0;
    return grammar_refuse(cfg, "give a number",
                          "policy \"%s\": %s is out of range", cfg_title(cfg),
                          opt->name);
}

static int check_kind(cfg_t *cfg, cfg_opt_t *opt)
{
    const char *kind = cfg_opt_getnstr(opt, 0), *title = cfg_title(cfg);
    char mend[POLICY_NAMES_MAX];

    policy_option_names(NULL, mend, sizeof mend);
    if (kinds_find(title) && strcmp(kind, title) != 0)
        return grammar_refuse(cfg, "give the section another name",
                              "policy \"%s\" is a kind of its own", title);
    if (kinds_find(kind))
        return 0;
    if (strcmp(kind, title) == 0)
        return grammar_refuse(cfg, mend, "policy \"%s\": its kind is itself",
                              title);
    return grammar_refuse(cfg, mend, "policy \"%s\": kind \"%s\" is unknown",
                          title, kind);
}

/* All that a section gives, now that its kind is known. */
static int check_params(const cfg_t *cfg, cfg_t *section)
{
    const struct policy_kind *kind;

    for (size_t i = 0; (kind = kinds_at(i)) != NULL; i++)
        for (size_t k = 0; k < kind->n_params; k++) {
            const char *key = kind->params[k].key;
            double value = cfg_getfloat(section, key);

            if (!isnan(value)
                && check_value(cfg, cfg_title(section), kind_of(section), key,
                               value)
                       < 0)
                return -1;
        }
    return 0;
}

int policy_check(cfg_t *cfg, cfg_opt_t *opt)
{
    cfg_t *section = cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1);
    const char *title = cfg_title(section);

    if (kinds_find(title))
        return 0;
    if (!cfg_getstr(section, "kind"))
        return grammar_refuse(cfg, "give a set of parameters a kind = \"NAME\"",
                              "policy \"%s\" is unknown", title);
    if (!grammar_is_name(title, POLICY_NAME_MAX))
        return grammar_refuse(cfg, "give at most 31 of a-z, 0-9, - and _",
                              "policy: the name is out of range");
    return check_params(cfg, section);
}

/* The kind, the parameters of all policies, each once, and a CFG_END(). */
void policy_keys(cfg_opt_t keys[POLICY_KEYS_MAX])
{
    const cfg_opt_t end = CFG_END(), first = grammar_text("kind", check_kind);
    const struct policy_kind *kind;
    size_t n = 0;

    keys[n++] = first;
    for (size_t i = 0; (kind = kinds_at(i)) != NULL; i++)
        for (size_t k = 0; k < kind->n_params; k++) {
            const cfg_opt_t key =
                grammar_number(kind->params[k].key, check_param);
            size_t j = 0;

            while (j < n && strcmp(keys[j].name, key.name) != 0)
                j++;
            if (j == n)
                keys[n++] = key;
        }
    keys[n] = end;
}
