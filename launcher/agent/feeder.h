/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * feeder.h - gives slices to programs of this node that stay alive from one to
 * the next (slice_message.h), at a unix socket in a step directory.
 *
 * It has a fixed number of seats, one a process, numbered by its rank among
 * the node's.  A slice is given to all seats at once: each does one of its
 * parts, which adjoin in the order of the seats and may be empty.
 *
 * All functions and callbacks run on the event loop's thread; a callback may
 * call any of the functions but feeder_close().
 */
#ifndef LAUNCHER_AGENT_FEEDER_H
#define LAUNCHER_AGENT_FEEDER_H

#include "launcher/libevenstep/slice_message.h"
#include "launcher/wire/protocol.h"

struct event_base;
struct feeder;

struct feeder_result {
    uint64_t id;
    int64_t elapsed_ns; /* of the seat that took longest, while it had it */
};

struct feeder_events {
    /* Every seat asks for a slice and no slice is there; what they have brought
     * along, which is alike for all. */
    void (*idle)(void *arg, const struct msg_idle *idle);
    /* A seat asks, and no slice was ever given; NULL: nobody wants to know. */
    void (*waits)(void *arg);
    /* A seat is about to be given its part; NULL: nobody wants to know. */
    void (*begun)(void *arg);
    /* A seat is done with its part.  What it has printed for it is to be read,
     * then feeder_taken() called; NULL: nobody reads it. */
    void (*printed)(void *arg);
    /* The slice is done, all of it. */
    void (*done)(void *arg, const struct feeder_result *result);
    /*
     * A seat is empty again, or stays so: why is NULL if it has closed and owes
     * nothing; else its part of the slice, or its place in the next ones, is
     * nobody's; it stays as long as the feeder.  culprit is 1 if it has broken
     * the rules, and may still be running.
     */
    void (*left)(void *arg, const char *why, int culprit);
    /* Who has no seat has sent LISTEN: the connection is the callee's from now
     * on.  NULL: nobody wants to know, and the caller is hung up on. */
    void (*listens)(void *arg, int fd, const struct slice_message *m);
};

/*
 * Listen with 1 to NODE_TASKS_MAX seats at `socket` in the directory of this
 * step, which is made if it is not there, for the processes of this user only.
 * by_speed: the first parts go by how many CPUs each program may use, the next ones
 * by what it took for those before (even.h); else all parts are equal.
 * Fails with ES_ENV.
 */
int feeder_open(struct feeder **f,
                struct event_base *base,
                const char *step,
                uint32_t seats,
                int by_speed,
                const struct feeder_events *on,
                void *arg,
                struct es_error *err);

/* Has a seat said EVENSTEP_SURVIVES? */
int feeder_survives(const struct feeder *f);

/* For EVENSTEP_SOCKET. */
const char *feeder_path(const struct feeder *f);

/* Give a slice to all seats; one at a time.  file: of its lines, which each seat
 * gets, duplicated during the call; 0: none. */
void feeder_give(struct feeder *f, const struct msg_run *slice, int file);

/* After printed(): the first seat that waits for it may go on. */
void feeder_taken(struct feeder *f);

/* Answer every seat that asks, now and later: no more (0), or an errno; what
 * was said first stays true. */
void feeder_end(struct feeder *f, uint32_t error);

/* NULL is allowed. */
void feeder_close(struct feeder *f);

#endif
