/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/networks_tell.h"
#include "launcher/base/notice.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAMES  8u  /* that are told; the others are counted */
#define LOOKED 64u /* nodes that are tried as the one with whom to be */

static int are_together(const struct networks *a, const struct networks *b)
{
    const struct network *here, *there;

    return networks_common(a, b, 0, &here, &there) == 0;
}

/* Of the first nodes that which is together with the most. */
static uint32_t find_middle(const struct endpoint *agent, uint32_t n)
{
    uint32_t best = 0, most = 0;

    for (uint32_t i = 0; i < n && i < LOOKED && most < n; i++) {
        uint32_t with = 0;

        for (uint32_t j = 0; j < n; j++)
            with +=
                (uint32_t)are_together(&agent[i].networks, &agent[j].networks);
        if (with > most) {
            most = with;
            best = i;
        }
    }
    return best;
}

static void add_name(char names[NETWORKS_TELL_MAX], const char *name)
{
    size_t len = strlen(names);

    snprintf(names + len, NETWORKS_TELL_MAX - len, "%s%.40s", len ? ", " : "",
             name);
}

uint32_t networks_apart(const struct endpoint *agent,
                        uint32_t n,
                        const struct networks *home,
                        char names[NETWORKS_TELL_MAX])
{
    const struct networks *middle = &agent[find_middle(agent, n)].networks;
    uint32_t apart = 0;
    size_t len;

    names[0] = '\0';
    if (!are_together(middle, home)) {
        add_name(names, "this host");
        apart++;
    }
    for (uint32_t i = 0; i < n; i++)
        if (!are_together(middle, &agent[i].networks) && apart++ < NAMES)
            add_name(names, agent[i].node);
    len = strlen(names);
    if (apart > NAMES)
        snprintf(names + len, NETWORKS_TELL_MAX - len, " and %" PRIu32 " more",
                 apart - NAMES);
    return apart;
}

void networks_tell(const struct endpoint *agent,
                   uint32_t n,
                   const char *interfaces)
{
    char names[NETWORKS_TELL_MAX];
    struct networks home;

    if (!interfaces || !*interfaces)
        return;
    /* Without memory for them home has none. */
    (void)networks_find(&home, interfaces,
                        address_loopback(agent[0].address) != LOOPBACK_NO,
                        "/sys");
    if (networks_apart(agent, n, &home, names) == 0)
        return;
    notice("no network of \"%s\" in common: %s; data goes by Slurm's network "
           "there",
           interfaces, names);
}
