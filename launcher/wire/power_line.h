/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * power_line.h - turns a line of evenstep-power (power_link.h) into the message
 * that the agent sends to the front end.  Pure.
 *
 * Whatever the line says, the message is valid: its bounds are in order and not
 * above POWER_LIMIT_MAX, its texts fit and have no control characters.
 */
#ifndef LAUNCHER_WIRE_POWER_LINE_H
#define LAUNCHER_WIRE_POWER_LINE_H

#include "launcher/wire/protocol.h"

enum power_line_kind {
    POWER_LINE_POWER,   /* what can be set; after "off" the reason why not */
    POWER_LINE_LIMITED, /* the limit that was set, or why it was not */
    POWER_LINE_ENERGY,  /* what was counted, or why nothing is */
};

struct power_line {
    enum power_line_kind kind;
    struct msg_power power;
    struct msg_limited limited;
    struct msg_energy energy;
    uint64_t limit; /* in force now */
};

/* Read a line, text; limit was in force before it. */
void power_line_read(struct power_line *line, const char *text, uint64_t limit);

#endif
