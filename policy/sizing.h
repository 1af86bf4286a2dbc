/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sizing.h - pieces by what they cost: how much of its slice a node is sent at
 * once, and what one that is free takes of what is left.
 *
 * A piece costs a start (cost.h), so pieces are to be few; noise and what is
 * not known cost time at the end of a frame, so the last ones are to be small.
 *
 *   span = each * units / speed         what a node has to work in one piece
 *   start = wait + lag + burn / speed   what one more costs it
 *   g = 0.9 sqrt(2 ln nodes)            the worst of as many normal variates
 *
 * Of n nodes with one piece each the last ends noise * span * g after the mean,
 * and so much more as it is known to be late.  To hold a tail back, which all
 * share who are free, costs a start and leaves noise * tail * g.  So it is cut
 * where
 *
 *   start + noise * tail * g < noise * span * g + late
 *   tail = min(span / 2, late + 1.5 noise * span * g + 2 start)
 *
 * A node may fall to half of its speed while it works, which no noise tells: as
 * an insurance half is held back where starts are less than SIZING_INSURANCE of
 * the span.  What is held back is cut again by the same rules, so all that this
 * costs is half of that.
 *
 * How far a piece may be off is the noise and what is not known of the density where
 * it lies, by their squares: units that nobody has seen in a frame whose units differ
 * are taken in smaller pieces.
 *
 * Who is free takes its part by water filling (level.h) over all nodes from
 * when they will be free, in whole grains; if that is none, it is done.
 *
 * Frames side by side are cut as one: a node takes its part of what is left of all
 * of them, from the first one on, so that it starts once where it would start in
 * each.  What it would leave of a frame that is not the last one is taken, too, if
 * it is less work than half a start.  While more frames are known to come nobody
 * waits at the end of these, whatever noise there is: but the first of them must be
 * done for another to begin, so a fifth is held back, and not what noise asks for; more
 * where units are not known, 1 / (1 + deviation) at once.
 * Simulated (contrib/bench ahead), six frames of 5 s on nodes of 8:4:2:1, a command
 * of which nothing is known and whose start waits 0.5 s: makespan / ideal of all frames
 * as one, with one start a node, 1.14 -> 1.08, 31 -> 21 starts.
 *
 * Who is late makes all others wait, who is early but itself.  So where nobody goes
 * on with another frame, each node's chance to be the last is to be as its speed: of
 * n normal variates that is so, nearly, if it is to end
 *
 *   noise * ln(fastest / speed) / sqrt(2 ln n)
 *
 * of its time early, by how far its own time may be off (cost_spread_unseen()).
 * Simulated, three frames on nodes of 8:4:2:1, noise of 2, 5 and 10 %: 1.054 ->
 * 1.051, 1.073 -> 1.066, 1.107 -> 1.095.
 *
 * How far a start goes is not known well at first: then it is taken for as long
 * as it may be by any terms that explain the pieces about as well.
 *
 * Of a command that nothing is known of, each node gets a first piece of two
 * fifths to seven tenths of its slice: the slower the node, the less, as one more
 * start costs the others little there.  Were the parts alike, a start that waits
 * could not be told from work.  What the first of these says of the frame may be
 * far off for the rest, as units differ along it: until all nodes have told, a
 * third of what one takes is held back, unless a start is twice as long.
 *
 * Simulated (contrib/bench grid, 2026-11): makespan / ideal of six frames of ten
 * seconds, the first of a new command, the mean of 2 to 1,000 nodes and units of
 * 1 ms to 10 s; beside it one piece a slice, and 16 with take-over.  On the right
 * a node falls to half of its speed at the fourth.
 *
 *   start        by cost    one     16     by cost    one     16
 *   none          1.06     1.23    1.21     1.07     1.33    1.21
 *   waits 0.1 s   1.08     1.23    1.27     1.09     1.33    1.27
 *   waits 1 s     1.12     1.22    2.09     1.23     1.32    2.07
 *   waits 10 s    1.15     1.16    6.11     1.30     1.28    6.13
 *   works 0.1 s   1.10     1.24    1.35     1.11     1.33    1.37
 *   works 1 s     1.11     1.34    2.64     1.23     1.42    2.71
 *   works 10 s    1.38     2.29    9.76     1.50     2.34    9.99
 *
 * 162 of 180 cells are within 3 % of the best of the three.  The others start
 * for as long as they work: there the second start of the first frame costs.
 *
 * Pure but for allocation in sizing_init().
 */
#ifndef POLICY_SIZING_H
#define POLICY_SIZING_H

#include "policy/cost.h"
#include "policy/policy.h"
#include "policy/shares.h"

#define SIZING_INSURANCE 0.02
/* Before all nodes have told of a new command, a start may be so much of the
 * work, and so much of what a node takes is held back. */
#define SIZING_START_MAYBE 0.1
#define SIZING_UNSEEN      (1.0 / 3)
/* Of frames side by side a node takes at most so many times the work of its largest
 * piece before: what is a start and what a unit is a guess far beyond that. */
#define SIZING_GROWTH 4
/* Of frames side by side that others follow a node takes this part of its own. */
#define SIZING_FOLLOWED 0.8
/* What a piece costs everyone, whatever its command; seconds. */
#define SIZING_START_LEAST 0.002

struct sizing {
    size_t n;          /* nodes */
    struct cost *cost; /* the caller's */
    const struct policy_kind *kind;
    struct slice frame;
    int is_growing; /* more units may come: all are taken to be alike */
    uint64_t grain;
    double delay; /* seconds that a piece is on its way */
    int is_young; /* not all nodes have told of a new command */
    double level; /* when all will have ended, as of the last look */
    /* Work of frames beside this one, which the same nodes will do; below 0: the
     * frame is alone. */
    double beside;
    int is_followed; /* by more frames, after those */
    /* n each */
    double *free;  /* when it will be free, as of the last look; seconds */
    double *ready; /* likewise, but later by as much as its starts lag */
    double *speed; /* 0: gets nothing */
    double *first; /* the part that it is sent at first, if nothing is known */
    double *share; /* workspace */
    int64_t *key;  /* likewise */
    uint32_t *index, *scratch;
};

/* 0, or -1 if memory ran out. */
int sizing_init(struct sizing *s, size_t n);
void sizing_clear(struct sizing *s);

/* Units as the cost wants them. */
struct cost_part sizing_place(const struct sizing *s, struct slice units);
/* The work of units, of which the frame's mean unit has 1. */
double sizing_work(const struct sizing *s, struct slice units);

/* Cut a whole frame by loads, of which one is > 0: head[] is what each node is
 * sent at once, from the frame's begin on, and the rest is for all; free[] is as
 * it stands.  O(n), or O(n log n) of a command that is not known. */
void sizing_cut(struct sizing *s,
                const double load[],
                struct slice head[],
                struct slice *rest);
/* speed[]: of those that have a load > 0, as the cost has them, but that the slow are
 * to end early. */
void sizing_take_speeds(struct sizing *s, const double load[]);
/* Find the level, for so much work and that beside it; free[] and speed[] are as
 * they stand.  O(n). */
void sizing_look(struct sizing *s, double work);
/* What a node that is free takes of a batch, from its begin on; 0: it is done. */
uint64_t sizing_part(const struct sizing *s,
                     size_t node,
                     double now,
                     struct slice batch);
/* When a node that has begun with units will have done them; if that is over,
 * it is as late again. */
double sizing_end(
    const struct sizing *s, size_t node, double work, double begun, double now);

#endif
