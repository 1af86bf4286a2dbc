/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pieces_option.h - how many pieces a slice is sent in, from the text of
 * --pieces: N | auto.
 */
#ifndef LAUNCHER_CONFIG_PIECES_OPTION_H
#define LAUNCHER_CONFIG_PIECES_OPTION_H

#include "pmix_bcast/error.h"

/* As struct option has it; at is a uint64_t, N or DISPATCH_BY_COST. */
int pieces_option_take(void *at, const char *text, struct es_error *err);

#endif
