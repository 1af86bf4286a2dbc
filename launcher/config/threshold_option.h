/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * threshold_option.h - a threshold from the text of --threshold:
 * SECONDS | PERCENT% | auto.
 */
#ifndef LAUNCHER_CONFIG_THRESHOLD_OPTION_H
#define LAUNCHER_CONFIG_THRESHOLD_OPTION_H

#include "pmix_bcast/error.h"
#include "policy/threshold.h"

/* 0, or -1 with ES_USAGE (*rule untouched). */
int threshold_option_parse(struct threshold_rule *rule,
                           const char *text,
                           struct es_error *err);

#endif
