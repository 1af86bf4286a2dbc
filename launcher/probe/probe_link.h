/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_link.h - core element I, the local half: the node's network ports and
 * the speeds that they have negotiated.
 *
 * The speed that is really reached is measured between the agents: see
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
 * Find the fastest port of this node that is up; of equal ones InfiniBand comes
 * before Ethernet.  Virtual ports (bridges, tunnels) count only if there is no
 * real one.  Returns the number of ports of that kind and speed; 0 if none is
 * up and says its speed (*port is PORT_NONE).
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
