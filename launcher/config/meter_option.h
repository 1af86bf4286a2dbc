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

/* 0, or -1 with ES_USAGE (*o untouched).  pattern points into text. */
int meter_option_parse(struct meter_option *o,
                       const char *text,
                       struct es_error *err);

#endif
