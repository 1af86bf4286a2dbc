/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_cache.h - a node's results, kept between steps: one file a node,
 * <dir>/<node>.json, that root refreshes and all users read.
 *
 * A result decides how much work a node gets, so one user must not decide for
 * another.  Only a file of root that nobody else can write, in such a
 * directory, is used, and only root may write one.
 *
 *   {"format": 1, "node": "n0", "boot_id": "…", "hardware": "…",
 *    "evenstep": "0.1.0", "time": 1795257600, "cpus": 64,
 *    "elements": {…},                                       (probe_json.h)
 *    "ring": {"time": 1795250000, "elements": {"I": {…}}}}
 *
 * "ring", which may be missing, is what the node's links carried between nodes
 * (probe_ring.h).  It is measured in a job and the rest outside of one, so each
 * has an age of its own, and stays when the other is measured anew.
 */
#ifndef LAUNCHER_PROBE_PROBE_CACHE_H
#define LAUNCHER_PROBE_PROBE_CACHE_H

#include "launcher/probe/fingerprint.h"
#include "launcher/probe/probe_result.h"
#include "pmix_bcast/error.h"

#include <sys/types.h>

#define PROBE_CACHE_DIR        "/var/cache/evenstep"
#define PROBE_CACHE_TTL_S      86400 /* refreshed every night or so */
#define PROBE_CACHE_FORMAT     1     /* changes with the file's meaning */
#define PROBE_CACHE_BYTES_MOST 65536 /* of a file; 3 KB are usual */
#define PROBE_CACHE_EARLY_S    2     /* by so much a clock may be set back */

struct probe_cache {
    const char *dir;
    uid_t owner; /* whose files are used: 0, but in a test */
};

/* The circumstances of a measurement, or of asking for one. */
struct probe_stamp {
    char node[64];
    char boot_id[BOOT_ID_MAX];
    char hardware[FINGERPRINT_MAX];
    char version[32]; /* of evenstep */
    int64_t time_s;   /* since 1970 */
    double cpus;      /* CPU seconds per second that this process may use */
};

/* The name of this node for the cache: $SLURMD_NODENAME if it is set, else the
 * host's name up to the first dot. */
void probe_cache_node(char node[64]);

/* Take the stamp of this process; proc and sysfs as in struct probe_setup.
 * Fails if the name of the node cannot be that of a file, or there is no boot
 * id. */
int probe_stamp_take(struct probe_stamp *stamp,
                     const char *node,
                     const char *proc,
                     const char *sysfs,
                     struct es_error *err);

/*
 * Keep the results of this node.  Readers see either the old ones or these.
 * What the ring has measured since the node's last boot stays.
 * Makes the directory, not those above it.  Fails, and leaves what was kept
 * before, if we are not the cache's owner, its directory is not safe, or the
 * disk full.
 */
int probe_cache_put(const struct probe_cache *cache,
                    const struct probe_stamp *stamp,
                    const struct probe_result result[ELEMENTS],
                    struct es_error *err);

/* Keep what the ring has measured, which is between nodes; the other results
 * stay.  Fails likewise. */
int probe_cache_put_ring(const struct probe_cache *cache,
                         const struct probe_stamp *stamp,
                         const struct probe_result *ring,
                         struct es_error *err);

/*
 * What is kept of this node and these elements (bits of PROBE_BIT()), if it is
 * of this boot, hardware and version and not older than ttl_s.  C is scaled if
 * we may use fewer or more CPUs than were measured; the other elements are of
 * the whole node.  I is what the ring measured, if that is not older, either.  site is as in struct probe_setup: what was measured under
 * another definition of a site's element is not of it.  Fails, and leaves result[] untouched, if the results are not
 * to be used; err says why.
 */
int probe_cache_get(const struct probe_cache *cache,
                    const struct probe_stamp *now,
                    int64_t ttl_s,
                    unsigned elements,
                    const struct probe_site *site,
                    struct probe_result result[ELEMENTS],
                    struct es_error *err);

/* The same from the text of a file.  NULL, or why it is not to be used.  Pure.
 */
const char *probe_cache_read(const char *text,
                             size_t len,
                             const struct probe_stamp *now,
                             int64_t ttl_s,
                             unsigned elements,
                             const struct probe_site *site,
                             struct probe_result result[ELEMENTS]);

#endif
