/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe/probe_bus.h"
#include "launcher/probe/fingerprint.h"
#include "launcher/probe/pcie.h"
#include "launcher/probe/probe.h"
#include "launcher/probe/topology.h"
#include "tree.h"

/* As sysfs shows a device; NULL: no such file. */
static void put_device(const char *name,
                       const char *class,
                       const char *vendor,
                       const char *speed,
                       const char *width)
{
    const char *file[] = {"class",
                          "vendor",
                          "current_link_speed",
                          "current_link_width",
                          "max_link_speed",
                          "max_link_width",
                          "device"};
    const char *text[] = {class,  vendor,    speed, width, "32.0 GT/s PCIe\n",
                          "16\n", "0x2335\n"};
    char path[200];

    for (size_t i = 0; i < sizeof file / sizeof file[0]; i++) {
        snprintf(path, sizeof path, "bus/pci/devices/%s/%s", name, file[i]);
        if (text[i])
            tree_put(path, text[i]);
    }
}

static void test_rates(void)
{
    static const struct {
        double gt_per_s, gb_per_s;
        unsigned width;
    } known[] = {{2.5, 0.25, 1},   {5, 8, 16},       {8, 15.754, 16},
                 {16, 31.508, 16}, {32, 63.015, 16}, {64, 121, 16}};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        ok(fabs(pcie_rate(known[i].gt_per_s, known[i].width) / 1e9
                - known[i].gb_per_s)
               < 0.001,
           "%g GT/s x%u is %g GB/s", known[i].gt_per_s, known[i].width,
           known[i].gb_per_s);
}

static void test_devices(void)
{
    struct pcie_device found[PCIE_MOST];

    tree_make();
    is_int((long)pcie_accelerators(tree_root, found), 0,
           "a node without a PCI bus has none");
    put_device("0000:03:00.0", "0x030000\n", "0x1a03\n", "2.5 GT/s PCIe\n",
               "1\n");
    put_device("0000:04:00.0", "0x020000\n", "0x15b3\n", "8.0 GT/s PCIe\n",
               "8\n");
    is_int((long)pcie_accelerators(tree_root, found), 0,
           "neither a server's own screen nor a network card is one");
    put_device("0000:41:00.0", "0x030200\n", "0x10de\n", "16.0 GT/s PCIe\n",
               "16\n");
    put_device("0000:05:00.0", "0x120000\n", "0x1002\n", "Unknown\n", "255\n");
    put_device("0000:06:00.0", "0x030000\n", "0x10de\n", NULL, NULL);
    is_int((long)pcie_accelerators(tree_root, found), 3,
           "a GPU, an accelerator, a card with a screen are");
    ok(strcmp(found[0].name, "0000:05:00.0") == 0 && found[0].bytes_per_s == 0,
       "in order of address; an unknown link has no rate");
    ok(found[1].bytes_per_s == 0, "nor one of which nothing is told");
    is_near(found[2].bytes_per_s / 1e9, 31.508, 0.001, "a good one has");
    ok(found[2].vendor == 0x10de && found[2].model == 0x2335,
       "its model is known");
}

/* Goes on with those devices: slower than any memory. */
static void test_narrowest(void)
{
    struct probe_setup setup;
    struct topology *t = topology_load(NULL);
    struct probe_result r = {0};

    put_device("0000:61:00.0", "0x030200\n", "0x10de\n", "2.5 GT/s PCIe\n",
               "1\n");
    probe_setup_init(&setup);
    setup.sysfs = tree_root;
    setup.topology = t;
    probe_bus_measure(&setup, 100, &r);
    is_near(r.value, 0.25, 1e-9, "the narrowest link is the bus");
    is_str(r.what, "PCIe 0000:61:00.0 at 2.5 GT/s x1, could be 32 GT/s x16",
           "it is named, with what it could be");
    tree_remove();
    tree_make();
    memset(&r, 0, sizeof r);
    setup.sysfs = tree_root;
    probe_bus_measure(&setup, 150, &r);
    ok(r.state == PROBE_MEASURED && r.value > 0.01 && strstr(r.what, "copy of"),
       "without one it is copying");
    diag("%.1f GB/s, %s", r.value, r.what);
    setup.topology = NULL;
    probe_bus_measure(&setup, 50, &r);
    ok(r.state == PROBE_NOT_MEASURED && strstr(r.what, "hwloc cannot find"),
       "without a topology it is not measured, and said");
    topology_destroy(t);
    tree_remove();
}

static void test_fingerprint(void)
{
    char text[FINGERPRINT_MAX], other[FINGERPRINT_MAX];

    tree_make();
    fingerprint_take(text, tree_root, tree_root);
    is_str(text, "", "of a node that tells nothing there is no fingerprint");
    tree_put("cpuinfo", "processor\t: 0\nmodel name\t: Some CPU @ 3\n");
    tree_put("meminfo", "MemTotal:       1583394816 kB\nMemFree: 1 kB\n");
    tree_put("devices/system/cpu/present", "0-383\n");
    put_device("0000:41:00.0", "0x030200\n", "0x10de\n", NULL, NULL);
    put_device("0000:51:00.0", "0x120000\n", "0x1002\n", NULL, NULL);
    put_device("0000:61:00.0", "0x030200\n", "0x10de\n", NULL, NULL);
    fingerprint_take(text, tree_root, tree_root);
    is_str(text,
           "Some CPU @ 3, CPUs 0-383, 1536 GiB, 2 x 10de:2335, 1 x 1002:2335",
           "CPU, memory and accelerators make it up");
    tree_put("meminfo", "MemTotal:       1581000000 kB\n");
    fingerprint_take(other, tree_root, tree_root);
    is_str(other, text, "a little memory that the firmware keeps is the same");
    tree_put("meminfo", "MemTotal:       1385000000 kB\n");
    fingerprint_take(other, tree_root, tree_root);
    ok(strcmp(other, text) != 0, "a module that is missing is not");
    tree_put("cpuinfo", "processor\t: 0\nCPU part\t: 0xd4f\n");
    fingerprint_take(text, tree_root, tree_root);
    ok(strncmp(text, "0xd4f, ", 7) == 0, "an Arm CPU has a number");
    tree_remove();
}

int main(void)
{
    test_rates();
    test_devices();
    test_narrowest();
    test_fingerprint();
    return done();
}
