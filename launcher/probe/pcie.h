/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pcie.h - the accelerators on the PCI Express bus and their links, from sysfs.
 */
#ifndef LAUNCHER_PROBE_PCIE_H
#define LAUNCHER_PROBE_PCIE_H

#include <stddef.h>

#define PCIE_MOST 64 /* accelerators of a node, at most */

#define PCIE_CLASS_VGA     0x0300 /* also of what drives a server's screen */
#define PCIE_VENDOR_AMD    0x1002
#define PCIE_VENDOR_NVIDIA 0x10de
#define PCIE_VENDOR_INTEL  0x8086

struct pcie_device {
    char name[32]; /* 0000:41:00.0 */
    unsigned vendor, model;
    unsigned class_code;  /* without the programming interface: 0x0302 */
    double gt_per_s;      /* transfers a second and lane, as it is now */
    double gt_per_s_most; /* as the device could; 0: not told */
    unsigned width;       /* lanes, as they are now */
    unsigned width_most;  /* likewise */
    double bytes_per_s;   /* one way; 0: not known */
};

/*
 * Find the GPUs and other accelerators, in the order of their addresses; the
 * graphics of a management controller do not count.  Returns their number; 0
 * also if sysfs has no PCI bus.
 */
size_t pcie_accelerators(const char *sysfs,
                         struct pcie_device found[PCIE_MOST]);

/* Bytes a second in one direction of so many lanes, after line coding: 8b/10b
 * to 5 GT/s, 128b/130b to 32, flits of 242 in 256 bytes above.  (PCI Express
 * Base Specification 6.0, section 4.2.) */
double pcie_rate(double gt_per_s, unsigned width);

#endif
