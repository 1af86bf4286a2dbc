/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * output_batch.h - what a slice prints, in few messages.  A message takes the node,
 * and the front end, some 0.1 ms of CPU time, and many commands write each line by
 * itself.
 *
 * What is printed after OUTPUT_BATCH_MS of silence is sent at once; what follows waits
 * until they are over, or OUTPUT_BATCH_BYTES are there.
 */
#ifndef LAUNCHER_AGENT_OUTPUT_BATCH_H
#define LAUNCHER_AGENT_OUTPUT_BATCH_H

#include "launcher/agent/slot_common.h"

#define OUTPUT_BATCH_MS    100
#define OUTPUT_BATCH_BYTES 4096

struct output_batch;

/* common must outlive it; NULL if memory ran out. */
struct output_batch *output_batch_create(const struct slot_common *common);
void output_batch_destroy(struct output_batch *b);

/* The slice with that id has printed this. */
void output_batch_add(struct output_batch *b,
                      uint64_t id,
                      const void *buf,
                      size_t len);
/* Send what waits: before its slice's DONE. */
void output_batch_flush(struct output_batch *b);
/* Nobody is told of that slice any more: forget what waits. */
void output_batch_drop(struct output_batch *b);

#endif
