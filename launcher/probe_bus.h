/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_bus.h - core element B: the narrowest way that a node's data must
 * take inside of it.
 *
 * Of these two the lower one, in GB/s one way:
 *  - the link of the narrowest PCIe accelerator, from sysfs;
 *  - copying between the NUMA nodes, all links at once, or where there is but
 *    one, copying in its memory.
 */
#ifndef LAUNCHER_PROBE_BUS_H
#define LAUNCHER_PROBE_BUS_H

#include "launcher/probe.h"

/* The PCIe link of one device. */
struct pcie_link {
    char device[32];      /* 0000:41:00.0 */
    double gt_per_s;      /* transfers a second and lane, as it is now */
    double gt_per_s_most; /* as both ends could; 0: not told */
    unsigned width;       /* lanes, as they are now */
    unsigned width_most;  /* likewise */
    double bytes_per_s;   /* one way, after line coding */
};

/*
 * The narrowest link of the accelerators (GPUs, and what else says that it is
 * one; not the screen of a management controller) below <sysfs>/bus/pci.
 * Returns how many have a link; *link is filled if that is not 0.
 */
unsigned probe_bus_pcie(const char *sysfs, struct pcie_link *link);

/* Bytes a second and way of a link of so many lanes, after line coding: 8b/10b
 * to 5 GT/s, 128b/130b to 32, flits of 242 in 256 bytes above.  (PCI Express
 * Base Specification 6.0, sections 4.2.) */
double probe_bus_pcie_rate(double gt_per_s, unsigned width);

/* count is the CPUs that copied. */
void probe_bus_measure(const struct probe_setup *setup,
                       int budget_ms,
                       struct probe_result *r);

#endif
