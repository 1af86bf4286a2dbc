/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_storage.h - core element S: how fast the node's own scratch takes
 * data.
 *
 * A file without a name is written in the scratch directory, past the page
 * cache where the file system can do that (O_DIRECT), and through it and
 * synced where it cannot.  It is gone when the probe ends, however it does.
 */
#ifndef LAUNCHER_PROBE_PROBE_STORAGE_H
#define LAUNCHER_PROBE_PROBE_STORAGE_H

#include "launcher/probe/probe_result.h"

/* At most so many bytes are written, and not more than a part of what is
 * free: a disk that wears, or is nearly full, should not suffer. */
#define STORAGE_BYTES_MOST (UINT64_C(128) << 20)
#define STORAGE_FREE_PART  10

/* MB/s; capacity_bytes is what users may still write there. */
void probe_storage_measure(const struct probe_setup *setup,
                           int budget_ms,
                           struct probe_result *r);

#endif
