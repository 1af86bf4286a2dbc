/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step_verdict.h - why a step's ranks waited, as a sentence for people, and how
 * to check it.
 */
#ifndef LAUNCHER_COMMAND_STEP_VERDICT_H
#define LAUNCHER_COMMAND_STEP_VERDICT_H

#include "launcher/session/step_times.h"

#define STEP_VERDICT_TEXT 512

struct step_verdict_text {
    char text[STEP_VERDICT_TEXT];  /* "n3 made the others wait for ..." */
    char check[STEP_VERDICT_TEXT]; /* a command, or where to look; or "" */
};

/* is_steered: nodes had more or less than their parts; is_cpu: the meter is CPU
 * time, which does not tell who waits for whom. */
void step_verdict_tell(struct step_verdict_text *v,
                       const struct step_times *t,
                       const struct step_summary *s,
                       int is_steered,
                       int is_cpu);

#endif
