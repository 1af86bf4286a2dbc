/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * threshold_option.h - a threshold from the text of --threshold:
 * SECONDS | PERCENT% | auto.
 */
#ifndef LAUNCHER_CONFIG_THRESHOLD_OPTION_H
#define LAUNCHER_CONFIG_THRESHOLD_OPTION_H

#include "pmix_bcast/error.h"
#include "policy/threshold.h"

/* As struct option has it; at is a struct threshold_rule. */
int threshold_option_take(void *at, const char *text, struct es_error *err);

#endif
