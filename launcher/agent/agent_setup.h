/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * agent_setup.h - what an agent is told when it is started.
 */
#ifndef LAUNCHER_AGENT_AGENT_SETUP_H
#define LAUNCHER_AGENT_AGENT_SETUP_H

#include "pmix_bcast/channel.h"
#include "pmix_bcast/wireup.h"

struct agent_setup {
    struct secret secret;
    char node[NODE_NAME_MAX];
    char rack[NODE_NAME_MAX];        /* "": not known */
    char front_address[ADDRESS_MAX]; /* of the front end, numeric */
    uint16_t front_port;
    struct port_range ports; /* to listen at */
    uint32_t job, step;      /* 0 outside Slurm */
    int by_tcp;              /* no PMIx: these are told from outside */
    uint32_t rank, agents;   /* of them */
    int joins;               /* a run at work; nobody else starts with us */
    const char *sysfs;       /* "/sys" */
    const char *interfaces;  /* meant for data, see network.h; "" or NULL */
    int speed_pct;           /* of one core for the commands; 0: as it is */
    int comment_fd;          /* to the plugin; 0: the site wants none */
    char **environ;          /* for the commands */
};

#endif
