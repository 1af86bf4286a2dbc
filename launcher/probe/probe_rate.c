/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe/probe_rate.h"

#include <math.h>

#define PARTS 8 /* for the spread */

struct window {
    int64_t begin, end;
};

static int64_t longest_gap(const struct probe_trace trace[], size_t n)
{
    int64_t longest = 0;

    for (size_t t = 0; t < n; t++)
        for (size_t i = 1; i < trace[t].n; i++) {
            int64_t gap = trace[t].mark[i].ns - trace[t].mark[i - 1].ns;
            if (gap > longest)
                longest = gap;
        }
    return longest;
}

/* The end of the first stall of one thread after "after"; INT64_MAX: none. */
static int64_t next_stall_end(const struct probe_trace *trace,
                              int64_t stall,
                              int64_t after)
{
    const struct probe_mark *m = trace->mark;

    for (size_t i = 1; i < trace->n; i++)
        if (m[i].ns > after && m[i].ns - m[i - 1].ns >= stall)
            return m[i].ns;
    return INT64_MAX;
}

/* From the end of the first stall of any of n threads to that of the last
 * one, within "in".  Empty if there are fewer than two. */
static struct window stalled_window(const struct probe_trace trace[],
                                    size_t n,
                                    int64_t stall,
                                    struct window in)
{
    struct window w = {in.end, in.begin};

    for (size_t t = 0; t < n; t++) {
        int64_t end = next_stall_end(&trace[t], stall, in.begin - 1);
        if (end < w.begin)
            w.begin = end;
        for (; end <= in.end; end = next_stall_end(&trace[t], stall, end))
            if (end > w.end)
                w.end = end;
    }
    return w;
}

/* Does a cover num/den of b? */
static int covers(struct window a, struct window b, int num, int den)
{
    return a.begin < a.end
           && (a.end - a.begin) * den >= (b.end - b.begin) * num;
}

/* Units that one thread had done by ns, which lies within its marks. */
static double units_by(const struct probe_trace *trace, int64_t ns)
{
    const struct probe_mark *m = trace->mark;
    size_t low = 0, high = trace->n - 1;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (m[middle].ns <= ns)
            low = middle;
        else
            high = middle;
    }
    if (m[high].ns == m[low].ns)
        return (double)m[low].units;
    return (double)m[low].units
           + (double)(m[high].units - m[low].units) * (double)(ns - m[low].ns)
                 / (double)(m[high].ns - m[low].ns);
}

/* Units per nanosecond of one thread within w. */
static double thread_rate(const struct probe_trace *trace, struct window w)
{
    return (units_by(trace, w.end) - units_by(trace, w.begin))
           / (double)(w.end - w.begin);
}

/* The time during which all threads ran; -1 if there is none. */
static int find_common(const struct probe_trace trace[],
                       size_t n,
                       struct window *w)
{
    w->begin = INT64_MIN;
    w->end = INT64_MAX;
    for (size_t t = 0; t < n; t++) {
        if (trace[t].n < 2)
            return -1;
        if (trace[t].mark[0].ns > w->begin)
            w->begin = trace[t].mark[0].ns;
        if (trace[t].mark[trace[t].n - 1].ns < w->end)
            w->end = trace[t].mark[trace[t].n - 1].ns;
    }
    return n > 0 && w->begin < w->end ? 0 : -1;
}

double probe_mean(const double value[], size_t n, double *spread)
{
    double sum = 0, squares = 0, mean;

    for (size_t i = 0; i < n; i++) {
        sum += value[i];
        squares += value[i] * value[i];
    }
    mean = sum / (double)n;
    *spread =
        mean > 0 ? sqrt(fmax(squares / (double)n - mean * mean, 0)) / mean : 0;
    return mean;
}

/* How much the rate of all threads differs between PARTS parts of w. */
static double spread_within(const struct probe_trace trace[],
                            size_t n,
                            struct window w)
{
    double rate[PARTS] = {0}, spread;

    for (int i = 0; i < PARTS; i++) {
        struct window part = {w.begin + (w.end - w.begin) * i / PARTS,
                              w.begin + (w.end - w.begin) * (i + 1) / PARTS};

        for (size_t t = 0; t < n && part.begin < part.end; t++)
            rate[i] += thread_rate(&trace[t], part);
    }
    (void)probe_mean(rate, PARTS, &spread);
    return spread;
}

int probe_rate(const struct probe_trace trace[],
               size_t n,
               double *units_per_s,
               double *spread)
{
    struct window all, w;
    int64_t stall = longest_gap(trace, n) / 2;
    double rate = 0;

    if (find_common(trace, n, &all) < 0)
        return -1;
    if (stall < PROBE_STALL_NS)
        stall = PROBE_STALL_NS;
    w = stalled_window(trace, n, stall, all);
    if (!covers(w, all, 1, 3))
        w = all;
    for (size_t t = 0; t < n; t++) {
        struct window own = stalled_window(&trace[t], 1, stall, w);
        rate += thread_rate(&trace[t], covers(own, w, 3, 4) ? own : w);
    }
    if (!(rate > 0))
        return -1;
    *units_per_s = rate * 1e9;
    *spread = spread_within(trace, n, w);
    return 0;
}
