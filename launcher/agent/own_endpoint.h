/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * own_endpoint.h - where an agent tells the others that it is: its address on
 * the interface that reaches the front end, and its networks meant for data.
 */
#ifndef LAUNCHER_AGENT_OWN_ENDPOINT_H
#define LAUNCHER_AGENT_OWN_ENDPOINT_H

#include "launcher/agent/agent_setup.h"
#include "pmix_bcast/adapter.h"
#include "pmix_bcast/wireup.h"

/* All of *e but its ports, and the adapter of that interface: what cannot be
 * found of it is said, and all else works.  The text of the front end's address
 * was checked. */
int own_endpoint_find(struct endpoint *e,
                      struct adapter *adapter,
                      const struct agent_setup *s,
                      struct es_error *err);

#endif
