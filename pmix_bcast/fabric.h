/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fabric.h - chunks by libfabric: an endpoint, and lanes from it to others.
 *
 * libfabric is opened at run time (dlopen); where evenstep was built without
 * its headers there is only fabric_none.c, and fabric_is_built() says so.
 *
 * A lane belongs to a link (link.h) between the same two nodes, over which they
 * tell each other where to write (fabric_message.h).  The writer fills a slot of
 * its own memory, writes it (RMA) into the slot of the same number over there,
 * and when it is known to stand there (FI_DELIVERY_COMPLETE) says so over the
 * link; the reader copies it out and says over the link that it is free.  All
 * memory is registered once, as a lane begins.  What has once been registered
 * is never given back to the system, only to later lanes: a write of a peer's
 * that comes late finds no other's data there.
 *
 * Not right into the file's mapping, which would spare the copy: closing a
 * registration does not end a write that has begun (67 MB came after fi_close() of one,
 * provider tcp, libfabric 1.17), so each chunk had to be checked once more before the
 * file has its name.  That costs more than the copy, 0.25 against 0.17 s of CPU a GB;
 * measured 2026-11, 3 agents and 1.2 GB, tcp: 3.70 and 3.67 s, shm: 3.40 and 3.52 s.
 *
 * What fails here fails a lane, not the link: chunks then go by TCP.
 *
 * All of it runs on the event loop's thread.
 */
#ifndef PMIX_BCAST_FABRIC_H
#define PMIX_BCAST_FABRIC_H

#include "pmix_bcast/fabric_message.h"
#include "pmix_bcast/transport.h"

#include <stddef.h>
#include <stdint.h>

/* Why data has gone by TCP, if only one end had it when it was needed. */
#define FABRIC_LATE "libfabric was not there in time"

struct event_base;
struct fabric;
struct lane;

/* Was evenstep built with libfabric? */
int fabric_is_built(void);

/*
 * Open an endpoint of what is wanted, not TCP: with AUTO only where there is
 * one of a fast network.  That takes 0.1 s of CPU time or more, so it is done in
 * a thread, and opened() is called once from the loop, never from here, when it
 * is there or is known not to be.  near: the numeric address that
 * others reach us by, which chooses between a provider's networks; NULL: any.
 * It is copied.  NULL if memory ran out.
 */
struct fabric *fabric_open(struct event_base *base,
                           enum transport t,
                           const char *near,
                           void (*opened)(void *arg),
                           void *arg);
/* Not before it is opened. */
int fabric_is_open(const struct fabric *f);
const char *fabric_provider(const struct fabric *f);
/* The first thing that failed, in one line, or that it is still being opened; "":
 * nothing did, or with AUTO it is not there yet, or there is just no fast network. */
const char *fabric_why(const struct fabric *f);
/* What lanes have written and is known to stand over there: so many bytes. */
uint64_t fabric_bytes(const struct fabric *f);
/* After the last lane; waits until it is opened, if it is being.  NULL is
 * allowed. */
void fabric_close(struct fabric *f);

/*
 * A lane for chunks of up to so many bytes; with takes != 0 others may write
 * here.  wake() is called from the loop when something has changed: a write has
 * arrived, or the lane has failed.  NULL: there is none to be had, and
 * fabric_why() says why.
 */
struct lane *lane_create(struct fabric *f,
                         uint32_t bytes,
                         int takes,
                         void (*wake)(void *arg),
                         void *arg);
/* Nothing is called any more.  NULL is allowed. */
void lane_destroy(struct lane *l);
/* What to tell the other end; and what it has told: 0, or -1 if that cannot be.
 * It may be of another provider, or take nothing: then this is no way to it. */
void lane_offer(const struct lane *l, struct fabric_place *p);
int lane_meet(struct lane *l, const struct fabric_place *p);

/* Is it known whether chunks can be written?  Who asks for libfabric by name
 * waits for the other end, for 2 s: it may still be opening its own.  With AUTO
 * they go by TCP until then. */
int lane_is_settled(const struct lane *l);
/* Can chunks be written (later, perhaps)?  Not before lane_meet(), nor once it
 * has failed. */
int lane_is_open(const struct lane *l);
int lane_has_failed(const struct lane *l);
/* What it brings is not right over there. */
void lane_give_up(struct lane *l);
/* The next slot to fill, or NULL if none is free now. */
uint8_t *lane_room(const struct lane *l);
/* It is filled with so many bytes: they are written, now or soon. */
void lane_write(struct lane *l, uint32_t bytes);
/* How many writes, the oldest first, have arrived and were not told of; one of
 * them is told now. */
uint32_t lane_arrived(const struct lane *l);
void lane_told(struct lane *l);
/* The other end has freed so many slots in all, modulo 2^32: 0, or -1 if that
 * cannot be. */
int lane_freed(struct lane *l, uint32_t count);
/* Bytes that are not known to have arrived. */
uint64_t lane_queued(const struct lane *l);

/* The other end says that the next slot has so many bytes: they are valid until
 * lane_take_end(), but may change, if somebody means us ill; NULL if that cannot
 * be. */
const uint8_t *lane_take(const struct lane *l, uint32_t bytes);
void lane_take_end(struct lane *l);
/* How many were freed; is that more than lane_say() has said? */
int lane_owes(const struct lane *l);
uint32_t lane_say(struct lane *l);

#endif
