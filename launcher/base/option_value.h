/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * option_value.h - what is behind an option, into the member that it sets.
 */
#ifndef LAUNCHER_BASE_OPTION_VALUE_H
#define LAUNCHER_BASE_OPTION_VALUE_H

#include "launcher/base/options.h"

/* Returns 0, or -1 with ES_USAGE, and *into as it was. */
int option_value_store(const struct option *o,
                       void *into,
                       const char *text,
                       struct es_error *err);

#endif
