/* SPDX-License-Identifier: BSD-2-Clause */
/* The counters of energy on made-up nodes: what is counted and what not, when
 * they begin again, vanish, jump or may not be read. */
#include "launcher/power/energy_rapl.h"
#include "tree.h"

#define S       INT64_C(1000000000)
#define ZONE    "class/powercap/intel-rapl:"
#define PACKAGE ZONE "0/energy_uj"

static struct energy_rapl e;
static struct es_error err;

static void put(const char *name, uint64_t v)
{
    char text[32];

    snprintf(text, sizeof text, "%ju\n", (uintmax_t)v);
    tree_put(name, text);
}

static void make_zone(const char *zone, const char *name, uint64_t uj)
{
    char path[200];

    snprintf(path, sizeof path, ZONE "%s/name", zone);
    tree_put(path, name);
    snprintf(path, sizeof path, ZONE "%s/max_energy_range_uj", zone);
    put(path, 262143328850);
    snprintf(path, sizeof path, ZONE "%s/energy_uj", zone);
    put(path, uj);
}

static void begin(void)
{
    tree_make();
    err = (struct es_error){0};
}

static void end(void)
{
    energy_rapl_close(&e);
    tree_remove();
}

static int is_said(const char *words)
{
    return err.kind == ES_ENV && strstr(err.what, words) != NULL
           && err.mend[0] != '\0';
}

static void test_intel(void)
{
    begin();
    make_zone("0", "package-0\n", 1000);
    make_zone("0:0", "core\n", 10);
    make_zone("0:1", "uncore\n", 20);
    make_zone("0:2", "dram\n", 300);
    make_zone("1", "package-1-die-0\n", 5000);
    make_zone("2", "psys\n", 70000);
    ok(energy_rapl_open(&e, tree_root, 0, &err) == 0 && e.n == 3,
       "two packages and the memory of one are counted (%zu)", e.n);
    put(PACKAGE, 4000);
    put(ZONE "0:0/energy_uj", 3000);
    put(ZONE "0:2/energy_uj", 800);
    put(ZONE "1/energy_uj", 5001);
    put(ZONE "2/energy_uj", 170000);
    ok(energy_rapl_read(&e, S, &err) == 0 && e.uj == 3000 + 500 + 1
           && e.read_ns == S,
       "parts of a package and the whole platform are not counted twice (%ju)",
       (uintmax_t)e.uj);
    ok(energy_rapl_read(&e, 2 * S, &err) == 0 && e.uj == 3501,
       "nothing used is nothing");
    end();
}

static void test_wrap(void)
{
    begin();
    make_zone("0", "package-0\n", 262143328850 - 1000);
    (void)energy_rapl_open(&e, tree_root, 0, &err);
    put(PACKAGE, 499);
    ok(energy_rapl_read(&e, S, &err) == 0 && e.uj == 1499,
       "a counter begins again at its range (%ju)", (uintmax_t)e.uj);
    put(PACKAGE, 700);
    ok(energy_rapl_read(&e, 2 * S, &err) == 0 && e.uj == 1700, "and goes on");
    ok(energy_rapl_read(&e, 400 * S, &err) < 0 && is_said("was not read for")
           && e.uj == 1700,
       "one that was not read for so long that it may have gone round twice is "
       "not believed: %s",
       err.what);
    end();
}

static void test_faults(void)
{
    begin();
    make_zone("0", "package-0\n", 1000);
    (void)energy_rapl_open(&e, tree_root, 0, &err);
    put(PACKAGE, 2000);
    (void)energy_rapl_read(&e, S, &err);
    put(PACKAGE, 2000 + UINT64_C(30000000000));
    ok(energy_rapl_read(&e, 2 * S, &err) < 0 && is_said("has jumped")
           && e.uj == 1000 && e.read_ns == S,
       "30 kW is a jump; what was counted is kept: %s", err.what);
    put(PACKAGE, 5);
    ok(energy_rapl_read(&e, 2 * S, &err) < 0 && is_said("has jumped"),
       "so is a counter that was reset");
    put(PACKAGE, UINT64_MAX);
    ok(energy_rapl_read(&e, 2 * S, &err) < 0 && is_said("has jumped"),
       "and one beyond its range");
    tree_put(PACKAGE, "none\n");
    ok(energy_rapl_read(&e, 2 * S, &err) < 0 && is_said("energy_uj"),
       "no number: %s", err.what);
    tree_put(PACKAGE, "99999999999999999999999\n");
    ok(energy_rapl_read(&e, 2 * S, &err) < 0, "more than a number holds");
    if (unlink(tree_path(PACKAGE)) < 0)
        bail("unlink");
    ok(energy_rapl_read(&e, 2 * S, &err) < 0 && is_said("energy_uj: No such")
           && e.uj == 1000,
       "it has vanished: %s", err.what);
    end();
    begin();
    make_zone("0", "package-0\n", 9);
    tree_put(ZONE "0/max_energy_range_uj", "?\n");
    (void)energy_rapl_open(&e, tree_root, 0, &err);
    put(PACKAGE, 8);
    ok(energy_rapl_read(&e, S, &err) < 0 && is_said("has jumped"),
       "without a range no counter begins again");
    end();
}

/* As for a user; a file that cannot be opened as root cannot either. */
static void test_no_rights(void)
{
    begin();
    make_zone("0", "package-0\n", 1000);
    if (unlink(tree_path(PACKAGE)) < 0 || chmod(tree_root, 0755) < 0)
        bail("tree");
    put(PACKAGE, 1);
    if (chmod(tree_path(PACKAGE), 0400) < 0
        || (geteuid() == 0 && seteuid(65534) < 0))
        bail("chmod");
    if (geteuid() == 65534)
        ok(energy_rapl_open(&e, tree_root, 0, &err) < 0
               && is_said("Permission denied") && e.n == 0
               && strstr(err.mend, "evenstep-power") != NULL,
           "no rights: %s: %s", err.what, err.mend);
    else
        ok(1, "no rights # SKIP only root can drop them");
    if (geteuid() == 65534 && seteuid(0) < 0)
        bail("seteuid");
    end();
}

static void test_amd(void)
{
    begin();
    tree_put("class/hwmon/hwmon0/name", "coretemp\n");
    tree_put("class/hwmon/hwmon0/energy1_label", "Esocket9\n");
    put("class/hwmon/hwmon0/energy1_input", 1);
    tree_put("class/hwmon/hwmon3/name", "amd_energy\n");
    tree_put("class/hwmon/hwmon3/energy1_label", "Ecore000\n");
    put("class/hwmon/hwmon3/energy1_input", 5);
    tree_put("class/hwmon/hwmon3/energy2_label", "Ecore001\n");
    put("class/hwmon/hwmon3/energy2_input", 6);
    tree_put("class/hwmon/hwmon3/energy3_label", "Esocket0\n");
    put("class/hwmon/hwmon3/energy3_input", UINT64_C(1) << 40);
    tree_put("class/hwmon/hwmon3/energy4_label", "Esocket1\n");
    put("class/hwmon/hwmon3/energy4_input", 100);
    ok(energy_rapl_open(&e, tree_root, 0, &err) == 0 && e.n == 2,
       "amd_energy: two sockets, not their cores (%zu)", e.n);
    put("class/hwmon/hwmon3/energy3_input", (UINT64_C(1) << 40) + 70);
    put("class/hwmon/hwmon3/energy4_input", 105);
    ok(energy_rapl_read(&e, S, &err) == 0 && e.uj == 75, "their sum");
    energy_rapl_close(&e);
    make_zone("0", "package-0\n", 1000);
    ok(energy_rapl_open(&e, tree_root, 0, &err) == 0 && e.n == 1,
       "where RAPL has packages, too, each socket counts once");
    end();
}

static void test_none(void)
{
    begin();
    make_zone("0", "psys\n", 5);
    ok(energy_rapl_open(&e, tree_root, 0, &err) < 0 && err.kind == ES_OK
           && e.n == 0,
       "no package is nothing to complain of");
    end();
    begin();
    ok(energy_rapl_open(&e, "/nonexistent", 0, &err) < 0 && err.kind == ES_OK,
       "nor is no such folder");
    energy_rapl_close(&e);
    end();
}

int main(void)
{
    test_intel();
    test_wrap();
    test_faults();
    test_no_rights();
    test_amd();
    test_none();
    return done();
}
