/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * introduction.h - how an agent introduces itself to its front end: HERE, when it
 * is there, and READY, when it may be given work.
 */
#ifndef LAUNCHER_AGENT_INTRODUCTION_H
#define LAUNCHER_AGENT_INTRODUCTION_H

#include "launcher/agent/peers.h"

void introduction_here(struct writer *w, const struct peers *p);
void introduction_ready(struct writer *w, const struct peers *p);

#endif
