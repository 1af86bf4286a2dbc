/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/config/policy_site.h"
#include "launcher/config/config_file.h"

#include <stdio.h>
#include <string.h>

const char *policy_site_word(size_t i)
{
    static struct config c; /* has the sets as long as they are asked for */
    const struct policy_kind *kind = kinds_at(i);
    size_t kinds = 0;

    if (kind)
        return kind->name;
    while (kinds_at(kinds))
        kinds++;
    if (i == kinds && config_load(&c, NULL, NULL) < 0)
        c.sets = 0;
    return i - kinds < c.sets ? c.set[i - kinds].name : NULL;
}

int policy_site_parse(struct policy_option *o,
                      const char *text,
                      enum policy_strictness strictness,
                      struct es_error *err)
{
    char name[POLICY_NAME_MAX];
    struct config c;

    snprintf(name, sizeof name, "%s", text);
    name[strcspn(name, ":")] = '\0';
    if (kinds_find(name))
        return policy_option_parse(o, NULL, text, strictness, err);
    if (config_load(&c, NULL, err) < 0)
        return -1;
    return policy_option_parse(o, &c, text, strictness, err);
}
