/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step_ending.h - how the ranks of a step ended, where most of the waiting was,
 * and what of it all is not sure.
 */
#ifndef LAUNCHER_COMMAND_STEP_ENDING_H
#define LAUNCHER_COMMAND_STEP_ENDING_H

#include "launcher/session/step_times.h"

#include <jansson.h>

#define STEP_ENDING_TEXT 512

enum step_ending {
    STEP_ENDING_UNKNOWN,
    STEP_ENDING_LEFT, /* all ranks have left MPI */
    STEP_ENDING_EARLY,
};

/* "all ranks left MPI", or who died, and what the others did then; "" if it is
 * not known. */
enum step_ending step_ending_tell(char text[STEP_ENDING_TEXT],
                                  const struct step_times *t);
/* The ten calls in which ranks waited most; NULL if none are known. */
json_t *step_ending_sites(const struct step_times *t);

#endif
