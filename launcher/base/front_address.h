/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * front_address.h - where the front end is, for agents that Slurm tells no
 * more than a loopback address: beside it on a node whose own name is
 * 127.0.1.1, as on any Debian.
 */
#ifndef LAUNCHER_BASE_FRONT_ADDRESS_H
#define LAUNCHER_BASE_FRONT_ADDRESS_H

#include "pmix_bcast/wireup.h"

/* 127.0.0.0/8, or no IPv4 address at all? */
int front_address_is_loopback(const char *text);

/*
 * Of Slurm's list of nodes, "n[0-3,7],m[01-12]": the name that ends it, here
 * "m12", which is not the batch host where there are two.  "" if it does not
 * fit or is no such list.  Pure.
 */
void front_address_last(const char *list, char name[NODE_NAME_MAX]);

/*
 * This machine's own address on the way to others: to what its name means, to
 * the last node of our allocation, to where the job was submitted, else that
 * of its first interface.  job_nodes is Slurm's list of the allocation's nodes,
 * or NULL.  Numeric IPv4; "" if all is loopback.  Names are
 * looked up, which may block.
 */
void front_address_find(const char *job_nodes, char address[ADDRESS_MAX]);

#endif
