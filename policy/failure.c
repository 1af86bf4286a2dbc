/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/failure.h"

enum failure_verdict failure_judge(const struct failure_rule *rule,
                                   const struct batch *b,
                                   int is_late,
                                   uint64_t grain)
{
    unsigned retries = is_late && rule->retries == 0 ? 1 : rule->retries;

    if (b->failures - b->forgiven <= retries)
        return FAILURE_RETRY;
    return rule->halves && b->units.end - b->units.begin > grain
               ? FAILURE_HALVE
               : FAILURE_LEAVE_OUT;
}

/* One that has a single try left, or, as a single grain, all. */
static struct batch half_of(const struct failure_rule *rule,
                            const struct batch *b,
                            struct slice units,
                            uint64_t grain)
{
    struct batch half = *b;
    int is_grain = units.end - units.begin <= grain;

    half.units = units;
    half.forgiven = is_grain ? b->failures : b->failures - rule->retries;
    return half;
}

void failure_halve(const struct failure_rule *rule,
                   const struct batch *b,
                   uint64_t grain,
                   struct batch half[2])
{
    uint64_t units = b->units.end - b->units.begin;
    uint64_t grains = units / grain + (units % grain > 0);
    uint64_t at = b->units.begin + grains / 2 * grain;

    half[0] = half_of(rule, b, (struct slice){b->units.begin, at}, grain);
    half[1] = half_of(rule, b, (struct slice){at, b->units.end}, grain);
}
