/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text as a configuration: refused with its reason and nothing changed,
 * or within the ranges that the policies allow. */
#include "launcher/config/config_file.h"
#include "policy/kinds.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void start(struct config *c)
{
    const struct policy_kind *kind;

    memset(c, 0, sizeof *c);
    c->probe.budget_ms = PROBE_NODE_BUDGET_MS;
    for (size_t i = 0; (kind = kinds_at(i)) != NULL; i++)
        policy_defaults(kind, c->policy[i]);
}

static int is_accepted(const struct policy_kind *kind, const double value[])
{
    for (size_t k = 0; k < kind->n_params; k++)
        if (!policy_param_accepts(&kind->params[k], value[k]))
            return 0;
    return 1;
}

/* Everything that was read, looked at. */
static int is_sound(const struct config *c)
{
    const struct policy_kind *kind;

    if (c->probe.budget_ms < PROBE_NODE_BUDGET_MIN_MS
        || c->probe.budget_ms > PROBE_NODE_BUDGET_MAX_MS)
        return 0;
    if (c->agent_path[0] && c->agent_path[0] != '/')
        return 0;
    if (strnlen(c->agent_path, sizeof c->agent_path) == sizeof c->agent_path)
        return 0;
    for (size_t i = 0; (kind = kinds_at(i)) != NULL; i++)
        if (!is_accepted(kind, c->policy[i]))
            return 0;
    if (c->sets > POLICY_SETS_MAX)
        return 0;
    for (size_t i = 0; i < c->sets; i++)
        if (!c->set[i].name[0] || kinds_find(c->set[i].name)
            || !is_accepted(c->set[i].kind, c->set[i].value))
            return 0;
    if (c->profiles > PROFILES_MAX)
        return 0;
    for (size_t i = 0; i < c->profiles; i++)
        if (!c->profile[i].name[0]
            || !(profile_sum(&c->profile[i].profile) > 0))
            return 0;
    return c->on_error < ON_ERRORS && c->step_meter < STEP_METERS;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct config before, c;
    struct es_error err = {0};
    char *text = malloc(size + 1);
    int rc;

    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    start(&before);
    c = before;
    rc = config_read(&c, "fuzz.conf", text, &err);
    if (rc == 0 ? !is_sound(&c) || err.kind != ES_OK
                : memcmp(&c, &before, sizeof c) != 0 || !err.what[0]
                      || !err.mend[0])
        abort();
    free(text);
    return 0;
}
