/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/formula.h"

#include <math.h>

double formula_limit(double bytes, double rate)
{
    return bytes / rate;
}

double formula_strict(double bytes,
                      double rate,
                      uint32_t nodes,
                      uint32_t branches)
{
    double k = branches, children = ceil((nodes - k) / k), chunk = bytes / k;

    return (chunk * (k + children) + (bytes - chunk)) / rate;
}

double formula_orders(double bytes,
                      double rate,
                      double latency,
                      double per_message,
                      uint32_t nodes,
                      uint32_t branches)
{
    double one = per_message + bytes / rate, seconds = 0, layer = 1;

    for (double reached = 0; reached < nodes; reached += layer) {
        layer *= branches;
        seconds += branches * one + latency + per_message;
    }
    return seconds;
}

/* One block to all: each layer waits for the one above it. */
static double sbcast_block(
    double block, double rate, double latency, double nodes, double fanout)
{
    double seconds = latency; /* the acknowledgement */

    while (nodes > 0) {
        double width = nodes < fanout ? nodes : fanout;

        seconds += width * block / rate + latency;
        nodes = ceil((nodes - width) / width); /* below each of them */
    }
    return seconds;
}

double formula_sbcast(double bytes,
                      double rate,
                      double latency,
                      uint32_t nodes,
                      uint32_t fanout,
                      double block)
{
    double whole = floor(bytes / block), rest = bytes - whole * block;

    return whole * sbcast_block(block, rate, latency, nodes, fanout)
           + (rest > 0 ? sbcast_block(rest, rate, latency, nodes, fanout) : 0);
}

double formula_scatter_allgather(double bytes,
                                 double rate,
                                 double latency,
                                 uint32_t nodes)
{
    double ranks = nodes + 1.0, share = bytes / rate * (ranks - 1) / ranks;

    return ceil(log2(ranks)) * latency + share + (ranks - 1) * latency + share;
}
