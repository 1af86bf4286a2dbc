/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * meter_writer.h - the writer's side of meter_page.h: the page of this step, and
 * a slot of it for a thread.
 */
#ifndef LAUNCHER_LIBEVENSTEP_METER_WRITER_H
#define LAUNCHER_LIBEVENSTEP_METER_WRITER_H

#include "launcher/libevenstep/meter_page.h"

/* Map the page in EVENSTEP_DIR.  NULL if there is none that this user owns and
 * that is of this version. */
struct meter_page *meter_writer_map(void);

/* Take the first free slot for this thread, and clear it and the entry beside
 * it.  NULL if all are taken. */
struct meter_slot *meter_writer_take(struct meter_page *page);

/* The same, but none that has the last word of a rank that has ended. */
struct meter_slot *meter_writer_take_beside(struct meter_page *page);

/* Begin a region in a slot that was taken. */
void meter_writer_begin(struct meter_slot *slot, uint64_t total);

/* Give a slot back; the entry beside it stays as it is. */
void meter_writer_release(struct meter_slot *slot);

#endif
