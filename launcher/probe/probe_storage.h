/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_storage.h - core element S: how fast the node's scratch directory can
 * be written to.
 *
 * A file without a name is written there, past the page cache if the file
 * system supports that (O_DIRECT), else with a sync after each block.  The file
 * is gone when the probe ends, even if it is killed.
 */
#ifndef LAUNCHER_PROBE_PROBE_STORAGE_H
#define LAUNCHER_PROBE_PROBE_STORAGE_H

#include "launcher/probe/probe_result.h"

/* At most so many bytes are written, and at most a tenth of the free space, to
 * spare disks that wear out or are nearly full. */
#define STORAGE_BYTES_MOST (UINT64_C(128) << 20)
#define STORAGE_FREE_PART  10

/* The probe, in MB/s; capacity_bytes is the space that is free for users. */
void probe_storage_measure(const struct probe_setup *setup,
                           int budget_ms,
                           struct probe_result *r);

#endif
