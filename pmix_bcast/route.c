/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/route.h"

#include <net/if.h>

enum route route_find(struct address *to,
                      const struct networks *mine,
                      const struct networks *theirs,
                      unsigned rail,
                      const char *plain,
                      uint16_t port)
{
    const struct network *here, *there;

    if (mine && networks_common(mine, theirs, rail, &here, &there) == 0) {
        network_address(to, there, if_nametoindex(here->name), port);
        return ROUTE_NETWORK;
    }
    return rail == 0 && address_parse(to, plain, port) == 0 ? ROUTE_PLAIN
                                                            : ROUTE_NONE;
}
