/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_option.h - agents on this machine, from the text of --local:
 * N[=S1,S2,...], S a CPU speed in percent of one core.
 */
#ifndef LAUNCHER_CONFIG_LOCAL_OPTION_H
#define LAUNCHER_CONFIG_LOCAL_OPTION_H

#include "pmix_bcast/error.h"

#include <stddef.h>

#define LOCAL_MAX 1024 /* agents of --local; far above any laptop */

struct local_option {
    size_t n; /* 0: not given */
    int speed[LOCAL_MAX];
    int has_speeds;
};

/* 0, or -1 with ES_USAGE. */
int local_option_parse(struct local_option *o,
                       const char *text,
                       struct es_error *err);

#endif
