/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * balance_ahead.h - `evenstep simulate balance --ahead`: frames side by side, of
 * which only all together are looked at.
 */
#ifndef LAUNCHER_WHATIF_BALANCE_AHEAD_H
#define LAUNCHER_WHATIF_BALANCE_AHEAD_H

#include "launcher/whatif/balance_options.h"

/* A line a policy. */
int balance_ahead_run(const struct balance_options *o, struct es_error *err);

#endif
