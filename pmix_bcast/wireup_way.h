/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wireup_way.h - by which way the agents of a step find each other, see
 * wireup.h.  Pure: who reads a configuration needs no PMIx.
 */
#ifndef PMIX_BCAST_WIREUP_WAY_H
#define PMIX_BCAST_WIREUP_WAY_H

enum wireup_way {
    WIREUP_AUTO, /* PMIx where that is there anyhow, else TCP */
    WIREUP_PMIX,
    WIREUP_TCP, /* by the table, over the connections that there are anyhow */
};
/* "auto", "pmix", "tcp", and back; -1 if it is none of them. */
const char *wireup_way_name(enum wireup_way way);
int wireup_way_find(const char *name);

#endif
