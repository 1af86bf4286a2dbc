/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slice_spec.h - what is executed for a slice: the words and the environment of
 * its command, as they are for that slice in that slot of the node.
 */
#ifndef LAUNCHER_AGENT_SLICE_SPEC_H
#define LAUNCHER_AGENT_SLICE_SPEC_H

#include "launcher/agent/slot_common.h"
#include "launcher/exec/spawn.h"

/* Has the front end said which command does such a slice? */
int slice_spec_is_known(const struct slot_common *c, const struct msg_run *run);
/*
 * Fill in argv, envp, throttle, cpus and dir, where the command is to run; of a
 * slice whose command is known.  0, or -1 with err.  spec, which began with
 * argv and envp NULL, is to be cleared in both cases.
 */
int slice_spec_fill(struct execution_spec *spec,
                    const struct slot_owner *owner,
                    const struct msg_run *run,
                    struct es_error *err);
/* Then: the number of a program that stays alive among those of all nodes, in
 * its environment; of a node that has come back there is none. */
int slice_spec_rank(struct execution_spec *spec,
                    const struct msg_measured *measured,
                    struct es_error *err);
void slice_spec_clear(struct execution_spec *spec);

#endif
