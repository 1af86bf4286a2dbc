/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shares.h - cut one frame into slices in proportion to given loads.
 *
 * Pure: no allocation, no I/O, no clock, no globals.  The caller owns every
 * array; results depend on the arguments alone and are the same on every
 * machine, as everything after the scaling of the loads is whole numbers.
 */
#ifndef POLICY_SHARES_H
#define POLICY_SHARES_H

#include <stddef.h>
#include <stdint.h>

struct slice {
    uint64_t begin; /* first unit of the slice */
    uint64_t end;   /* one past its last unit; begin == end is empty */
};

/*
 * Cut [begin, end) into n adjoining slices in proportion to load[].
 *
 *   grain  units that stay together, >= 1: slices meet at begin + k * grain.
 *          The last grain may be short and counts as a whole one.
 *   load   n values in any one unit, each finite and >= 0, one of them > 0
 *   slice  n results, ascending, together exactly [begin, end)
 *
 * Largest remainder method over grains: a node gets the whole part of its
 * quota, the grains left over go one each to the largest fractions, ties to
 * the lower index.  So every size is within one grain of its quota, equal
 * loads differ by one grain at most, and a load of 0 gets an empty slice
 * wherever it stands.  Quotas are exact for the whole range of uint64_t; only
 * the loads are rounded, to 2^-47 of the largest at 16,384 nodes and to less
 * with fewer (whole-number loads below 2^47 not at all).
 *
 * Returns 0, or -1 if an argument breaks the rules above (slice untouched).
 * O(n).
 */
int shares_cut(uint64_t begin,
               uint64_t end,
               uint64_t grain,
               const double load[],
               struct slice slice[],
               size_t n);

#endif
