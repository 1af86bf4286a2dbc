/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step_still.h - does a step hang?  A rank has died and others wait for it; or
 * none has moved for a while: all wait, or who does not has had no CPU time.
 *
 * A program that computes for long between two calls has had CPU time.
 */
#ifndef LAUNCHER_SESSION_STEP_STILL_H
#define LAUNCHER_SESSION_STEP_STILL_H

#include "launcher/session/step_times.h"

#define STEP_STILL_NS   10e9 /* without a move */
#define STEP_STILL_TEXT 400

struct step_standstill {
    double since_ns; /* until now */
    size_t node;     /* who died, or is stopped; else one that waits */
    uint32_t rank;
    int32_t status; /* of the dead, as in msg_rank */
    uint32_t call;  /* that most wait in, as in msg_rank */
    uint32_t waiting_ranks;
    int is_dead, is_stopped;
};

/* 1 if a rank has died, or nothing moves. */
int step_times_standstill(const struct step_times *t,
                          struct step_standstill *s);
/* In words; 1 if there is anything to say: none moves, or one that died keeps
 * others waiting. */
int step_still_text(const struct step_times *t, char text[STEP_STILL_TEXT]);

#endif
