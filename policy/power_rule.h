/* SPDX-License-Identifier: BSD-2-Clause */
/* power_rule.h - nodes with limits, and how they are to be steered (power.h). */
#ifndef POLICY_POWER_RULE_H
#define POLICY_POWER_RULE_H

#include <stdint.h>

/* Above it no double holds every whole number. */
#define POWER_LIMIT_MAX (UINT64_C(1) << 53)

enum power_variant {
    POWER_OFF,
    POWER_PAIR,
    POWER_BOOST,
    POWER_SAVE, /* power_save.h: the sum may fall, too */
};

struct power_rule {
    enum power_variant variant;
    double bound, band; /* >= 0 */
    double gain;        /* > 0, <= 1 */
};

struct power_node {
    double progress; /* of its work, a second of work; 0: does not report */
    uint64_t limit, floor, ceiling; /* floor <= limit <= ceiling */
};

#endif
