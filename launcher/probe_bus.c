/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe_bus.h"
#include "launcher/probe_stream.h"
#include "launcher/sysfs.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* PCI Code and ID Assignment, sections 1.4 and 1.19; vendors by pci.ids. */
#define CLASS_VGA         0x0300 /* also of the cards in a server's back */
#define CLASS_3D          0x0302
#define CLASS_DISPLAY     0x0380
#define CLASS_ACCELERATOR 0x1200
#define VENDOR_AMD        0x1002
#define VENDOR_NVIDIA     0x10de
#define VENDOR_INTEL      0x8086

#define LANES_MOST 64 /* more is no link: sysfs says 255 for unknown */

/* --- PCIe ----------------------------------------------------------------- */

double probe_bus_pcie_rate(double gt_per_s, unsigned width)
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
    case CLASS_VGA:
    case CLASS_DISPLAY:
        return vendor == VENDOR_AMD || vendor == VENDOR_NVIDIA
               || vendor == VENDOR_INTEL;
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

static struct pcie_link read_link(const char *pci, const char *device)
{
    struct pcie_link link = {
        .gt_per_s = read_speed(pci, device, "current_link_speed"),
        .gt_per_s_most = read_speed(pci, device, "max_link_speed"),
        .width = read_width(pci, device, "current_link_width"),
        .width_most = read_width(pci, device, "max_link_width"),
    };

    (void)snprintf(link.device, sizeof link.device, "%.31s", device);
    link.bytes_per_s = probe_bus_pcie_rate(link.gt_per_s, link.width);
    return link;
}

unsigned probe_bus_pcie(const char *sysfs, struct pcie_link *link)
{
    char pci[SYSFS_PATH];
    unsigned n = 0;
    struct dirent *d;
    DIR *dir;

    if (sysfs_path(pci, "%s/bus/pci/devices", sysfs) < 0)
        return 0;
    dir = opendir(pci);
    if (!dir)
        return 0;
    while ((d = readdir(dir))) {
        struct pcie_link found;

        if (d->d_name[0] == '.' || !is_accelerator(pci, d->d_name))
            continue;
        found = read_link(pci, d->d_name);
        if (!(found.bytes_per_s > 0))
            continue; /* inside the processor or of a virtual machine */
        if (n++ == 0 || found.bytes_per_s < link->bytes_per_s)
            *link = found;
    }
    (void)closedir(dir); /* only read */
    return n;
}

/* --- copying -------------------------------------------------------------- */

/* Between NUMA nodes if there are some, and if memory may be placed there. */
static int copy(struct stream_setup *stream,
                int budget_ms,
                struct stream_result *got,
                struct es_error *err)
{
    stream->across = topology_shape(stream->topology)->numa_nodes > 1;
    if (probe_stream(stream, budget_ms, got, err) == 0)
        return 0;
    if (!stream->across)
        return -1;
    stream->across = 0;
    return probe_stream(stream, budget_ms / 2, got, err);
}

static void say_pcie(struct probe_result *r, const struct pcie_link *link)
{
    char most[64] = "";

    if (link->gt_per_s < link->gt_per_s_most || link->width < link->width_most)
        (void)snprintf(most, sizeof most, ", could be %g GT/s x%u",
                       link->gt_per_s_most, link->width_most);
    probe_measured(r, link->bytes_per_s / 1e9, 0, "PCIe %s at %g GT/s x%u%s",
                   link->device, link->gt_per_s, link->width, most);
}

void probe_bus_measure(const struct probe_setup *setup,
                       int budget_ms,
                       struct probe_result *r)
{
    struct stream_setup stream = {.kind = STREAM_COPY};
    struct stream_result got = {0};
    struct pcie_link link;
    unsigned links = probe_bus_pcie(setup->sysfs, &link);
    struct es_error err;
    uint64_t capacity;
    struct topology *t = topology_load(&err);
    int rc = -1;

    stream.topology = t;
    stream.memory_most =
        probe_stream_memory(setup->proc, setup->sysfs, &capacity);
    if (t)
        rc = copy(&stream, budget_ms, &got, &err);
    r->count = got.cpus;
    if (links > 0 && (rc < 0 || link.bytes_per_s < got.bytes_per_s))
        say_pcie(r, &link);
    else if (rc < 0)
        probe_not_measured(r, "%s: %s", err.what, err.mend);
    else
        probe_measured(r, got.bytes_per_s / 1e9, got.spread,
                       "copy of %.0f MB %s by %u CPUs", (double)got.bytes / 1e6,
                       stream.across ? "between the NUMA nodes" : "in memory",
                       got.cpus);
    topology_destroy(t);
}
