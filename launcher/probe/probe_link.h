/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_link.h - core element I, the local half: what the node's network
 * ports are and what they have agreed on with the other end of the cable.
 *
 * What then really comes through is measured between the agents; see
 * probe_ring.h.
 */
#ifndef LAUNCHER_PROBE_PROBE_LINK_H
#define LAUNCHER_PROBE_PROBE_LINK_H

#include "launcher/probe/probe_result.h"

enum port_kind { PORT_NONE, PORT_ETHERNET, PORT_INFINIBAND };

struct network_port {
    enum port_kind kind;
    char name[64]; /* "eth0", "mlx5_0/1" */
    double gbit_per_s;
    int is_virtual; /* no device is behind it */
};

/*
 * The fastest port of this node that is up, InfiniBand before Ethernet where
 * they are alike.  Virtual ports (bridges, tunnels) only count if there is no
 * real one.  Returns how many ports of its kind and speed there are, 0 if
 * none is up or none tells its speed (*port is PORT_NONE).
 */
unsigned probe_link_port(const char *sysfs, struct network_port *port);

/*
 * Gbit/s of the fastest port; count is how many such there are.  A virtual port
 * is not measured: its driver makes the speed up (a veth always tells 10
 * Gbit/s).
 */
void probe_link_measure(const struct probe_setup *setup,
                        int budget_ms,
                        struct probe_result *r);

#endif
