/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a program reckons about the slices of a frame: evenstep.h.  Pure.
 */
#include "launcher/libevenstep/evenstep.h"

#include <errno.h>
#include <limits.h>

#define EXPORT __attribute__((visibility("default")))

static uint64_t length(struct evenstep_range r)
{
    return r.end - r.begin;
}

/* What two ranges share; empty and at its beginning where that is nothing. */
static struct evenstep_range common(struct evenstep_range a,
                                    struct evenstep_range b)
{
    struct evenstep_range c = {a.begin > b.begin ? a.begin : b.begin,
                               a.end < b.end ? a.end : b.end};

    if (c.end < c.begin)
        c.end = c.begin;
    return c;
}

EXPORT int evenstep_owner(const struct evenstep_range *slice,
                          int ranks,
                          uint64_t unit)
{
    for (int i = 0; i < ranks; i++)
        if (slice[i].begin <= unit && unit < slice[i].end)
            return i;
    return -1;
}

EXPORT struct evenstep_range evenstep_widened(struct evenstep_range slice,
                                              uint64_t by,
                                              uint64_t units)
{
    struct evenstep_range wide = {
        slice.begin > by ? slice.begin - by : 0,
        slice.end < units && units - slice.end > by ? slice.end + by : units};

    return slice.begin >= slice.end ? slice : wide;
}

/* --- weights -------------------------------------------------------------- */

/* 0 if this is no weight, also for what is no number. */
static int is_weight(double w)
{
    return w >= 0 && w <= 1.7e308;
}

/* The sum; 0 if there is a bad one, or none, or too much of them. */
static double sum_of(const double *weight, uint64_t units)
{
    double sum = 0;

    for (uint64_t i = 0; i < units; i++) {
        if (!is_weight(weight[i]))
            return 0;
        sum += weight[i];
    }
    return is_weight(sum) ? sum : 0;
}

/*
 * A unit belongs to the part in which the middle of its weight lies.  Middles
 * never decrease, whatever is rounded, so a cut is where they pass it, and all
 * ranks find the same one.
 */
EXPORT int evenstep_weighted(struct evenstep_range slice,
                             uint64_t parts,
                             const double *weight,
                             uint64_t units,
                             struct evenstep_range *result)
{
    double sum = sum_of(weight, units), before = 0;
    uint64_t begin = 0, end = 0;

    result->begin = result->end = 0;
    if (!(sum > 0) || slice.begin > slice.end || slice.end > parts) {
        errno = EINVAL;
        return -1;
    }
    for (uint64_t i = 0; i < units; i++) {
        double middle = (before + weight[i] / 2) / sum * (double)parts;

        begin += middle < (double)slice.begin;
        end += middle < (double)slice.end;
        before += weight[i];
    }
    result->begin = slice.begin == parts ? units : begin;
    result->end = slice.end == parts ? units : end;
    return 0;
}

/* --- what moves ----------------------------------------------------------- */

/* The part of a range, as a count and a place in a buffer that begins with
 * another one.  -1: they do not fit into an int. */
static int place(int *count,
                 int *at,
                 struct evenstep_range part,
                 uint64_t buffer)
{
    uint64_t n = length(part), from = n > 0 ? part.begin - buffer : 0;

    if (n > INT_MAX || from > INT_MAX)
        return -1;
    *count = (int)n;
    *at = (int)from;
    return 0;
}

static int all_are_sound(const struct evenstep_range *range, int n)
{
    for (int i = 0; i < n; i++)
        if (range[i].begin > range[i].end)
            return 0;
    return 1;
}

EXPORT int evenstep_redistribute(const struct evenstep_range *has,
                                 const struct evenstep_range *wants,
                                 int ranks,
                                 int rank,
                                 struct evenstep_moves *moves)
{
    uint64_t received = 0;

    if (rank < 0 || rank >= ranks || !all_are_sound(has, ranks)
        || !all_are_sound(wants, ranks)) {
        errno = EINVAL;
        return -1;
    }
    for (int i = 0; i < ranks; i++) {
        struct evenstep_range out = common(has[rank], wants[i]),
                              in = common(has[i], wants[rank]);

        if (place(&moves->send_count[i], &moves->send_at[i], out,
                  has[rank].begin)
                < 0
            || place(&moves->receive_count[i], &moves->receive_at[i], in,
                     wants[rank].begin)
                   < 0) {
            errno = EOVERFLOW;
            return -1;
        }
        received += length(in);
    }
    if (received == length(wants[rank]))
        return 0;
    errno = ENODATA;
    return -1;
}
