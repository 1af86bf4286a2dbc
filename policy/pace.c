/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/pace.h"

uint32_t pace_record_ms(size_t n, uint32_t least)
{
    uint64_t ms =
        ((uint64_t)n * 1000 + PACE_RECORDS_PER_S - 1) / PACE_RECORDS_PER_S;

    if (n > UINT32_MAX || ms > UINT32_MAX)
        return UINT32_MAX;
    return ms > least ? (uint32_t)ms : least;
}

int64_t pace_look_ns(size_t n)
{
    if (n > INT64_MAX / PACE_LOOK_NS)
        return INT64_MAX;
    return n > PACE_LOOK_FREE ? (int64_t)n * PACE_LOOK_NS : 0;
}

int64_t pace_fit_ns(size_t n)
{
    return (int64_t)(n < PACE_FIT_NODES ? n : PACE_FIT_NODES) * PACE_FIT_NS;
}
