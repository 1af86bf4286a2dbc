/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tally.h - how far a run is, how fast, and when it will be done: from the
 * units that have come back.
 *
 * Time counts while a frame is at work, not while the queue is empty.  Pure;
 * times are seconds of any clock and never go back.
 */
#ifndef LAUNCHER_RUN_TALLY_H
#define LAUNCHER_RUN_TALLY_H

#include <stdint.h>

struct tally {
    uint64_t frames;                /* in all; 0: nobody knows */
    uint64_t units;                 /* of each of these */
    uint64_t next;                  /* number of the frame that has not begun */
    uint64_t before;                /* units that a run before has done */
    uint64_t done;                  /* units that this one has */
    uint64_t ended;                 /* frames */
    uint64_t open;                  /* frames at work */
    uint64_t open_units, open_done; /* of these */
    double idle;                    /* seconds without a frame, in all */
    double still;                   /* since when there is none */
    double worked; /* other seconds, until the last unit came back */
};

struct tally_now {
    uint64_t frame;     /* the first that is not done, from 0 */
    uint64_t frames;    /* in all; 0: nobody knows */
    uint64_t done, all; /* units: of the run or, where nobody knows how many
                           come, of the frames at work */
    double rate;        /* units a second; 0: not known yet */
    double left;        /* seconds until all are done; < 0: not known */
    int are_tasks;      /* units, of a run of one frame: */
    uint64_t failed;    /* of them */
    int is_open;        /* more of them may come */
};

/* frames 0: nobody knows how many, and units is nothing. */
void tally_start(struct tally *t, uint64_t frames, uint64_t units, double now);
/* A frame begins; a run before has done some of it, and all of the frames that
 * were left out. */
void tally_begin(struct tally *t,
                 uint64_t number,
                 uint64_t units,
                 uint64_t before,
                 double now);
/* So many units more have come to the frame that began last, of which alone the run is. */
void tally_grow(struct tally *t, uint64_t units);
/* Units have come back, and count. */
void tally_units(struct tally *t, uint64_t units, double now);
/* All units of a frame are done. */
void tally_end(struct tally *t, uint64_t units, double now);
/* underway: units that are probably done and not back (underway.h). */
struct tally_now tally_now(const struct tally *t, double underway, double now);

#endif
