/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads become whole-number weights w, scaled by a power of two so that their
 * sum W stays below 2^61.  A quota G * w / W is then divided out exactly: its
 * whole part is guessed in floating point, which is off by one at most, and
 * mended by the remainder, which modulo 2^64 is exact.  G above 2^50 is taken
 * in two pieces, as in long division.
 *
 * slice[] itself is the workspace: begin holds the whole part of the quota,
 * end the remainder, until the places are known.
 */
#include "policy/shares.h"

#include <math.h>

#define WEIGHT_SUM_BITS 61 /* -W .. 2W must fit into int64_t */
#define WEIGHT_BITS     52 /* a weight is exact as a double */
#define PIECE_BITS      50 /* guess exact to one: 2^50 * 4 roundings of 2^-53 */

static int arguments_hold(
    uint64_t begin, uint64_t end, uint64_t grain, const double load[], size_t n)
{
    double largest = 0;

    if (n > UINT64_C(1) << 32 || grain == 0 || begin > end)
        return 0;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(load[i]) || load[i] < 0)
            return 0;
        largest = fmax(largest, load[i]);
    }
    return largest > 0;
}

/* The power of two that brings the largest load to just under 2^bits. */
static int scale_for(const double load[], size_t n)
{
    int bits = WEIGHT_SUM_BITS, exponent;
    double largest = 0;

    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, load[i]);
    for (size_t k = 1; k < n; k *= 2)
        bits--;
    (void)frexp(largest, &exponent); /* it is below 2^exponent */
    return (bits < WEIGHT_BITS ? bits : WEIGHT_BITS) - exponent;
}

static uint64_t load_weight(double load, int scale)
{
    return (uint64_t)ldexp(load, scale);
}

/*
 * (carry * 2^shift + piece * w) / sum; the remainder goes to *carry.
 * The result is below 2^51.
 */
static uint64_t divide(
    uint64_t *carry, int shift, uint64_t piece, uint64_t w, uint64_t sum)
{
    double wide = (double)*carry * (double)(UINT64_C(1) << shift)
                  + (double)piece * (double)w;
    uint64_t whole = (uint64_t)(wide / (double)sum);
    uint64_t rest = (*carry << shift) + piece * w - whole * sum; /* mod 2^64 */

    if (rest >> 63) {
        whole--;
        rest += sum;
    } else if (rest >= sum) {
        whole++;
        rest -= sum;
    }
    *carry = rest;
    return whole;
}

/* Quotas into slice[]: whole part in begin, remainder in end.  Grains left. */
static uint64_t take_quotas(uint64_t grains,
                            const double load[],
                            struct slice slice[],
                            size_t n)
{
    int scale = scale_for(load, n);
    int shift = 64 - PIECE_BITS;
    uint64_t sum = 0, left = grains;

    for (size_t i = 0; i < n; i++)
        sum += load_weight(load[i], scale);
    for (size_t i = 0; i < n; i++) {
        uint64_t w = load_weight(load[i], scale), rest = 0;
        uint64_t whole = divide(&rest, 0, grains >> shift, w, sum) << shift;

        whole +=
            divide(&rest, shift, grains & ((UINT64_C(1) << shift) - 1), w, sum);
        slice[i].begin = whole;
        slice[i].end = rest;
        left -= whole;
    }
    return left;
}

/*
 * One grain each for the `left` largest remainders.  The smallest remainder
 * that gets one is found byte by byte from the top: 8 passes, no sorting.
 * left < number of remainders > 0, so a remainder of 0 gets nothing.
 */
static void hand_out_grains(uint64_t left, struct slice slice[], size_t n)
{
    uint64_t least = 0, mask = 0, ties = left;

    if (left == 0)
        return;
    for (int at = 56; at >= 0; at -= 8) {
        uint64_t count[256] = {0};
        uint64_t byte = 255;

        for (size_t i = 0; i < n; i++)
            if ((slice[i].end & mask) == least)
                count[slice[i].end >> at & 255]++;
        for (; count[byte] < ties; byte--)
            ties -= count[byte];
        least |= byte << at;
        mask |= UINT64_C(255) << at;
    }
    for (size_t i = 0; i < n; i++) {
        if (slice[i].end > least) {
            slice[i].begin++;
        } else if (slice[i].end == least && ties > 0) {
            slice[i].begin++;
            ties--;
        }
    }
}

int shares_cut(uint64_t begin,
               uint64_t end,
               uint64_t grain,
               const double load[],
               struct slice slice[],
               size_t n)
{
    uint64_t grains, done = 0, at = begin;

    if (!arguments_hold(begin, end, grain, load, n))
        return -1;
    grains = (end - begin) / grain + ((end - begin) % grain != 0);
    hand_out_grains(take_quotas(grains, load, slice, n), slice, n);
    for (size_t i = 0; i < n; i++) {
        done += slice[i].begin;
        slice[i].begin = at;
        at = done == grains ? end : begin + done * grain;
        slice[i].end = at;
    }
    return 0;
}
