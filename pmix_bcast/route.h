/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * route.h - where another node is called for data: by the best network that
 * both are in (network.h), else at its address in Slurm's network.
 */
#ifndef PMIX_BCAST_ROUTE_H
#define PMIX_BCAST_ROUTE_H

#include "pmix_bcast/network.h"

enum route {
    ROUTE_NONE,    /* the plain address is none */
    ROUTE_PLAIN,   /* at the plain address */
    ROUTE_NETWORK, /* by a network that both are in */
};

/* mine is NULL: at the plain address.  rail counts further networks that both
 * are in, each by another interface; from 1 on the plain address is none. */
enum route route_find(struct address *to,
                      const struct networks *mine,
                      const struct networks *theirs,
                      unsigned rail,
                      const char *plain,
                      uint16_t port);

#endif
