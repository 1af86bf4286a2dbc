/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/transport.h"

#include <stddef.h>
#include <string.h>

static const char *const names[] = {
    [TRANSPORT_TCP] = "tcp",
    [TRANSPORT_AUTO] = "auto",
    [TRANSPORT_OFI] = "ofi",
};

const char *transport_name(enum transport t)
{
    return names[t];
}

int transport_find(const char *name)
{
    for (int i = TRANSPORT_TCP; i <= TRANSPORT_OFI; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return -1;
}

int transport_is_fast(const char *provider)
{
    static const char *const fast[] = {"verbs", "cxi",  "efa", "opx", "psm",
                                       "psm2",  "psm3", "gni", "bgq", "ucx"};
    size_t len = strcspn(provider, ";"); /* what it is layered on is behind */

    for (size_t i = 0; i < sizeof fast / sizeof fast[0]; i++)
        if (strlen(fast[i]) == len && strncmp(provider, fast[i], len) == 0)
            return 1;
    return 0;
}
