/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step_lent.h - at the end of a step: the CPU time that its ranks have had on CPUs
 * of ranks that waited (srun --evenstep-lend, libevenstep/lend.h).
 */
#ifndef LAUNCHER_COMMAND_STEP_LENT_H
#define LAUNCHER_COMMAND_STEP_LENT_H

#include "launcher/session/step_times.h"

#define STEP_LENT_LINE 256

/*
 * Write that line, or why it was none if it was asked for.  Returns 0 if there is
 * nothing to say: lending was not asked for and moved nothing, or no rank was
 * metered.
 */
int step_lent_text(const struct step_times *t,
                   int is_asked,
                   char line[STEP_LENT_LINE]);

#endif
