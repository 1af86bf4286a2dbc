/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profile_auto.h - the profile `auto`: fitted to the user's earlier runs of a
 * command (history.h), or the default where there are too few.
 */
#ifndef LAUNCHER_RUN_PROFILE_AUTO_H
#define LAUNCHER_RUN_PROFILE_AUTO_H

#include "launcher/config/config.h"

/* Fill in *p, and say on stderr on how many runs it rests.  command NULL: runs
 * of anything. */
void profile_auto(struct config_profile *p,
                  const struct config *c,
                  const char *command);

#endif
