/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/power/energy_rapl.h"
#include "launcher/base/sysfs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ZONES_MAX    64 /* packages and dies; the largest machines have 32 */
#define PARTS_MAX    8  /* below one: core, uncore, dram */
#define HWMON_MAX    256
#define SOCKETS_MAX  1024   /* amd_energy numbers cores, then sockets */
#define COUNTERS_MAX 256    /* of a node */
#define WATTS_MAX    10000u /* of one counter; the hottest package has 1,000 */
#define WATTS_LONG   1000u /* at it, a counter must not have gone round twice */

struct energy_counter {
    char path[SYSFS_PATH];
    uint64_t range; /* it begins again behind it; 0: never */
    uint64_t last;
};

#define MEND "see that the driver intel_rapl_common or amd_energy is loaded"

static int cannot_read(const char *path, int why, struct es_error *err)
{
    if (why == EACCES || why == EPERM)
        return es_fail(err, ES_ENV,
                       "give --evenstep-report or --evenstep-power, so that "
                       "evenstep-power reads it as root",
                       "energy: %s: %s", path, strerror(why));
    return es_fail(err, ES_ENV, MEND, "energy: %s: %s", path, strerror(why));
}

/* --- finding -------------------------------------------------------------- */

static int add_counter(struct energy_rapl *e,
                       const char *path,
                       uint64_t range,
                       struct es_error *err)
{
    struct energy_counter *more, *c;
    uint64_t now;

    errno = EINVAL; /* if there is no number in it */
    if (sysfs_read_u64(&now, "%s", path) < 0)
        return cannot_read(path, errno, err);
    if (e->n == COUNTERS_MAX)
        return es_fail(err, ES_ENV, "report this", "%s: one counter too many",
                       path);
    more = reallocarray(e->counter, e->n + 1, sizeof *more);
    if (!more)
        return es_no_memory(err);
    e->counter = more;
    c = &more[e->n++];
    *c = (struct energy_counter){.range = range, .last = now};
    memcpy(c->path, path, strlen(path) + 1);
    return 0;
}

static int add_zone(struct energy_rapl *e,
                    const char *zone,
                    struct es_error *err)
{
    char path[SYSFS_PATH];
    uint64_t range;

    if (sysfs_path(path, "%s/energy_uj", zone) < 0)
        return cannot_read(zone, errno, err);
    if (sysfs_read_u64(&range, "%s/max_energy_range_uj", zone) < 0)
        range = 0;
    return add_counter(e, path, range, err);
}

/* The memory below a package; its other parts are in the package's counter. */
static int add_memory(struct energy_rapl *e,
                      const char *package,
                      struct es_error *err)
{
    char zone[SYSFS_PATH], name[SYSFS_LINE];

    for (int i = 0; i < PARTS_MAX; i++)
        if (sysfs_path(zone, "%s:%d", package, i) == 0
            && sysfs_read(name, "%s/name", zone) == 0
            && strcmp(name, "dram") == 0 && add_zone(e, zone, err) < 0)
            return -1;
    return 0;
}

static int find_packages(struct energy_rapl *e,
                         const char *sysfs,
                         struct es_error *err)
{
    char zone[SYSFS_PATH], name[SYSFS_LINE];

    for (int i = 0; i < ZONES_MAX; i++)
        if (sysfs_path(zone, "%s/class/powercap/intel-rapl:%d", sysfs, i) == 0
            && sysfs_read(name, "%s/name", zone) == 0
            && strncmp(name, "package-", 8) == 0
            && (add_zone(e, zone, err) < 0 || add_memory(e, zone, err) < 0))
            return -1;
    return 0;
}

static int find_sockets(struct energy_rapl *e,
                        const char *device,
                        struct es_error *err)
{
    char path[SYSFS_PATH], label[SYSFS_LINE];

    for (int i = 1; i <= SOCKETS_MAX; i++)
        if (sysfs_read(label, "%s/energy%d_label", device, i) == 0
            && strncmp(label, "Esocket", 7) == 0
            && sysfs_path(path, "%s/energy%d_input", device, i) == 0
            && add_counter(e, path, 0, err) < 0)
            return -1;
    return 0;
}

static int find_amd(struct energy_rapl *e,
                    const char *sysfs,
                    struct es_error *err)
{
    char device[SYSFS_PATH], name[SYSFS_LINE];

    for (int i = 0; i < HWMON_MAX; i++)
        if (sysfs_path(device, "%s/class/hwmon/hwmon%d", sysfs, i) == 0
            && sysfs_read(name, "%s/name", device) == 0
            && strcmp(name, "amd_energy") == 0
            && find_sockets(e, device, err) < 0)
            return -1;
    return 0;
}

int energy_rapl_open(struct energy_rapl *e,
                     const char *sysfs,
                     int64_t now_ns,
                     struct es_error *err)
{
    int rc;

    memset(e, 0, sizeof *e);
    e->read_ns = now_ns;
    rc = find_packages(e, sysfs, err);
    if (rc == 0 && e->n == 0)
        rc = find_amd(e, sysfs, err);
    if (rc == 0 && e->n == 0)
        rc = -1;
    if (rc < 0)
        energy_rapl_close(e);
    return rc;
}

/* --- reading -------------------------------------------------------------- */

static int jumped(const struct energy_counter *c,
                  uint64_t now,
                  struct es_error *err)
{
    return es_fail(err, ES_ENV, "see if the node was suspended",
                   "energy: %s has jumped from %ju to %ju", c->path,
                   (uintmax_t)c->last, (uintmax_t)now);
}

/* What a counter has counted in so many seconds. */
static int count(const struct energy_counter *c,
                 uint64_t now,
                 double seconds,
                 uint64_t *uj,
                 struct es_error *err)
{
    if (c->range > 0 && seconds * WATTS_LONG * 1e6 > (double)c->range)
        return es_fail(err, ES_ENV, "see if the node was stopped",
                       "energy: %s was not read for %.0f s", c->path, seconds);
    if (now < c->last && (c->last > c->range || now > c->range))
        return jumped(c, now, err); /* nothing to begin again at */
    *uj = now < c->last ? c->range - c->last + now : now - c->last;
    return (double)*uj > (seconds + 1) * WATTS_MAX * 1e6 ? jumped(c, now, err)
                                                         : 0;
}

int energy_rapl_read(struct energy_rapl *e,
                     int64_t now_ns,
                     struct es_error *err)
{
    double seconds = (double)(now_ns - e->read_ns) / 1e9;
    uint64_t now[COUNTERS_MAX], uj = 0, all = 0;

    for (size_t i = 0; i < e->n; i++) {
        const struct energy_counter *c = &e->counter[i];

        errno = EINVAL;
        if (sysfs_read_u64(&now[i], "%s", c->path) < 0)
            return cannot_read(c->path, errno, err);
        if (count(c, now[i], seconds, &uj, err) < 0)
            return -1;
        all += uj;
    }
    for (size_t i = 0; i < e->n; i++)
        e->counter[i].last = now[i];
    e->uj += all;
    e->read_ns = now_ns;
    return 0;
}

void energy_rapl_close(struct energy_rapl *e)
{
    free(e->counter);
    memset(e, 0, sizeof *e);
}
