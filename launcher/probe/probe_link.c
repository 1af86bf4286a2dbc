/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe/probe_link.h"
#include "launcher/base/sysfs.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARPHRD_ETHERNET 1        /* linux/if_arp.h */
#define MBIT_MOST       10000000 /* more is no speed, but -1 as unsigned */

/* Call look() for every entry of a directory, which may be missing. */
static void for_each(const char *dir,
                     void (*look)(void *arg, const char *dir, const char *name),
                     void *arg)
{
    DIR *list = opendir(dir);
    struct dirent *d;

    if (!list)
        return;
    while ((d = readdir(list)))
        if (d->d_name[0] != '.')
            look(arg, dir, d->d_name);
    (void)closedir(list); /* only read */
}

/* The best port so far, and the number of equal ones. */
struct search {
    struct network_port best;
    unsigned n;
    const char *device; /* the InfiniBand device in progress */
};

static void compare_port(struct search *s, const struct network_port *port)
{
    if (port->gbit_per_s > s->best.gbit_per_s
        || (port->gbit_per_s == s->best.gbit_per_s
            && port->kind > s->best.kind)) {
        s->best = *port;
        s->n = 1;
    } else if (port->gbit_per_s == s->best.gbit_per_s
               && port->kind == s->best.kind) {
        s->n++;
    }
}

/* --- InfiniBand ----------------------------------------------------------- */

/* A port has a state "4: ACTIVE" and a rate "100 Gb/sec (4X EDR)".  One whose
 * link layer is Ethernet is found with the Ethernet ports. */
static void look_at_ib_port(void *arg, const char *dir, const char *name)
{
    struct search *s = arg;
    struct network_port port = {.kind = PORT_INFINIBAND};
    char line[SYSFS_LINE];

    if (sysfs_read(line, "%s/%s/link_layer", dir, name) < 0
        || strcmp(line, "InfiniBand") != 0
        || sysfs_read(line, "%s/%s/state", dir, name) < 0
        || strncmp(line, "4:", 2) != 0
        || sysfs_read(line, "%s/%s/rate", dir, name) < 0)
        return;
    (void)snprintf(port.name, sizeof port.name, "%.47s/%.15s", s->device, name);
    port.gbit_per_s = strtod(line, NULL);
    if (port.gbit_per_s > 0 && port.gbit_per_s <= MBIT_MOST / 1e3)
        compare_port(s, &port);
}

static void look_at_ib(void *arg, const char *dir, const char *name)
{
    struct search *s = arg;
    char ports[SYSFS_PATH];

    if (sysfs_path(ports, "%s/%s/ports", dir, name) < 0)
        return;
    s->device = name;
    for_each(ports, look_at_ib_port, s);
}

/* --- Ethernet ------------------------------------------------------------- */

static int is_real(const char *dir, const char *name)
{
    char path[SYSFS_PATH];

    return sysfs_path(path, "%s/%s/device", dir, name) == 0
           && access(path, F_OK) == 0;
}

static void look_at_ethernet(struct search *s,
                             const char *dir,
                             const char *name)
{
    struct network_port port = {.kind = PORT_ETHERNET};
    char line[SYSFS_LINE];
    uint64_t type, mbit;

    if (sysfs_read_u64(&type, "%s/%s/type", dir, name) < 0
        || type != ARPHRD_ETHERNET
        || sysfs_read(line, "%s/%s/operstate", dir, name) < 0
        || strcmp(line, "up") != 0
        || sysfs_read_u64(&mbit, "%s/%s/speed", dir, name) < 0 || mbit == 0
        || mbit > MBIT_MOST)
        return;
    (void)snprintf(port.name, sizeof port.name, "%.63s", name);
    port.gbit_per_s = (double)mbit / 1e3;
    port.is_virtual = !is_real(dir, name);
    compare_port(s, &port);
}

static void look_at_real(void *arg, const char *dir, const char *name)
{
    if (is_real(dir, name))
        look_at_ethernet(arg, dir, name);
}

static void look_at_virtual(void *arg, const char *dir, const char *name)
{
    if (!is_real(dir, name))
        look_at_ethernet(arg, dir, name);
}

/* --- all ------------------------------------------------------------------ */

unsigned probe_link_port(const char *sysfs, struct network_port *port)
{
    char infiniband[SYSFS_PATH], net[SYSFS_PATH];
    struct search s = {.n = 0};

    *port = s.best;
    if (sysfs_path(infiniband, "%s/class/infiniband", sysfs) < 0
        || sysfs_path(net, "%s/class/net", sysfs) < 0)
        return 0;
    for_each(infiniband, look_at_ib, &s);
    for_each(net, look_at_real, &s);
    if (s.n == 0)
        for_each(net, look_at_virtual, &s);
    *port = s.best;
    return s.n;
}

void probe_link_measure(const struct probe_setup *setup,
                        int budget_ms,
                        struct probe_result *r)
{
    struct network_port port;

    (void)budget_ms; /* it only reads a few files */
    r->count = probe_link_port(setup->sysfs, &port);
    if (r->count == 0)
        probe_not_measured(r, "no network port is up and reports its speed: it "
                              "can be measured between nodes");
    else if (port.is_virtual)
        probe_not_measured(r,
                           "the %g Gbit/s of %s are claimed by a virtual port: "
                           "it can be measured between nodes",
                           port.gbit_per_s, port.name);
    else
        probe_measured(r, port.gbit_per_s, 0, "%s %s as it tells; %u such",
                       port.kind == PORT_INFINIBAND ? "InfiniBand" : "Ethernet",
                       port.name, r->count);
}
