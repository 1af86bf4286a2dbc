/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/work_types.h"
#include "launcher/config/profile_option.h"

#include <stdio.h>
#include <string.h>

static int take_profile(struct work_type *t,
                        const char *name,
                        const char *where,
                        const struct config *c,
                        struct es_error *err)
{
    const struct config_profile *p = profile_option_find(c, name, where, err);

    if (!p)
        return -1;
    t->profile = *p;
    t->profile_auto = strcmp(name, PROFILE_AUTO) == 0;
    return 0;
}

/* The work's own policy, else that of its own profile, else the run's. */
static int take_policy(struct work_type *t,
                       const struct works_entry *e,
                       const char *where,
                       const struct config *c,
                       struct es_error *err)
{
    const char *text = e->policy[0] ? e->policy : t->profile.policy;
    struct es_error why = {0};

    if (!text[0] || (!e->policy[0] && !e->profile[0]))
        return 0;
    if (policy_option_parse(&t->policy, c, text, POLICY_STRICT, &why) == 0)
        return 0;
    return es_fail(err, why.kind, why.mend, "%s: %.200s", where, why.what);
}

static int take_type(struct work_types *types,
                     const struct works_entry *e,
                     const char *path,
                     const struct config *c,
                     struct es_error *err)
{
    struct work_type *t = &types->type[types->n];
    char where[300];

    *t = types->type[0];
    t->name = e->name;
    t->command = e->command;
    snprintf(where, sizeof where, "%.200s: work \"%s\"", path, e->name);
    if (e->profile[0] && take_profile(t, e->profile, where, c, err) < 0)
        return -1;
    if (take_policy(t, e, where, c, err) < 0)
        return -1;
    types->n++;
    return 0;
}

int work_types_read(struct work_types *t,
                    const char *path,
                    const struct config *c,
                    struct es_error *err)
{
    if (works_read(&t->file, path, err) < 0)
        return -1;
    for (size_t i = 0; i < t->file.n; i++)
        if (take_type(t, &t->file.work[i], path, c, err) < 0)
            return -1;
    return 0;
}

void work_types_clear(struct work_types *t)
{
    works_clear(&t->file);
    memset(t, 0, sizeof *t);
}

size_t work_types_find(const struct work_types *t, const char *name)
{
    size_t i = 1;

    if (!name[0])
        return t->has_own ? 0 : t->n;
    while (i < t->n && strcmp(t->type[i].name, name) != 0)
        i++;
    return i;
}

void work_types_names(const struct work_types *t, char *text, size_t size)
{
    size_t len = (size_t)snprintf(text, size, "give one of:");

    for (size_t i = 1; i < t->n && len < size; i++)
        len +=
            (size_t)snprintf(text + len, size - len, " @%s", t->type[i].name);
}
