/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * range_option.h - the units of a frame from a text, B:E, with one message
 * wherever it is given.
 */
#ifndef LAUNCHER_CONFIG_RANGE_OPTION_H
#define LAUNCHER_CONFIG_RANGE_OPTION_H

#include "pmix_bcast/error.h"

#include <stdint.h>

/* where: what a message begins with, the option or the line.  [*begin, *end),
 * not empty, below 2^63: JSON's integers tell of them. 0, or -1 with ES_USAGE
 * (both untouched). */
int range_option_parse(uint64_t *begin,
                       uint64_t *end,
                       const char *where,
                       const char *text,
                       struct es_error *err);

#endif
