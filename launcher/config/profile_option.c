/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/config/profile_option.h"
#include "launcher/config/config_file.h"

#include <stdio.h>
#include <string.h>

const struct config_profile *profile_option_find(const struct config *c,
                                                 const char *name,
                                                 const char *option,
                                                 struct es_error *err)
{
    char known[sizeof err->mend] = "give one of:";
    size_t len = strlen(known);

    if (!name || strcmp(name, PROFILE_AUTO) == 0)
        return &c->profile[0];
    for (size_t i = 0; i < c->profiles; i++)
        if (strcmp(c->profile[i].name, name) == 0)
            return &c->profile[i];
    for (size_t i = 0; i < c->profiles && len < sizeof known; i++)
        len += (size_t)snprintf(known + len, sizeof known - len, " %s",
                                c->profile[i].name);
    if (len < sizeof known)
        snprintf(known + len, sizeof known - len, " " PROFILE_AUTO);
    es_fail(err, ES_USAGE, known, "%s: \"%s\" is unknown", option, name);
    return NULL;
}

const char *profile_option_word(size_t i)
{
    static struct config c; /* has the names as long as they are asked for */

    if (i == 0 && config_load(&c, NULL, NULL) < 0)
        c.profiles = 0;
    if (i < c.profiles)
        return c.profile[i].name;
    return i == c.profiles ? PROFILE_AUTO : NULL;
}
