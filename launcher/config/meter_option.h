/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * meter_option.h - the value of --meter: units, cmd:PATTERN or cpu.
 */
#ifndef LAUNCHER_CONFIG_METER_OPTION_H
#define LAUNCHER_CONFIG_METER_OPTION_H

#include "launcher/meter/outside_meter.h"

struct meter_option {
    enum outside_kind kind; /* OUTSIDE_NONE: not given */
    const char *pattern;    /* of OUTSIDE_OUTPUT, else "" */
};

/* As struct option has it; at is a struct meter_option, whose pattern points
 * into text. */
int meter_option_take(void *at, const char *text, struct es_error *err);

#endif
