/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * energy_rapl.h - the energy that the CPU packages and the memory of this node
 * have used, by the counters of RAPL.
 *
 * Of <sysfs>/class/powercap/intel-rapl:N (Intel's, and AMD's from family 17h
 * on) the packages are counted, and of intel-rapl:N:M the memory ("dram"); what
 * else is below a package is in its counter, and "psys" has them all in it.
 * Where there are none, the sockets of the driver amd_energy in
 * <sysfs>/class/hwmon are.  Only root may read most of these (CVE-2020-8694).
 *
 * A counter begins again at max_energy_range_uj.  One that vanishes, or counts
 * what no package can use, ends the reading: what was counted before is kept.
 */
#ifndef LAUNCHER_POWER_ENERGY_RAPL_H
#define LAUNCHER_POWER_ENERGY_RAPL_H

#include "pmix_bcast/error.h"

#include <stddef.h>
#include <stdint.h>

struct energy_counter;

struct energy_rapl {                /* all zero: not open */
    struct energy_counter *counter; /* n */
    size_t n;
    uint64_t uj;     /* since it was opened */
    int64_t read_ns; /* when, by the caller's clock */
};

/*
 * Find the counters.  0; or -1 and *e is empty: they cannot be read, with *err,
 * or the node has none, and *err is untouched.  To be ended by
 * energy_rapl_close().
 */
int energy_rapl_open(struct energy_rapl *e,
                     const char *sysfs,
                     int64_t now_ns,
                     struct es_error *err);
/* Read them, at least every few minutes.  -1 with *err: they are of no use any
 * more; e->uj and e->read_ns stay as they were. */
int energy_rapl_read(struct energy_rapl *e,
                     int64_t now_ns,
                     struct es_error *err);
void energy_rapl_close(struct energy_rapl *e);

#endif
