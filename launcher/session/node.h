/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * node.h - what a session knows of one of its nodes.
 */
#ifndef LAUNCHER_SESSION_NODE_H
#define LAUNCHER_SESSION_NODE_H

#include "launcher/probe/fingerprint.h"
#include "pmix_bcast/adapter.h"
#include "pmix_bcast/wireup.h"

struct node {
    char name[NODE_NAME_MAX];
    char rack[NODE_NAME_MAX];  /* "": not known */
    char boot_id[BOOT_ID_MAX]; /* alike on nodes of one machine; likewise */
    struct adapter adapter;
    uint32_t cpus;  /* that commands may use; 0: not known */
    int has_plugin; /* loaded in slurmstepd there */
    int present;    /* 0: lost, or not here yet */
};

#endif
