/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * front_address.h - the address at which agents reach the front end, where
 * Slurm knows only a loopback address: on Debian the name of a machine means
 * 127.0.1.1.
 */
#ifndef LAUNCHER_BASE_FRONT_ADDRESS_H
#define LAUNCHER_BASE_FRONT_ADDRESS_H

#include "pmix_bcast/wireup.h"

/* Is it in 127.0.0.0/8 or ::1, or no address at all? */
int front_address_is_loopback(const char *text);

/*
 * The last name in Slurm's list of nodes: "m12" of "n[0-3,7],m[01-12]".  With
 * two nodes or more it is not the batch host, which is the first.  "" if the
 * name does not fit or the text is no such list.  Pure.
 */
void front_address_last(const char *list, char name[NODE_NAME_MAX]);

/*
 * The address that this machine uses to reach others, as numeric text.  It is
 * the first of these that is no loopback address: on the way to what its own
 * name means, to the last node of the allocation, to the submit host; the
 * address of its first interface.  "" if there is none.
 *
 * job_nodes is Slurm's list of the allocation's nodes, or NULL.  Names are
 * looked up, which may block.
 */
void front_address_find(const char *job_nodes, char address[ADDRESS_MAX]);

#endif
