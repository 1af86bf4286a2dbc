/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * window_simulation.h - frames at work side by side (window.h), simulated on the
 * nodes of balance.h: how long all of them take, and in how many pieces.
 *
 * A look at all nodes is taken as soon as the dispatchers wish one and their gap is
 * over, as in a run.  Loads do not change: of policies that are by_speed.
 *
 * Pure but for allocation.
 */
#ifndef POLICY_WINDOW_SIMULATION_H
#define POLICY_WINDOW_SIMULATION_H

#include "policy/balance.h"

struct window_outcome {
    double seconds;  /* until the last frame has come out */
    uint64_t pieces; /* commands started */
};

/* So many frames, of which `ahead` may be at work besides the first.  Of setup,
 * change and record are not for it.  0, or -1 if memory ran out or setup breaks the
 * rules of balance.h.  O(nodes) an event. */
int window_simulate(const struct balance_setup *setup,
                    uint64_t frames,
                    uint64_t ahead,
                    struct window_outcome *out);
/* The least that any division could take: all nodes end together, with one start
 * each, and all frames are one.  0 if memory ran out. */
double window_ideal(const struct balance_setup *setup, uint64_t frames);

#endif
