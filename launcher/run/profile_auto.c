/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/profile_auto.h"
#include "launcher/base/notice.h"
#include "launcher/run/history.h"

#include <stdio.h>
#include <string.h>

/* "C 1 M 0.42": what counts, and how much. */
static void say(const struct config_profile *p, size_t runs)
{
    char text[100] = "";
    size_t len = 0;

    for (int e = 0; e < ELEMENTS && len < sizeof text; e++)
        if (p->profile.influence[e] > 0)
            len += (size_t)snprintf(text + len, sizeof text - len, " %c %.2g",
                                    element_letter((enum element)e),
                                    p->profile.influence[e]);
    notice("profile " PROFILE_AUTO ": fitted to %zu runs:%s", runs, text);
}

void profile_auto(struct config_profile *p,
                  const struct config *c,
                  const char *command)
{
    struct fit fit;

    *p = c->profile[0];
    history_read(&fit, command);
    if (fit.runs >= FIT_RUNS_MIN && fit_profile(&fit, &p->profile) == 0) {
        strcpy(p->name, PROFILE_AUTO);
        say(p, fit.runs);
        return;
    }
    notice("profile " PROFILE_AUTO ": %zu earlier runs are too few to fit it "
           "(%d): taking %s",
           fit.runs, FIT_RUNS_MIN, p->name);
}
