/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_answers.h - what the nodes of a run say: output, ends of slices, that a
 * program waits or has ended, and what others of the run's modules take.
 */
#ifndef LAUNCHER_RUN_RUN_ANSWERS_H
#define LAUNCHER_RUN_RUN_ANSWERS_H

#include "launcher/run/run_state.h"

/* Of struct session_events; arg is the run. */
void run_answers_message(
    void *arg, size_t node, uint16_t type, const uint8_t *body, size_t len);

#endif
