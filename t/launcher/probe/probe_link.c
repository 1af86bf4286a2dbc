/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe/probe_link.h"
#include "launcher/probe/probe.h"
#include "tree.h"

static struct network_port port;

static unsigned look(void)
{
    return probe_link_port(tree_root, &port);
}

static void put_net(const char *name,
                    const char *speed,
                    const char *state,
                    int real)
{
    char path[200];

    snprintf(path, sizeof path, "class/net/%s/type", name);
    tree_put(path, "1\n");
    snprintf(path, sizeof path, "class/net/%s/speed", name);
    tree_put(path, speed);
    snprintf(path, sizeof path, "class/net/%s/operstate", name);
    tree_put(path, state);
    snprintf(path, sizeof path, "class/net/%s/device/vendor", name);
    if (real)
        tree_put(path, "0x8086\n");
}

static void put_ib(const char *name,
                   const char *rate,
                   const char *state,
                   const char *layer)
{
    char path[200];

    snprintf(path, sizeof path, "class/infiniband/%s/ports/1/rate", name);
    tree_put(path, rate);
    snprintf(path, sizeof path, "class/infiniband/%s/ports/1/state", name);
    tree_put(path, state);
    snprintf(path, sizeof path, "class/infiniband/%s/ports/1/link_layer", name);
    tree_put(path, layer);
}

static void test_ethernet(void)
{
    struct probe_setup setup;
    struct probe_result r = {0};

    tree_make();
    is_int((long)look(), 0, "a node without network has no port");
    put_net("eth0", "-1\n", "up\n", 1);
    put_net("eth1", "25000\n", "down\n", 1);
    put_net("eth2", "rubbish\n", "up\n", 1);
    put_net("eth3", "4294967295\n", "up\n", 1);
    is_int((long)look(), 0, "nor one whose ports are down or tell no speed");
    put_net("veth0", "10000\n", "up\n", 0);
    ok(look() == 1 && strcmp(port.name, "veth0") == 0,
       "a virtual one counts if there is no other");
    probe_setup_init(&setup);
    setup.sysfs = tree_root;
    probe_link_measure(&setup, 10, &r);
    ok(r.state == PROBE_NOT_MEASURED && r.count == 1
           && strstr(r.what, "the 10 Gbit/s of veth0 are claimed by a virtual"),
       "but what it tells is no measurement, which is said");
    put_net("eno1", "1000\n", "up\n", 1);
    ok(look() == 1 && strcmp(port.name, "eno1") == 0 && port.gbit_per_s == 1,
       "a slow but real one comes before it");
    put_net("eno2", "100000\n", "up\n", 1);
    put_net("eno3", "100000\n", "up\n", 1);
    ok(look() == 2 && port.gbit_per_s == 100 && port.kind == PORT_ETHERNET,
       "the fastest are taken, and counted");
    tree_put("class/net/eno2/type", "772\n");
    is_int((long)look(), 1, "a port that is no Ethernet is not");
    tree_remove();
}

static void test_infiniband(void)
{
    struct probe_setup setup;
    struct probe_result r = {0};

    tree_make();
    probe_setup_init(&setup);
    setup.sysfs = tree_root;
    probe_link_measure(&setup, 10, &r);
    ok(r.state == PROBE_NOT_MEASURED && strstr(r.what, "no network port"),
       "a node without ports is not measured, which is said");
    put_net("eth0", "100000\n", "up\n", 1);
    put_ib("mlx5_1", "200 Gb/sec (4X HDR)\n", "1: DOWN\n", "InfiniBand\n");
    put_ib("mlx5_2", "200 Gb/sec (4X HDR)\n", "4: ACTIVE\n", "Ethernet\n");
    ok(look() == 1 && port.kind == PORT_ETHERNET,
       "a port that is down, or Ethernet underneath, is no InfiniBand");
    put_ib("mlx5_0", "100 Gb/sec (4X EDR)\n", "4: ACTIVE\n", "InfiniBand\n");
    ok(look() == 1 && strcmp(port.name, "mlx5_0/1") == 0,
       "InfiniBand comes before Ethernet of the same speed");
    put_ib("mlx5_1", "400 Gb/sec (4X NDR)\n", "4: ACTIVE\n", "InfiniBand\n");
    memset(&r, 0, sizeof r);
    probe_link_measure(&setup, 10, &r);
    ok(r.state == PROBE_MEASURED && r.value == 400 && r.count == 1,
       "the fastest is the node's");
    is_str(r.what, "InfiniBand mlx5_1/1 as it tells; 1 such",
           "it is named, and that it was not measured itself");
    tree_remove();
}

int main(void)
{
    test_ethernet();
    test_infiniband();
    return done();
}
