/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * power_line.h - what the guard of a node says to the agent, from a packet of
 * text (power_link.h) to what the front end is told.  Pure.
 *
 * Whatever the text is, what comes out can be sent: bounds in their order and
 * below POWER_LIMIT_MAX, texts that fit and have no control characters.
 */
#ifndef LAUNCHER_WIRE_POWER_LINE_H
#define LAUNCHER_WIRE_POWER_LINE_H

#include "launcher/wire/protocol.h"

enum power_line_kind {
    POWER_LINE_POWER,   /* what there is to set; "off": nothing, and why */
    POWER_LINE_LIMITED, /* the answer to a limit */
};

struct power_line {
    enum power_line_kind kind;
    struct msg_power power;
    struct msg_limited limited;
    uint64_t limit; /* that is in force now */
};

/* text ends with a NUL; limit is in force until now. */
void power_line_read(struct power_line *line, const char *text, uint64_t limit);

#endif
