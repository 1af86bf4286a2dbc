/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * networks_tell.h - tells the user which nodes are not in the networks that are
 * meant for data: to them it goes by Slurm's.
 */
#ifndef LAUNCHER_SESSION_NETWORKS_TELL_H
#define LAUNCHER_SESSION_NETWORKS_TELL_H

#include "pmix_bcast/wireup.h"

#define NETWORKS_TELL_MAX 400u

/*
 * The names of those that have no network with the node that shares one with
 * the most others, "n3, n4 and 12 more", home being "this host"; "" if all are
 * together.  Pure.  Returns how many they are.
 */
uint32_t networks_apart(const struct endpoint *agent,
                        uint32_t n,
                        const struct networks *home,
                        char names[NETWORKS_TELL_MAX]);
/* One line of them, and of this host; nothing if interfaces is "". */
void networks_tell(const struct endpoint *agent,
                   uint32_t n,
                   const char *interfaces);

#endif
