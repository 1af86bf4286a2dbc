/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_table.h - the connection table that evenstep_peer() reads, in place of
 * which another one may come.
 */
#ifndef LAUNCHER_LIBEVENSTEP_PEER_TABLE_H
#define LAUNCHER_LIBEVENSTEP_PEER_TABLE_H

/*
 * From now on evenstep_peer() reads the table that is there now.  The one before
 * stays mapped, as another thread may be reading it.  Returns 0, or an errno
 * value as evenstep_peer() has it; then that reads the one before.
 */
int peer_table_again(void);

#endif
