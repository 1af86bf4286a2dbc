/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe/pcie.h"
#include "launcher/base/sysfs.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* PCI Code and ID Assignment, sections 1.4 and 1.19; vendors by pci.ids. */
#define CLASS_3D          0x0302
#define CLASS_DISPLAY     0x0380
#define CLASS_ACCELERATOR 0x1200

#define LANES_MOST 64 /* sysfs says 255 for unknown */

double pcie_rate(double gt_per_s, unsigned width)
{
    double coding = gt_per_s <= 5    ? 8.0 / 10
                    : gt_per_s <= 32 ? 128.0 / 130
                                     : 242.0 / 256;

    return gt_per_s * 1e9 * width * coding / 8;
}

static unsigned long read_hex(const char *pci,
                              const char *device,
                              const char *name)
{
    char line[SYSFS_LINE];

    if (sysfs_read(line, "%s/%s/%s", pci, device, name) < 0)
        return 0;
    return strtoul(line, NULL, 16);
}

static int is_accelerator(const char *pci, const char *device)
{
    unsigned long vendor = read_hex(pci, device, "vendor");

    switch (read_hex(pci, device, "class") >> 8) {
    case CLASS_3D:
    case CLASS_ACCELERATOR:
        return 1;
    case PCIE_CLASS_VGA:
    case CLASS_DISPLAY:
        return vendor == PCIE_VENDOR_AMD || vendor == PCIE_VENDOR_NVIDIA
               || vendor == PCIE_VENDOR_INTEL;
    default:
        return 0;
    }
}

/* "16.0 GT/s PCIe"; 0 of "Unknown" or of none. */
static double read_speed(const char *pci, const char *device, const char *name)
{
    char line[SYSFS_LINE];

    if (sysfs_read(line, "%s/%s/%s", pci, device, name) < 0)
        return 0;
    return strtod(line, NULL);
}

static unsigned read_width(const char *pci,
                           const char *device,
                           const char *name)
{
    uint64_t width;

    if (sysfs_read_u64(&width, "%s/%s/%s", pci, device, name) < 0
        || width > LANES_MOST)
        return 0;
    return (unsigned)width;
}

static struct pcie_device read_device(const char *pci, const char *name)
{
    struct pcie_device d = {
        .vendor = (unsigned)read_hex(pci, name, "vendor"),
        .model = (unsigned)read_hex(pci, name, "device"),
        .class_code = (unsigned)(read_hex(pci, name, "class") >> 8),
        .gt_per_s = read_speed(pci, name, "current_link_speed"),
        .gt_per_s_most = read_speed(pci, name, "max_link_speed"),
        .width = read_width(pci, name, "current_link_width"),
        .width_most = read_width(pci, name, "max_link_width"),
    };

    (void)snprintf(d.name, sizeof d.name, "%.31s", name);
    d.bytes_per_s = pcie_rate(d.gt_per_s, d.width);
    return d;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct pcie_device *)a)->name,
                  ((const struct pcie_device *)b)->name);
}

size_t pcie_accelerators(const char *sysfs, struct pcie_device found[PCIE_MOST])
{
    char pci[SYSFS_PATH];
    struct dirent *d;
    size_t n = 0;
    DIR *dir;

    if (sysfs_path(pci, "%s/bus/pci/devices", sysfs) < 0)
        return 0;
    dir = opendir(pci);
    if (!dir)
        return 0;
    while (n < PCIE_MOST && (d = readdir(dir)))
        if (d->d_name[0] != '.' && is_accelerator(pci, d->d_name))
            found[n++] = read_device(pci, d->d_name);
    (void)closedir(dir); /* only read */
    qsort(found, n, sizeof *found, by_name);
    return n;
}
