/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * receivers.h - threads that take what is due from sockets, so that the loop need
 * not: a known number of bytes from one socket, to one place, and then a look at
 * them.  A thread is made once the loop and those that there are have too little
 * time (thread_need.h), and has nothing to do once they have enough.
 *
 * All functions are called, and ended() comes, on the loop's thread.  What a
 * reception works on is the thread's from reception_begin() until ended() is
 * called or reception_stop() returns; neither waits for the other end.
 */
#ifndef PMIX_BCAST_RECEIVERS_H
#define PMIX_BCAST_RECEIVERS_H

#include <stddef.h>
#include <stdint.h>

#define RECEIVERS_MAX 8u

struct event_base;
struct receivers;
struct reception;

/* What is to be received.  A copy is kept. */
struct reception_task {
    int fd; /* does not block */
    uint8_t *to;
    size_t size, got; /* got: what stands there already */
    /* In the thread: once before the first byte, which returns where it goes (to,
     * or another place; NULL: there is no memory); and once all is there, 0 if it
     * is right.  Either may be NULL. */
    uint8_t *(*ready)(void *arg, uint8_t *to);
    int (*check)(void *arg, const uint8_t *bytes);
    void *arg; /* of these two */
};

enum reception_end {
    RECEPTION_WHOLE,
    RECEPTION_WRONG,  /* whole, and check() said no */
    RECEPTION_CLOSED, /* the other end has */
    RECEPTION_FAILED, /* error says why */
};

struct reception_result {
    enum reception_end end;
    int error;   /* errno value of FAILED */
    uint8_t *to; /* where it stands */
    size_t got;
    int is_ready; /* ready() was called */
};

/* From least to most threads beside the loop's, RECEIVERS_MAX at most: least at
 * once, or as many as can be started; NULL if there is no memory, or least is not 0
 * and none can. */
struct receivers *receivers_create(struct event_base *base,
                                   unsigned least,
                                   unsigned most);
/* How many threads have taken part at a time, the loop's with them; r may be NULL. */
unsigned receivers_peak(const struct receivers *r);
/* All receptions were destroyed before; not in ended().  NULL is allowed. */
void receivers_destroy(struct receivers *r);

/* One at a time for one socket.  NULL if memory ran out. */
struct reception *reception_create(
    struct receivers *r,
    void (*ended)(void *arg, const struct reception_result *),
    void *arg);
/* Begin; none is under way.  0, or an errno value: EBUSY: there is no thread, or each
 * has something to do, so that the loop is as soon there. */
int reception_begin(struct reception *r, const struct reception_task *t);
/*
 * 1: the thread does no more, ended() is not called, and so says how far it came.
 * 0: it has ended, and so is as it was; the thread does no more either, and
 * ended() is still called.  Waits for what the thread is just doing: a part of
 * the bytes, ready() or check().
 */
int reception_stop(struct reception *r, struct reception_result *so);
/* ended() is not called any more.  NULL is allowed, and in ended(), too. */
void reception_destroy(struct reception *r);

#endif
