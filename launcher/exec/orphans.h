/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * orphans.h - ends what the commands of a killed process have left: the kernel
 * ends these commands (spawn.h), but not what they have started.
 */
#ifndef LAUNCHER_EXEC_ORPHANS_H
#define LAUNCHER_EXEC_ORPHANS_H

#include <stddef.h>

/*
 * SIGKILL for every process of our session whose environment has this entry, a
 * "NAME=VALUE" of which we know that it is nobody else's.  Who has begun a
 * session of their own, as daemons do, or another environment is left alone.  No
 * number of a process is trusted: each is held by a pidfd before it is looked at.
 * Returns how many were signalled; 0 where there is no /proc, or before Linux
 * 5.3.  We are not among them.
 */
size_t orphans_end(const char *entry);

#endif
