/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * brought.h - commands run what was brought for them: the program where it is on
 * this node, with the folders of its libraries first in LD_LIBRARY_PATH.
 */
#ifndef LAUNCHER_AGENT_BROUGHT_H
#define LAUNCHER_AGENT_BROUGHT_H

#include "launcher/wire/protocol.h"

/*
 * Put the program of c in place of the first of these words, and the folders of
 * its libraries into this environment (both of template.h); c that names none
 * changes nothing.  own is the environment of the agent, for $TMPDIR.  0, or -1
 * with err: no memory, or a path gets too long on this node.
 */
int brought_program(char **words,
                    const struct msg_command *c,
                    const char *node,
                    char *const own[],
                    struct es_error *err);
int brought_libs(char ***env,
                 const struct msg_command *c,
                 const char *node,
                 char *const own[],
                 struct es_error *err);

#endif
