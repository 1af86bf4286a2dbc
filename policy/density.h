/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * density.h - how the work of a unit varies over a frame, learned from pieces.
 *
 * A frame is the interval from 0 to 1, on which the density has a mean of 1: a
 * piece of n of the frame's N units has the work N * (before(end) -
 * before(begin)).  What a piece says is the mean density over it, and how sure
 * that is.  Most of what pieces differ by may be noise, so a profile has to earn
 * its place: it is the mean of a Gaussian process, the random walk
 *
 *   density(x + dx) - density(x) ~ N(0, rate^2 dx)
 *
 * given all that was seen, and the rate is the one under which that was most
 * likely; at the least rate the density is flat.  With B bins
 *
 *   Q = sum a a' / s^2 + (B / rate^2) D'D        a: a piece's part of each bin
 *   density = Q^-1 sum a y / s^2                 D: differences of neighbours
 *   left = sum y^2 / s^2 - density' Q density
 *   -2 log likelihood = (n + 4) log(max(left, n / 4) + 4) + log |Q|
 *                       + (B - 1) log rate^2 + const
 *
 * as how far all n pieces may be off, s, is itself known only as well as from four of
 * them: what was taken for noise may be the profile.
 *
 * Its covariance is Q^-1, of which what is known of the mean is taken off.
 *
 * Pure but for allocation.
 */
#ifndef POLICY_DENSITY_H
#define POLICY_DENSITY_H

#include <stddef.h>

struct density;

/* What a piece says. */
struct density_seen {
    double begin, end; /* where in the frame: 0 <= begin < end <= 1 */
    double mean;       /* of the density over it, against about 1 */
    double deviation;  /* how far that may be off, > 0 */
};

/* Flat.  NULL if memory ran out. */
struct density *density_create(void);
void density_destroy(struct density *d); /* NULL is allowed */

/* The part of a frame's work that lies before a place in it, 0 to 1.  O(1). */
double density_before(const struct density *d, double place);
/* How far the mean density over begin to end (0 <= begin < end <= 1) may be off, as a
 * standard deviation, relative: of the walk whose rate is likely, given what was
 * seen and that the whole has a mean of 1.  0 while the density is flat.  O(1). */
double density_deviation(const struct density *d, double begin, double end);

/* Learn: what was seen, about so many pieces, one after the other, and then what
 * follows from it.
 * Anything but what is said above is passed over. */
void density_forget(struct density *d, size_t pieces);
void density_see(struct density *d, const struct density_seen *seen);
/* Returns the mean of what was seen, by which all is scaled to 1; 1 if nothing
 * was.  O(bins^3): a millisecond where pieces are many. */
double density_fit(struct density *d);
/* Has no profile earned its place? */
int density_is_flat(const struct density *d);

#endif
