/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/policy.h"
#include "policy/java.h"

#include <math.h>
#include <string.h>

size_t policy_param_find(const struct policy_kind *kind, const char *key)
{
    size_t i = 0;

    while (i < kind->n_params && strcmp(kind->params[i].key, key) != 0)
        i++;
    return i;
}

int policy_param_accepts(const struct policy_param *param, double value)
{
    return isfinite(value) && value >= param->min && value <= param->max
           && (!param->integer || floor(value) == value);
}

double policy_param_settle(const struct policy_param *param, double value)
{
    if (param->outside == OUTSIDE_REFUSED)
        return policy_param_accepts(param, value) ? value : (double)NAN;
    if (param->integer)
        value = java_int(value);
    if (value >= param->min && value <= param->max)
        return value;
    if (param->outside == OUTSIDE_DEFAULT)
        return param->def;
    return value > param->max ? param->max : param->min;
}

void policy_defaults(const struct policy_kind *kind, double value[])
{
    for (size_t i = 0; i < kind->n_params; i++)
        value[i] = kind->params[i].def;
}

int policy_setup_holds(const struct policy_kind *kind,
                       const struct policy_setup *setup)
{
    double total = 0;

    for (size_t i = 0; i < setup->n; i++) {
        double load = setup->metric[i].JL;

        if (!isfinite(load) || load < 0)
            return 0;
        total += load;
    }
    if (!isfinite(total) || total <= 0)
        return 0;
    for (size_t i = 0; i < kind->n_params; i++)
        if (!policy_param_accepts(&kind->params[i], setup->value[i]))
            return 0;
    return 1;
}
