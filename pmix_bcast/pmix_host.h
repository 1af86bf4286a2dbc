/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pmix_host.h - a PMIx server for n agents on this machine, for `--local`:
 * the same agents do the same wire-up without Slurm.
 *
 * PMIx calls the server's functions on its own thread; they touch nothing of
 * ours but hand a fence's data straight back, as all clients are here.
 */
#ifndef PMIX_BCAST_PMIX_HOST_H
#define PMIX_BCAST_PMIX_HOST_H

#include "pmix_bcast/error.h"

#include <stddef.h>

struct pmix_host;

/* Serve one namespace of n ranks.  One host a process at a time. */
int pmix_host_start(struct pmix_host **h, size_t n, struct es_error *err);
/*
 * Add to *env (NULL-ended, owned by the caller as is each string, grown by
 * realloc) what the client of this rank needs to find the server.
 */
int pmix_host_environ(struct pmix_host *h,
                      size_t rank,
                      char ***env,
                      struct es_error *err);
/* After the last client has gone; removes the directory.  One a process: the
 * server itself stays until the process ends. */
void pmix_host_stop(struct pmix_host *h);

#endif
