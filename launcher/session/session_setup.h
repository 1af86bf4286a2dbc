/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session_setup.h - which agents a session is to have, and how they are
 * started and connected.
 */
#ifndef LAUNCHER_SESSION_SESSION_SETUP_H
#define LAUNCHER_SESSION_SESSION_SETUP_H

#include "launcher/session/companion.h"
#include "pmix_bcast/wireup_way.h"

struct session_setup {
    size_t local;                 /* agents on this machine; 0: by Slurm */
    const int *local_speed;       /* percent of one core each, or NULL */
    struct companion_place place; /* by Slurm */
    enum wireup_way wireup;       /* how the agents find each other */
    const char *agent_path;
    int encrypt; /* what goes over the wire */
    int guard;   /* the plugin is to start evenstep-power beside the agents */
    int energy;  /* likewise, only to read what the nodes use */
    uint32_t timeout_s; /* that the agents have to come */
    uint32_t linger_s;  /* then the agents stay so long for the next command */
    size_t seats;       /* nodes that may join it later */
    int spare;          /* it may do without nodes whose agents do not come */
    int early; /* it may be ready when the first agent is (session_events) */
    struct port_range ports; /* to listen at; 0-0: SrunPortRange, if by Slurm */
    const char *interfaces;  /* meant for data (network.h); "" or NULL: none */
};

#endif
