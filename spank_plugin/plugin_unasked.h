/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugin_unasked.h - in srun: is a step that says nothing of evenstep attended?
 *
 * In this order: EVENSTEP_DEFAULT=on|off in the environment, the word in
 * ~/.config/evenstep/default, default= in plugstack.conf.  Never by default:
 * steps of one node, with --pty, and components of a heterogeneous step.
 */
#ifndef SPANK_PLUGIN_PLUGIN_UNASKED_H
#define SPANK_PLUGIN_PLUGIN_UNASKED_H

#include <stdint.h>

/* 1 if value is on, off or on:PARTITION[,PARTITION...]. */
int plugin_unasked_allows(const char *value);

/* Before srun reads its command line: a step started in one with --pty has that
 * one's mark in its environment. */
void plugin_unasked_note(void);

/*
 * site: the value of default=; nodes: of the step, 0: not known.  0: not attended;
 * srun -v says why.  A word of the user's that is neither on nor off is left out,
 * with one line.
 */
int plugin_unasked_wants(const char *site, uint32_t nodes, int is_component);

#endif
