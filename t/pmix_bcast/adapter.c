/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trees of /sys are made in a temporary folder, as a kernel with InfiniBand
 * shows them; the interface that is asked for is the loopback.
 */
#include "pmix_bcast/adapter.h"
#include "tap.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ftw.h>
#include <ifaddrs.h>
#include <limits.h>
#include <netinet/in.h>
#include <sys/stat.h>

#define GID_1 "fe80:0000:0000:0000:0002:c903:0000:1491\n"
#define GID_2 "fec0:0000:0000:0007:0002:c903:0000:1492\n"

static char sysfs[64];

/* --- a tree --------------------------------------------------------------- */

static int remove_it(const char *path,
                     const struct stat *st,
                     int type,
                     struct FTW *at)
{
    (void)st, (void)type, (void)at;
    return remove(path);
}

static void clear_tree(void)
{
    (void)nftw(sysfs, remove_it, 8, FTW_DEPTH | FTW_PHYS);
}

static void write_file(const char *name, const char *text)
{
    char path[PATH_MAX];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", sysfs, name);
    for (char *slash = path + strlen(sysfs); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0700) < 0 && errno != EEXIST)
            bail("%s: %s", path, strerror(errno));
        *slash = '/';
    }
    file = fopen(path, "we");
    if (!file || fputs(text, file) == EOF || fclose(file) != 0)
        bail("%s: %s", path, strerror(errno));
}

struct port {
    const char *name; /* mlx5_0/ports/1; NULL: no more ports */
    const char *state, *layer, *gid, *lid, *lmc, *rate; /* NULL: no file */
};

static void write_port_file(const struct port *p,
                            const char *name,
                            const char *text)
{
    char path[200];

    snprintf(path, sizeof path, "class/infiniband/%s/%s", p->name, name);
    if (text)
        write_file(path, text);
}

static void write_port(const struct port *p)
{
    write_port_file(p, "state", p->state);
    write_port_file(p, "link_layer", p->layer);
    write_port_file(p, "gids/0", p->gid);
    write_port_file(p, "lid", p->lid);
    write_port_file(p, "lid_mask_count", p->lmc);
    write_port_file(p, "rate", p->rate);
}

/* --- addresses ------------------------------------------------------------ */

struct local {
    struct sockaddr_storage sa;
};

static const struct sockaddr *address(struct local *l, const char *text)
{
    struct sockaddr_in *in = (void *)&l->sa;
    struct sockaddr_in6 *in6 = (void *)&l->sa;

    memset(l, 0, sizeof *l);
    if (inet_pton(AF_INET, text, &in->sin_addr) == 1)
        in->sin_family = AF_INET;
    else if (inet_pton(AF_INET6, text, &in6->sin6_addr) == 1)
        in6->sin6_family = AF_INET6;
    else
        bail("%s is no address", text);
    return (const struct sockaddr *)&l->sa;
}

static int is_at(const uint8_t bytes[16], const char *text)
{
    char got[INET6_ADDRSTRLEN];
    int same;

    inet_ntop(AF_INET6, bytes, got, sizeof got);
    same = strcmp(got, text) == 0;
    if (!same)
        diag("got %s, want %s", got, text);
    return same;
}

static int find(struct adapter *a, const char *local, struct es_error *err)
{
    struct local l;

    memset(err, 0, sizeof *err);
    memset(a, 0x5a, sizeof *a);
    return adapter_find(a, sysfs, address(&l, local), err);
}

/* --- InfiniBand ----------------------------------------------------------- */

#define ACTIVE "4: ACTIVE\n"
#define IB     "InfiniBand\n"
#define EDR    "100 Gb/sec (4X EDR)\n"

static const struct port whole = {"mlx5_0/ports/1", ACTIVE, IB, GID_2,
                                  "0x1f\n",         "2\n",  EDR};

static void test_infiniband(void)
{
    struct es_error err;
    struct adapter a;

    write_port(&whole);
    is_int(find(&a, "127.0.0.1", &err), 0, "an InfiniBand port is found");
    is_int(a.link, ADAPTER_INFINIBAND, "as such");
    ok(is_at(a.address, "fec0::7:2:c903:0:1492"), "its address is GID 0");
    ok(a.network == 0xfec0000000000007, "its network id the subnet prefix");
    is_int(a.lid, 0x1f, "its LID is hexadecimal");
    is_int(a.lmc, 2, "its LMC is not");
    is_int(a.port, 1, "its port's number");
    is_int(a.rate_mbps, 100000, "its rate in Mbit/s");
    ok(is_at(a.ip, "::ffff:127.0.0.1"),
       "TCP goes to where the front end is reached");
    is_int(a.tcp_port, 0, "at a port that is the caller's to say");
    ok(adapter_is_sound(&a), "the whole is sound");
    is_int(find(&a, "192.0.2.200", &err), 0, "no interface is looked for then");
    clear_tree();
}

/* The port mlx5_0/ports/1 is not good enough. */
static const struct {
    const char *name;
    struct port port;
} unfit[] = {
    {"is down",
     {"mlx5_0/ports/1", "1: DOWN\n", IB, GID_1, "0x1\n", "0\n", EDR}},
    {"is only armed",
     {"mlx5_0/ports/1", "3: ARMED\n", IB, GID_1, "0x1\n", "0\n", EDR}},
    {"is in a state of two digits",
     {"mlx5_0/ports/1", "44: ACTIVE\n", IB, GID_1, "0x1\n", "0\n", EDR}},
    {"has no state", {"mlx5_0/ports/1", NULL, IB, GID_1, "0x1\n", "0\n", EDR}},
    {"has an empty state",
     {"mlx5_0/ports/1", "", IB, GID_1, "0x1\n", "0\n", EDR}},
    {"has no link layer",
     {"mlx5_0/ports/1", ACTIVE, NULL, GID_1, "0x1\n", "0\n", EDR}},
    {"has an unknown link layer",
     {"mlx5_0/ports/1", ACTIVE, "Unspecified\n", GID_1, "0x1\n", "0\n", EDR}},
    {"has no GID", {"mlx5_0/ports/1", ACTIVE, IB, NULL, "0x1\n", "0\n", EDR}},
    {"has a GID of zero",
     {"mlx5_0/ports/1", ACTIVE, IB, "0000:0000:0000:0000:0000:0000:0000:0000\n",
      "0x1\n", "0\n", EDR}},
    {"has a GID that is none",
     {"mlx5_0/ports/1", ACTIVE, IB, "fe80:0000\n", "0x1\n", "0\n", EDR}},
    {"has no LID", {"mlx5_0/ports/1", ACTIVE, IB, GID_1, NULL, "0\n", EDR}},
    {"has a LID that is none",
     {"mlx5_0/ports/1", ACTIVE, IB, GID_1, "0x\n", "0\n", EDR}},
    {"has a negative LID",
     {"mlx5_0/ports/1", ACTIVE, IB, GID_1, "-1\n", "0\n", EDR}},
    {"has a LID of 33 bits",
     {"mlx5_0/ports/1", ACTIVE, IB, GID_1, "0x100000000\n", "0\n", EDR}},
    {"has no LMC", {"mlx5_0/ports/1", ACTIVE, IB, GID_1, "0x1\n", NULL, EDR}},
    {"has an LMC of more than 7",
     {"mlx5_0/ports/1", ACTIVE, IB, GID_1, "0x1\n", "8\n", EDR}},
    {"has a name for a number",
     {"mlx5_0/ports/one", ACTIVE, IB, GID_1, "0x1\n", "0\n", EDR}},
};

static void test_unfit(void)
{
    struct port spare = whole;
    struct es_error err;
    struct adapter a;

    spare.name = "mlx5_1/ports/2";
    spare.rate = "2.5 Gb/sec (1X SDR)\n";
    for (size_t i = 0; i < sizeof unfit / sizeof unfit[0]; i++) {
        write_port(&unfit[i].port);
        ok(find(&a, "127.0.0.1", &err) == 0 && a.link == ADAPTER_IP,
           "a port that %s is passed over, for the interface", unfit[i].name);
        write_port(&spare);
        ok(find(&a, "127.0.0.1", &err) == 0 && a.link == ADAPTER_INFINIBAND
               && a.port == 2 && a.rate_mbps == 2500,
           "or for another port");
        clear_tree();
    }
}

static const struct {
    const char *name;
    struct port port[4];
    uint32_t lid; /* of the one to be chosen */
} choices[] = {
    {"the faster of two",
     {{"a/ports/1", ACTIVE, IB, GID_1, "0x1", "0", "56 Gb/sec (4X FDR)\n"},
      {"b/ports/1", ACTIVE, IB, GID_1, "0x2", "0", EDR}},
     2},
    {"the faster of one device's ports",
     {{"a/ports/1", ACTIVE, IB, GID_1, "0x1", "0", EDR},
      {"a/ports/2", ACTIVE, IB, GID_1, "0x2", "0", "200 Gb/sec (4X HDR)\n"}},
     2},
    {"the first of equals",
     {{"b/ports/2", ACTIVE, IB, GID_1, "0x1", "0", EDR},
      {"b/ports/1", ACTIVE, IB, GID_1, "0x2", "0", EDR},
      {"c/ports/1", ACTIVE, IB, GID_1, "0x3", "0", EDR}},
     2},
    {"device 2 before device 10",
     {{"mlx5_10/ports/1", ACTIVE, IB, GID_1, "0x1", "0", EDR},
      {"mlx5_2/ports/1", ACTIVE, IB, GID_1, "0x2", "0", EDR}},
     2},
    {"a slow InfiniBand port before a fast one over Ethernet",
     {{"a/ports/1", ACTIVE, "Ethernet\n", GID_1, "0x0", "0", EDR},
      {"b/ports/1", ACTIVE, IB, GID_1, "0x2", "0", "10 Gb/sec (4X SDR)\n"},
      {"c/ports/1", ACTIVE, "Ethernet\n", GID_1, "0x0", "0", EDR}},
     2},
    {"one whose rate is known before one whose is not",
     {{"a/ports/1", ACTIVE, IB, GID_1, "0x1", "0", "fast\n"},
      {"b/ports/1", ACTIVE, IB, GID_1, "0x2", "0", EDR}},
     2},
};

static void test_choices(void)
{
    struct es_error err;
    struct adapter a;

    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        for (const struct port *p = choices[i].port; p->name; p++)
            write_port(p);
        ok(find(&a, "127.0.0.1", &err) == 0 && a.lid == choices[i].lid,
           "%s is taken", choices[i].name);
        clear_tree();
    }
}

static const struct {
    const char *text;
    uint32_t mbps;
} rates[] = {{"-1 Gb/sec (4X EDR)\n", 0},
             {"nan Gb/sec (4X EDR)\n", 0},
             {"100 Mb/sec\n", 0},
             {"1e300 Gb/sec (4X EDR)\n", 0},
             {"\n", 0},
             {"2.5 Gb/sec (1X SDR)\n", 2500},
             {"14 Gb/sec (1X FDR)\n", 14000},
             {"400 Gb/sec (4X NDR)\n", 400000}};

static void test_rates(void)
{
    struct port p = whole;
    struct es_error err;
    struct adapter a;

    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        p.rate = rates[i].text;
        write_port(&p);
        ok(find(&a, "127.0.0.1", &err) == 0 && a.rate_mbps == rates[i].mbps,
           "a rate of \"%.*s\" is %u Mbit/s", (int)strcspn(p.rate, "\n"),
           p.rate, rates[i].mbps);
    }
    clear_tree();
}

static void test_roce(void)
{
    struct port p = whole;
    struct es_error err;
    struct adapter a;

    p.layer = "Ethernet\n";
    p.lid = "0x0\n";
    write_port(&p);
    ok(find(&a, "127.0.0.1", &err) == 0 && a.link == ADAPTER_ROCE && a.lid == 0,
       "a port over Ethernet is found as such");
    clear_tree();
}

/* --- interfaces ----------------------------------------------------------- */

static void test_interface(void)
{
    struct es_error err;
    struct adapter a;

    is_int(find(&a, "127.0.0.1", &err), 0, "without InfiniBand: the interface");
    ok(a.link == ADAPTER_IP && is_at(a.address, "::ffff:127.0.0.1")
           && is_at(a.ip, "::ffff:127.0.0.1"),
       "with the address that reaches the front end, twice");
    ok(a.network == 0x0000ffff7f000000, "and its network, of 8 bits");
    ok(a.lid == 0 && a.lmc == 0 && a.port == 0 && a.rate_mbps == 0
           && adapter_is_sound(&a),
       "nothing else is known");
    write_file("class/net/lo/speed", "25000\n");
    ok(find(&a, "127.0.0.1", &err) == 0 && a.rate_mbps == 25000,
       "its rate is, if the system knows it");
    write_file("class/net/lo/speed", "-1\n");
    ok(find(&a, "127.0.0.1", &err) == 0 && a.rate_mbps == 0,
       "which says -1 if it does not");
    ok(find(&a, "::ffff:127.0.0.1", &err) == 0
           && a.network == 0x0000ffff7f000000,
       "an IPv4 address of an IPv6 socket is the same");
    clear_tree();
}

/* Whether the loopback has ::1. */
static int has_ipv6(void)
{
    struct ifaddrs *list, *i;
    int found = 0;

    if (getifaddrs(&list) < 0)
        bail("%s", strerror(errno));
    for (i = list; i; i = i->ifa_next)
        if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET6) {
            const struct sockaddr_in6 *in6 = (const void *)i->ifa_addr;

            found |= IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
        }
    freeifaddrs(list);
    return found;
}

static void test_ipv6(void)
{
    struct es_error err;
    struct adapter a;

    if (!has_ipv6()) {
        skip("an IPv6 address is found", "there is no IPv6");
        return;
    }
    ok(find(&a, "::1", &err) == 0 && is_at(a.address, "::1") && a.network == 0,
       "an IPv6 address is found, its network is the upper half");
}

static void test_no_interface(void)
{
    static const struct sockaddr nothing = {.sa_family = AF_UNIX};
    static const struct adapter zero;
    struct es_error err;
    struct adapter a;

    is_int(find(&a, "203.0.113.77", &err), -1, "a foreign address is refused");
    is_int(err.kind, ES_ENV, "by the environment's fault");
    is_str(err.what, "no network interface has the address ::ffff:203.0.113.77",
           "and named");
    ok(memcmp(&a, &zero, sizeof a) == 0, "the adapter is zeroed");
    memset(&a, 0x5a, sizeof a);
    is_int(adapter_find(&a, sysfs, &nothing, &err), -1,
           "a connection without IP is refused");
    ok(memcmp(&a, &zero, sizeof a) == 0, "the adapter is zeroed");
}

/* --- bytes ---------------------------------------------------------------- */

static const struct adapter sample = {
    .address = {0xfe, 0x80, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
    .network = 0x0102030405060708,
    .lid = 0x11121314,
    .port = 0x21222324,
    .rate_mbps = 0x31323334,
    .tcp_port = 0x4142,
    .lmc = 7,
    .link = ADAPTER_ROCE,
    .ip = {[10] = 0xff, 0xff, 10, 1, 2, 3},
};

static int is_same(const struct adapter *a, const struct adapter *b)
{
    return memcmp(a->address, b->address, 16) == 0 && a->network == b->network
           && a->lid == b->lid && a->port == b->port
           && a->rate_mbps == b->rate_mbps && a->tcp_port == b->tcp_port
           && a->lmc == b->lmc && a->link == b->link
           && memcmp(a->ip, b->ip, 16) == 0;
}

static void test_bytes(void)
{
    static const uint8_t want[ADAPTER_BYTES] = {
        0xfe, 0x80, 0,    0,    0,    0,    0,    1,    2,    3,    4,    5,
        6,    7,    8,    9,    8,    7,    6,    5,    4,    3,    2,    1,
        0x14, 0x13, 0x12, 0x11, 0x24, 0x23, 0x22, 0x21, 0x34, 0x33, 0x32, 0x31,
        0x42, 0x41, 7,    3,    0,    0,    0,    0,    0,    0,    0,    0,
        0,    0,    0xff, 0xff, 10,   1,    2,    3};
    uint8_t bytes[ADAPTER_BYTES + 1] = {0};
    struct adapter a;
    int taken = 0;

    adapter_encode(bytes, &sample);
    ok(memcmp(bytes, want, sizeof want) == 0, "an adapter is 56 bytes");
    ok(adapter_decode(&a, bytes, ADAPTER_BYTES) == 0 && is_same(&a, &sample),
       "and comes back");
    is_int(adapter_decode(&a, bytes, sizeof bytes), -1, "57 are none");
    for (size_t len = 0; len < ADAPTER_BYTES; len++) {
        uint8_t *exact = malloc(len + 1); /* so that ASan sees its end */

        if (!exact)
            bail("no memory");
        memcpy(exact, want, len);
        taken += adapter_decode(&a, exact, len) == 0;
        free(exact);
    }
    is_int(taken, 0, "no proper prefix is one");
}

static void test_bad_bytes(void)
{
    static const struct adapter zero;
    uint8_t bytes[ADAPTER_BYTES];
    struct adapter a;
    int taken = 0, zeroed = 1;

    for (int lmc = 0; lmc < 256; lmc++)
        for (int link = 0; link < 256; link++) {
            adapter_encode(bytes, &sample);
            bytes[38] = (uint8_t)lmc;
            bytes[39] = (uint8_t)link;
            if (adapter_decode(&a, bytes, sizeof bytes) == 0)
                taken++;
            else
                zeroed &= memcmp(&a, &zero, sizeof a) == 0;
        }
    is_int(taken, 8 * 3, "8 LMCs and 3 links are taken, no more");
    ok(zeroed, "what is refused is zeroed");
}

static void test_names(void)
{
    is_str(adapter_link_name(ADAPTER_IP), "ip", "links have names: ip");
    is_str(adapter_link_name(ADAPTER_INFINIBAND), "infiniband", "infiniband");
    is_str(adapter_link_name(ADAPTER_ROCE), "roce", "roce");
    is_str(adapter_link_name(ADAPTER_NONE), "none", "and none");
}

int main(void)
{
    snprintf(sysfs, sizeof sysfs, "/tmp/evenstep-t-XXXXXX");
    if (!mkdtemp(sysfs))
        bail("%s: %s", sysfs, strerror(errno));
    test_infiniband();
    test_unfit();
    test_choices();
    test_rates();
    test_roce();
    test_interface();
    test_ipv6();
    test_no_interface();
    test_bytes();
    test_bad_bytes();
    test_names();
    clear_tree();
    return done();
}
